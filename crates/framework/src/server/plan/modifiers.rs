//! The plan modifiers of the attributes (FW-04, FW-05).

use super::prepare::Prepared;
use crate::modifier::{ModifierRequest, ModifierResponse, Objects};
use crate::rewrite::{Next, ObjectStates, rewrite};
use crate::server::consistency::Change;
use crate::{PrivateData, ResourceSchema};

pub(super) fn run_modifiers(
    schema: &ResourceSchema,
    triple: ObjectStates<'_>,
    private: &PrivateData,
    prepared: &mut Prepared,
) {
    let whole = Objects { config: triple.config, plan: triple.plan, state: triple.state };
    let Prepared { requires_replace, changes, diagnostics, .. } = prepared;
    let plan = rewrite(schema.block(), schema.rules(), triple, &mut |visit| {
        let mut plan = visit.plan.clone();
        let mut replace = false;
        for modifier in &visit.rules.own.modifiers {
            let request = ModifierRequest {
                path: visit.path,
                config: visit.config,
                plan: &plan,
                state: visit.state,
                whole,
                private,
            };
            let mut response = ModifierResponse {
                plan: plan.clone(),
                requires_replace: false,
                diagnostics: groma_provider::ProviderDiagnostics::new(),
            };
            modifier.modify(&request, &mut response);
            replace |= response.requires_replace;
            let failed = response.diagnostics.has_errors();
            diagnostics.extend(response.diagnostics);
            if response.plan != plan {
                changes.push(Change { path: visit.path.clone(), description: modifier.description() });
                plan = response.plan;
            }
            if failed {
                // FW-05: neither the further modifiers of this attribute nor those of anything inside it.
                return Next::Past(plan);
            }
        }
        if replace {
            requires_replace.push(visit.path.clone());
        }
        // FW-04: nested attributes follow, with the result of this modifier.
        if visit.rules.nested.as_ref().is_some_and(|nested| nested.has.modifiers) {
            Next::Into(plan)
        } else {
            Next::Past(plan)
        }
    });
    prepared.plan = plan;
}
