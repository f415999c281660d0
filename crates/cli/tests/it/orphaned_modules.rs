//! Orphaned objects of module instances whose key was removed.

use crate::common::Folder;

/// The errors of a plan after the key "b" has left the `for_each` of a call, whose module says `prevent` of its resource.
fn plan_without_b(arguments: &str, prevent: &str) -> Option<String> {
    let call = |keys: &str| {
        format!(
            "module \"m\" {{\n  source   = \"./m\"\n  for_each = {keys}\n  {arguments}\n}}\nvariable \"given\" {{\n  default = true\n}}\n"
        )
    };
    let module = |prevent: &str| {
        format!(
            "variable \"keep\" {{\n  default = false\n}}\nlocals {{\n  kept = var.keep\n}}\n\
             resource \"terraform_data\" \"a\" {{\n  lifecycle {{\n    prevent_destroy = {prevent}\n  }}\n}}\n"
        )
    };
    let folder = Folder::new();
    folder.write("main.tf", &call("{ a = true, b = true }")).write("m/main.tf", &module("false"));
    folder.ok(&["apply", "-auto-approve"]);
    folder.write("main.tf", &call("{ a = true }")).write("m/main.tf", &module(prevent));
    let ran = folder.run(&["plan"]);
    (ran.code != 0).then(|| ran.err.lines().find(|line| line.contains("Error: ")).unwrap_or_default().to_owned())
}

#[test]
fn prevent_destroy_of_removed_instance_uses_call_arguments() {
    let forbidden = "Instance cannot be destroyed";
    let undecided = "Invalid value for prevent_destroy";
    for (arguments, prevent, problem) in [
        ("", "var.keep", None),
        ("keep = false", "var.keep", None),
        ("keep = true", "var.keep", Some(forbidden)),
        ("keep = \"true\"", "local.kept", Some(forbidden)),
        ("keep = var.given", "!local.kept", None),
        ("keep = each.key == \"b\"", "var.keep", Some(forbidden)),
        ("keep = each.key == \"a\"", "var.keep", None),
        ("keep = each.value", "var.keep", Some(undecided)),
        ("", "path.module == \"m\"", Some(forbidden)),
    ] {
        let found = plan_without_b(arguments, prevent);
        let matches = match (&found, problem) {
            (None, None) => true,
            (Some(found), Some(problem)) => found.contains(problem),
            _ => false,
        };
        assert!(matches, "{arguments:?} {prevent}: {found:?}, not {problem:?}");
    }
}
