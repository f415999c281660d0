//! Defaults for arguments that the configuration omits (FW-02, FW-16).

use groma_provider::ProviderDiagnostics;
use groma_value::Value;

use super::panic;
use crate::ResourceSchema;
use crate::rewrite::{Next, ObjectStates, rewrite};
use crate::schema::DefaultRequest;

/// The plan with defaults where the configuration says nothing.
pub(super) fn apply_defaults(
    schema: &ResourceSchema,
    triple: ObjectStates<'_>,
    diagnostics: &mut ProviderDiagnostics,
) -> Value {
    rewrite(schema.block(), schema.rules(), triple, &mut |visit| {
        let Some(default) = visit.rules.own.default.as_ref().filter(|_| visit.config.is_null()) else {
            return Next::Into(visit.plan.clone());
        };
        match default.resolve(&DefaultRequest { path: visit.path, config: triple.config }) {
            Ok(value) => Next::Past(value),
            Err(problem) => {
                diagnostics.push(if problem.path.is_empty() { problem.at(visit.path.clone()) } else { problem });
                Next::Past(visit.plan.clone())
            }
        }
    })
}

/// A configuration that is not planned, with its defaults: what a data source, an ephemeral resource, an action, a search or the provider
/// itself gets.
///
/// # Errors
///
/// What a computed default refuses.
pub(super) fn with_defaults(schema: &ResourceSchema, config: Value) -> Result<Value, ProviderDiagnostics> {
    if !schema.rules().has.defaults || config.is_null() {
        return Ok(config);
    }
    let mut diagnostics = ProviderDiagnostics::new();
    let triple = ObjectStates { config: &config, plan: &config, state: &config };
    let filled = panic::catch("defaults", || apply_defaults(schema, triple, &mut diagnostics))?;
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(filled) }
}
