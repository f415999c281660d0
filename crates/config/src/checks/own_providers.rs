//! Child modules with their own provider configurations, which restrict the meta-arguments of their calls.

use groma_diagnostics::Span;
use groma_hcl::{BodySchema, Expression};

use crate::model::{ModuleCall, ProviderBlock};

/// The spans of call arguments, from the root module down, that are incompatible with provider blocks in the called
/// module; the nearest of each kind.
#[derive(Clone, Copy, Default)]
pub(super) struct Above {
    /// `count` or `for_each`.
    repeated: Option<Span>,
    /// `count`, `for_each`, `enabled` or `depends_on`.
    any: Option<Span>,
}

impl Above {
    /// Adds the arguments of a call, for the checks inside of the called module.
    pub(super) fn with(self, call: &ModuleCall) -> Self {
        let span = |expression: &Option<Expression>| expression.as_ref().map(|expression| expression.span);
        let own = span(&call.count).or_else(|| span(&call.for_each));
        let depends_on = call.has_depends_on.then(|| call.depends_on.first().map_or(call.span, |first| first.span));
        Self { repeated: own.or(self.repeated), any: own.or_else(|| span(&call.enabled)).or(depends_on).or(self.any) }
    }

    /// Returns the call argument that is incompatible with `block`. A block with only `for_each` conflicts with
    /// repetition only.
    pub(super) fn forbids(self, block: &ProviderBlock) -> Option<Span> {
        if is_repeated_alone(block) { self.repeated } else { self.any }
    }
}

/// Whether a block is only a proxy for a configuration that the caller passes.
pub(super) fn is_empty(block: &ProviderBlock) -> bool {
    block.for_each.is_none() && has_no_arguments(block)
}

/// Whether a block has `for_each` but no arguments, so that its instances are identical.
pub(super) fn is_repeated_alone(block: &ProviderBlock) -> bool {
    block.for_each.is_some() && has_no_arguments(block)
}

fn has_no_arguments(block: &ProviderBlock) -> bool {
    // An empty schema turns any content of the body into an error.
    let (_, diagnostics) = block.body.content(&BodySchema::new());
    block.version.is_empty() && !diagnostics.has_errors()
}
