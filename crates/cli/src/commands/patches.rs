//! `-show-patch`: the patches that updates of Cloud Control resources send.

use groma_cloudcontrol::{Patches, PlannedPatch, PlannedUpdate};
use groma_diagnostics::Diagnostics;
use groma_engine::{Action, Plan, ResourceChange};

use super::builtin_providers::is_cloud_control;
use super::cloudcontrol::catalogue_of;
use super::context::Context;
use crate::views::plan::PlanPatches;

/// Computes the patches of all updates in a plan.
///
/// # Errors
/// The schemas of the user cannot be read.
pub(super) fn patches(context: &Context, plan: &Plan) -> Result<PlanPatches, Diagnostics> {
    let source = Patches::new(catalogue_of(context)?);
    let updates = plan.changes.iter().filter(|change| change.action == Action::Update);
    let updates = updates.filter(|change| is_cloud_control(&change.provider.provider));
    let patches = updates.filter_map(|change| Some((change.address.to_string(), patch(&source, context, change)?)));
    Ok(PlanPatches::new(patches.collect()))
}

fn patch(source: &Patches, context: &Context, change: &ResourceChange) -> Option<PlannedPatch> {
    let after = context.redaction.of(&change.after);
    let update = PlannedUpdate { before: &change.before, after: &after, private: &change.planned_private };
    source.of(&change.address.resource.type_name, update)
}
