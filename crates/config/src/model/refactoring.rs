//! Blocks that tell what becomes of existing objects: moved, removed, import.

use groma_address::{ConfigResource, ModulePath, Target};
use groma_diagnostics::Span;
use groma_hcl::Expression;
use groma_lang::{Reference, references};

use super::provider::{LocalProvider, LocalProviderRef};
use super::resource::{Provisioner, implied_provider};

/// A `moved` block. Both addresses are relative to the module that holds the block; one without an instance key stands
/// for the whole resource or module call.
#[derive(Clone, Debug, PartialEq)]
pub struct Moved {
    /// The address before the move.
    pub from: Target,
    /// The location of `from`.
    pub from_span: Span,
    /// The address after the move.
    pub to: Target,
    /// The location of `to`.
    pub to_span: Span,
    /// The location of the block's header.
    pub span: Span,
}

/// The target of a `removed` block, relative to its module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RemovedFrom {
    /// Everything in a module.
    Module(ModulePath),
    /// All instances of a resource.
    Resource(ConfigResource),
}

/// A decoded `removed` block.
#[derive(Clone, Debug)]
pub struct Removed {
    /// The address that is removed from the configuration.
    pub from: RemovedFrom,
    /// The location of `from`.
    pub from_span: Span,
    /// Whether the objects are destroyed; if not they are only forgotten.
    pub destroy: bool,
    /// Provisioners to run before the object is destroyed.
    pub provisioners: Vec<Provisioner>,
    /// The location of the block's header.
    pub span: Span,
}

/// A decoded `import` block.
#[derive(Clone, Debug)]
pub struct Import {
    /// The resource the object becomes, relative to the module that holds the block.
    pub to: ConfigResource,
    /// The instance, with keys that may need evaluation.
    pub to_expression: Expression,
    /// The identification of the object to import.
    pub identity: ImportIdentity,
    /// One import per element.
    pub for_each: Option<Expression>,
    /// The provider configuration for a resource that has no block yet.
    pub provider: Option<LocalProviderRef>,
    /// The location of the block's header.
    pub span: Span,
}

impl Import {
    /// The provider configuration of a resource that has no block yet, in its module's names.
    pub fn local_provider(&self) -> LocalProvider {
        match &self.provider {
            Some(reference) => reference.provider.clone(),
            None => LocalProvider::default_of(implied_provider(&self.to.resource.type_name)),
        }
    }

    /// Whether `expression`, which is one of the block's, refers to the resource that the object becomes.
    pub(crate) fn names_target(&self, expression: &Expression) -> bool {
        let (found, _) = references(expression);
        let is_target =
            |target: &Reference| matches!(target, Reference::Resource(address) if *address == self.to.resource);
        self.to.module.is_root() && found.iter().any(|one| is_target(&one.target))
    }

    /// Whether the identifier depends on the imported object itself: an error that is reported when the configuration is loaded.
    pub fn stands_on_itself(&self) -> bool {
        let (ImportIdentity::Id(identity) | ImportIdentity::Identity(identity)) = &self.identity;
        [identity].into_iter().chain(&self.for_each).any(|expression| self.names_target(expression))
    }
}

/// The identification of the object to import.
#[derive(Clone, Debug, PartialEq)]
pub enum ImportIdentity {
    /// `id`: one string.
    Id(Expression),
    /// `identity`: an object by the resource type's identity schema.
    Identity(Expression),
}
