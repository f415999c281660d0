//! State and plan encryption, compatible with OpenTofu.

use serde_json::Value as Json;

use crate::common::Folder;

const SECRET: &str = "what nobody may see";

const RESOURCE: &str = r#"
variable "input" {
  default = "what nobody may see"
}
resource "terraform_data" "a" {
  input = var.input
}
output "o" {
  value = terraform_data.a.output
}
"#;

/// The fewest iterations that are allowed, so that the test does not take long.
const ENCRYPTED: &str = r#"
variable "passphrase" {
  sensitive = true
}
locals {
  phrase = "phrase: ${var.passphrase}"
}
terraform {
  encryption {
    key_provider "pbkdf2" "main" {
      passphrase = local.phrase
      iterations = 200000
    }
    method "aes_gcm" "main" {
      keys = key_provider.pbkdf2.main
    }
    state {
      method = method.aes_gcm.main
    }
    plan {
      method   = method.aes_gcm.main
      enforced = true
    }
  }
}
"#;

/// What a command says, however its lines are broken.
fn refused(folder: &Folder, arguments: &[&str]) -> String {
    folder.fails(arguments).split_whitespace().collect::<Vec<&str>>().join(" ")
}

/// The files of a folder that hold the secret in clear, configuration apart.
fn in_clear(folder: &Folder) -> Vec<String> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder.path("")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let bytes = std::fs::read(&path).unwrap_or_default();
        if !name.ends_with(".tf") && bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes()) {
            names.push(name);
        }
    }
    names.sort();
    names
}

fn is_sealed(folder: &Folder, name: &str) -> bool {
    serde_json::from_str::<Json>(&folder.read(name)).is_ok_and(|json| json["encryption_version"] == "v0")
}

#[test]
fn all_commands_read_encrypted_state_plan_and_backup() {
    let folder = Folder::new().with("TF_VAR_passphrase", "a passphrase of the test");
    folder.write("main.tf", RESOURCE).write("encryption.tf", ENCRYPTED);
    folder.ok(&["plan", "-out=p"]);
    assert!(is_sealed(&folder, "p"));
    let plan: Json = serde_json::from_str(&folder.ok(&["show", "-json", "p"])).unwrap();
    assert_eq!(plan["resource_changes"][0]["change"]["after"]["input"], SECRET);
    folder.ok(&["apply", "p"]);
    let state: Json = serde_json::from_str(&folder.read("terraform.tfstate")).unwrap();
    assert_eq!((&state["serial"], state["meta"].get("key_provider.pbkdf2.main").is_some()), (&Json::from(1), true));
    assert!(folder.ok(&["plan"]).contains("No changes"));
    folder.ok(&["apply", "-auto-approve", "-var=input=what nobody may see either"]);
    assert!(is_sealed(&folder, "terraform.tfstate") && is_sealed(&folder, "terraform.tfstate.backup"));
    assert_eq!(in_clear(&folder), Vec::<String>::new());
    assert!(folder.ok(&["output"]).contains(SECRET));
    assert!(folder.ok(&["state", "pull"]).contains(SECRET));
    assert!(folder.ok(&["show", "terraform.tfstate.backup"]).contains(SECRET));
    folder.ok(&["state", "mv", "terraform_data.a", "terraform_data.b"]);
    assert_eq!(in_clear(&folder), Vec::<String>::new());
    let other = Folder::new().with("TF_VAR_passphrase", "another passphrase");
    other.write("main.tf", RESOURCE).write("encryption.tf", ENCRYPTED);
    for name in ["terraform.tfstate", "p"] {
        std::fs::copy(folder.path(name), other.path(name)).unwrap();
    }
    for arguments in [&["plan"][..], &["apply", "p"], &["show", "p"], &["state", "list"]] {
        let said = refused(&other, arguments);
        assert!(said.contains("Decryption failed for all provided methods"), "{arguments:?}: {said}");
    }
    // Without a word of encryption nothing is read either.
    other.write("encryption.tf", "");
    assert!(refused(&other, &["plan"]).contains("no encryption block"));
    assert!(refused(&other, &["apply", "p"]).contains("The plan is encrypted"));
}

fn environment(state: &str) -> String {
    format!(
        "key_provider \"pbkdf2\" \"k\" {{\n  passphrase = \"the passphrase of the environment\"\n  iterations = 200000\n}}\n\
         method \"aes_gcm\" \"m\" {{\n  keys = key_provider.pbkdf2.k\n}}\nmethod \"unencrypted\" \"u\" {{}}\n{state}"
    )
}

#[test]
fn environment_variable_migrates_to_encryption_and_back() {
    let plain = Folder::new();
    plain.write("main.tf", RESOURCE);
    plain.ok(&["apply", "-auto-approve"]);
    assert_eq!(in_clear(&plain), ["terraform.tfstate"]);
    let strict = environment("state {\n  method = method.aes_gcm.m\n}\n");
    let mut folder = plain.with("TF_ENCRYPTION", &strict);
    let said = refused(&folder, &["apply", "-auto-approve"]);
    assert!(said.contains("Unencrypted content without unencrypted method"), "{said}");
    folder = folder.with(
        "TF_ENCRYPTION",
        &environment("state {\n  method = method.aes_gcm.m\n  fallback {\n    method = method.unencrypted.u\n  }\n}\n"),
    );
    assert!(folder.ok(&["apply", "-auto-approve"]).contains("Warning: Unencrypted method configured"));
    assert_eq!(in_clear(&folder), Vec::<String>::new());
    // The same in JSON, and without the way back.
    let json = r#"{
      "key_provider": { "pbkdf2": { "k": { "passphrase": "the passphrase of the environment", "iterations": 200000 } } },
      "method": { "aes_gcm": { "m": { "keys": "${key_provider.pbkdf2.k}" } } },
      "state": { "method": "method.aes_gcm.m", "enforced": true }
    }"#;
    folder = folder.with("TF_ENCRYPTION", json);
    assert!(folder.ok(&["plan"]).contains("No changes"));
    folder = folder.with(
        "TF_ENCRYPTION",
        &environment("state {\n  method = method.unencrypted.u\n  fallback {\n    method = method.aes_gcm.m\n  }\n}\n"),
    );
    folder.ok(&["apply", "-auto-approve"]);
    folder = folder.with("TF_ENCRYPTION", " ");
    assert!(folder.ok(&["plan"]).contains("No changes"));
}

#[test]
fn block_with_escaped_label_is_recognized() {
    let folder = Folder::new();
    folder.write("main.tf", RESOURCE).write(
        "encryption.tf.json",
        r#"{"terraform": {"encrypt\u0069on": {
            "key_provider": {"pbkdf2": {"main": {"passphrase": "a passphrase of the test", "iterations": 200000}}},
            "method": {"aes_gcm": {"main": {"keys": "${key_provider.pbkdf2.main}"}}},
            "state": {"method": "${method.aes_gcm.main}"}
        }}}"#,
    );
    folder.ok(&["apply", "-auto-approve"]);
    assert!(is_sealed(&folder, "terraform.tfstate"));
    assert_eq!(folder.ok(&["state", "list"]), "terraform_data.a\n");
}

#[test]
fn unusable_encryption_block_prevents_reads_and_writes() {
    let cases = [
        ("key_provider \"pbkdf3\" \"k\" {}\n", "Did you mean \"pbkdf2\"?"),
        ("key_provider \"pbkdf2\" \"k\" {\n passphrase = \"short\"\n}\n", "at least 16 characters"),
        ("key_provider \"pbkdf2\" \"k\" {}\n", "set either passphrase or chain"),
        ("key_provider \"pbkdf2\" \"k\" {\n chain = key_provider.pbkdf2.k\n}\n", "Circular reference detected"),
        ("key_provider \"pbkdf2\" \"k\" {\n passphrase = var.nowhere\n}\n", "Unknown encryption argument"),
    ];
    for (provider, expected) in cases {
        let folder = Folder::new();
        folder.write("main.tf", RESOURCE);
        let block = format!(
            "{provider}method \"aes_gcm\" \"m\" {{\n  keys = key_provider.{}.k\n}}\nstate {{\n  method = method.aes_gcm.m\n}}\n",
            provider.split('"').nth(1).unwrap()
        );
        folder.write(
            "encryption.tf",
            &format!("variable \"nowhere\" {{}}\nterraform {{\n  encryption {{\n{block}  }}\n}}\n"),
        );
        for arguments in [&["plan", "-var=nowhere="][..], &["apply", "-auto-approve", "-var=nowhere="], &["output"]] {
            if expected.starts_with("Unknown") && arguments.len() > 1 {
                continue;
            }
            let said = refused(&folder, arguments);
            assert!(said.contains(expected), "{arguments:?}: {said}");
        }
        assert!(!folder.path("terraform.tfstate").exists());
    }
}

#[test]
fn validate_reports_encryption_errors_without_secrets() {
    let folder = Folder::new();
    folder.write(
        "main.tf",
        "terraform {\n  encryption {\n    key_provider \"pbkdf2\" \"first\" {\n      passphrse = \"the secret of the block\"\n    }\n    \
         method \"aes_gcm\" \"m\" {\n      keys = key_provider.pbkdf2.fist\n    }\n    state {\n      method = method.aes_gcm.n\n    }\n    \
         state {}\n  }\n}\n",
    );
    let said = refused(&folder, &["validate"]);
    for expected in [
        "Did you mean key_provider.pbkdf2.first?",
        "Did you mean method.aes_gcm.m?",
        "Unsupported argument",
        "Duplicate state block",
    ] {
        assert!(said.contains(expected), "{expected}: {said}");
    }
    let folder = Folder::new()
        .with("TF_ENCRYPTION", "key_provider \"pbkdf2\" \"k\" { passphrase == \"the secret of the block\"");
    folder.write("main.tf", RESOURCE);
    let said = refused(&folder, &["plan"]);
    assert!(
        said.contains("In the environment variable TF_ENCRYPTION, line 1") && !said.contains("the secret"),
        "{said}"
    );
    let enforced = environment("plan {\n  enforced = true\n  method = method.unencrypted.u\n}\n");
    let folder = Folder::new().with("TF_ENCRYPTION", &enforced);
    folder.write("main.tf", RESOURCE);
    let said = refused(&folder, &["plan"]);
    assert!(said.contains("Unencrypted method is forbidden") && !said.contains("passphrase of the"), "{said}");
}

#[test]
fn missing_passphrase_is_prompted_for_once() {
    let folder = Folder::new();
    folder.write("main.tf", RESOURCE).write("encryption.tf", ENCRYPTED);
    let asked = folder.run_with_input(&["apply"], "a passphrase of the test\nyes\n");
    assert_eq!((asked.code, asked.out.matches("var.passphrase").count()), (0, 1), "{}{}", asked.out, asked.err);
    assert!(is_sealed(&folder, "terraform.tfstate"));
    assert!(folder.run_with_input(&["plan"], "a passphrase of the test\n").out.contains("No changes"));
    let said = refused(&folder, &["plan", "-input=false"]);
    assert!(said.contains("Unknown encryption argument"), "{said}");
}

/// A method `m` with these keys, and a key provider `k` with this setting beside its passphrase.
fn with_keys(keys: &str, setting: &str) -> String {
    format!(
        "key_provider \"pbkdf2\" \"k\" {{\n  passphrase = \"the passphrase of the environment\"\n  iterations = 200000\n  {setting}\n}}\n\
         method \"aes_gcm\" \"m\" {{\n  keys = {keys}\n}}\nstate {{\n  method = method.aes_gcm.m\n}}\n"
    )
}

#[test]
fn keys_argument_accepts_any_expression() {
    let bytes = ["7"; 32].join(", ");
    let object = format!("{{ encryption_key = [{bytes}], decryption_key = [{bytes}] }}");
    let locals = format!("locals {{\n  name = \"key_provider.pbkdf2.k\"\n  keys = {object}\n}}\n{RESOURCE}");
    let own = [object.as_str(), "local.keys"];
    let named = [
        "\"${key_provider.pbkdf2.k}\"",
        "(key_provider.pbkdf2.k)",
        "true ? key_provider.pbkdf2.k : null",
        "local.name",
    ];
    for (forms, plain) in [(&own[..], &*object), (&named[..], "key_provider.pbkdf2.k")] {
        for form in forms {
            let mut folder = Folder::new().with("TF_ENCRYPTION", &with_keys(form, ""));
            folder.write("main.tf", &locals);
            folder.ok(&["apply", "-auto-approve"]);
            assert!(is_sealed(&folder, "terraform.tfstate") && in_clear(&folder).is_empty(), "{form}");
            folder = folder.with("TF_ENCRYPTION", &with_keys(plain, ""));
            assert!(folder.ok(&["plan"]).contains("No changes"), "{form}");
        }
    }
    let cases = [
        ("{ encryption_key = [7] }", "Missing decryption_key value"),
        ("[7]", "Invalid Key Provider expression format"),
        ("lower(\"none\")", "Invalid Key Provider expression format"),
        ("true ? key_provider.pbkdf2.other : null", "Reference to undeclared key provider"),
    ];
    for (form, expected) in cases {
        let folder = Folder::new().with("TF_ENCRYPTION", &with_keys(form, ""));
        folder.write("main.tf", RESOURCE);
        let said = refused(&folder, &["plan"]);
        assert!(said.contains(expected), "{form}: {said}");
    }
}

#[test]
fn rejects_keys_of_wrong_length_early() {
    let short = "{ encryption_key = [7], decryption_key = [7] }";
    for (keys, setting) in [("key_provider.pbkdf2.k", "key_length = 20"), (short, "")] {
        let folder = Folder::new().with("TF_ENCRYPTION", &with_keys(keys, setting));
        folder.write("main.tf", RESOURCE);
        for command in ["init", "plan"] {
            let said = refused(&folder, &[command]);
            assert!(said.contains("Invalid method configuration"), "{command}: {said}");
        }
    }
    let chain = with_keys("key_provider.pbkdf2.l", "").replacen(
        "method",
        &format!("key_provider \"pbkdf2\" \"l\" {{\n  chain = {short}\n}}\nmethod"),
        1,
    );
    let folder = Folder::new().with("TF_ENCRYPTION", &chain);
    folder.write("main.tf", RESOURCE);
    let said = refused(&folder, &["init"]);
    assert!(said.contains("the keys of the chain are too short"), "{said}");
}
