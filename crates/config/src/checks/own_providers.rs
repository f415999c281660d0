//! Modules with provider blocks of their own, and what their calls cannot have.

use groma_diagnostics::Span;
use groma_hcl::{BodySchema, Expression};

use crate::model::{ModuleCall, ProviderBlock};

/// The first uses of features, on the path to a module, that exclude provider configurations in that module.
#[derive(Clone, Copy, Default)]
pub(super) struct Above {
    /// `count` or `for_each`
    repeated: Option<Span>,
    /// One of these, `enabled` or `depends_on`
    any: Option<Span>,
}

impl Above {
    /// Adds the features of a call, for the module inside it.
    pub(super) fn with(self, call: &ModuleCall) -> Self {
        let place = |expression: &Option<Expression>| expression.as_ref().map(|expression| expression.span);
        let own = place(&call.count).or_else(|| place(&call.for_each));
        let depends_on = call.has_depends_on.then(|| call.depends_on.first().map_or(call.span, |first| first.span));
        Self { repeated: own.or(self.repeated), any: own.or_else(|| place(&call.enabled)).or(depends_on).or(self.any) }
    }

    /// Returns the use that excludes a module with this block. A block with `for_each` alone works in every module with instances.
    pub(super) fn forbids(self, block: &ProviderBlock) -> Option<Span> {
        if is_repeated_alone(block) { self.repeated } else { self.any }
    }
}

/// Whether a block only declares a configuration that the caller passes.
pub(super) fn is_empty(block: &ProviderBlock) -> bool {
    block.for_each.is_none() && has_no_arguments(block)
}

/// Whether a block has `for_each`, and nothing in which its instances could differ.
pub(super) fn is_repeated_alone(block: &ProviderBlock) -> bool {
    block.for_each.is_some() && has_no_arguments(block)
}

fn has_no_arguments(block: &ProviderBlock) -> bool {
    // Whatever is in the body is an error to a schema of nothing.
    let (_, diagnostics) = block.body.content(&BodySchema::new());
    block.version.is_empty() && !diagnostics.has_errors()
}
