//! Provider configurations and requirements.

use std::fmt;

use groma_address::{Name, ProviderAddress};
use groma_diagnostics::Span;
use groma_hcl::{Body, Expression};

use crate::version::Constraints;

/// A provider configuration as a module names it: `aws` or `aws.west`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LocalProvider {
    /// The module's name for the provider.
    pub name: Name,
    /// The alias of an additional configuration.
    pub alias: Option<Name>,
}

impl LocalProvider {
    /// The default configuration of the provider `name`.
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

/// A reference to a provider configuration, as a `provider` argument writes it.
#[derive(Clone, Debug, PartialEq)]
pub struct LocalProviderRef {
    /// The local name of the configuration.
    pub provider: LocalProvider,
    /// The instance of a configuration with `for_each`: `aws.by_region[each.key]`.
    pub key: Option<Expression>,
    /// The location of the argument.
    pub span: Span,
}

/// A decoded `provider` block.
#[derive(Clone, Debug)]
pub struct ProviderBlock {
    /// Its label and alias.
    pub provider: LocalProvider,
    /// One instance per element.
    pub for_each: Option<Expression>,
    /// Versions by the deprecated `version` argument.
    pub version: Constraints,
    /// The configuration proper, to be decoded with the provider's schema.
    pub body: Body,
    /// The location of the block's header.
    pub span: Span,
}

impl ProviderBlock {
    /// The meta-arguments of such a block.
    pub const WORDS: &[&str] = &["alias", "for_each", "version"];
}

/// An entry of `required_providers`.
#[derive(Clone, Debug)]
pub struct RequiredProvider {
    /// The module's name for the provider.
    pub name: Name,
    /// The address of the provider.
    pub address: ProviderAddress,
    /// The allowed versions of the provider.
    pub version: Constraints,
    /// The location of the version constraint.
    pub version_span: Span,
    /// Configurations that the caller must hand in, by alias.
    pub aliases: Vec<LocalProvider>,
    /// The location of the entry.
    pub span: Span,
}

/// A decoded `provider_meta` block.
#[derive(Clone, Debug)]
pub struct ProviderMeta {
    /// The module's name for the provider.
    pub name: Name,
    /// The content, to be decoded with the provider's schema.
    pub body: Body,
    /// The location of the block's header.
    pub span: Span,
}
