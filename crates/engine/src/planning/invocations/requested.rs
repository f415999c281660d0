//! The action that a person asks for.

use std::sync::Arc;

use groma_address::InstanceKey;
use groma_diagnostics::Diagnostic;
use groma_plan::{ActionInstance, Cause};

use super::ActionRequests;
use crate::action_blocks::{Named, NamedKey};
use crate::evaluation::Evaluation;
use crate::planning::drafts::InvocationDraft;
use crate::planning::inputs::Inputs;
use crate::planning::invocations::drafting;
use crate::planning::planner::Planner;
use crate::walk::{Outcome, Visit};
use crate::world::ModuleId;

/// Plans what a person asks for.
pub(in crate::planning) async fn requested_invocations(planner: &mut Planner<'_>, visit: Visit, block: u32) {
    let mut drafts = Vec::new();
    if requests(planner, visit.module, block, &mut drafts).is_none() {
        return planner.end(visit, Outcome::Failed);
    }
    drafting::ask(planner, visit, drafts).await;
}

fn requests(planner: &mut Planner<'_>, module: ModuleId, block: u32, drafts: &mut Vec<InvocationDraft>) -> Option<()> {
    let Some(target) = &planner.inputs.options().invoke else { return Some(()) };
    let config = Arc::clone(&planner.world.static_module(module).config);
    let (_, action) = config.actions.get_index(block as usize)?;
    let is_meant = planner.world.module(module).address == target.module
        && action.type_name == target.type_name
        && action.name == target.name;
    if !is_meant {
        return Some(());
    }
    planner.actions.note_request_met();
    let keys = match &target.key {
        Some(key) => vec![key.clone()],
        None => planner.actions.blocks().keys(&planner.world, &mut planner.evaluation, module, block)?,
    };
    for key in keys {
        let named = Named { block, key: NamedKey::Known(key), named_at: None };
        drafts.push(drafting::draft(planner, module, &named, Cause::Request, None)?);
    }
    Some(())
}

/// That what a person asks for is not there.
pub(in crate::planning) fn report_unmet_request(
    inputs: &Inputs<'_>,
    evaluation: &mut Evaluation,
    actions: &ActionRequests,
) {
    let Some(target) = inputs.options().invoke.as_ref().filter(|_| !actions.is_request_met()) else {
        return;
    };
    let action = ActionInstance {
        module: target.module.clone(),
        type_name: target.type_name.clone(),
        name: target.name.clone(),
        key: target.key.clone().unwrap_or(InstanceKey::None),
    };
    let detail =
        "The -invoke option names an action block of the configuration, with the key of one instance if need be.";
    let summary = format!("action {action} does not exist in the configuration");
    evaluation.diagnostics.push(Diagnostic::error(summary, detail));
}
