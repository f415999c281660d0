//! Decryption of the states that `terraform_remote_state` reads.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::encryption::Encryption;

/// The `remote_state_data_sources` block: the encryption of states that `terraform_remote_state` reads.
#[derive(Clone, Debug, Default)]
pub struct RemoteEncryption {
    /// The `default` block, for data sources without a block of their own.
    pub default: Option<Arc<Encryption>>,
    /// By data source, in OpenTofu's short form: `name`, `module.name`, `module.name[0]`.
    pub named: BTreeMap<String, Arc<Encryption>>,
}

impl RemoteEncryption {
    /// Returns the encryption for the data source at `address`, or `None` if its state is in plaintext.
    pub fn of(&self, address: &str) -> Option<&Arc<Encryption>> {
        let name = address.replacen("data.terraform_remote_state.", "", 1);
        let name = name.strip_prefix("module.").unwrap_or(&name);
        self.named.get(name).or(self.default.as_ref())
    }
}
