//! `terraform_remote_state`.

use crate::common::Folder;
use crate::common::normalization::terraform;

const GIVING: &str = r#"
output "names" {
  value = ["a", "b"]
}

output "size" {
  value = 3
}
"#;

const TAKING: &str = r#"
data "terraform_remote_state" "base" {
  backend  = "local"
  config   = { path = "base/terraform.tfstate" }
  defaults = { size = 1, color = "red" }
}

output "taken" {
  value = data.terraform_remote_state.base.outputs
}
"#;

fn taken(folder: &Folder) -> String {
    folder.write("base/main.tf", GIVING).write("main.tf", TAKING);
    folder.ok(&["-chdir=base", "init"]);
    folder.ok(&["-chdir=base", "apply", "-auto-approve"]);
    folder.ok(&["init"]);
    folder.ok(&["apply", "-auto-approve"]);
    folder.ok(&["output", "-json", "taken"])
}

#[test]
fn remote_outputs_are_read_with_defaults() {
    let ours = taken(&Folder::new());
    assert_eq!(ours.trim(), r#"{"color":"red","names":["a","b"],"size":3}"#);
    let Some(program) = terraform() else { return };
    assert_eq!(ours.trim(), taken(&Folder::for_program(&program)).trim());
}

/// States of old formats are read like any other.
#[test]
fn remote_outputs_of_old_state_formats_are_read() {
    let state = r#"{"version":3,"terraform_version":"0.11.14","serial":1,"lineage":"l","modules":[{"path":["root"],"outputs":{
        "name":{"sensitive":false,"type":"string","value":"n"},"zones":{"sensitive":true,"type":"list","value":["a","b"]}},
        "resources":{}}]}"#;
    let taken = |folder: &Folder| {
        folder.write("base/terraform.tfstate", state).write("main.tf", TAKING);
        folder.ok(&["init"]);
        folder.ok(&["apply", "-auto-approve"]);
        folder.ok(&["output", "-json", "taken"])
    };
    let ours = taken(&Folder::new());
    assert_eq!(ours.trim(), r#"{"color":"red","name":"n","size":1,"zones":["a","b"]}"#);
    let Some(program) = terraform() else { return };
    assert_eq!(ours.trim(), taken(&Folder::for_program(&program)).trim());
}

/// A file may have a number for its name.
#[test]
fn path_may_be_a_number() {
    let taken = |folder: &Folder| {
        let taking = TAKING.replace("\"base/terraform.tfstate\"", "7");
        folder.write("base/main.tf", GIVING).write("main.tf", &taking);
        folder.ok(&["-chdir=base", "init"]);
        folder.ok(&["-chdir=base", "apply", "-auto-approve"]);
        std::fs::rename(folder.path("base/terraform.tfstate"), folder.path("7")).unwrap();
        folder.ok(&["init"]);
        folder.ok(&["apply", "-auto-approve"]);
        folder.ok(&["output", "-json", "taken"])
    };
    let ours = taken(&Folder::new());
    assert_eq!(ours.trim(), r#"{"color":"red","names":["a","b"],"size":3}"#);
    let Some(program) = terraform() else { return };
    assert_eq!(ours.trim(), taken(&Folder::for_program(&program)).trim());
}

#[test]
fn empty_workspace_name_is_the_default_workspace() {
    let folder = Folder::new();
    let empty = TAKING.replace("defaults =", "workspace = \"\"\n  defaults =");
    taken(&folder);
    folder.write("main.tf", &empty);
    folder.ok(&["plan", "-detailed-exitcode"]);
}

#[test]
fn rejects_files_that_are_not_states() {
    let folder = Folder::new();
    folder.write("main.tf", TAKING).write("base/terraform.tfstate", "{}");
    let problem = folder.fails(&["plan"]);
    assert!(problem.contains("base/terraform.tfstate is not a valid state."), "{problem}");
}

#[test]
fn missing_state_is_an_error_with_its_path() {
    let folder = Folder::new();
    folder.write("main.tf", TAKING);
    let problem = folder.fails(&["plan"]);
    assert!(problem.contains("Unable to find remote state"), "{problem}");
    assert!(problem.contains("base/terraform.tfstate"), "{problem}");
    folder.write("base/terraform.tfstate", "");
    assert_eq!(folder.fails(&["plan"]), problem);
    folder.write(
        "main.tf",
        "data \"terraform_remote_state\" \"x\" {\n  backend   = \"local\"\n  workspace = \"other\"\n}\n",
    );
    let problem = folder.fails(&["plan"]);
    assert!(problem.contains("on main.tf line 3, in data \"terraform_remote_state\" \"x\""), "{problem}");
}

/// Where a state is encrypted, and how the one who reads it may open it.
fn sealed(provider: &str, passphrase: &str, targets: &str) -> String {
    format!(
        "terraform {{\n  encryption {{\n    key_provider \"pbkdf2\" \"{provider}\" {{\n      passphrase = \"{passphrase}\"\n      \
         iterations = 200000\n      encrypted_metadata_alias = \"shared\"\n    }}\n    method \"aes_gcm\" \"m\" {{\n      \
         keys = key_provider.pbkdf2.{provider}\n    }}\n    {targets}\n  }}\n}}\n"
    )
}

const STATE: &str = "state {\n      method = method.aes_gcm.m\n    }";

/// A configuration that takes from an encrypted state, in the root module and in another, with these targets.
fn taking_sealed(targets: &str) -> Folder {
    let folder = Folder::new();
    folder.write("base/main.tf", GIVING).write("base/e.tf", &sealed("giving", "the passphrase of base", STATE));
    folder.ok(&["-chdir=base", "apply", "-auto-approve"]);
    let inner = TAKING.replace("base/terraform.tfstate", "${path.root}/base/terraform.tfstate");
    folder.write("main.tf", TAKING).write("inner/main.tf", &inner);
    folder.write("more.tf", "module \"in\" {\n  count  = 1\n  source = \"./inner\"\n}\n");
    folder.write("e.tf", &sealed("taking", "the passphrase of base", targets));
    folder.ok(&["init"]);
    folder
}

fn errors(folder: &Folder) -> String {
    folder.fails(&["plan"]).split_whitespace().collect::<Vec<&str>>().join(" ")
}

#[test]
fn encrypted_remote_state_is_read_with_its_configured_method() {
    let default = "remote_state_data_sources {\n      default {\n        method = method.aes_gcm.m\n      }\n    }";
    let folder = taking_sealed(default);
    folder.ok(&["apply", "-auto-approve"]);
    assert_eq!(folder.ok(&["output", "-json", "taken"]).trim(), r#"{"color":"red","names":["a","b"],"size":3}"#);
    // The configuration's own state is in clear all the same.
    assert!(folder.read("terraform.tfstate").contains("\"outputs\""));
    let named = |name: &str| {
        format!(
            "remote_state_data_sources {{\n      remote_state_data_source \"base\" {{\n        method = method.aes_gcm.m\n      }}\n      \
             remote_state_data_source \"{name}\" {{\n        method = method.aes_gcm.m\n      }}\n    }}"
        )
    };
    taking_sealed(&named("in[0].base")).ok(&["plan"]);
    let said = errors(&taking_sealed(&named("in.base")));
    assert!(said.contains("with module.in[0].data.terraform_remote_state.base"), "{said}");
    assert!(said.contains("is encrypted") && said.contains("remote_state_data_sources"), "{said}");
}

#[test]
fn encrypted_remote_state_needs_its_key_and_plain_one_a_fallback() {
    let said = errors(&taking_sealed(STATE));
    assert!(said.contains("Error loading state") && said.contains("base/terraform.tfstate is encrypted"), "{said}");
    let default = "remote_state_data_sources {\n      default {\n        method = method.aes_gcm.m\n      }\n    }";
    let folder = taking_sealed(default);
    folder.write("e.tf", &sealed("taking", "another passphrase altogether", default));
    let said = errors(&folder);
    assert!(said.contains("Decryption failed for all provided methods"), "{said}");
    folder.write("e.tf", &sealed("taking", "the passphrase of base", default));
    folder.write(
        "base/terraform.tfstate",
        r#"{"version": 4, "serial": 1, "lineage": "l", "outputs": {}, "resources": []}"#,
    );
    let said = errors(&folder);
    assert!(said.contains("Unencrypted content without unencrypted method"), "{said}");
}

#[test]
fn warns_about_deprecated_outputs_of_remote_state() {
    let folder = Folder::new();
    folder.write(
        "base/main.tofu",
        "output \"old\" {\n  value      = { a = 1 }\n  deprecated = \"Use new.\"\n}\noutput \"new\" {\n  value = 1\n}\n",
    );
    folder.write(
        "main.tf",
        "data \"terraform_remote_state\" \"base\" {\n  backend = \"local\"\n  config  = { path = \"base/terraform.tfstate\" }\n}\n\
         resource \"terraform_data\" \"a\" {\n  input = data.terraform_remote_state.base.outputs.old.a\n}\n\
         output \"new\" {\n  value = data.terraform_remote_state.base.outputs.new\n}\n",
    );
    folder.ok(&["-chdir=base", "apply", "-auto-approve"]);
    let reported = folder.ok(&["apply", "-auto-approve"]);
    assert_eq!(reported.matches("Warning: Deprecated value used").count(), 1, "{reported}");
    assert!(
        reported.contains("on main.tf line 6, in resource \"terraform_data\" \"a\"") && reported.contains("Use new."),
        "{reported}"
    );
    assert!(
        reported.contains("The deprecation originates from data.terraform_remote_state.base.outputs.old"),
        "{reported}"
    );
    let silent = folder.ok(&["plan", "-deprecation=module:none"]);
    assert!(!silent.contains("Warning"), "{silent}");
    // Nothing of it is kept.
    assert!(!folder.read("terraform.tfstate").contains("deprecated"));
}

#[test]
fn destroy_does_not_report_data_sources_of_checks() {
    let folder = Folder::new();
    let data =
        "data \"terraform_remote_state\" \"s\" {\n  backend = \"local\"\n  config  = { path = \"gone.tfstate\" }\n}\n";
    let check = format!(
        "check \"c\" {{\n{data}  assert {{\n    condition     = data.terraform_remote_state.s.outputs.x == 1\n    error_message = \"No.\"\n  }}\n}}\n"
    );
    folder.write("main.tf", &format!("resource \"terraform_data\" \"a\" {{}}\n{check}"));
    assert!(folder.ok(&["apply", "-auto-approve"]).contains("Warning: Unable to find remote state"));
    let reported = folder.ok(&["destroy", "-auto-approve"]);
    assert!(!reported.contains("Warning") && reported.contains("1 destroyed"), "{reported}");
}
