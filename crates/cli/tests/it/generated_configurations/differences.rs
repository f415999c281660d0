//! Where two lives part, and which differences are meant.

use Evening::{Ends, LastWithout, Without};
use serde_json::Value as Json;

use super::life::{Ended, Outcome, Step};
use super::normalize::{
    blank, each_instance, remove, without_any_dependencies, without_dependencies_anywhere, without_dependencies_below,
    without_deposed, without_empty_resources, without_members, without_outputs, without_prior_data,
    without_reported_outputs, without_secrecy, without_verdict,
};
use crate::common::cases::assert_documented;
use crate::common::normalization::first_difference;

/// The differences that were found.
pub enum Found {
    Nothing,
    /// Nothing but rows of docs/differences.md.
    Meant,
    /// The first other difference, as text.
    Other(String),
}

/// A difference that is meant.
struct Meant {
    /// The beginning of its row.
    matter: &'static str,
    /// Whether it can be at this step, by what came of it there and here.
    applies: fn(&Step, &Outcome, &Outcome) -> bool,
    normalize: Evening,
}

/// How the rest is compared.
enum Evening {
    /// Both are without this part, and go on.
    Without(fn(&mut Outcome)),
    /// Both are without this part, and lead to different things from here on.
    LastWithout(fn(&mut Outcome)),
    /// The whole step is another one, and so is all behind it.
    Ends,
}

const ROWS: &[Meant] = &[
    Meant {
        matter: "`replace_triggered_by` with a resource that has no instances",
        applies: |_, theirs, _| theirs.planned.says("Error: no change found for "),
        normalize: Ends,
    },
    Meant {
        matter: "`replace_triggered_by` with an attribute of a resource that has `count` or `for_each`",
        applies: |_, _, ours| ours.planned.says("Error: Missing resource instance key"),
        normalize: Ends,
    },
    Meant {
        matter: "an unknown value whose type can never fit",
        applies: |_, _, ours| ours.planned.says("Error: Invalid template interpolation value"),
        normalize: Ends,
    },
    Meant {
        matter: "labels of a dynamic block over an unknown value",
        applies: |_, theirs, ours| {
            theirs.planned.says("Error: Invalid dynamic block label")
                && !ours.planned.says("Error: Invalid dynamic block label")
        },
        normalize: Ends,
    },
    Meant {
        matter: "a sensitive unknown argument of",
        applies: |step, theirs, ours| {
            let tries = step.files.values().any(|text| text.contains("try("));
            tries && theirs.planned.code != 1 && ours.planned.says("Error: Output refers to sensitive values")
        },
        normalize: Ends,
    },
    Meant {
        matter: "outputs that a run with `-target` or `-refresh-only` cannot compute",
        applies: |step, theirs, _| step.is_partial() && theirs.planned.says("Error: Invalid index"),
        normalize: Ends,
    },
    Meant {
        matter: "outputs that a run with `-target` or `-refresh-only` cannot compute",
        applies: |step, theirs, ours| {
            step.is_partial()
                && theirs.planned.code != 1
                && ours.planned.says("Error: Output refers to sensitive values")
        },
        normalize: Ends,
    },
    Meant {
        matter: "`destroy` of a partially created or broken configuration",
        applies: |step, theirs, _| step.has("-destroy") && theirs.planned.code == 1,
        normalize: Ends,
    },
    Meant {
        matter: "`plan -refresh-only -detailed-exitcode` if only a move, a sensitive output",
        applies: |step, theirs, ours| step.has("-refresh-only") && (theirs.planned.code, ours.planned.code) == (0, 2),
        normalize: Ends,
    },
    Meant {
        matter: "`plan -refresh-only -detailed-exitcode` if nothing is reported",
        applies: |step, theirs, ours| step.has("-refresh-only") && (theirs.planned.code, ours.planned.code) == (2, 0),
        normalize: Without(without_verdict),
    },
    Meant {
        matter: "`plan -destroy -detailed-exitcode` if only data is left in the state",
        applies: |step, theirs, ours| step.has("-destroy") && (theirs.planned.code, ours.planned.code) == (2, 0),
        normalize: Ends,
    },
    Meant {
        matter: "`-replace` with an address that matches nothing",
        applies: |step, _, _| step.has("-replace"),
        normalize: Without(|outcome| outcome.planned.forget("Warning: Incompletely-matched force-replace")),
    },
    Meant {
        matter: "a sensitive argument that `ignore_changes` keeps",
        applies: |step, _, _| step.has("-replace"),
        normalize: LastWithout(without_secrecy),
    },
    Meant {
        matter: "a sensitive unknown argument of",
        applies: |step, theirs, ours| theirs.plan != ours.plan && step.files.values().any(|text| text.contains("try(")),
        normalize: Without(|outcome| {
            outcome
                .plan
                .iter_mut()
                .for_each(|document| without_members(document, &["after_sensitive", "sensitive_values"]));
            outcome.reported.clear();
        }),
    },
    Meant {
        matter: "a sensitive null in a nested attribute",
        applies: |_, theirs, ours| theirs.plan == ours.plan && has_all_secrets(ours, theirs),
        normalize: LastWithout(|outcome| {
            each_instance(outcome, |instance| drop(instance.remove("sensitive_attributes")));
        }),
    },
    Meant {
        matter: "a sensitive null of a replaced object",
        applies: |_, theirs, ours| changes_only_secrecy(theirs) && !changes_only_secrecy(ours),
        normalize: Ends,
    },
    Meant {
        matter: "outputs that a run with `-target` or `-refresh-only` cannot compute",
        applies: |step, theirs, ours| step.is_partial() && theirs.planned.code != 1 && ours.planned.code != 1,
        normalize: LastWithout(|outcome| {
            without_outputs(outcome);
            without_verdict(outcome);
        }),
    },
    Meant {
        matter: "objects in a removed module instance",
        applies: |step, theirs, _| step.has("-target") && changes(theirs, "delete_because_no_module") > 0,
        normalize: Ends,
    },
    Meant {
        matter: "old objects of dependencies that a `-target` needs",
        applies: |step, _, _| step.has("-target"),
        normalize: LastWithout(without_deposed),
    },
    Meant {
        matter: "objects that `import` adds to the state",
        applies: |step, _, _| step.files.contains_key("import.tf"),
        normalize: Without(|outcome| {
            let prior = outcome.plan.as_mut().and_then(|plan| plan.pointer_mut("/prior_state"));
            prior.into_iter().for_each(|state| without_members(state, &["depends_on"]));
        }),
    },
    Meant {
        matter: "outputs that depend on a failed change",
        applies: |_, theirs, _| theirs.applied.as_ref().is_some_and(|ended| ended.code == 1),
        normalize: LastWithout(|outcome| blank(&mut outcome.state, "/outputs")),
    },
    Meant {
        matter: "conditions of an object whose provisioner failed",
        applies: |_, theirs, _| {
            theirs.applied.as_ref().is_some_and(|ended| ended.says("Error: local-exec provisioner error"))
        },
        normalize: Without(|outcome| blank(&mut outcome.state, "/check_results")),
    },
    Meant {
        matter: "results of conditions that apply does not evaluate again",
        applies: |_, theirs, _| theirs.applied.is_some(),
        normalize: Without(|outcome| {
            blank(&mut outcome.state, "/check_results");
            outcome
                .applied
                .iter_mut()
                .for_each(|ended| ended.forget("Warning: Error message refers to sensitive values"));
        }),
    },
    Meant {
        matter: "outputs in a destroy plan",
        applies: |step, _, _| step.has("-destroy"),
        normalize: Without(|outcome| {
            remove(&mut outcome.plan, "", "output_changes");
            remove(&mut outcome.plan, "/prior_state/values", "outputs");
            without_reported_outputs(outcome);
        }),
    },
    Meant {
        matter: "instances of dependencies that a `-target` needs",
        applies: |step, theirs, ours| step.has("-target") && theirs.plan == ours.plan && theirs.state != ours.state,
        normalize: Ends,
    },
    Meant {
        matter: "data in a module called with `depends_on`",
        applies: |step, theirs, ours| {
            let waiting = |outcome: &Outcome| changes(outcome, "read_because_dependency_pending");
            let calls = |text: &String| text.split("\nmodule ").skip(1).any(|call| call.contains("depends_on"));
            waiting(theirs) > waiting(ours) && step.files.values().any(calls)
        },
        normalize: Ends,
    },
    Meant {
        matter: "data in a destroy plan",
        applies: |step, _, _| step.has("-destroy"),
        normalize: Without(without_prior_data),
    },
    Meant {
        matter: "data in a destroy plan",
        applies: |step, _, _| step.has("-destroy"),
        normalize: Without(|outcome| {
            outcome.plan.iter_mut().for_each(|plan| without_members(plan, &["relevant_attributes"]));
        }),
    },
    Meant {
        matter: "`x == null` where only something inside `x` is sensitive",
        applies: |step, theirs, ours| {
            let holds_secret_against_null =
                |line: &str| line.contains("sensitive(") && (line.contains("== null") || line.contains("!= null"));
            has_all_secrets(theirs, ours)
                && step.files.values().flat_map(|text| text.lines()).any(holds_secret_against_null)
        },
        normalize: Ends,
    },
    Meant {
        matter: "moved blocks that form a cycle with a declared instance",
        applies: |_, theirs, ours| {
            theirs.planned.says("Error: Moved object still exists")
                && ours.planned.says("Error: Cyclic dependency in move statements")
        },
        normalize: Ends,
    },
    Meant {
        matter: "recorded dependencies in the state that were moved",
        applies: |step, _, _| step.files.values().any(|text| text.contains("moved {")),
        normalize: Without(without_any_dependencies),
    },
    Meant {
        matter: "resources without instances in the state",
        applies: |_, theirs, _| theirs.state.is_some(),
        normalize: Without(without_empty_resources),
    },
    Meant {
        matter: "`create_before_destroy` in the state",
        applies: |_, theirs, _| theirs.state.is_some(),
        normalize: Without(|outcome| {
            each_instance(outcome, |instance| drop(instance.remove("create_before_destroy")));
        }),
    },
    Meant {
        matter: "a reference to a called module as a whole",
        applies: |_, theirs, _| theirs.plan.is_some(),
        normalize: Without(|outcome| {
            each_instance(outcome, |instance| without_dependencies_below(instance, "dependencies"));
            outcome.plan.iter_mut().for_each(without_dependencies_anywhere);
            // Checks of modules that nobody asked for are not decided.
            blank(&mut outcome.plan, "/checks");
        }),
    },
    // The arguments of a call count as part of its module.
    Meant {
        matter: "a reference to a called module as a whole",
        applies: |step, _, _| step.files.values().any(|text| names_module(text)),
        normalize: Without(|outcome| {
            without_any_dependencies(outcome);
            // As above: those that are asked for there are reported.
            let reported = std::iter::once(&mut outcome.planned).chain(&mut outcome.applied);
            reported.for_each(|ended| ended.forget("Warning: Check block assertion failed"));
        }),
    },
];

/// Where they part first; nothing is compared behind that, as they lead to different things.
pub fn first(steps: &[Step], theirs: Vec<Outcome>, ours: Vec<Outcome>) -> Found {
    let mut found = Found::Nothing;
    for (at, ((step, mut theirs), mut ours)) in steps.iter().zip(theirs).zip(ours).enumerate() {
        if fail_alike(&theirs, &ours) {
            continue;
        }
        let mut is_last = false;
        for row in ROWS {
            if theirs == ours {
                break;
            }
            assert_documented(row.matter);
            if !(row.applies)(step, &theirs, &ours) {
                continue;
            }
            let leave_out = match row.normalize {
                Ends => return Found::Meant,
                Without(leave_out) | LastWithout(leave_out) => leave_out,
            };
            let before = (theirs.clone(), ours.clone());
            leave_out(&mut theirs);
            leave_out(&mut ours);
            if before != (theirs.clone(), ours.clone()) {
                found = Found::Meant;
                is_last |= matches!(row.normalize, LastWithout(_));
            }
        }
        if theirs != ours {
            return Found::Other(format!("step {at} {:?}: {}", step.options, difference(&theirs, &ours)));
        }
        if is_last {
            return found;
        }
    }
    found
}

/// Whether the plans of both are refused for one reason at least: how many more are found at once is not compared here.
fn fail_alike(theirs: &Outcome, ours: &Outcome) -> bool {
    let both_fail = theirs.planned.code == 1 && ours.planned.code == 1;
    let errors = |outcome: &Outcome| -> Vec<String> {
        outcome.planned.summaries.iter().filter(|summary| summary.starts_with("Error: ")).cloned().collect()
    };
    let ours = errors(ours);
    both_fail && errors(theirs).iter().any(|error| ours.contains(error))
}

fn difference(theirs: &Outcome, ours: &Outcome) -> String {
    let pretty = |json: &Option<Json>| json.as_ref().map_or_else(String::new, |json| format!("{json:#}"));
    let ended = |ended: &Ended| format!("{}\n{}", ended.code, ended.summaries.join("\n"));
    let applied = |outcome: &Outcome| outcome.applied.as_ref().map_or_else(String::new, ended);
    let parts = [
        ("command", format!("{:?}", theirs.command), format!("{:?}", ours.command)),
        ("plan", ended(&theirs.planned), ended(&ours.planned)),
        ("document", pretty(&theirs.plan), pretty(&ours.plan)),
        ("text", theirs.reported.clone(), ours.reported.clone()),
        ("apply", applied(theirs), applied(ours)),
        ("state", pretty(&theirs.state), pretty(&ours.state)),
    ];
    let part = parts.iter().find(|(_, theirs, ours)| theirs != ours);
    part.map_or_else(String::new, |(name, theirs, ours)| format!("{name} {}", first_difference(theirs, ours)))
}

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
