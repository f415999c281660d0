//! Key management services of clouds: the key providers `aws_kms`, `gcp_kms`, `azure_vault` and `openbao`.
//!
//! The metadata that they store in a file has OpenTofu's shape, so that either tool reads the files of the other.

mod aws_kms;
mod azure_vault;
mod gcp_kms;
mod openbao;
mod requests;

use std::sync::Arc;

use groma_cloud::Environment;
use groma_encryption::{ArgumentValues, KeyError, KeyService, KeyServices};

/// The key management services, with the environment that their settings come from.
#[derive(Clone, Debug)]
pub struct CloudKeyServices {
    environment: Environment,
}

impl CloudKeyServices {
    /// Creates the services, which read unset arguments from `environment`.
    pub fn new(environment: Environment) -> Self {
        Self { environment }
    }
}

impl KeyServices for CloudKeyServices {
    fn open(&self, provider_type: &str, arguments: &ArgumentValues) -> Result<Arc<dyn KeyService>, KeyError> {
        let environment = self.environment.clone();
        Ok(match provider_type {
            "aws_kms" => Arc::new(aws_kms::AwsKms::new(arguments, environment)?),
            "azure_vault" => Arc::new(azure_vault::AzureVault::new(arguments, environment)?),
            "gcp_kms" => Arc::new(gcp_kms::GcpKms::new(arguments, environment)?),
            "openbao" => Arc::new(openbao::OpenBao::new(arguments, environment)?),
            _ => return Err(KeyError::Argument(format!("unknown key provider type {provider_type:?}"))),
        })
    }
}
