//! The objects that diagnostics are about.

use std::fmt;

use groma_address::{ActionInstance, ConfigResource, ProviderConfig, ResourceInstance};

/// The address of the object that a diagnostic is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum DiagnosticAddress {
    /// A resource instance.
    Resource(ResourceInstance),
    /// A resource whose instance keys are not evaluated yet.
    ConfigResource(ConfigResource),
    /// An instance of an action.
    Action(ActionInstance),
    /// A provider configuration.
    Provider(ProviderConfig),
}

impl fmt::Display for DiagnosticAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Resource(address) => address.fmt(f),
            Self::ConfigResource(address) => address.fmt(f),
            Self::Action(address) => address.fmt(f),
            Self::Provider(address) => address.fmt(f),
        }
    }
}

impl From<&ResourceInstance> for DiagnosticAddress {
    fn from(address: &ResourceInstance) -> Self {
        Self::Resource(address.clone())
    }
}

impl From<&ConfigResource> for DiagnosticAddress {
    fn from(address: &ConfigResource) -> Self {
        Self::ConfigResource(address.clone())
    }
}

impl From<&ActionInstance> for DiagnosticAddress {
    fn from(address: &ActionInstance) -> Self {
        Self::Action(address.clone())
    }
}

impl From<&ProviderConfig> for DiagnosticAddress {
    fn from(address: &ProviderConfig) -> Self {
        Self::Provider(address.clone())
    }
}
