//! How the states of others are opened, which data sources read.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::encryption::Encryption;

/// How the states are sealed that `terraform_remote_state` reads: `remote_state_data_sources`.
#[derive(Clone, Debug, Default)]
pub struct RemoteEncryption {
    /// Where nothing else is said.
    pub default: Option<Arc<Encryption>>,
    /// By data source: `name`, `module.name`, `module.name[0]`.
    pub named: BTreeMap<String, Arc<Encryption>>,
}

impl RemoteEncryption {
    /// How the state is sealed that the data source at `address` reads; none if it is in clear.
    pub fn of(&self, address: &str) -> Option<&Encryption> {
        let name = address.replacen("data.terraform_remote_state.", "", 1);
        let name = name.strip_prefix("module.").unwrap_or(&name);
        self.named.get(name).or(self.default.as_ref()).map(|encryption| &**encryption)
    }
}
