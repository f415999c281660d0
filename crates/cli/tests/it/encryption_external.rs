//! OpenTofu's protocol for external key providers and encryption methods.

#![cfg(unix)]

use serde_json::Value as Json;

use crate::common::Folder;

const RESOURCE: &str = r#"
variable "input" {
  default = "what nobody may see"
}
resource "terraform_data" "a" {
  count = 3
  input = var.input
}
"#;

/// Gives the same key in every run, and notes how often it was asked.
const KEYS: &str = r#"
echo '{"magic":"OpenTofu-External-Key-Provider","version":1}'
input=$(cat)
printf '%s\n' "$input" >> asked
key=$(printf %s "0123456789abcdef0123456789abcdef" | base64)
if [ "$input" = null ]; then
  printf '{"keys":{"encryption_key":"%s"},"meta":{"external_data":{"which":"first"}}}' "$key"
else
  printf '{"keys":{"encryption_key":"%s","decryption_key":"%s"},"meta":{"external_data":{"which":"first"}}}' "$key" "$key"
fi
"#;

/// Turns the letters of the payload's Base64 around, both ways; the key has to be there.
const METHOD: &str = r#"
echo '{"magic":"OpenTofu-External-Encryption-Method","version":1}'
echo run >> runs
input=$(cat)
case "$input" in *'"key":"'*) ;; *) echo "there is no key" >&2; exit 3 ;; esac
payload=$(printf %s "$input" | sed 's/.*"payload":"\([^"]*\)".*/\1/' | base64 -d | tr 'a-zA-Z' 'n-za-mN-ZA-M' | base64 | tr -d '\n')
printf '{"payload":"%s"}' "$payload"
"#;

fn folder(block: &str) -> Folder {
    let folder = Folder::new();
    folder.write("main.tf", RESOURCE).write("keys.sh", KEYS).write("method.sh", METHOD);
    folder.write("e.tf", &format!("terraform {{\n  encryption {{\n{block}\n  }}\n}}\n"));
    folder
}

const EXTERNAL_KEYS: &str = "key_provider \"external\" \"k\" {\n  command = [\"sh\", \"./keys.sh\"]\n}\n";
const AES: &str = "method \"aes_gcm\" \"m\" {\n  keys = key_provider.external.k\n}\nstate {\n  method = method.aes_gcm.m\n}\nplan {\n  \
                   method = method.aes_gcm.m\n}\n";
const EXTERNAL_METHOD: &str = "method \"external\" \"m\" {\n  keys = key_provider.external.k\n  encrypt_command = [\"sh\", \"method.sh\"]\n  \
                               decrypt_command = [\"sh\", \"method.sh\"]\n}\nstate {\n  method = method.external.m\n}\n";

fn refused(folder: &Folder, arguments: &[&str]) -> String {
    folder.fails(arguments).split_whitespace().collect::<Vec<&str>>().join(" ")
}

#[test]
fn external_key_provider_gets_its_metadata_back() {
    let folder = folder(&format!("{EXTERNAL_KEYS}{AES}"));
    folder.ok(&["plan", "-out=p"]);
    folder.ok(&["apply", "p"]);
    let state: Json = serde_json::from_str(&folder.read("terraform.tfstate")).unwrap();
    // {"external_data":{"which":"first"}}
    assert_eq!(state["meta"]["key_provider.external.k"], "eyJleHRlcm5hbF9kYXRhIjp7IndoaWNoIjoiZmlyc3QifX0=");
    assert!(folder.ok(&["plan"]).contains("No changes"));
    let asked = folder.read("asked");
    assert!(asked.lines().any(|line| line == r#"{"external_data":{"which":"first"}}"#), "{asked}");
    assert!(asked.lines().any(|line| line == "null"), "{asked}");
    folder.write("keys.sh", "echo the vault is closed >&2\nexit 2\n");
    let said = refused(&folder, &["plan"]);
    assert!(
        said.contains("key_provider.external.k did not supply a key") && said.contains("the vault is closed"),
        "{said}"
    );
}

#[test]
fn keys_are_derived_from_external_key_material() {
    let chain = "key_provider \"pbkdf2\" \"c\" {\n  chain = key_provider.external.k\n  iterations = 200000\n}\n";
    let folder = folder(&format!("{EXTERNAL_KEYS}{chain}{}", AES.replace("external.k", "pbkdf2.c")));
    folder.ok(&["apply", "-auto-approve"]);
    let state: Json = serde_json::from_str(&folder.read("terraform.tfstate")).unwrap();
    assert_eq!(state["meta"].as_object().unwrap().len(), 2);
    assert!(folder.ok(&["plan"]).contains("No changes"));
}

#[test]
fn external_method_runs_once_per_file() {
    let folder = folder(&format!("{EXTERNAL_KEYS}{EXTERNAL_METHOD}"));
    folder.ok(&["apply", "-auto-approve"]);
    let runs = folder.read("runs").lines().count();
    // Once to open, and once for each content that is sealed: a checkpoint, the journal's and the file's.
    assert!(runs <= 4, "{runs}");
    assert!(!folder.read("terraform.tfstate").contains("terraform_data"));
    assert!(folder.ok(&["plan"]).contains("No changes"));
    assert_eq!(folder.ok(&["state", "list"]).lines().count(), 3);
    folder.write("e.tf", &folder.read("e.tf").replace("  keys = key_provider.external.k\n", ""));
    let said = refused(&folder, &["plan"]);
    assert!(said.contains("exit status: 3") && said.contains("there is no key"), "{said}");
}

#[test]
fn missing_external_command_is_reported_before_any_write() {
    let no_words = EXTERNAL_KEYS.replace("[\"sh\", \"./keys.sh\"]", "[]");
    let missing = EXTERNAL_KEYS.replace("\"sh\", \"./keys.sh\"", "\"./not-there\"");
    let other = EXTERNAL_KEYS.replace("\"sh\", \"./keys.sh\"", "\"echo\", \"hello\"");
    for (block, expected) in [
        (format!("{no_words}{AES}"), "command must be a list of the program"),
        (format!("{missing}{AES}"), "cannot start the program \"./not-there\""),
        (format!("{other}{AES}"), "OpenTofu-External-Key-Provider"),
    ] {
        let folder = folder(&block);
        let said = refused(&folder, &["apply", "-auto-approve"]);
        assert!(said.contains(expected), "{said}");
        assert!(!folder.path("terraform.tfstate").exists());
    }
    let folder = folder(&format!("key_provider \"external\" \"k\" {{\n  comand = []\n}}\n{AES}"));
    let said = refused(&folder, &["validate"]);
    assert!(said.contains("Did you mean \"command\"?"), "{said}");
}
