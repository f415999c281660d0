//! Keys that services in networks keep: what OpenTofu calls `aws_kms`, `gcp_kms`, `azure_vault` and `openbao`. What they note in a file is
//! shaped as OpenTofu shapes it, so that files move both ways.

mod aws_chain;
mod aws_files;
mod aws_kms;
mod aws_lender;
mod aws_machine;
mod aws_role;
mod aws_signature;
mod azure_vault;
mod entra;
mod entra_certificate;
mod gcp_kms;
mod given;
mod google;
mod google_aws;
mod google_elsewhere;
mod google_program;
mod network;
mod openbao;
mod output;
mod word;

use std::sync::Arc;

pub use aws_files::{AwsFiles, AwsProfile};
pub use given::{Argument, Given, GivenValue, Kind, Need};
pub use network::{AwsKeys, Network, NetworkAnswer, NetworkRequest, Trust, Way};

use crate::key_provider::KeyService;

/// The key providers that are services.
pub const SERVICES: [&str; 4] = ["aws_kms", "azure_vault", "gcp_kms", "openbao"];

/// The arguments of the key provider `kind`; nothing if it is no service.
pub fn service_arguments(kind: &str) -> Option<&'static [Argument]> {
    match kind {
        "aws_kms" => Some(aws_kms::ARGUMENTS),
        "azure_vault" => Some(azure_vault::ARGUMENTS),
        "gcp_kms" => Some(gcp_kms::ARGUMENTS),
        "openbao" => Some(openbao::ARGUMENTS),
        _ => None,
    }
}

/// The key provider `kind`, with what is given for its arguments.
///
/// # Errors
/// When it cannot work with them; the text has no secrets.
pub fn service(kind: &str, given: &Given, network: Arc<dyn Network>) -> Result<Arc<dyn KeyService>, String> {
    Ok(match kind {
        "aws_kms" => Arc::new(aws_kms::AwsKms::new(given, network)?),
        "azure_vault" => Arc::new(azure_vault::AzureVault::new(given, network)?),
        "gcp_kms" => Arc::new(gcp_kms::GcpKms::new(given, network)?),
        "openbao" => Arc::new(openbao::OpenBao::new(given, network)?),
        _ => return Err(format!("there is no service {kind:?}")),
    })
}
