//! Actions that their provider defers.

use std::path::Path;

use groma_provider::{Attribute, Block, Deferred, NestedBlock, PlanActionResponse, Schema};
use groma_scripted::ActionScript;
use groma_value::Type;

use super::folder;

/// An action that cannot be planned before the folder holds what it needs.
pub(crate) fn note() -> ActionScript {
    let schema = Block::new([("text", Attribute::required(Type::String))], [] as [(&str, NestedBlock); 0]);
    ActionScript::new(Schema::new(schema)).on_plan(|request| {
        let is_late = request.config.attribute("text").is_some_and(|text| text.as_str() == Some("late"));
        let deferred = (is_late && !Path::new("there").exists()).then_some(Deferred::AbsentPrerequisite);
        PlanActionResponse { deferred, ..PlanActionResponse::default() }
    })
}

pub(crate) fn actions() {
    let folder = folder("good");
    let main = r#"
        terraform {
          required_providers {
            trouble = { source = "example/trouble" }
          }
        }
        resource "trouble_thing" "a" {
          name = "a"
          lifecycle {
            action_trigger {
              events  = [before_create]
              actions = [action.trouble_note.late]
            }
          }
        }
        resource "trouble_thing" "b" {
          name = "b"
          lifecycle {
            action_trigger {
              events  = [after_create]
              actions = [action.trouble_note.early, action.trouble_note.late]
            }
          }
        }
        action "trouble_note" "late" {
          config { text = "late" }
        }
        action "trouble_note" "early" {
          config { text = "early" }
        }
    "#;
    folder.write("main.tf", main);
    assert!(folder.fails(&["plan"]).contains("Provider deferred changes when Terraform did not allow deferrals"));
    let shown = folder.ok(&["plan", "-allow-deferral", "-out=part"]);
    for line in [
        "Plan: 1 to add, 0 to change, 0 to destroy. Actions: 1 to invoke.",
        "  # trouble_thing.a was deferred\n  # (because a prerequisite is deferred)\n",
        "  # action.trouble_note.late was deferred\n  # (because a prerequisite does not exist yet)\n    action \"trouble_note\" \"late\" {\n",
        "  # (its triggering change is not deferred: invoke it afterwards with apply -invoke=action.trouble_note.late)\n",
        "1 change and 2 actions are deferred. After applying this plan",
    ] {
        assert!(shown.contains(line), "{line}\n{shown}");
    }
    let plan: serde_json::Value = serde_json::from_str(&folder.ok(&["show", "-json", "part"])).unwrap();
    let left = plan["deferred_action_invocations"].as_array().unwrap();
    assert_eq!((left.len(), &plan["complete"]), (2, &false.into()));
    assert_eq!(left[0]["reason"], "absent_prereq");
    let invocation = &left[0]["action_invocation"];
    assert_eq!(invocation["address"], "action.trouble_note.late");
    assert_eq!(invocation["config_values"], serde_json::json!({ "text": "late" }));
    assert_eq!(invocation["lifecycle_action_trigger"]["triggering_resource_address"], "trouble_thing.a");
    assert_eq!(plan["deferred_changes"][0]["reason"], "deferred_prereq");
    assert_eq!(plan["action_invocations"].as_array().unwrap().len(), 1);

    let messages = folder.ok(&["plan", "-allow-deferral", "-json"]);
    let reported: Vec<serde_json::Value> = messages.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let deferred = reported.iter().find(|message| message["type"] == "deferred_action_invocation").unwrap();
    assert_eq!(deferred["invocation"]["action_addr"]["addr"], "action.trouble_note.late");
    assert_eq!(deferred["invocation"]["reason"], "absent_prereq");

    let applied = folder.ok(&["apply", "part"]);
    assert!(applied.contains("1 of the changes and 2 of the actions were deferred"), "{applied}");
    folder.write("there", "");
    let rest = folder.ok(&["apply", "-allow-deferral", "-auto-approve"]);
    assert!(rest.contains("Plan: 1 to add, 0 to change, 0 to destroy. Actions: 1 to invoke."), "{rest}");
    assert!(!rest.contains("deferred"), "{rest}");
    let asked = folder.ok(&["apply", "-auto-approve", "-invoke=action.trouble_note.late"]);
    assert!(asked.contains("Actions: 1 invoked."), "{asked}");
}
