//! Key management services: the key providers `aws_kms`, `gcp_kms`, `azure_vault` and `openbao`.
//!
//! This crate knows their arguments. The command line hands in the [`KeyServices`] that reaches them.

mod arguments;
mod tables;

use std::fmt;
use std::sync::Arc;

pub use arguments::{Argument, ArgumentType, ArgumentValue, ArgumentValues, Need};
pub use tables::{SERVICES, service_arguments};

use crate::error::KeyError;
use crate::key_provider::KeyService;

/// The key management services that this process can reach.
pub trait KeyServices: fmt::Debug + Send + Sync {
    /// Creates a key provider of one of the types in [`SERVICES`]. Sends no request yet.
    ///
    /// # Errors
    /// Fails if an argument is missing or invalid, or if the type is unknown.
    fn open(&self, provider_type: &str, arguments: &ArgumentValues) -> Result<Arc<dyn KeyService>, KeyError>;
}
