//! OpenTofu's `lifecycle { enabled = false }` for resources and modules.

use serde_json::{Value as Json, json};

use crate::common::Folder;

const SWITCHED: &str = "variable \"on\" {\n  default = true\n}\nresource \"terraform_data\" \"a\" {\n  lifecycle {\n    enabled = var.on\n  }\n}\n";

#[test]
fn an_object_that_is_switched_off_goes_with_that_reason() {
    let folder = Folder::new();
    folder.write("main.tf", SWITCHED);
    folder.ok(&["apply", "-auto-approve"]);
    let shown = folder.ok(&["plan", "-var=on=false", "-out=saved"]);
    assert!(shown.contains("# (because enabled is false)"), "{shown}");
    assert!(folder.ok(&["show", "-json", "saved"]).contains("\"action_reason\":\"delete_because_enabled_false\""));
    assert!(folder.ok(&["show", "saved"]).contains("# (because enabled is false)"));
}

#[test]
fn what_is_switched_off_may_be_moved_on() {
    let folder = Folder::new();
    folder.write("main.tf", SWITCHED);
    folder.ok(&["apply", "-auto-approve"]);
    let moved = "resource \"terraform_data\" \"b\" {\n  count = 1\n}\nmoved {\n  from = terraform_data.a\n  to   = terraform_data.b[0]\n}\n";
    folder.write("moved.tf", moved);
    let reported = folder.fails(&["plan"]);
    assert!(reported.contains("Moved object still exists"), "{reported}");
    let shown = folder.ok(&["plan", "-var=on=false"]);
    assert!(shown.contains("terraform_data.a has moved to terraform_data.b[0]"), "{shown}");
}

#[test]
fn so_may_a_module() {
    let folder = Folder::new();
    let call = |name: &str, more: &str| format!("module \"{name}\" {{\n  source = \"./m\"\n{more}}}\n");
    folder.write("m/main.tf", "resource \"terraform_data\" \"x\" {}\n").write("main.tf", &call("a", ""));
    folder.ok(&["apply", "-auto-approve"]);
    let moved = "moved {\n  from = module.a\n  to   = module.b[0]\n}\n";
    let off = call("a", "  lifecycle {\n    enabled = false\n  }\n");
    folder.write("main.tf", &format!("{off}{}{moved}", call("b", "  count = 1\n")));
    let shown = folder.ok(&["plan"]);
    assert!(shown.contains("module.a.terraform_data.x has moved to module.b[0].terraform_data.x"), "{shown}");
}

#[test]
fn what_is_switched_off_is_null_and_still_of_its_type() {
    let folder = Folder::new();
    let kept = "resource \"terraform_data\" \"kept\" {\n  input = terraform_data.a\n}\n";
    folder.write("main.tf", SWITCHED).write("kept.tf", kept);
    folder.ok(&["apply", "-auto-approve", "-var=on=false"]);
    let state: Json = serde_json::from_str(&folder.read("terraform.tfstate")).unwrap();
    let attributes = &state["resources"][0]["instances"][0]["attributes"];
    let ty =
        json!(["object", {"id": "string", "input": "dynamic", "output": "dynamic", "triggers_replace": "dynamic"}]);
    assert_eq!(attributes["input"], json!({"type": ty, "value": null}));
}
