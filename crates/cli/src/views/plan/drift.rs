//! Drift that is relevant for the plan.

use groma_engine::plan::RelevantAttribute;
use groma_engine::{Action, Mode, Plan, ResourceChange};
use groma_value::PathStep;
use std::collections::HashMap;

use groma_address::{AbsResource, InstanceKey};

use crate::views::difference::{Change, Paths, Relevance, compare_objects};

/// An object that changed outside, with the paths worth showing.
#[derive(Clone, Debug)]
pub(super) struct Drifted<'p> {
    pub change: &'p ResourceChange,
    pub paths: Paths<'p>,
}

/// The drift to show: all of it where it is the subject of the plan, otherwise what the planned changes depend on.
pub(super) fn relevant(plan: &Plan) -> Vec<Drifted<'_>> {
    if plan.mode == Mode::RefreshOnly {
        let everything = || Paths::new([&[][..]]);
        return plan.drift.iter().map(|change| Drifted { change, paths: everything() }).collect();
    }
    if plan.drift.is_empty() {
        return Vec::new();
    }
    let mut attributes: HashMap<&AbsResource, Vec<&RelevantAttribute>> = HashMap::new();
    for attribute in &plan.relevant_attributes {
        attributes.entry(&attribute.resource).or_default().push(attribute);
    }
    let drifted = plan.drift.iter().filter_map(|change| {
        let resource = change.address.abs_resource();
        let paths = attributes
            .get(&resource)?
            .iter()
            .filter_map(|attribute| below(attribute.path.steps(), &change.address.key));
        let paths = Paths::new(paths);
        (!paths.is_empty()).then_some(Drifted { change, paths })
    });
    drifted.filter(is_visible).collect()
}

/// The path inside the instance `key`, if it leads there: a path may begin with the key of an instance.
fn below<'p>(path: &'p [PathStep], key: &InstanceKey) -> Option<&'p [PathStep]> {
    match path.split_first() {
        Some((PathStep::Index(step), rest)) => {
            let is_this = match key {
                InstanceKey::None => false,
                InstanceKey::Int(index) => step.as_number().and_then(|number| number.to_u64()) == Some(*index),
                InstanceKey::String(name) => step.as_str() == Some(name),
            };
            is_this.then_some(rest)
        }
        _ => Some(path),
    }
}

fn is_visible(drifted: &Drifted<'_>) -> bool {
    let change = drifted.change;
    if change.action == Action::NoOp {
        return false;
    }
    let relevance = Relevance::Only(drifted.paths.clone());
    let difference = compare_objects(&change.schema.block, &change.before, &change.after, Paths::default(), relevance);
    difference.change != Change::None
}
