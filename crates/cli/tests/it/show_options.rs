//! OpenTofu's options of `show`: -state, -plan, -config and -module.

use serde_json::Value;

use crate::common::Folder;

const SHOWN: &str = r#"
variable "size" {
  type       = object({ wide = optional(number) })
  default    = {}
  deprecated = "use length"
}
variable "name" {}
resource "terraform_data" "a" {
  count = 2
  input = var.name
  provisioner "local-exec" {
    command = "true"
  }
}
module "m" {
  source = "./m"
}
output "o" {
  value     = "x"
  ephemeral = false
}
"#;

/// The document that a command prints.
fn document(folder: &Folder, arguments: &[&str]) -> Value {
    serde_json::from_str(&folder.ok(arguments)).unwrap()
}

#[test]
fn show_accepts_what_to_show_as_an_option() {
    let folder = Folder::new();
    folder.write("main.tf", SHOWN).write("m/main.tf", "output \"p\" {\n  value = 1\n}\n");
    folder.ok(&["apply", "-auto-approve", "-var=name=n"]);
    folder.ok(&["plan", "-out=saved", "-var=name=n"]);
    assert_eq!(folder.ok(&["show", "-state"]), folder.ok(&["show"]));
    assert_eq!(folder.ok(&["show", "-plan=saved", "-json"]), folder.ok(&["show", "-json", "saved"]));
    for (arguments, summary) in [
        (&["show", "-config"][..], "JSON output required for configuration"),
        (&["show", "-module=m"], "JSON output required for module"),
        (&["show", "-state", "-plan=saved"], "Conflicting object types to show"),
        (&["show", "-plan=saved", "saved"], "Unexpected command line arguments"),
        (&["show", "-json", "-module=nowhere"], "Failed to read module directory"),
    ] {
        let reported = folder.fails(arguments);
        assert!(reported.contains(summary), "{reported}");
    }
}

#[test]
fn show_config_adds_types_and_flags_of_variables() {
    let folder = Folder::new();
    folder.write("main.tf", SHOWN).write("m/main.tf", "output \"p\" {\n  value = 1\n}\n");
    let whole = document(&folder, &["show", "-config", "-json"]);
    let size = serde_json::json!({ "default": {}, "deprecated": "use length", "type": ["object", { "wide": "number" }, ["wide"]] });
    let root = &whole["root_module"];
    assert_eq!(root["variables"]["name"], serde_json::json!({ "required": true }));
    assert_eq!(root["variables"]["size"]["deprecated"], size["deprecated"]);
    assert_eq!(root["variables"]["size"]["type"], size["type"]);
    assert_eq!(root["module_calls"]["m"]["module"]["outputs"]["p"]["expression"]["constant_value"], 1);
    assert_eq!(root["resources"][0]["expressions"]["input"]["references"][0], "var.name");
    assert_eq!(whole["provider_config"]["terraform"]["full_name"], "terraform.io/builtin/terraform");
}

#[test]
fn show_module_prints_one_module() {
    let folder = Folder::new();
    folder.write("a/main.tf", SHOWN);
    // The modules that it calls are missing.
    let alone = document(&folder, &["show", "-module=a", "-json"]);
    let root = &alone["root_module"];
    assert_eq!(root["module_calls"]["m"], serde_json::json!({ "source": "./m" }));
    assert_eq!(root["outputs"]["o"], serde_json::json!({}));
    let resource = serde_json::json!({
        "address": "terraform_data.a", "mode": "managed", "name": "a", "provider_config_key": "terraform",
        "provisioners": [{ "type": "local-exec" }], "type": "terraform_data"
    });
    assert_eq!(root["resources"], serde_json::json!([resource]));
    assert_eq!(root["variables"]["name"], serde_json::json!({ "required": true }));
}

#[test]
fn show_state_lists_nested_modules_after_their_caller() {
    let folder = Folder::new();
    folder.write("main.tf", "module \"m\" {\n  source   = \"./m\"\n  for_each = toset([\"a\", \"b\"])\n}\n");
    folder.write("m/main.tf", "module \"n\" {\n  source = \"./n\"\n}\nresource \"terraform_data\" \"x\" {}\n");
    folder.write("m/n/main.tf", "resource \"terraform_data\" \"y\" {}\n");
    folder.ok(&["init"]);
    folder.ok(&["apply", "-auto-approve"]);
    let text = folder.ok(&["show"]);
    let shown: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("# ")).collect();
    let expected = [
        "module.m[\"a\"].terraform_data.x:",
        "module.m[\"a\"].module.n.terraform_data.y:",
        "module.m[\"b\"].terraform_data.x:",
        "module.m[\"b\"].module.n.terraform_data.y:",
    ];
    assert_eq!(shown, expected);
}
