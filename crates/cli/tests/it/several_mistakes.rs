//! A configuration with several mistakes: who would evaluate it tells of all, who only looks does what can be done.

use crate::common::Folder;

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

const TOLD: [(&str, &str); 4] = [
    ("Error: Reference to undeclared resource", "on main.tf line 3"),
    ("Error: Unsupported argument", "on main.tf line 6"),
    ("Error: Reference to undeclared input variable", "on main.tf line 9"),
    ("Error: Too many function arguments", "on main.tf line 12"),
];

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("main.tf", WRONG);
    folder
}

#[test]
fn whoever_evaluates_tells_what_validate_tells() {
    let folder = folder();
    let commands: [&[&str]; 5] =
        [&["validate"], &["plan"], &["apply", "-auto-approve"], &["refresh"], &["destroy", "-auto-approve"]];
    for command in commands {
        let told = folder.fails(command);
        for (summary, place) in TOLD {
            assert!(told.contains(summary) && told.contains(place), "{command:?}: {summary}\n{told}");
        }
        assert_eq!(told.matches("Error: ").count(), TOLD.len(), "{command:?}\n{told}");
    }
}

#[test]
fn whoever_looks_does_what_can_be_done() {
    let folder = folder();
    assert!(folder.ok(&["graph"]).contains("\"terraform_data.a\""));
    let ran = folder.run_with_input(&["console"], "1 + 1\n");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.ends_with("2\n") && ran.out.contains("some expressions may produce unexpected"), "{}", ran.out);
    assert!(ran.err.contains("Reference to undeclared resource"), "{}", ran.err);
}

#[test]
fn an_object_is_imported_into_a_configuration_that_is_not_ready_yet() {
    let folder = folder();
    assert!(folder.ok(&["import", "terraform_data.a", "known"]).contains("Import successful!"));
    assert!(folder.ok(&["state", "show", "terraform_data.a"]).contains("\"known\""));
    // What the import itself needs must be right.
    folder.write("main.tf", "resource \"terraform_data\" \"n\" {\n  count = var.nope\n}\n");
    assert!(folder.fails(&["import", "terraform_data.n[0]", "x"]).contains("undeclared input variable"));
}
