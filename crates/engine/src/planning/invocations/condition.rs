//! Whether a trigger counts.

use groma_config::ActionTrigger;
use groma_diagnostics::Diagnostic;
use groma_lang::{Scope, observing};
use groma_value::{Kind, Type, convert};

use crate::evaluation::Evaluation;
use crate::options::Deferral;

/// Whether a trigger counts.
pub(super) enum Verdict {
    Yes,
    No,
    /// That is not known yet.
    Open,
}

/// Whether a trigger counts; what is not known yet is an error unless a later run may see. None after an error, which is noted.
pub(super) fn condition(
    evaluation: &mut Evaluation,
    trigger: &ActionTrigger,
    scope: &dyn Scope,
    deferral: Deferral,
) -> Option<Verdict> {
    let Some(condition) = &trigger.condition else { return Some(Verdict::Yes) };
    let value = evaluation.value(condition, scope)?;
    let problem = match convert::convert(&value.unmark().0, &Type::Bool) {
        Ok(truth) => match truth.kind() {
            Kind::Bool(true) => return Some(Verdict::Yes),
            // Nobody said that something is to be invoked.
            Kind::Bool(false) | Kind::Null => return Some(Verdict::No),
            _ if deferral == Deferral::Allowed => return Some(Verdict::Open),
            _ => {
                let detail = "Whether the actions are invoked must be known when the plan is made, but this condition stands on something that \
                              is not known before apply.";
                Diagnostic::error("Condition must be known", detail)
            }
        },
        Err(problem) => {
            let detail =
                format!("The condition of an action_trigger block must be true or false: {}.", problem.message);
            Diagnostic::error("Incorrect value type", detail)
        }
    };
    evaluation.diagnostics.push(observing(problem.at(condition.span), condition, scope));
    None
}
