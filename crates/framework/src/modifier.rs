//! Plan modifiers of attributes (FW-04 to FW-11).

use groma_provider::{ProviderDiagnostic, ProviderDiagnostics};
use groma_value::{Path, Value};

use crate::PrivateData;

/// The complete objects that a plan is made of.
#[derive(Clone, Copy)]
pub struct Objects<'a> {
    /// The configuration; null when the object is to be deleted.
    pub config: &'a Value,
    /// The plan so far; null when the object is to be deleted.
    pub plan: &'a Value,
    /// The prior state; null when the object is to be created.
    pub state: &'a Value,
}

/// The inputs of a plan modifier (FW-11).
///
/// Under lists the prior state is matched by position, as the protocol has it; under sets by what the configuration
/// gives (FW-14), so that a removed element does not shift state onto its neighbors.
#[derive(Clone, Copy)]
pub struct ModifierRequest<'a> {
    /// The path of the attribute.
    pub path: &'a Path,
    /// Its value in the configuration.
    pub config: &'a Value,
    /// Its planned value after the previous modifiers.
    pub plan: &'a Value,
    /// The prior value; null for a creation.
    pub state: &'a Value,
    /// The complete objects, with the plan before any modifier.
    pub whole: Objects<'a>,
    /// The private data of the object.
    pub private: &'a PrivateData,
}

/// The decision of a plan modifier.
#[derive(Clone, Debug)]
pub struct ModifierResponse {
    /// The new planned value.
    pub plan: Value,
    /// Whether the object must be replaced because of this attribute.
    pub requires_replace: bool,
    /// Errors and warnings for the user; an error stops the further modifiers of this attribute and of everything
    /// nested in it (FW-05).
    pub diagnostics: ProviderDiagnostics,
}

impl ModifierResponse {
    /// Adds an error about the attribute.
    pub fn error(&mut self, path: &Path, summary: impl Into<String>, detail: impl Into<String>) {
        self.diagnostics.push(ProviderDiagnostic::error(summary, detail).at(path.clone()));
    }
}

/// A rule that may change the planned value of an attribute.
pub trait PlanModifier: Send + Sync {
    /// Returns the description, one sentence.
    fn description(&self) -> String;

    /// Returns the description in Markdown.
    fn markdown_description(&self) -> String {
        self.description()
    }

    /// Modifies the planned value of the attribute, or requires a replacement.
    fn modify(&self, request: &ModifierRequest<'_>, response: &mut ModifierResponse);
}

/// A modifier whose implementation is a function.
struct FunctionModifier<F> {
    description: String,
    modify: F,
}

impl<F: Fn(&ModifierRequest<'_>, &mut ModifierResponse) + Send + Sync> PlanModifier for FunctionModifier<F> {
    fn description(&self) -> String {
        self.description.clone()
    }

    fn modify(&self, request: &ModifierRequest<'_>, response: &mut ModifierResponse) {
        (self.modify)(request, response);
    }
}

/// Creates a modifier from a function.
pub fn modifier(
    description: impl Into<String>,
    modify: impl Fn(&ModifierRequest<'_>, &mut ModifierResponse) + Send + Sync + 'static,
) -> impl PlanModifier {
    FunctionModifier { description: description.into(), modify }
}

/// The decision of a condition for [`requires_replace_if`].
#[derive(Clone, Debug, Default)]
pub struct ReplaceDecision {
    /// Whether the change requires a replacement.
    pub requires_replace: bool,
    /// Errors and warnings for the user.
    pub diagnostics: ProviderDiagnostics,
}

impl From<bool> for ReplaceDecision {
    fn from(requires_replace: bool) -> Self {
        Self { requires_replace, diagnostics: ProviderDiagnostics::new() }
    }
}

/// Whether an existing object changes in this attribute: false for a creation, a deletion, and an unchanged value.
fn changes(request: &ModifierRequest<'_>) -> bool {
    !request.whole.state.is_null() && !request.whole.plan.is_null() && request.plan != request.state
}

/// Requires a replacement for a changed value (FW-06).
pub fn requires_replace() -> impl PlanModifier {
    modifier("A change of this value needs a new object.", |request, response: &mut ModifierResponse| {
        // Or-ed, because an earlier modifier may have required the replacement already.
        response.requires_replace |= changes(request);
    })
}

/// Requires a replacement for a changed value if `condition` holds (FW-07): a `bool`, or a [`ReplaceDecision`] with
/// diagnostics.
pub fn requires_replace_if<D: Into<ReplaceDecision>>(
    description: impl Into<String>,
    condition: impl Fn(&ModifierRequest<'_>) -> D + Send + Sync + 'static,
) -> impl PlanModifier {
    modifier(description, move |request, response: &mut ModifierResponse| {
        // The condition is not called without a change: it may compare values that exist only then.
        if changes(request) {
            let decision: ReplaceDecision = condition(request).into();
            response.requires_replace |= decision.requires_replace;
            response.diagnostics.extend(decision.diagnostics);
        }
    })
}

/// Requires a replacement for a changed value that the configuration sets (FW-08).
pub fn requires_replace_if_configured() -> impl PlanModifier {
    modifier(
        "A change of this value needs a new object, when the configuration sets it.",
        |request, response: &mut ModifierResponse| {
            // A computed value that the service changes must not replace the object.
            response.requires_replace |= changes(request) && !request.config.is_null();
        },
    )
}

/// Whether the planned value is unknown, the configuration does not set it, and there is a prior object.
fn open(request: &ModifierRequest<'_>) -> bool {
    // An unknown configuration decides the value itself, so the prior one must not replace it (FW-09).
    !request.whole.state.is_null() && !request.plan.is_known() && request.config.is_known()
}

fn keep(state: &Value, response: &mut ModifierResponse) {
    response.plan = state.clone();
}

/// Replaces an unknown planned value by the prior one, for values that never change after the creation (FW-09).
///
/// Has no effect without a prior object, for a known plan, and for an unknown configuration. A prior null is kept, too.
/// Inside nested objects, where the prior value of a new object is null, use [`use_non_null_state_for_unknown`].
pub fn use_state_for_unknown() -> impl PlanModifier {
    modifier("Once it is there, the value never changes.", |request, response: &mut ModifierResponse| {
        if open(request) {
            keep(request.state, response);
        }
    })
}

/// Replaces an unknown planned value by the prior one unless that is null: for attributes of nested objects, whose
/// prior value is null if the object is new (FW-09).
pub fn use_non_null_state_for_unknown() -> impl PlanModifier {
    modifier("Once it is set, the value never changes.", |request, response: &mut ModifierResponse| {
        // The prior value of a new nested object is null, and copying that would plan a wrong null.
        if open(request) && !request.state.is_null() {
            keep(request.state, response);
        }
    })
}
