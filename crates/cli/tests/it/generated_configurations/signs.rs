//! By what a difference is recognised in what came of a step.

use serde_json::Value as Json;

use super::life::Outcome;

/// Whether the module `m` is named, and nothing of it.
pub fn names_module(text: &str) -> bool {
    text.split("module.m").skip(1).any(|rest| !rest.starts_with(['.', '[']))
}

/// Whether what is secret in the state of one is so in that of the other.
pub fn has_all_secrets(outcome: &Outcome, other: &Outcome) -> bool {
    let secrets = |outcome: &Outcome| -> Vec<Vec<Json>> {
        let resources = outcome.state.as_ref().and_then(|state| state["resources"].as_array());
        let instances = resources.into_iter().flatten().filter_map(|resource| resource["instances"].as_array());
        let paths = |instance: &Json| instance["sensitive_attributes"].as_array().cloned().unwrap_or_default();
        instances.flatten().map(paths).collect()
    };
    let (here, there) = (secrets(outcome), secrets(other));
    here.len() == there.len()
        && here.iter().zip(&there).all(|(here, there)| there.iter().all(|path| here.contains(path)))
}

/// Whether an object is updated of which nothing changes but what of it is secret.
pub fn changes_only_secrecy(outcome: &Outcome) -> bool {
    let changes = outcome.plan.as_ref().and_then(|plan| plan["resource_changes"].as_array());
    changes.into_iter().flatten().map(|planned| &planned["change"]).any(|change| {
        change["actions"][0] == "update"
            && change["before"] == change["after"]
            && change["before_sensitive"] != change["after_sensitive"]
    })
}

/// How many changes are planned for that reason.
pub fn changes(outcome: &Outcome, reason: &str) -> usize {
    let changes = outcome.plan.as_ref().and_then(|plan| plan["resource_changes"].as_array());
    changes.into_iter().flatten().filter(|change| change["action_reason"] == reason).count()
}
