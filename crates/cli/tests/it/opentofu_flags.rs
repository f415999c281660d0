//! OpenTofu's output flags: -json-into, -concise, consolidation and deprecation filters.

use serde_json::Value;

use crate::common::Folder;

const SECRET: &str = r#"
variable "secret" {
  sensitive = true
  default   = "hunter2"
}
resource "terraform_data" "a" {
  input = { user = "x", pass = var.secret }
}
output "o" {
  value     = var.secret
  sensitive = true
}
"#;

/// The messages in a file, by their types; what has none is told as it is.
fn messages(folder: &Folder, file: &str) -> Vec<String> {
    let reported = |line: &str| {
        let message: Value = serde_json::from_str(line).unwrap();
        let kind = message.get("type").unwrap_or(&message["@message"]);
        kind.as_str().unwrap().to_owned()
    };
    folder.read(file).lines().map(reported).collect()
}

#[test]
fn json_into_writes_messages_in_addition_to_text() {
    let folder = Folder::new();
    folder.write("main.tf", "resource \"terraform_data\" \"a\" {}\noutput \"o\" {\n  value = 1\n}\n");
    let shown = folder.ok(&["plan", "-json-into=plan.json"]);
    assert!(shown.contains("# terraform_data.a will be created"), "{shown}");
    assert_eq!(messages(&folder, "plan.json"), ["version", "planned_change", "change_summary", "outputs"]);
    let shown = folder.ok(&["apply", "-auto-approve", "-json-into=apply.json"]);
    assert!(shown.contains("terraform_data.a: Creating...") && shown.contains("Apply complete!"), "{shown}");
    let reported = [
        "version",
        "planned_change",
        "change_summary",
        "outputs",
        "apply_start",
        "apply_complete",
        "change_summary",
        "outputs",
    ];
    assert_eq!(messages(&folder, "apply.json"), reported);
    let refreshed = folder.ok(&["refresh", "-json-into=refresh.json"]);
    assert!(refreshed.contains("Refreshing state..."), "{refreshed}");
    assert_eq!(messages(&folder, "refresh.json"), ["version", "refresh_start", "refresh_complete", "outputs"]);
    // The outputs are gone with the objects, so no message about them follows.
    folder.ok(&["destroy", "-auto-approve", "-json-into=destroy.json"]);
    assert!(messages(&folder, "destroy.json").ends_with(&["apply_complete".to_owned(), "change_summary".to_owned()]));
}

#[test]
fn diagnostics_appear_in_both_outputs() {
    let folder = Folder::new();
    folder.write("main.tf", "output \"o\" {\n  value = nosuch\n}\n");
    let ran = folder.run(&["plan", "-json-into=plan.json"]);
    assert!(ran.code == 1 && ran.err.contains("Error: Invalid reference"), "{ran:?}");
    // The file gets a message of the failure, and ends there: no summary of changes.
    assert_eq!(messages(&folder, "plan.json"), ["version", "diagnostic"]);
    let ran = folder.run(&["validate", "-json-into=validate.json"]);
    assert!(ran.code == 1 && ran.err.contains("Error: Invalid reference"), "{ran:?}");
    let document: Value = serde_json::from_str(&folder.read("validate.json")).unwrap();
    assert_eq!(document["error_count"], 1);
}

#[test]
fn json_into_requires_writable_file_and_excludes_json() {
    let folder = Folder::new();
    folder.write("main.tf", "");
    assert!(
        folder
            .fails(&["plan", "-json-into=no/such/folder"])
            .contains("-json-into file no/such/folder cannot be written")
    );
    for command in ["plan", "validate", "output", "show"] {
        // The two flags contradict each other: one makes standard output JSON, the other keeps it text.
        let ran = folder.run(&[command, "-json", "-json-into=both.json"]);
        assert!(ran.code == 1 && format!("{}{}", ran.out, ran.err).contains("Invalid output format"), "{ran:?}");
    }
}

#[test]
fn json_into_file_is_readable_only_by_its_owner() {
    let folder = Folder::new();
    folder.write("main.tf", SECRET);
    folder.ok(&["apply", "-auto-approve"]);
    assert_eq!(folder.ok(&["output", "-json-into=output.json"]), "o = <sensitive>\n");
    assert_eq!(folder.read("output.json"), folder.ok(&["output", "-json"]));
    assert!(folder.ok(&["show", "-json-into=show.json"]).contains("pass = (sensitive value)"));
    assert_eq!(folder.read("show.json"), folder.ok(&["show", "-json"]));
    folder.ok(&["plan", "-destroy", "-out=p"]);
    assert!(folder.ok(&["show", "-json-into=plan.json", "p"]).contains("pass = (sensitive value)"));
    assert_eq!(folder.read("plan.json"), folder.ok(&["show", "-json", "p"]));
    folder.ok(&["state", "show", "-json-into=one.json", "terraform_data.a"]);
    let one: Value = serde_json::from_str(&folder.read("one.json")).unwrap();
    assert_eq!(one["values"]["root_module"]["resources"][0]["values"]["input"]["pass"], "hunter2");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(folder.path("show.json")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn json_into_works_with_all_changing_commands() {
    let folder = Folder::new();
    folder.write("main.tf", "resource \"terraform_data\" \"a\" {}\nresource \"terraform_data\" \"b\" {}\n");
    folder.ok(&["init", "-json-into=init.json"]);
    assert_eq!(messages(&folder, "init.json").last().unwrap(), "init_output");
    folder.ok(&["apply", "-auto-approve"]);
    let reported = |arguments: &[&str]| -> Vec<String> {
        let mut with_file = arguments.to_vec();
        with_file.insert(arguments.len().min(2), "-json-into=told.json");
        folder.ok(&with_file);
        messages(&folder, "told.json")
    };
    assert_eq!(reported(&["state", "list"]), ["version", "resource_address", "resource_address"]);
    assert_eq!(reported(&["workspace", "list"]), ["version", "workspace_list"]);
    let moved = reported(&["state", "mv", "terraform_data.b", "terraform_data.c"]);
    assert_eq!(
        moved[..3],
        ["version", "Move \"terraform_data.b\" to \"terraform_data.c\"", "Successfully moved 1 object(s)."]
    );
    assert_eq!(reported(&["state", "rm", "terraform_data.c"])[1], "Removed terraform_data.c");
    folder.ok(&["taint", "-json-into=told.json", "terraform_data.a"]);
    assert_eq!(messages(&folder, "told.json")[1], "Resource instance terraform_data.a has been marked as tainted.");
    folder.ok(&["import", "-json-into=told.json", "terraform_data.b", "id"]);
    let imported = messages(&folder, "told.json");
    assert_eq!(imported[..3], ["version", "refresh_start", "refresh_complete"]);
    assert!(imported[3].starts_with("Import successful!"), "{imported:?}");
    let only_json = folder.ok(&["workspace", "new", "-json", "x"]);
    assert!(only_json.lines().all(|line| line.starts_with('{')), "{only_json}");
}

#[test]
fn console_records_its_results() {
    let folder = Folder::new();
    folder.write("main.tf", "");
    assert_eq!(folder.run_with_input(&["console", "-json-into=told.json"], "1 + 1\n").out, "2\n");
    assert_eq!(messages(&folder, "told.json"), ["version", "2"]);
}

#[test]
fn show_sensitive_reveals_values() {
    let folder = Folder::new();
    folder.write("main.tf", SECRET);
    let plan = folder.ok(&["plan", "-show-sensitive", "-json-into=plan.json"]);
    assert!(plan.contains("+ pass = \"hunter2\"") && plan.contains("+ o = \"hunter2\""), "{plan}");
    assert!(!folder.read("plan.json").contains("hunter2"));
    let apply = folder.ok(&["apply", "-auto-approve", "-show-sensitive"]);
    assert!(apply.ends_with("\nOutputs:\n\no = \"hunter2\"\n"), "{apply}");
    assert_eq!(folder.ok(&["output", "-show-sensitive"]), "o = \"hunter2\"\n");
    let show = folder.ok(&["show", "-show-sensitive"]);
    assert!(show.contains("pass = \"hunter2\"") && show.ends_with("o = \"hunter2\"\n"), "{show}");
    let one = folder.ok(&["state", "show", "-show-sensitive", "terraform_data.a"]);
    assert!(one.contains("pass = \"hunter2\""), "{one}");
    for arguments in [&["plan", "-destroy"][..], &["output"], &["show"], &["state", "show", "terraform_data.a"]] {
        let shown = folder.ok(arguments);
        // The output of the object has no mark, in Terraform neither.
        assert!(shown.matches("hunter2").count() <= 1, "{shown}");
    }
}

#[test]
fn concise_omits_progress() {
    let folder = Folder::new();
    let text =
        "resource \"terraform_data\" \"a\" {\n  provisioner \"local-exec\" {\n    command = \"echo hello\"\n  }\n}\n";
    folder.write("main.tf", text);
    let shown = folder.ok(&["apply", "-auto-approve", "-concise"]);
    assert!(shown.contains("# terraform_data.a will be created"), "{shown}");
    assert!(shown.ends_with("\nApply complete! Resources: 1 added, 0 changed, 0 destroyed.\n"), "{shown}");
    assert!(!shown.contains("Creating") && !shown.contains("hello"), "{shown}");
    assert!(!folder.ok(&["plan", "-concise"]).contains("Refreshing"));
    assert!(folder.ok(&["plan"]).contains("Refreshing"));
}

#[test]
fn consolidation_flags_group_similar_diagnostics() {
    let folder = Folder::new();
    let warned = "terraform {\n  experiments = [a]\n}\n";
    folder.write("a.tf", warned).write("b.tf", warned);
    let together = folder.ok(&["validate"]);
    let apart = folder.ok(&["validate", "-consolidate-warnings=false"]);
    let count = |text: &str| text.matches("Warning: ").count();
    assert_eq!((count(&together), count(&apart)), (1, 2), "{together}{apart}");
    folder
        .write("a.tf", "output \"a\" {\n  value = nosuch\n}\n")
        .write("b.tf", "output \"b\" {\n  value = nosuch\n}\n");
    let count = |text: &str| text.matches("Error: ").count();
    let apart = folder.fails(&["validate"]);
    let together = folder.fails(&["validate", "-consolidate-errors"]);
    assert_eq!((count(&apart), count(&together)), (2, 1), "{together}{apart}");
    assert!(together.contains("(and one more similar error elsewhere)"), "{together}");
}

#[test]
fn deprecation_local_hides_warnings_of_remote_modules() {
    let folder = Folder::new();
    let old = "variable \"old\" {\n  default    = null\n  deprecated = \"use new\"\n}\noutput \"old\" {\n  value      = 1\n  \
               deprecated = \"use newer\"\n}\n";
    let remote = format!("{old}module \"inner\" {{\n  source = \"./inner\"\n  old    = 1\n}}\n");
    folder
        .write("here/main.tf", old)
        .write(".terraform/modules/far/main.tf", &remote)
        .write(".terraform/modules/far/inner/main.tf", old)
        .write(
            ".terraform/modules/modules.json",
            r#"{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"here","Source":"./here","Dir":"here"},
            {"Key":"far","Source":"git::https://example.com/far.git","Dir":".terraform/modules/far"},
            {"Key":"far.inner","Source":"./inner","Dir":".terraform/modules/far/inner"}]}"#,
        )
        .write(
            "main.tf",
            r#"
module "here" {
  source = "./here"
  old    = 1
}
module "far" {
  source = "git::https://example.com/far.git"
  old    = 1
}
output "here" {
  value = module.here.old
}
output "far" {
  value = module.far.old
}
"#,
        );
    let locations = |wanted: &str| -> Vec<String> {
        let option = format!("-deprecation=module:{wanted}");
        let shown = folder.ok(&["plan", "-consolidate-warnings=false", &option]);
        shown.lines().filter(|line| line.starts_with("  on ")).map(str::to_owned).collect()
    };
    let local = [
        "  on main.tf line 4, in module \"here\":",
        "  on main.tf line 8, in module \"far\":",
        "  on main.tf line 11, in output \"here\":",
    ];
    assert_eq!(locations("local"), local);
    let all = locations("all");
    assert_eq!(all.len(), 5, "{all:?}");
    assert!(all.contains(&"  on .terraform/modules/far/main.tf line 11, in module \"inner\":".to_owned()), "{all:?}");
    assert_eq!(locations("none"), [""; 0]);
    let reported = folder.ok(&["validate", "-json", "-deprecation=module:none"]);
    assert!(reported.contains("\"warning_count\": 0"), "{reported}");
    let wrong = folder.fails(&["plan", "-deprecation=nonsense"]);
    assert!(wrong.contains("invalid value \"nonsense\" for flag -deprecation"), "{wrong}");
}

#[test]
fn workspace_commands_use_command_line_variables() {
    let folder = Folder::new();
    let text = "variable \"at\" {}\nterraform {\n  backend \"local\" {\n    workspace_dir = var.at\n  }\n}\n";
    folder.write("main.tf", text);
    folder.ok(&["init", "-var=at=there"]);
    folder.ok(&["workspace", "new", "-var=at=there", "x"]);
    assert!(folder.path("there/x").is_dir());
    assert_eq!(folder.ok(&["workspace", "list", "-var=at=there"]), "  default\n* x\n\n");
    folder.ok(&["workspace", "select", "-var=at=there", "default"]);
    folder.ok(&["workspace", "delete", "-var=at=there", "x"]);
    assert!(!folder.path("there/x").exists());
}

#[test]
fn all_commands_accept_the_deprecation_flag() {
    let folder = Folder::new();
    folder.write("main.tf", "output \"o\" {\n  value = 1\n}\n");
    for command in ["init", "plan", "refresh", "graph", "output", "show", "providers"] {
        folder.ok(&[command, "-deprecation=module:local"]);
    }
}

#[test]
fn console_accepts_lock_flags() {
    let folder = Folder::new();
    folder.write("main.tf", "locals {\n  a = 1\n}\n");
    for option in ["-lock=false", "-lock-timeout=5s"] {
        let ran = folder.run_with_input(&["console", option], "local.a\n");
        assert_eq!((ran.code, ran.out.as_str()), (0, "1\n"), "{}", ran.err);
    }
}

#[test]
fn destroy_that_forgets_objects_succeeds() {
    let folder = Folder::new();
    folder.write("main.tf", "resource \"terraform_data\" \"a\" {\n  lifecycle {\n    destroy = false\n  }\n}\n");
    folder.ok(&["apply", "-auto-approve"]);
    folder.ok(&["destroy", "-auto-approve", "-suppress-forget-errors"]);
    assert_eq!(folder.ok(&["state", "list"]), "");
}

#[test]
fn apply_reports_deferred_changes() {
    let folder = Folder::new();
    folder.write("main.tf", "resource \"terraform_data\" \"a\" {}\nresource \"terraform_data\" \"b\" {}\n");
    let shown = folder.ok(&["apply", "-auto-approve", "-exclude=terraform_data.b"]);
    assert!(shown.contains("The plan does not include the -exclude addresses"), "{shown}");
}

#[test]
fn failed_assertions_with_different_messages_are_all_reported() {
    let folder = Folder::new();
    folder.write(
        "main.tf",
        "variable \"n\" {\n  default = 1\n}\ncheck \"c\" {\n  assert {\n    condition     = var.n > 2\n    error_message = \"first\"\n  }\n  assert {\n    condition     \
         = var.n > 3\n    error_message = \"second\"\n  }\n}\n",
    );
    let planned = folder.ok(&["plan"]);
    assert!(planned.contains("first") && planned.contains("second"), "{planned}");
    assert!(!planned.contains("similar warning"), "{planned}");
}

#[test]
fn errors_in_addresses_are_json_with_the_flag() {
    let folder = Folder::new();
    folder.write("main.tf", "resource \"terraform_data\" \"a\" {}\n");
    folder.ok(&["init"]);
    folder.ok(&["apply", "-auto-approve"]);
    for arguments in [
        &["state", "rm", "-json", "1nvalid"][..],
        &["state", "mv", "-json", "1nvalid", "terraform_data.b"],
        &["state", "replace-provider", "-json", "-auto-approve", "a/b/c/d/e", "x"],
    ] {
        let out = folder.run(arguments).out;
        let messages: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert!(messages.iter().any(|message| message["diagnostic"]["severity"] == "error"), "{arguments:?}: {out}");
    }
}
