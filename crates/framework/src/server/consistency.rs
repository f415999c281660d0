//! The data consistency rules, checked before the engine does, in words for the provider's author (FW-15).

use groma_provider::contract::{Secrets, Violation, check_compatible, check_planned};
use groma_provider::{PlanRequest, ProviderDiagnostic, ProviderDiagnostics};
use groma_value::{Path, Value};

use crate::ResourceSchema;

/// That a plan modifier changed a planned value.
pub(super) struct Change {
    pub(super) path: Path,
    /// The description of the modifier.
    pub(super) description: String,
}

/// Checks a plan against the configuration (LC-07 to LC-09).
pub(super) fn check_plan(
    schema: &ResourceSchema,
    request: &PlanRequest,
    plan: &Value,
    changes: &[Change],
) -> ProviderDiagnostics {
    let violations = check_planned(schema.block(), &request.prior_state, &request.config, plan);
    let report = |violation: &Violation| {
        let blamed = changes.iter().rev().find(|change| violation.path.starts_with(&change.path));
        let who = match blamed {
            Some(change) => format!("It was last changed by the plan modifier \"{}\"", change.description),
            None => "It was changed by the modify_plan of the resource".to_owned(),
        };
        let detail = format!(
            "{}{}: {}. {who}. A value from the configuration must be planned as it is, or as the prior state has it; only \
             computed attributes that the configuration leaves out are the provider's to choose.",
            request.type_name,
            violation.location(),
            violation.message(Secrets::new(schema.block(), &[])),
        );
        ProviderDiagnostic::error("Inconsistent plan from provider code", detail).at(violation.path.clone())
    };
    violations.iter().map(report).collect()
}

/// Checks a new state against the plan (LC-12, LC-13).
pub(super) fn check_result(
    schema: &ResourceSchema,
    type_name: &str,
    plan: &Value,
    state: &Value,
) -> ProviderDiagnostics {
    let violations = check_compatible(schema.block(), plan, state);
    let report = |violation: &Violation| {
        let detail = format!(
            "{type_name}{}: {}. What was planned as known must be returned as it was planned, in the author's own form; \
             what cannot be known before must be planned as unknown.",
            violation.location(),
            violation.message(Secrets::new(schema.block(), &[])),
        );
        ProviderDiagnostic::error("Inconsistent result from provider code", detail).at(violation.path.clone())
    };
    violations.iter().map(report).collect()
}
