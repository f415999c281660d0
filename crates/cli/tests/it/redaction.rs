//! Sensitive values in everything that renders values: each command shows the placeholder and never the value.

use super::common::Folder;

/// A value that occurs nowhere else.
const SECRET: &str = "hunter2-7f3a";

/// The configuration, with `version` to change objects and outputs.
fn configuration(version: &str) -> String {
    format!(
        r#"
variable "password" {{
  type      = string
  sensitive = true
  default   = "{SECRET}"
}}

resource "terraform_data" "account" {{
  input            = {{ user = "{version}" }}
  triggers_replace = {{ host = "plain", password = "${{var.password}}-{version}" }}
}}

output "password" {{
  value     = "${{var.password}}-{version}"
  sensitive = true
}}

output "users" {{
  value = [terraform_data.account.input.user]
}}
"#
    )
}

fn applied() -> Folder {
    let folder = Folder::new();
    folder.write("main.tf", &configuration("first"));
    folder.ok(&["apply", "-auto-approve"]);
    folder
}

/// Asserts that `text` has the placeholder and not the secret.
fn assert_redacted(what: &str, text: &str, placeholder: &str) {
    assert!(text.contains(placeholder), "{what} lacks {placeholder}:\n{text}");
    assert!(!text.contains(SECRET), "{what} shows the secret:\n{text}");
}

#[test]
fn plans_and_applies_redact_sensitive_values() {
    let folder = Folder::new();
    folder.write("main.tf", &configuration("first"));
    assert_redacted("plan of a creation", &folder.ok(&["plan", "-out=saved"]), "= (sensitive value)");
    assert_redacted("show of a saved plan", &folder.ok(&["show", "saved"]), "= (sensitive value)");
    assert_redacted("apply", &folder.ok(&["apply", "saved"]), "password = <sensitive>");
    folder.write("main.tf", &configuration("second"));
    assert_redacted("plan of a replacement", &folder.ok(&["plan"]), "(sensitive value)");
    assert_redacted("plan of a destruction", &folder.ok(&["plan", "-destroy"]), "(sensitive value)");
}

#[test]
fn commands_that_read_the_state_redact_sensitive_values() {
    let folder = applied();
    assert_redacted("show", &folder.ok(&["show"]), "= (sensitive value)");
    assert_redacted("state show", &folder.ok(&["state", "show", "terraform_data.account"]), "= (sensitive value)");
    assert_redacted("output", &folder.ok(&["output"]), "password = <sensitive>");
}

#[test]
fn the_console_redacts_sensitive_values() {
    let folder = applied();
    let printed = folder.run_with_input(&["console"], "var.password\n[var.password, \"plain\"]\n").out;
    assert_redacted("console", &printed, "(sensitive value)");
    // The other elements of an aggregate stay readable.
    assert!(printed.contains("\"plain\""), "{printed}");
}

#[test]
fn messages_redact_sensitive_values() {
    let folder = applied();
    // A failed function call names its argument.
    folder.write(
        "main.tf",
        &format!(
            "{}output \"x\" {{\n  sensitive = true\n  value = lookup({{}}, var.password)\n}}\n",
            configuration("first")
        ),
    );
    let message = folder.fails(&["plan", "-no-color"]);
    assert_redacted("message of a function", &message, "(sensitive value)");
    // A snippet describes the values in it.
    folder.write(
        "main.tf",
        &format!(
            "{}output \"x\" {{\n  sensitive = true\n  value = tonumber(var.password)\n}}\n",
            configuration("first")
        ),
    );
    let message = folder.fails(&["plan", "-no-color"]);
    assert_redacted("snippet", &message, "var.password has a sensitive value");
    // A saved plan compares the variable with the value that it was made with.
    folder.write("main.tf", &configuration("second"));
    folder.ok(&["plan", "-out=saved"]);
    let message = folder.fails(&["apply", "-no-color", "-var=password=another-hunter2-7f3a", "saved"]);
    assert_redacted("refusal of a changed variable", &message, "(sensitive value)");
}

#[test]
fn json_documents_flag_sensitive_values() {
    let folder = applied();
    // Documents for machines contain the values by contract, and name the paths that a renderer must hide.
    let shown: serde_json::Value = serde_json::from_str(&folder.ok(&["show", "-json"])).unwrap();
    let account = &shown["values"]["root_module"]["resources"][0];
    assert_eq!(account["sensitive_values"]["triggers_replace"]["password"], true, "{account}");
    assert_eq!(shown["values"]["outputs"]["password"]["sensitive"], true, "{shown}");
    // The stream of messages is a log, so it has no sensitive values at all.
    folder.write("main.tf", &configuration("second"));
    let stream = folder.ok(&["apply", "-auto-approve", "-json"]);
    assert!(!stream.contains(SECRET), "{stream}");
}
