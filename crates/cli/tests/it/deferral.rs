//! Plans with deferred changes, as text and JSON.

use serde_json::Value as Json;

use crate::common::Folder;

const MAIN: &str = r#"
resource "terraform_data" "n" {
  input = 1
}

resource "terraform_data" "pets" {
  count = terraform_data.n.output
  input = "pet"
}

output "first" {
  value = terraform_data.pets[0].output
}
"#;

#[test]
fn pl_29_deferred_changes_are_shown_with_reasons_and_planned_later() {
    let folder = Folder::new();
    folder.write("main.tf", MAIN);
    assert!(folder.fails(&["plan"]).contains("Invalid count argument"));

    let shown = folder.ok(&["plan", "-allow-deferral", "-out=part"]);
    for line in [
        "Plan: 1 to add, 0 to change, 0 to destroy.",
        "Note: This is a partial plan",
        "  # terraform_data.pets[*] was deferred",
        "  # (because the number of resource instances is unknown)",
        "  + resource \"terraform_data\" \"pets\" {",
        "1 change is deferred",
    ] {
        assert!(shown.contains(line), "{line}\n{shown}");
    }
    assert!(folder.ok(&["show", "part"]).contains("  # terraform_data.pets[*] was deferred"));
    let plan: Json = serde_json::from_str(&folder.ok(&["show", "-json", "part"])).unwrap();
    assert_eq!((&plan["complete"], &plan["applyable"]), (&false.into(), &true.into()));
    let deferred = &plan["deferred_changes"][0];
    assert_eq!(deferred["reason"], "instance_count_unknown");
    let change = &deferred["resource_change"];
    assert_eq!((&change["address"], &change["index"]), (&"terraform_data.pets[*]".into(), &"*".into()));
    assert_eq!(change["change"]["actions"], serde_json::json!(["create"]));
    assert!(plan["output_changes"].get("first").is_none(), "it is worked out when its value can be known: {plan}");

    // The option is taken with a saved plan too: programs give it to both commands.
    let applied = folder.ok(&["apply", "-allow-deferral", "part"]);
    assert!(applied.contains("1 change was deferred"), "{applied}");
    assert!(applied.contains("1 added"), "{applied}");
    let messages = folder.ok(&["plan", "-allow-deferral", "-json", "-replace=terraform_data.n"]);
    let reported: Vec<Json> = messages.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let deferred = reported.iter().find(|message| message["type"] == "deferred_change").unwrap();
    assert_eq!(deferred["change"]["resource"]["addr"], "terraform_data.pets[*]");
    assert_eq!(deferred["change"]["reason"], "instance_count_unknown");

    assert!(folder.ok(&["apply", "-allow-deferral", "-auto-approve"]).contains("first = \"pet\""));
    assert!(folder.ok(&["plan", "-allow-deferral", "-detailed-exitcode"]).contains("No changes."));
    assert!(!folder.ok(&["refresh", "-allow-deferral"]).contains("deferred"));
}

#[test]
fn pl_29_plan_with_only_deferred_changes_is_not_empty() {
    let folder = Folder::new();
    folder.write("main.tf", MAIN);
    folder.ok(&["apply", "-allow-deferral", "-auto-approve"]);
    let unknown = MAIN.replace("terraform_data.n.output", "length(timestamp())").replace("[0]", "[*]");
    folder.write("main.tf", &unknown);
    let shown = folder.ok(&["plan", "-allow-deferral", "-detailed-exitcode"]);
    assert!(shown.contains("Note: This is a partial plan") && !shown.contains("No changes."), "{shown}");
}
