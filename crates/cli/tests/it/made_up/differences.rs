//! Where two lives part, and which differences are meant.

use serde_json::{Value as Json, json};

use super::evening::{
    each_instance, set, without_dependencies_anywhere, without_dependencies_below, without_deposed,
    without_empty_resources, without_members, without_outputs, without_secrecy,
};
use super::life::{Ended, Outcome, Step};
use crate::common::even::first_difference;

/// What docs/differences.md has to say.
const DOCUMENTED: &str = include_str!("../../../../../docs/differences.md");

/// What was found.
pub enum Found {
    Nothing,
    /// Nothing but rows of docs/differences.md.
    Meant,
    /// The first other difference, as text.
    Other(String),
}

/// A difference that is meant.
struct Meant {
    /// What its row begins with.
    matter: &'static str,
    /// Takes it away on both sides, where it shows.
    even: fn(&Step, &mut Outcome, &mut Outcome),
    after: After,
}

/// Whether the lives can still be compared behind a difference.
#[derive(Clone, Copy, PartialEq, Eq)]
enum After {
    GoesOn,
    Ends,
}

const ROWS: &[Meant] = &[
    Meant {
        matter: "`replace_triggered_by` with a resource that has no instances",
        even: |_, theirs, ours| {
            if theirs.planned.says("Error: no change found for ") {
                *theirs = ours.clone();
            }
        },
        after: After::Ends,
    },
    Meant {
        matter: "`-replace` with an address that matches nothing",
        even: |_, theirs, ours| {
            for ended in [&mut theirs.planned, &mut ours.planned] {
                ended.summaries.retain(|summary| !summary.contains("Incompletely-matched force-replace"));
            }
        },
        after: After::GoesOn,
    },
    Meant {
        matter: "`replace_triggered_by` with an attribute of a resource that has `count` or `for_each`",
        even: |_, theirs, ours| {
            if ours.planned.says("Error: Missing resource instance key") {
                *theirs = ours.clone();
            }
        },
        after: After::GoesOn,
    },
    Meant {
        matter: "a secret argument that `ignore_changes` keeps from an object",
        even: |step, theirs, ours| {
            if step.has("-replace") {
                [theirs, ours].into_iter().for_each(without_secrecy);
            }
        },
        after: After::Ends,
    },
    Meant {
        matter: "outputs that a run with `-target` or `-refresh-only` cannot work out",
        even: |step, theirs, ours| {
            let is_part = step.has("-target") || step.has("-refresh-only");
            if is_part && theirs.planned.code == 1 && theirs.planned.says("Error: Invalid index") {
                *theirs = ours.clone();
            }
            if step.has("-target") && theirs.planned.code != 1 && ours.planned.code != 1 {
                theirs.planned.code = ours.planned.code;
                set(&mut theirs.plan, "/applyable", &json!(ours.planned.code == 2));
            }
            if is_part {
                [theirs, ours].into_iter().for_each(without_outputs);
            }
        },
        after: After::Ends,
    },
    Meant {
        matter: "an unknown value whose type can never fit",
        even: |_, theirs, ours| {
            if ours.planned.says("Error: Invalid template interpolation value") {
                *theirs = ours.clone();
            }
        },
        after: After::Ends,
    },
    Meant {
        matter: "old objects of what a `-target` needs",
        even: |step, theirs, ours| {
            if step.has("-target") {
                [theirs, ours].into_iter().for_each(without_deposed);
            }
        },
        after: After::Ends,
    },
    Meant {
        matter: "objects that `import` takes in",
        even: |step, theirs, ours| {
            if step.files.contains_key("import.tf") {
                for outcome in [theirs, ours] {
                    let plan = outcome.plan.as_mut().and_then(|plan| plan.pointer_mut("/prior_state"));
                    plan.into_iter().for_each(|state| without_members(state, &["depends_on"]));
                }
            }
        },
        after: After::GoesOn,
    },
    Meant {
        matter: "outputs that stand on a change which fails",
        even: |_, theirs, ours| {
            if theirs.applied.as_ref().is_some_and(|ended| ended.code == 1) {
                set(&mut theirs.state, "/outputs", &json!({}));
                set(&mut ours.state, "/outputs", &json!({}));
            }
        },
        after: After::Ends,
    },
    Meant {
        matter: "conditions of an object whose provisioner has failed",
        even: |_, theirs, ours| {
            if theirs.applied.as_ref().is_some_and(|ended| ended.says("Error: local-exec provisioner error")) {
                set(&mut theirs.state, "/check_results", &Json::Null);
                set(&mut ours.state, "/check_results", &Json::Null);
            }
        },
        after: After::GoesOn,
    },
    Meant {
        matter: "results of conditions that apply does not evaluate again",
        even: |_, theirs, ours| {
            for ended in [&mut theirs.applied, &mut ours.applied].into_iter().flatten() {
                ended.summaries.retain(|summary| summary != "Warning: Error message refers to sensitive values");
            }
            set(&mut theirs.state, "/check_results", &Json::Null);
            set(&mut ours.state, "/check_results", &Json::Null);
        },
        after: After::GoesOn,
    },
    Meant {
        matter: "`plan -refresh-only -detailed-exitcode` where all there is to record is a move or a secret output",
        even: |step, theirs, ours| {
            if step.has("-refresh-only") && (theirs.planned.code, ours.planned.code) == (0, 2) {
                *theirs = ours.clone();
            }
        },
        after: After::Ends,
    },
    Meant {
        matter: "`plan -refresh-only -detailed-exitcode` where nothing is told",
        even: |step, theirs, ours| {
            if step.has("-refresh-only") && (theirs.planned.code, ours.planned.code) == (2, 0) {
                theirs.planned.code = 0;
                set(&mut theirs.plan, "/applyable", &json!(false));
            }
        },
        after: After::GoesOn,
    },
    Meant {
        matter: "`destroy` of an estate that is only half made",
        even: |step, theirs, ours| {
            if step.has("-destroy") && theirs.planned.code == 1 {
                *theirs = ours.clone();
            }
        },
        after: After::Ends,
    },
    Meant {
        matter: "outputs in a plan that destroys",
        even: |step, theirs, ours| {
            if step.has("-destroy") {
                for place in ["/output_changes", "/prior_state/values/outputs"] {
                    set(&mut theirs.plan, place, &Json::Null);
                    set(&mut ours.plan, place, &Json::Null);
                }
            }
        },
        after: After::GoesOn,
    },
    Meant {
        matter: "resources without instances in the state",
        even: |_, theirs, ours| [theirs, ours].into_iter().for_each(without_empty_resources),
        after: After::GoesOn,
    },
    Meant {
        matter: "`create_before_destroy` in the state",
        even: |_, theirs, ours| {
            [theirs, ours].into_iter().for_each(|outcome| {
                each_instance(outcome, |instance| drop(instance.remove("create_before_destroy")));
            });
        },
        after: After::GoesOn,
    },
    Meant {
        matter: "a mention of a called module as a whole",
        even: |_, theirs, ours| {
            for outcome in [theirs, ours] {
                each_instance(outcome, |instance| without_dependencies_below(instance, "dependencies"));
                outcome.plan.iter_mut().for_each(without_dependencies_anywhere);
            }
        },
        after: After::GoesOn,
    },
];

/// Where they part first; nothing is compared behind that, as they lead to different things.
pub fn first(steps: &[Step], theirs: Vec<Outcome>, ours: Vec<Outcome>) -> Found {
    let mut found = Found::Nothing;
    for (at, ((step, mut theirs), mut ours)) in steps.iter().zip(theirs).zip(ours).enumerate() {
        if fail_alike(&theirs, &ours) {
            continue;
        }
        let mut ends = false;
        for row in ROWS {
            if theirs == ours {
                break;
            }
            assert!(is_documented(row.matter), "not in docs/differences.md: {}", row.matter);
            let before = (theirs.clone(), ours.clone());
            (row.even)(step, &mut theirs, &mut ours);
            if before != (theirs.clone(), ours.clone()) {
                found = Found::Meant;
                ends |= row.after == After::Ends;
            }
        }
        if theirs != ours {
            return Found::Other(format!("step {at} {:?}: {}", step.options, difference(&theirs, &ours)));
        }
        if ends {
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

/// Whether the page has a row that begins so.
fn is_documented(matter: &str) -> bool {
    DOCUMENTED.contains(&format!("\n| {matter}"))
}

fn difference(theirs: &Outcome, ours: &Outcome) -> String {
    let pretty = |json: &Option<Json>| json.as_ref().map_or_else(String::new, |json| format!("{json:#}"));
    let ended = |ended: &Ended| format!("{}\n{}", ended.code, ended.summaries.join("\n"));
    let applied = |outcome: &Outcome| outcome.applied.as_ref().map_or_else(String::new, ended);
    let parts = [
        ("command", format!("{:?}", theirs.command), format!("{:?}", ours.command)),
        ("plan", ended(&theirs.planned), ended(&ours.planned)),
        ("document", pretty(&theirs.plan), pretty(&ours.plan)),
        ("apply", applied(theirs), applied(ours)),
        ("state", pretty(&theirs.state), pretty(&ours.state)),
    ];
    let part = parts.iter().find(|(_, theirs, ours)| theirs != ours);
    part.map_or_else(String::new, |(name, theirs, ours)| format!("{name} {}", first_difference(theirs, ours)))
}
