//! OpenTofu's additions to the language: `lifecycle { enabled = false }`, and implied moves when `count` is added to or removed from
//! a module call.

use serde_json::{Value as Json, json};

use crate::common::Folder;

const MODULE: &str = "resource \"terraform_data\" \"x\" {}\n";
const PLAIN: &str = "module \"m\" {\n  source = \"./m\"\n}\n";
const COUNTED: &str = "module \"m\" {\n  source = \"./m\"\n  count  = 2\n}\n";

fn made(name: &str, text: &str) -> Folder {
    let folder = Folder::new();
    folder.write(name, text).write("m/main.tf", MODULE);
    folder.ok(&["apply", "-auto-approve"]);
    folder
}

/// Planned actions with the addresses of the objects, previous and current.
fn changes(folder: &Folder) -> Vec<String> {
    folder.ok(&["plan", "-out=p"]);
    let document: Json = serde_json::from_str(&folder.ok(&["show", "-json", "p"])).unwrap();
    let text = |json: &Json| json.as_str().unwrap_or("").to_owned();
    let change = |change: &Json| {
        let from = text(&change["previous_address"]);
        format!("{from} > {} {}", text(&change["address"]), text(&change["change"]["actions"][0]))
    };
    document["resource_changes"].as_array().unwrap().iter().map(change).collect()
}

#[test]
fn module_instance_is_kept_when_count_is_added_or_removed() {
    let folder = made("main.tofu", PLAIN);
    // In OpenTofu a single instance continues as the first one, without a `moved` block.
    folder.write("main.tofu", COUNTED);
    let expected =
        ["module.m.terraform_data.x > module.m[0].terraform_data.x no-op", " > module.m[1].terraform_data.x create"];
    assert_eq!(changes(&folder), expected);
    folder.ok(&["apply", "p"]);
    folder.write("main.tofu", PLAIN);
    let expected =
        ["module.m[0].terraform_data.x > module.m.terraform_data.x no-op", " > module.m[1].terraform_data.x delete"];
    assert_eq!(changes(&folder), expected);
}

#[test]
fn implied_moves_of_nested_calls_combine() {
    let folder = made("main.tofu", PLAIN);
    folder
        .write("m/main.tf", "")
        .write("m/n/main.tf", MODULE)
        .write("m/main.tofu", &PLAIN.replace("\"./m\"", "\"./n\""));
    folder.ok(&["apply", "-auto-approve"]);
    // Both calls get a count at once: the moves of both levels must combine.
    folder.write("main.tofu", COUNTED).write("m/main.tofu", &COUNTED.replace("\"./m\"", "\"./n\""));
    folder.write("m/n/main.tf", "resource \"terraform_data\" \"x\" {\n  count = 1\n}\n");
    let first = "module.m.module.m.terraform_data.x > module.m[0].module.m[0].terraform_data.x[0] no-op";
    assert!(changes(&folder).contains(&first.to_owned()), "{:?}", changes(&folder));
}

#[test]
fn moved_block_overrides_implied_move() {
    let folder = made("main.tofu", PLAIN);
    let moved = "moved {\n  from = module.m\n  to   = module.m[1]\n}\n";
    folder.write("main.tofu", &format!("{COUNTED}{moved}"));
    // The written block wins, so that the first instance is new.
    let expected =
        [" > module.m[0].terraform_data.x create", "module.m.terraform_data.x > module.m[1].terraform_data.x no-op"];
    assert_eq!(changes(&folder), expected);
}

#[test]
fn implied_move_keeps_object_at_target_address() {
    let folder = made("main.tofu", COUNTED);
    // Both addresses have an object now: an implied move never ends an object that is in the way.
    folder.ok(&["state", "mv", "module.m[1].terraform_data.x", "module.m.terraform_data.x"]);
    let expected = [
        " > module.m.terraform_data.x delete",
        " > module.m[0].terraform_data.x no-op",
        " > module.m[1].terraform_data.x create",
    ];
    assert_eq!(changes(&folder), expected);
}

#[test]
fn module_call_migration_depends_on_tool() {
    let folder = made("main.tf", PLAIN);
    // Terraform moves nothing on its own: without a `moved` block the instance is replaced.
    folder.write("main.tf", &COUNTED.replace('2', "1"));
    let expected = [" > module.m.terraform_data.x delete", " > module.m[0].terraform_data.x create"];
    assert_eq!(changes(&folder), expected);
    // The lock file names OpenTofu's registry, from which the tool is guessed.
    folder.write(".terraform.lock.hcl", "# registry.opentofu.org\n");
    assert_eq!(changes(&folder), ["module.m.terraform_data.x > module.m[0].terraform_data.x no-op"]);
    let enabled = made("main.tf", &COUNTED.replace('2', "1"));
    enabled.write("main.tf", &PLAIN.replace("}\n", "  lifecycle {\n    enabled = true\n  }\n}\n"));
    assert_eq!(changes(&enabled), ["module.m[0].terraform_data.x > module.m.terraform_data.x no-op"]);
}

const SWITCHED: &str = "variable \"on\" {\n  default = true\n}\nresource \"terraform_data\" \"a\" {\n  lifecycle {\n    enabled = var.on\n  }\n}\n";

#[test]
fn disabled_object_is_destroyed_with_its_reason() {
    let folder = Folder::new();
    folder.write("main.tf", SWITCHED);
    folder.ok(&["apply", "-auto-approve"]);
    let shown = folder.ok(&["plan", "-var=on=false", "-out=saved"]);
    assert!(shown.contains("# (because enabled is false)"), "{shown}");
    assert!(folder.ok(&["show", "-json", "saved"]).contains("\"action_reason\":\"delete_because_enabled_false\""));
    assert!(folder.ok(&["show", "saved"]).contains("# (because enabled is false)"));
}

#[test]
fn disabled_resource_may_be_moved() {
    let folder = Folder::new();
    folder.write("main.tf", SWITCHED);
    folder.ok(&["apply", "-auto-approve"]);
    let moved = "resource \"terraform_data\" \"b\" {\n  count = 1\n}\nmoved {\n  from = terraform_data.a\n  to   = terraform_data.b[0]\n}\n";
    folder.write("moved.tf", moved);
    let reported = folder.fails(&["plan"]);
    // The source of the move is still declared and enabled, so the object has two claims.
    assert!(reported.contains("Moved object still exists"), "{reported}");
    let shown = folder.ok(&["plan", "-var=on=false"]);
    assert!(shown.contains("terraform_data.a has moved to terraform_data.b[0]"), "{shown}");
}

#[test]
fn disabled_module_may_be_moved() {
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
fn disabled_resource_is_null_of_its_type() {
    let folder = Folder::new();
    let kept = "resource \"terraform_data\" \"kept\" {\n  input = terraform_data.a\n}\n";
    folder.write("main.tf", SWITCHED).write("kept.tf", kept);
    folder.ok(&["apply", "-auto-approve", "-var=on=false"]);
    // A reference to a disabled resource is null, but keeps its type for the functions that look at it.
    let state: Json = serde_json::from_str(&folder.read("terraform.tfstate")).unwrap();
    let attributes = &state["resources"][0]["instances"][0]["attributes"];
    let ty =
        json!(["object", {"id": "string", "input": "dynamic", "output": "dynamic", "triggers_replace": "dynamic"}]);
    assert_eq!(attributes["input"], json!({"type": ty, "value": null}));
}
