//! Configurations with several errors: evaluating commands report all, read-only commands tolerate some.

use crate::common::Folder;
use crate::common::cases::line;

const WRONG: &str = r#"
resource "terraform_data" "a" {
  input = terraform_data.b.id
}
resource "terraform_data" "c" {
  inptu = 1
}
output "x" {
  value = var.nope
}
output "y" {
  value = upper(1, 2)
}
"#;

const REPORTED: [(&str, &str); 4] = [
    ("Error: Reference to undeclared resource", "on main.tf line 3"),
    ("Error: Unsupported argument", "on main.tf line 6"),
    ("Error: Reference to undeclared input variable", "on main.tf line 9"),
    ("Error: Too many function arguments", "on main.tf line 12"),
];

/// Mistakes in what blocks look like, in names, in arguments and in values, and in what is made of them.
const ALL_KINDS: &str = r#"
resource "terraform_data" "a" {
  inptu      = 1
  depends_on = [2]
}
resource "terraform_data" "b" {
  input = upper(1, 2)
  lifecycle {
    replace_triggered_by = [2]
  }
}
variable "x" {
  type = strin
}
output "y" {
  value = var.z
}
output "z" {
  value = terraform_data.c.id
}
moved {
  from = 2
  to   = terraform_data.a
}
module "m" {
  source = "./m"
  inn    = count.index
  counts = 2
}
import {
  to = terraform_data.a
  id = terraform_data.a.id
}
"#;

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("main.tf", WRONG);
    folder
}

#[test]
fn evaluating_commands_report_all_errors_of_validate() {
    let folder = folder();
    let commands: [&[&str]; 5] =
        [&["validate"], &["plan"], &["apply", "-auto-approve"], &["refresh"], &["destroy", "-auto-approve"]];
    for command in commands {
        let reported = folder.fails(command);
        for (summary, place) in REPORTED {
            assert!(reported.contains(summary) && reported.contains(place), "{command:?}: {summary}\n{reported}");
        }
        assert_eq!(reported.matches("Error: ").count(), REPORTED.len(), "{command:?}\n{reported}");
    }
}

#[test]
fn reports_all_errors_without_cascades() {
    let folder = Folder::new();
    folder.write("main.tf", ALL_KINDS);
    folder.write("m/main.tf", "variable \"in\" {}\noutput \"out\" {\n  value = upper(var.in)\n}\n");
    folder.fails(&["init"]);
    let ran = folder.run(&["validate", "-json"]);
    let document: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    let reported: Vec<String> = document["diagnostics"].as_array().unwrap().iter().map(line).collect();
    let wanted = [
        "error main.tf:3 Unsupported argument",
        "error main.tf:4 Invalid expression",
        "error main.tf:7 Too many function arguments",
        "error main.tf:9 Invalid replace_triggered_by expression",
        "error main.tf:13 Invalid type specification",
        "error main.tf:16 Reference to undeclared input variable",
        "error main.tf:19 Reference to undeclared resource",
        "error main.tf:22 Invalid expression",
        "error main.tf:25 Missing required argument",
        "error main.tf:27 Unsupported argument",
        "error main.tf:28 Unsupported argument",
        "error main.tf:32 Invalid import id argument",
    ];
    assert_eq!(reported, wanted);
}

#[test]
fn misspelled_alias_is_one_error() {
    let folder = Folder::new();
    let requirement =
        "terraform {\n  required_providers {\n    tf = { source = \"terraform.io/builtin/terraform\" }\n  }\n}\n";
    let user = "resource \"terraform_data\" \"a\" {\n  provider = tf.west\n}\nresource \"terraform_data\" \"b\" {\n  provider = tf\n}\n";
    let reported = |name: &str| {
        folder.write("main.tf", &format!("{requirement}provider \"tf\" {{\n  {name} = \"west\"\n}}\n{user}"));
        let ran = folder.run(&["validate"]);
        ran.err.lines().filter(|line| line.starts_with("Error: ")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert!(reported("alias").is_empty());
    assert_eq!(reported("alais"), ["Error: Unsupported argument"]);
    assert_eq!(reported("region"), ["Error: Unsupported argument", "Error: Provider configuration not present"]);
}

#[test]
fn read_only_commands_tolerate_invalid_references() {
    let folder = folder();
    assert!(folder.ok(&["graph"]).contains("\"terraform_data.a\""));
    let ran = folder.run_with_input(&["console"], "1 + 1\n");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.ends_with("2\n") && ran.out.contains("some expressions may produce unexpected"), "{}", ran.out);
    assert!(ran.err.contains("Reference to undeclared resource"), "{}", ran.err);
}

#[test]
fn import_tolerates_an_incomplete_configuration() {
    let folder = folder();
    assert!(folder.ok(&["import", "terraform_data.a", "known"]).contains("Import successful!"));
    assert!(folder.ok(&["state", "show", "terraform_data.a"]).contains("\"known\""));
    // What the import itself needs must be right.
    folder.write("main.tf", "resource \"terraform_data\" \"n\" {\n  count = var.nope\n}\n");
    assert!(folder.fails(&["import", "terraform_data.n[0]", "x"]).contains("undeclared input variable"));
}
