//! Refactoring blocks: moved, removed, import.

use groma_address::{ConfigResource, ModulePath, Target};
use groma_diagnostics::Span;
use groma_hcl::Expression;
use groma_lang::{Reference, references};

use super::provider::{LocalProvider, LocalProviderRef};
use super::resource::{Provisioner, implied_provider};

/// A `moved` block. Both addresses are relative to the module that contains the block; an address without an instance
/// key means the whole resource or module call.
#[derive(Clone, Debug, PartialEq)]
pub struct Moved {
    /// The address before the move.
    pub from: Target,
    /// Span of the `from` argument.
    pub from_span: Span,
    /// The address after the move.
    pub to: Target,
    /// Span of the `to` argument.
    pub to_span: Span,
    /// Span of the block's header.
    pub span: Span,
}

/// The object of a `removed` block, relative to the module that contains the block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RemovedFrom {
    /// A module with everything in it.
    Module(ModulePath),
    /// All instances of a resource.
    Resource(ConfigResource),
}

/// A `removed` block: stops managing objects, with or without destroying them.
#[derive(Clone, Debug)]
pub struct Removed {
    /// The object that is no longer declared.
    pub from: RemovedFrom,
    /// Span of the `from` argument.
    pub from_span: Span,
    /// Whether the objects are destroyed; otherwise they are only removed from the state.
    pub destroy: bool,
    /// Destroy-time provisioners.
    pub provisioners: Vec<Provisioner>,
    /// Span of the block's header.
    pub span: Span,
}

/// An `import` block: adopts an existing object into the state.
#[derive(Clone, Debug)]
pub struct Import {
    /// The resource to import into, relative to the module that contains the block.
    pub to: ConfigResource,
    /// The `to` argument with its instance keys, which may need evaluation.
    pub to_expression: Expression,
    /// The identification of the existing object.
    pub identity: ImportIdentity,
    /// `for_each`: one import for each element.
    pub for_each: Option<Expression>,
    /// The `provider` argument, for a resource without a block.
    pub provider: Option<LocalProviderRef>,
    /// Span of the block's header.
    pub span: Span,
}

impl Import {
    /// Returns the provider configuration of a resource without a block, by its local name.
    pub fn local_provider(&self) -> LocalProvider {
        match &self.provider {
            Some(reference) => reference.provider.clone(),
            None => LocalProvider::default_of(implied_provider(&self.to.resource.type_name)),
        }
    }

    /// Whether `expression`, an argument of the block, refers to the resource that is imported into.
    pub(crate) fn names_target(&self, expression: &Expression) -> bool {
        let (found, _) = references(expression);
        let is_target =
            |target: &Reference| matches!(target, Reference::Resource(address) if *address == self.to.resource);
        self.to.module.is_root() && found.iter().any(|one| is_target(&one.target))
    }

    /// Whether the identification refers to the resource that is imported into. This cycle is reported while loading.
    pub fn is_self_referential(&self) -> bool {
        let (ImportIdentity::Id(identity) | ImportIdentity::Identity(identity)) = &self.identity;
        [identity].into_iter().chain(&self.for_each).any(|expression| self.names_target(expression))
    }
}

/// The argument of an import block that identifies the object.
#[derive(Clone, Debug, PartialEq)]
pub enum ImportIdentity {
    /// `id`: a single string.
    Id(Expression),
    /// `identity`: an object that matches the resource type's identity schema.
    Identity(Expression),
}
