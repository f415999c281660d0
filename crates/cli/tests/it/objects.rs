//! Import, provisioners, taint and refresh, compared with Terraform if it is available.

use crate::common::Folder;
use crate::common::normalization::{first_difference, normalize, normalize_ids, terraform};

/// Runs the steps in a folder of ours, and in one of Terraform's if there is one. What they print and their exit codes must
/// be the same.
fn steps(main: &str, all: &[&[&str]]) -> (Folder, Vec<String>) {
    let ours = Folder::new();
    ours.write("main.tf", main);
    let theirs = terraform().map(|program| {
        let folder = Folder::for_program(&program).with("TF_CLI_ARGS", "-no-color");
        folder.write("main.tf", main);
        folder.run(&["init"]);
        folder
    });
    if theirs.is_none() {
        println!("skipped: no terraform");
    }
    let mut texts = Vec::new();
    for step in all {
        let ran = ours.run(step);
        if let Some(theirs) = &theirs {
            // Step by step, so that a state that already differs is noticed at the step that wrote it.
            let other = theirs.run(step);
            let (text, other_text) = (normalize_ids(&normalize(&ran.out)), normalize_ids(&normalize(&other.out)));
            assert_eq!(text, other_text, "{step:?}: {}", first_difference(&other_text, &text));
            assert_eq!(ran.code, other.code, "{step:?}: {}{}", ran.err, other.err);
        }
        texts.push(format!("{}{}", ran.out, ran.err));
    }
    (ours, texts)
}

const APPLY: &[&str] = &["apply", "-auto-approve"];
const PLAN: &[&str] = &["plan"];

#[test]
fn pl_26_import_block_is_planned_applied_and_idempotent() {
    let main = "import {\n  to = terraform_data.a\n  id = \"abc\"\n}\nresource \"terraform_data\" \"a\" {\n  input = \"x\"\n}\n";
    let (folder, texts) = steps(main, &[PLAN, APPLY, PLAN]);
    // An import alone changes nothing; the input that the object lacks makes this an update.
    assert!(texts[0].contains("# (imported from \"abc\")"), "{}", texts[0]);
    assert!(texts[0].contains("Plan: 1 to import, 0 to add, 1 to change, 0 to destroy."), "{}", texts[0]);
    assert!(texts[1].contains("Resources: 1 imported, 0 added, 1 changed, 0 destroyed."), "{}", texts[1]);
    // The block stays in the configuration, and is no import any more once the object is in the state.
    assert!(texts[2].contains("No changes."), "{}", texts[2]);
    assert!(folder.read("terraform.tfstate").contains("\"id\": \"abc\""));
}

#[test]
fn pl_26_replacement_of_an_imported_object_is_warned_about() {
    let main = "import {\n  to = terraform_data.a\n  id = \"abc\"\n}\nresource \"terraform_data\" \"a\" {\n  triggers_replace = 1\n}\n";
    // Objects of this type are imported without what triggers their replacement, so it changes at once.
    let (_, texts) = steps(main, &[PLAN]);
    assert!(texts[0].contains("# Warning: this will destroy the imported resource"), "{}", texts[0]);
}

#[test]
fn pl_26_messages_and_document_of_an_import() {
    let folder = Folder::new();
    folder.write(
        "main.tf",
        "import {\n  to = terraform_data.a\n  id = \"abc\"\n}\nresource \"terraform_data\" \"a\" {}\n",
    );
    let messages = folder.ok(&["plan", "-json", "-out=p"]);
    assert!(messages.contains("\"action\":\"import\",\"importing\":{\"id\":\"abc\"}"), "{messages}");
    assert!(messages.contains("\"import\":1"), "{messages}");
    assert!(folder.ok(&["show", "-json", "p"]).contains("\"importing\":{\"id\":\"abc\"}"));
    let applied = folder.ok(&["apply", "p"]);
    assert!(applied.contains("terraform_data.a: Import complete [id=abc]"), "{applied}");
}

#[test]
fn pl_80_import_taint_untaint_and_refresh_match_terraform() {
    let main = "resource \"terraform_data\" \"a\" {\n}\n";
    let (folder, texts) = steps(
        main,
        &[
            &["import", "terraform_data.a", "x1"],
            &["taint", "terraform_data.a"],
            PLAN,
            &["untaint", "terraform_data.a"],
            PLAN,
            &["refresh"],
            &["taint", "data.some.thing"],
        ],
    );
    assert!(texts[0].contains("Import successful!"), "{}", texts[0]);
    // Terraform asks the provider before it refuses; there is no need to.
    assert!(folder.fails(&["import", "terraform_data.a", "x2"]).contains("Resource already managed by Terraform"));
    assert!(texts[2].contains("is tainted, so must be replaced"), "{}", texts[2]);
    assert!(texts[4].contains("No changes."), "{}", texts[4]);
    assert!(folder.path("terraform.tfstate.backup").exists());
    assert!(folder.fails(&["untaint", "terraform_data.a"]).contains("Resource instance is not tainted"));
    assert!(folder.fails(&["taint", "terraform_data.no"]).contains("No such resource instance"));
    // With this flag a missing instance only gets a warning.
    folder.ok(&["taint", "-allow-missing", "terraform_data.no"]);
    assert!(folder.fails(&["import", "terraform_data.no", "x"]).contains("does not exist in the configuration"));
}

#[test]
fn import_config_keeps_state_in_working_directory() {
    let folder = Folder::new();
    folder.write("sub/main.tf", "resource \"terraform_data\" \"a\" {}\n");
    // The option names where the configuration is; the state stays where the command runs.
    folder.ok(&["import", "-config=sub", "terraform_data.a", "x1"]);
    assert!(folder.path("terraform.tfstate").exists());
    assert!(!folder.path("sub/terraform.tfstate").exists());
}

const PROVISIONED: &str = r#"
variable "secret" {
  default   = "hidden-word"
  sensitive = true
}

resource "terraform_data" "a" {
  input = "in"
  provisioner "local-exec" {
    command     = "echo $GREETING; echo wrong >&2"
    environment = { GREETING = "hello" }
  }
  provisioner "local-exec" {
    command = "echo ${var.secret}"
  }
  provisioner "local-exec" {
    command     = "echo by bash"
    interpreter = ["/bin/sh", "-e", "-c"]
    working_dir = "/"
    quiet       = true
  }
  provisioner "local-exec" {
    command    = "exit 3"
    on_failure = continue
  }
  provisioner "local-exec" {
    when    = destroy
    command = "echo bye ${self.input}"
  }
}
"#;

#[test]
fn provisioners_run_after_creation_and_before_destruction() {
    let (_, texts) = steps(PROVISIONED, &[APPLY, PLAN, &["destroy", "-auto-approve"]]);
    assert!(texts[0].contains("terraform_data.a (local-exec): hello"), "{}", texts[0]);
    assert!(texts[0].contains("terraform_data.a (local-exec): wrong"), "{}", texts[0]);
    // The provisioner prints a sensitive value, so all of its output is hidden.
    assert!(!texts[0].contains("hidden-word"), "{}", texts[0]);
    assert!(texts[2].contains("terraform_data.a (local-exec): bye in"), "{}", texts[2]);
}

#[test]
fn failing_creation_provisioner_taints_the_object() {
    let main = "resource \"terraform_data\" \"a\" {\n  provisioner \"local-exec\" {\n    command = \"echo partly; exit 4\"\n  }\n}\n";
    let (folder, texts) = steps(main, &[APPLY, PLAN]);
    assert!(texts[0].contains("exit status 4"), "{}", texts[0]);
    assert!(texts[1].contains("is tainted, so must be replaced"), "{}", texts[1]);
    // The object exists although its provisioner failed, and what was not set up is to be replaced.
    assert!(folder.read("terraform.tfstate").contains("\"status\": \"tainted\""));
}

#[test]
fn failing_destruction_provisioner_keeps_the_object() {
    let main = "resource \"terraform_data\" \"a\" {\n  provisioner \"local-exec\" {\n    when = destroy\n    command = \"exit 7\"\n  }\n}\n";
    let (folder, texts) = steps(main, &[APPLY, &["destroy", "-auto-approve"]]);
    assert!(texts[1].contains("exit status 7"), "{}", texts[1]);
    // A provisioner that failed may not have cleaned up; the object must stay for another attempt.
    assert_eq!(folder.ok(&["state", "list"]), "terraform_data.a\n");
}

#[test]
fn unknown_provisioner_is_reported_before_any_change() {
    let main = "resource \"terraform_data\" \"a\" {\n  provisioner \"other\" {\n    content = \"x\"\n  }\n}\n";
    let folder = Folder::new();
    folder.write("main.tf", main);
    assert!(folder.fails(&["validate"]).contains("Missing required provisioner plugin"));
}

#[test]
fn objects_are_imported_into_invalid_blocks() {
    let folder = Folder::new();
    folder.write(
        "main.tf",
        "resource \"terraform_data\" \"a\" {\n  nonsense = 1\n}\nresource \"terraform_data\" \"b\" {\n  nonsense = 2\n}\n",
    );
    let said = folder.ok(&["import", "terraform_data.a", "x1"]);
    // The plan behind the import covers one resource, without the usual warning about partial plans.
    assert!(said.contains("Import successful!") && !said.contains("targeting"), "{said}");
    // The arguments of neither resource are evaluated, so their errors do not stand in the way.
    assert_eq!(folder.ok(&["state", "list"]), "terraform_data.a\n");
    assert!(folder.fails(&["plan"]).contains("Unsupported argument"));
}

#[test]
fn an_import_needs_a_configuration_and_a_managed_resource() {
    let folder = Folder::new();
    assert!(folder.fails(&["import", "terraform_data.a", "abc"]).contains("No Terraform configuration files"));
    folder.write("main.tf", "resource \"terraform_data\" \"a\" {}\n");
    let refused = folder.fails(&["import", "data.terraform_data.a", "abc"]);
    assert!(refused.contains("Importing into a data resource is not allowed."), "{refused}");
    assert!(folder.ok(&["import", "terraform_data.a", "abc"]).contains("Import successful!"));
}

#[test]
fn pl_25_moved_and_forgotten_object_shows_its_previous_address() {
    let folder = Folder::new();
    folder.write("main.tf", "resource \"terraform_data\" \"a\" {}\n");
    folder.ok(APPLY);
    let moved = "moved {\n  from = terraform_data.a\n  to   = terraform_data.b\n}\n";
    let removed = "removed {\n  from = terraform_data.b\n  lifecycle {\n    destroy = false\n  }\n}\n";
    folder.write("main.tf", &format!("{moved}{removed}"));
    let shown = folder.ok(PLAN);
    // The address of the `removed` block is that after the move.
    assert!(shown.contains(" # terraform_data.b will no longer be managed"), "{shown}");
    assert!(shown.contains("\n  # (moved from terraform_data.a)\n"), "{shown}");
}

#[test]
fn an_id_may_begin_with_a_dash() {
    let folder = Folder::new();
    folder.write("main.tf", "resource \"terraform_data\" \"a\" {\n}\n");
    // Only the first arguments are options: after the address, anything is an id.
    assert!(folder.fails(&["import", "-bogus", "terraform_data.a", "x"]).contains("not defined: -bogus"));
    assert!(folder.ok(&["import", "-input=false", "terraform_data.a", "-iH=pW"]).contains("[id=-iH=pW]"));
}
