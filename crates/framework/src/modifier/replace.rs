//! Modifiers that ask for a new object (FW-06, FW-07, FW-08).

use groma_provider::ProviderDiagnostics;

use super::{ModifierRequest, ModifierResponse, PlanModifier, modifier};

/// The decision of a condition for [`requires_replace_if`].
#[derive(Clone, Debug, Default)]
pub struct ReplaceDecision {
    /// Whether the change needs a new object.
    pub requires_replace: bool,
    /// Errors and warnings for the user.
    pub diagnostics: ProviderDiagnostics,
}

impl From<bool> for ReplaceDecision {
    fn from(requires_replace: bool) -> Self {
        Self { requires_replace, diagnostics: ProviderDiagnostics::new() }
    }
}

/// Whether an existing object is changed in this attribute: not on create, not on delete, not when nothing changes.
fn changes(request: &ModifierRequest<'_>) -> bool {
    !request.whole.state.is_null() && !request.whole.plan.is_null() && request.plan != request.state
}

/// A changed value replaces the object (FW-06).
pub fn requires_replace() -> impl PlanModifier {
    modifier("A change of this value needs a new object.", |request, response: &mut ModifierResponse| {
        response.requires_replace |= changes(request);
    })
}

/// Requires a replacement for a changed value if `condition` holds (FW-07): a `bool`, or a [`ReplaceDecision`] with diagnostics.
pub fn requires_replace_if<D: Into<ReplaceDecision>>(
    description: impl Into<String>,
    condition: impl Fn(&ModifierRequest<'_>) -> D + Send + Sync + 'static,
) -> impl PlanModifier {
    modifier(description, move |request, response: &mut ModifierResponse| {
        if changes(request) {
            let decision: ReplaceDecision = condition(request).into();
            response.requires_replace |= decision.requires_replace;
            response.diagnostics.extend(decision.diagnostics);
        }
    })
}

/// A changed value replaces the object when the configuration sets it (FW-08).
pub fn requires_replace_if_configured() -> impl PlanModifier {
    modifier(
        "A change of this value needs a new object, when the configuration sets it.",
        |request, response: &mut ModifierResponse| {
            response.requires_replace |= changes(request) && !request.config.is_null();
        },
    )
}
