//! The records of the state that a plan changes and depends on.

use groma_address::Mode as ResourceMode;
use groma_plan::{Action, Mode, Plan, ResourceChange};
use groma_state::{PlanRecords, RecordName};

use crate::config_graph::{ConfigGraph, ModuleIndex, NodeIndex};

/// Returns the records that carrying `plan` out changes, and the resources that those changes depend on: through expressions,
/// `depends_on`, modules, and the configurations of their providers.
///
/// Objects that stay as they are do not count, so that the plan outlives changes of them.
pub(crate) fn plan_records(graph: &ConfigGraph, plan: &Plan) -> PlanRecords {
    let mut records = PlanRecords::default();
    let refreshed = if plan.mode == Mode::RefreshOnly { plan.drift.as_slice() } else { &[] };
    for change in plan.changes.iter().filter(|change| is_change(change)).chain(refreshed) {
        add_change(graph, change, &mut records);
    }
    for output in plan.outputs.iter().filter(|output| output.action != Action::NoOp) {
        records.changed.insert(RecordName::output(&output.name));
        let root = graph.module(ConfigGraph::ROOT);
        if let Some(at) = root.config.outputs.get_index_of(&output.name) {
            add_dependencies(graph, ConfigGraph::ROOT, root.output(at), &mut records);
        }
    }
    records
}

fn is_change(change: &ResourceChange) -> bool {
    // Data is read again by everybody, so it is nobody's.
    let is_managed = change.address.resource.mode == ResourceMode::Managed;
    is_managed && (change.action != Action::NoOp || change.previous_address.is_some() || change.importing.is_some())
}

fn add_change(graph: &ConfigGraph, change: &ResourceChange, records: &mut PlanRecords) {
    records.changed.insert(RecordName::instance(&change.address));
    records.changed.extend(change.previous_address.iter().map(|address| RecordName::instance(address)));
    if let Some((module, node)) = graph.find_resource(&change.address.config_resource()) {
        add_dependencies(graph, module, node, records);
    }
    // An object without a block depends on its provider all the same.
    if let Some((module, node)) = graph.provider_block(&change.provider) {
        add_dependencies(graph, module, node, records);
    }
}

fn add_dependencies(graph: &ConfigGraph, module: ModuleIndex, node: NodeIndex, records: &mut PlanRecords) {
    let dependencies = graph.ancestors().of(module, node);
    let managed = dependencies.iter().filter(|resource| resource.resource.mode == ResourceMode::Managed);
    records.resources.extend(managed.cloned());
}
