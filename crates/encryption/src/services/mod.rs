//! Key management services: the key providers `aws_kms`, `gcp_kms`, `azure_vault` and `openbao`. The metadata that
//! they store in a file has OpenTofu's shape, so that either tool reads the files of the other.

mod arguments;
mod aws_assume_role;
mod aws_credential_chain;
mod aws_imds;
mod aws_kms;
mod aws_shared_config;
mod aws_sigv4;
mod aws_sts;
mod azure_vault;
mod command_output;
mod entra;
mod entra_certificate;
mod gcp_kms;
mod google_credentials;
mod jwt;
mod network;
mod openbao;
mod workload_identity;
mod workload_identity_aws;
mod workload_identity_executable;

use std::sync::Arc;

pub use arguments::{Argument, ArgumentType, ArgumentValue, ArgumentValues, Need};
pub use aws_shared_config::{AwsProfile, AwsSharedConfig};
pub use network::{AwsKeys, ConnectionOptions, Network, NetworkAnswer, NetworkRequest, TlsVerification};

use crate::error::KeyError;
use crate::key_provider::KeyService;

/// The types of the key providers that are network services.
pub const SERVICES: [&str; 4] = ["aws_kms", "azure_vault", "gcp_kms", "openbao"];

/// Returns the arguments of a key provider of this type, or `None` if the type is not one of [`SERVICES`].
pub fn service_arguments(provider_type: &str) -> Option<&'static [Argument]> {
    match provider_type {
        "aws_kms" => Some(aws_kms::ARGUMENTS),
        "azure_vault" => Some(azure_vault::ARGUMENTS),
        "gcp_kms" => Some(gcp_kms::ARGUMENTS),
        "openbao" => Some(openbao::ARGUMENTS),
        _ => None,
    }
}

/// Creates a key provider of this type. Sends no request yet.
///
/// # Errors
/// Fails if an argument is missing or invalid, or if the type is not one of [`SERVICES`].
pub fn service(
    provider_type: &str,
    arguments: &ArgumentValues,
    network: Arc<dyn Network>,
) -> Result<Arc<dyn KeyService>, KeyError> {
    Ok(match provider_type {
        "aws_kms" => Arc::new(aws_kms::AwsKms::new(arguments, network)?),
        "azure_vault" => Arc::new(azure_vault::AzureVault::new(arguments, network)?),
        "gcp_kms" => Arc::new(gcp_kms::GcpKms::new(arguments, network)?),
        "openbao" => Arc::new(openbao::OpenBao::new(arguments, network)?),
        _ => return Err(KeyError::argument(format!("unknown key provider type {provider_type:?}"))),
    })
}
