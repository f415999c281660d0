//! Provider configurations and requirements.

use std::fmt;

use groma_address::{Name, ProviderAddress};
use groma_diagnostics::Span;
use groma_hcl::{Body, Expression};

use crate::version::Constraints;

/// A module's local name of a provider configuration: `aws` or `aws.west`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LocalProvider {
    /// The local name of the provider.
    pub name: Name,
    /// The alias; `None` for the default configuration.
    pub alias: Option<Name>,
}

impl LocalProvider {
    /// Returns the default configuration of the provider with the local name `name`.
    pub const fn default_of(name: Name) -> Self {
        Self { name, alias: None }
    }
}

impl fmt::Display for LocalProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        match &self.alias {
            Some(alias) => write!(f, ".{alias}"),
            None => Ok(()),
        }
    }
}

/// A reference to a provider configuration in a `provider` argument or a `providers` map.
#[derive(Clone, Debug, PartialEq)]
pub struct LocalProviderRef {
    /// The referenced configuration.
    pub provider: LocalProvider,
    /// The instance of a configuration with `for_each`: `aws.by_region[each.key]`.
    pub key: Option<Expression>,
    /// Span of the reference.
    pub span: Span,
}

/// A `provider` block: one configuration of a provider.
#[derive(Clone, Debug)]
pub struct ProviderBlock {
    /// The block's label and its `alias`.
    pub provider: LocalProvider,
    /// `for_each`: one instance for each element.
    pub for_each: Option<Expression>,
    /// Version constraints of the deprecated `version` argument.
    pub version: Constraints,
    /// Provider-specific arguments, to be decoded with the provider's schema.
    pub body: Body,
    /// Span of the block's header.
    pub span: Span,
}

impl ProviderBlock {
    /// Arguments that the language defines in a `provider` block.
    pub const META_ARGUMENTS: &[&str] = &["alias", "for_each", "version"];
}

/// An entry of `required_providers`.
#[derive(Clone, Debug)]
pub struct RequiredProvider {
    /// The local name of the provider.
    pub name: Name,
    /// The provider's source address.
    pub address: ProviderAddress,
    /// The allowed versions of the provider.
    pub version: Constraints,
    /// Span of the version constraints.
    pub version_span: Span,
    /// `configuration_aliases`: configurations that the caller must pass.
    pub aliases: Vec<LocalProvider>,
    /// Span of the entry.
    pub span: Span,
}

/// A `provider_meta` block: module metadata for a provider.
#[derive(Clone, Debug)]
pub struct ProviderMeta {
    /// The local name of the provider.
    pub name: Name,
    /// Arguments, to be decoded with the provider's schema.
    pub body: Body,
    /// Span of the block's header.
    pub span: Span,
}
