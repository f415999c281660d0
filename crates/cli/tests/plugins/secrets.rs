//! Every command runs with distinct secrets; then every file and everything that was printed is searched for them.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use groma_provider::{Attribute, Block, NestedBlock, Schema, ServerCapabilities};
use groma_scripted::{EphemeralScript, ResourceScript, Scripted};
use groma_value::Type;

use super::{BEHAVIOR_VARIABLE as VARIABLE, folder, nobody_is_left};
use crate::common::{Folder, Ran};
use crate::common::{kill, start_run, until_said};

/// The behavior of the plugin that accepts secrets.
pub const BEHAVIOR: &str = "secrets";

/// Values that may be kept nowhere: ephemeral ones, and those of write-only arguments.
const FLEETING: [&str; 5] = [
    "computed-token",
    "written-only-literal-4d1f", // not in the configuration in this form, which plans keep
    "ephemeral-variable-9a2c",
    "ephemeral-provider-key-77e0",
    "ephemeral-connection-password-c3b8",
];

/// Values that belong in states, journals and plan files, and are shown nowhere.
const SENSITIVE: [&str; 5] = [
    "sensitive-option-51ab",
    "sensitive-file-08fe",
    "sensitive-environment-e6d4",
    "sensitive-provider-password-2b90",
    "sensitive-connection-key-f17a",
];

/// The provider: an ephemeral resource, and objects with a write-only argument and one without.
pub fn provider() -> Scripted {
    let block = |attributes: Vec<(&'static str, Attribute)>| {
        Schema::new(Block::new(attributes, [] as [(&str, NestedBlock); 0]))
    };
    let optional = || Attribute::optional(Type::String);
    let slowly = |request: &groma_provider::ApplyRequest| {
        if request.config.attribute("pace").is_some_and(|pace| pace.as_str() == Some("slow")) {
            std::thread::sleep(Duration::from_secs(60));
        }
    };
    let object = |more: Vec<(&'static str, Attribute)>| {
        let own = [("id", Attribute::computed(Type::String)), ("name", optional()), ("pace", optional())];
        ResourceScript::new(block(own.into_iter().chain(more).collect()))
            .on_read(|request, _| groma_provider::ReadResponse::unchanged(request.clone()))
            .on_apply(move |request, good| {
                slowly(request);
                good()
            })
    };
    let vault = object(vec![("password", optional().write_only()), ("literal", optional().write_only())]);
    let token = EphemeralScript::new(block(vec![("token", Attribute::computed(Type::String).sensitive())]));
    let config = block(vec![("key", optional()), ("password", optional().sensitive())]);
    Scripted::new("trouble")
        .config(config)
        .resource("trouble_vault", vault)
        .resource("trouble_plain", object(vec![("secret", optional().sensitive())]))
        .ephemeral("trouble_token", token)
        // A request that the next run can repeat is kept until then.
        .capabilities(ServerCapabilities { plan_destroy: true, repeatable_create: true, ..Default::default() })
}

const MAIN: &str = r#"
terraform {
  required_providers {
    trouble = { source = "example/trouble" }
  }
}
variable "fleeting" { ephemeral = true }
variable "key" { ephemeral = true }
variable "login" { ephemeral = true }
variable "option" { sensitive = true }
variable "file" { sensitive = true }
variable "environment" { sensitive = true }
variable "password" { sensitive = true }
variable "ssh_key" { sensitive = true }
variable "pace" { default = "fast" }
variable "names" {
  type    = list(string)
  default = ["one"]
}

provider "trouble" {
  key      = var.key
  password = var.password
}

ephemeral "trouble_token" "it" {}

resource "trouble_vault" "token" {
  for_each = toset(var.names)
  name     = each.key
  pace     = var.pace
  password = ephemeral.trouble_token.it.token
  literal  = strrev("f1d4-laretil-ylno-nettirw")
}

resource "trouble_vault" "variable" {
  for_each = toset(var.names)
  name     = each.key
  pace     = var.pace
  password = "${var.fleeting}-${jsonencode(var.fleeting)}"
}

resource "trouble_plain" "it" {
  for_each = toset(var.names)
  name     = var.option
  pace     = var.pace
  secret   = var.file
}

resource "terraform_data" "provisioned" {
  # Not input: the output repeats it, and is not sensitive, as in Terraform.
  triggers_replace = { (var.environment) = var.option }

  provisioner "local-exec" {
    command     = "echo $A $B"
    environment = { A = var.fleeting, B = var.environment }
  }
  provisioner "remote-exec" {
    inline     = ["echo ${var.login}"]
    on_failure = continue
    connection {
      host        = "127.0.0.1"
      port        = 1
      user        = "nobody"
      password    = var.login
      private_key = var.ssh_key
      timeout     = "1s"
    }
  }
}

check "it" {
  assert {
    condition     = var.environment == "x"
    error_message = "It is ${var.environment}."
  }
}

output "it" {
  value     = [var.option, var.file, var.environment]
  sensitive = true
}
"#;

const OPTION: &str = "-var=option=sensitive-option-51ab";

struct Site(Folder);

impl Site {
    fn new() -> Self {
        let folder = folder("good").with(VARIABLE, BEHAVIOR);
        let temporary = folder.path("temporary").display().to_string();
        let log = folder.path("log").display().to_string();
        folder
            .write("temporary/x", "")
            .write("terraform.tfvars", "file = \"sensitive-file-08fe\"\n")
            .write("main.tf", MAIN);
        let folder = folder
            .with("TMPDIR", &temporary)
            .with("TF_LOG", "TRACE")
            .with("TF_LOG_PATH", &log)
            .with("TF_VAR_fleeting", "ephemeral-variable-9a2c")
            .with("TF_VAR_key", "ephemeral-provider-key-77e0")
            .with("TF_VAR_login", "ephemeral-connection-password-c3b8")
            .with("TF_VAR_environment", "sensitive-environment-e6d4")
            .with("TF_VAR_password", "sensitive-provider-password-2b90")
            .with("TF_VAR_ssh_key", "sensitive-connection-key-f17a");
        Self(folder)
    }

    /// Runs a command, which prints no secret and leaves none behind.
    fn runs(&self, arguments: &[&str]) -> Ran {
        self.answers(arguments, "")
    }

    fn answers(&self, arguments: &[&str], input: &str) -> Ran {
        let ran = self.0.run_with_input(arguments, input);
        assert!(matches!(ran.code, 0 | 2), "{arguments:?}\n{}{}", ran.out, ran.err);
        let said = format!("{}{}", ran.out, ran.err);
        assert_eq!(found(said.as_bytes(), &[&FLEETING[..], &SENSITIVE].concat()), [""; 0], "{arguments:?}: {said}");
        self.has_no_secrets(&format!("{arguments:?}"));
        ran
    }

    /// Runs a command whose output is a document with all values, except for those that are kept nowhere.
    fn reveals(&self, arguments: &[&str]) {
        let ran = self.0.run(arguments);
        assert_eq!(ran.code, 0, "{arguments:?}\n{}{}", ran.out, ran.err);
        assert_eq!(found(ran.out.as_bytes(), &FLEETING), [""; 0], "{arguments:?}: {}", ran.out);
        assert_eq!(found(ran.err.as_bytes(), &[&FLEETING[..], &SENSITIVE].concat()), [""; 0], "{arguments:?}");
        self.has_no_secrets(&format!("{arguments:?}"));
    }

    /// Searches every file but those that the test wrote.
    fn has_no_secrets(&self, after: &str) {
        let mut folders = vec![self.0.path("")];
        let mut problems = Vec::new();
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_symlink() || path.extension().is_some_and(|end| end == "tf" || end == "tfvars") {
                    continue;
                }
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                // Sockets hold nothing, and files of a run under way may be gone by now.
                if !path.is_file() {
                    continue;
                }
                let secrets: &[&[&str]] = if keeps_values(&path) { &[&FLEETING] } else { &[&FLEETING, &SENSITIVE] };
                for content in contents(&path) {
                    let texts = found(&content, &secrets.concat());
                    problems.extend(texts.iter().map(|text| format!("{}: {text}", path.display())));
                }
            }
        }
        assert!(problems.is_empty(), "after {after}: {problems:#?}");
    }

    /// Kills an apply during its calls.
    fn killed(&self, arguments: &[&str]) {
        let run = start_run(&self.0, &[&["apply", "-auto-approve", OPTION, "-var=pace=slow"], arguments].concat());
        until_said(&self.0, "reating...", 3);
        std::thread::sleep(Duration::from_millis(500));
        self.has_no_secrets("calls");
        kill(run);
        nobody_is_left(&self.0);
        self.has_no_secrets("a kill");
    }
}

/// Whether a file is a state, a journal, a backup or a plan.
fn keeps_values(path: &Path) -> bool {
    let name = path.file_name().unwrap().to_string_lossy();
    name.contains("tfstate") || name.ends_with(".plan")
}

/// The content of a file as it is, and of the members of an archive.
fn contents(path: &PathBuf) -> Vec<Vec<u8>> {
    let Ok(whole) = fs::read(path) else { return Vec::new() };
    let mut contents = Vec::new();
    if let Ok(mut archive) = zip::ZipArchive::new(std::io::Cursor::new(&whole)) {
        for index in 0..archive.len() {
            let mut content = Vec::new();
            archive.by_index(index).unwrap().read_to_end(&mut content).unwrap();
            contents.push(content);
        }
    }
    contents.push(whole);
    contents
}

fn found<'a>(content: &[u8], secrets: &[&'a str]) -> Vec<&'a str> {
    let has = |secret: &str| content.windows(secret.len()).any(|window| window == secret.as_bytes());
    secrets.iter().copied().filter(|secret| has(secret)).collect()
}

pub fn nowhere() {
    let site = Site::new();
    site.runs(&["init"]);
    site.runs(&["validate"]);
    site.runs(&["validate", "-json"]);
    site.runs(&["plan", OPTION]);
    site.runs(&["plan", OPTION, "-json"]);
    site.runs(&["plan", OPTION, "-detailed-exitcode", "-out=first.plan"]);
    site.runs(&["show", "first.plan"]);
    site.reveals(&["show", "-json", "first.plan"]);
    site.runs(&["graph", "-plan=first.plan"]);
    site.runs(&["apply", "first.plan"]);
    site.runs(&["apply", "-auto-approve", OPTION, "-json", "-var=names=[\"one\",\"two\"]"]);
    // The objects that are being created and updated at the time of the kill.
    site.killed(&["-var=names=[\"one\",\"two\",\"three\",\"four\"]", "-parallelism=30"]);
    site.runs(&["plan", OPTION]);
    let recovered = site.runs(&["apply", "-auto-approve", OPTION, "-var=names=[\"one\",\"two\",\"three\"]"]);
    assert!(recovered.out.contains("Apply complete!"), "{}", recovered.out);
    site.runs(&["refresh", OPTION]);
    site.runs(&["output"]);
    site.reveals(&["output", "-json"]);
    site.runs(&["show"]);
    site.reveals(&["show", "-json"]);
    site.answers(
        &["console", OPTION],
        "var.option\nvar.fleeting\ntrouble_plain.it\n[var.file, var.key]\nephemeral.trouble_token.it\n",
    );
    site.runs(&["state", "list"]);
    site.runs(&["state", "show", "trouble_plain.it[\"one\"]"]);
    site.runs(&["state", "show", "terraform_data.provisioned"]);
    site.reveals(&["state", "pull"]);
    site.runs(&["taint", "trouble_plain.it[\"one\"]"]);
    site.runs(&["untaint", "trouble_plain.it[\"one\"]"]);
    site.runs(&["state", "mv", "trouble_plain.it[\"three\"]", "trouble_plain.it[\"four\"]"]);
    site.runs(&["state", "rm", "trouble_plain.it[\"two\"]"]);
    site.runs(&["import", OPTION, "-var=names=[\"two\"]", "trouble_plain.it[\"two\"]", "an-id"]);
    fs::write(site.0.path("pulled.tfstate"), site.0.ok(&["state", "pull"])).unwrap();
    site.runs(&["state", "push", "pulled.tfstate"]);
    site.runs(&["workspace", "new", "other"]);
    site.runs(&["workspace", "select", "default"]);
    site.runs(&["plan", OPTION, "-destroy", "-out=destroy.plan"]);
    site.killed(&["-replace=trouble_vault.token[\"one\"]", "-replace=trouble_plain.it[\"one\"]", "-parallelism=30"]);
    site.runs(&["providers"]);
    site.runs(&["providers", "schema", "-json"]);
    site.runs(&["version"]);
    site.runs(&["destroy", "-auto-approve", OPTION]);
    // The log was searched each time, and is there.
    assert!(site.0.path("log").metadata().unwrap().len() > 1000);
}
