//! Modifiers that keep known prior values (FW-09), and modifiers that require a replacement.

use groma_provider::ProviderDiagnostics;
use groma_value::Value;

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

/// Whether the plan leaves the value open, nothing in the configuration will decide it, and there is an object.
fn open(request: &ModifierRequest<'_>) -> bool {
    !request.whole.state.is_null() && !request.plan.is_known() && request.config.is_known()
}

fn keep(state: &Value, response: &mut ModifierResponse) {
    response.plan = state.clone();
}

/// An unknown planned value becomes the prior one: for what never changes once it is there (FW-09).
///
/// Without a prior object nothing happens, and neither when the plan is known or the configuration unknown. A prior null
/// is kept too; inside nested objects, where a new object's prior is null, take [`use_non_null_state_for_unknown`].
pub fn use_state_for_unknown() -> impl PlanModifier {
    modifier("Once it is there, the value never changes.", |request, response: &mut ModifierResponse| {
        if open(request) {
            keep(request.state, response);
        }
    })
}

/// An unknown planned value becomes the prior one unless that is null: for attributes of nested objects, whose prior value
/// is null when the object is new (FW-09).
pub fn use_non_null_state_for_unknown() -> impl PlanModifier {
    modifier("Once it is set, the value never changes.", |request, response: &mut ModifierResponse| {
        if open(request) && !request.state.is_null() {
            keep(request.state, response);
        }
    })
}
