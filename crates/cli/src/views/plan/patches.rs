//! The patches that planned updates send to AWS Cloud Control.

use std::collections::BTreeMap;

use groma_cloudcontrol::PlannedPatch;
use groma_engine::{Plan, ResourceChange};
use serde_json::json;

use crate::terminal::printable_line;
use crate::views::json::Message;

/// The patches of a plan, by the addresses of the updated instances.
#[derive(Clone, Debug, Default)]
pub struct PlanPatches(BTreeMap<String, PlannedPatch>);

impl PlanPatches {
    /// Wraps patches by address.
    pub fn new(patches: BTreeMap<String, PlannedPatch>) -> Self {
        Self(patches)
    }

    /// Appends the patch of a change, if it has one.
    pub(super) fn write(&self, change: &ResourceChange, out: &mut String) {
        let Some(patch) = self.of(change) else { return };
        let PlannedPatch { type_name, identifier, operations } = patch;
        out.push_str(&format!("\n  # patch of {type_name} {identifier:?}:\n"));
        for operation in operations {
            out.push_str(&format!("    {}\n", printable_line(&operation.to_string())));
        }
    }

    /// Returns a JSON message for each patch, in the order of the plan.
    pub fn messages<'a>(&'a self, plan: &'a Plan) -> impl Iterator<Item = Message> + 'a {
        plan.changes.iter().filter_map(|change| {
            let PlannedPatch { type_name, identifier, operations } = self.of(change)?;
            let address = change.address.to_string();
            let text = format!("{address}: Patch of {type_name} {identifier:?}");
            let patch = json!({
                "address": address, "type_name": type_name.to_string(), "identifier": identifier, "operations": operations,
            });
            Some(Message::new("planned_patch", text).with("patch", patch))
        })
    }

    fn of(&self, change: &ResourceChange) -> Option<&PlannedPatch> {
        self.0.get(&change.address.to_string()).filter(|_| change.deposed.is_none())
    }
}
