//! Modifiers that keep known prior values (FW-09).

use groma_value::Value;

use super::{ModifierRequest, ModifierResponse, PlanModifier, modifier};

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
