//! Side by side with a real Terraform, where the environment variable `GROMA_TERRAFORM` names one.

#![allow(clippy::unwrap_used)] // a test that cannot go on fails

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use groma_address::{ProviderAddress, ProviderConfig};
use groma_state::{
    AttributesJson, LocalStore, LockRequest, Locking, ObjectRecord, Opened, Saved, StateError, StateErrorKind,
    StatePaths, file,
};
use tempfile::TempDir;

struct Terraform(PathBuf);

impl Terraform {
    fn found() -> Option<Self> {
        let found = std::env::var_os("GROMA_TERRAFORM").map(|path| Self(path.into()));
        if found.is_none() {
            println!("skipped: no terraform");
        }
        found
    }

    fn command(&self, directory: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.0);
        command.args(arguments).arg("-no-color").current_dir(directory);
        command.env("CHECKPOINT_DISABLE", "1").env_remove("TF_CLI_CONFIG_FILE").env("TF_IN_AUTOMATION", "1");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn run(&self, directory: &Path, arguments: &[&str]) -> Output {
        self.command(directory, arguments).output().unwrap()
    }

    fn succeed(&self, directory: &Path, arguments: &[&str]) -> String {
        let output = self.run(directory, arguments);
        assert!(output.status.success(), "{arguments:?}: {}", text(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    fn spawn(&self, directory: &Path, arguments: &[&str]) -> Child {
        self.command(directory, arguments).spawn().unwrap()
    }
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn folder(configuration: &str) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("main.tf"), configuration).unwrap();
    directory
}

fn open(directory: &Path, timeout: Duration) -> Result<(LocalStore, Opened), StateError> {
    let locking = Locking::On(LockRequest {
        operation: "OperationTypeApply".into(),
        info: String::new(),
        who: "groma@test".into(),
        version: "0.1.0".into(),
        timeout,
    });
    LocalStore::open(StatePaths::of_workspace(directory, "default"), "1.15.5", &locking, &|| true)
}

fn state_bytes(directory: &Path) -> Vec<u8> {
    fs::read(directory.join("terraform.tfstate")).unwrap()
}

/// What `terraform_data` keeps.
fn data(id: &str) -> Arc<ObjectRecord> {
    Arc::new(ObjectRecord::new(
        0,
        AttributesJson::new(format!(
            r#"{{"id":"{id}","input":{{"value":"x","type":"string"}},"output":{{"value":"x","type":"string"}},"triggers_replace":null}}"#
        )),
    ))
}

fn builtin() -> ProviderConfig {
    ProviderConfig::default_in_root(ProviderAddress::builtin_terraform())
}

#[test]
fn states_that_terraform_makes_are_read_and_written_back_byte_for_byte() {
    let Some(terraform) = Terraform::found() else { return };
    let directory = folder(
        r#"
        variable "secret" {
          default   = "hush <&>"
          sensitive = true
        }
        resource "terraform_data" "one" {
          input = { list = [1, 2.5, 1e30, true, null], secret = var.secret, "a b" = "line\n\"é\" \\ \u2028" }
        }
        resource "terraform_data" "many" {
          count            = 12
          input            = "n${count.index}"
          triggers_replace = [terraform_data.one.id, var.secret]
          lifecycle { create_before_destroy = true }
        }
        resource "terraform_data" "each" {
          for_each = { a = var.secret, "b\"c" = 2 }
          input    = each.value
        }
        check "always" {
          assert {
            condition     = terraform_data.one.id == ""
            error_message = "Not <empty>."
          }
        }
        output "list" { value = terraform_data.one.output.list }
        output "secret" {
          value     = { s = [var.secret] }
          sensitive = true
        }
        "#,
    );
    terraform.succeed(directory.path(), &["apply", "-auto-approve"]);
    for step in [
        &["taint", "terraform_data.many[3]"][..],
        &["state", "rm", "terraform_data.each"],
        &["destroy", "-auto-approve"],
    ] {
        let bytes = state_bytes(directory.path());
        let state = file::read(&bytes).unwrap();
        assert_eq!(String::from_utf8(file::write(&state)).unwrap(), String::from_utf8(bytes).unwrap());
        terraform.succeed(directory.path(), step);
    }
    let bytes = state_bytes(directory.path());
    assert_eq!(file::write(&file::read(&bytes).unwrap()), bytes);
}

#[test]
fn terraform_takes_a_state_written_here_for_its_own() {
    let Some(terraform) = Terraform::found() else { return };
    let directory = folder("resource \"terraform_data\" \"a\" {\n  input = \"x\"\n}\n");
    let (mut store, opened) = open(directory.path(), Duration::ZERO).unwrap();
    let mut state = opened.state.unwrap_or_default();
    state.insert(&"terraform_data.a".parse().unwrap(), None, &builtin(), data("i-1"));
    assert_eq!(store.save(&mut state).unwrap(), Saved::Written(1));
    store.close();
    let before = state_bytes(directory.path());
    let plan = terraform.run(directory.path(), &["plan", "-detailed-exitcode"]);
    assert_eq!(plan.status.code(), Some(0), "{}", text(&plan));
    let pulled = terraform.succeed(directory.path(), &["state", "pull"]);
    assert_eq!(pulled.trim_end(), String::from_utf8(before.clone()).unwrap().trim_end());
    assert_eq!(state_bytes(directory.path()), before);
}

#[test]
fn terraform_is_kept_off_while_the_lock_is_held_here() {
    let Some(terraform) = Terraform::found() else { return };
    let directory = folder("resource \"terraform_data\" \"a\" {}\n");
    let (store, _) = open(directory.path(), Duration::ZERO).unwrap();
    let refused = terraform.run(directory.path(), &["apply", "-auto-approve"]);
    let said = text(&refused);
    assert!(!refused.status.success() && said.contains("Error acquiring the state lock"), "{said}");
    assert!(said.contains("groma@test") && said.contains("OperationTypeApply"), "{said}");
    store.close();
    terraform.succeed(directory.path(), &["apply", "-auto-approve"]);
}

#[test]
fn waiting_terraform_continues_from_the_written_state() {
    let Some(terraform) = Terraform::found() else { return };
    let directory =
        folder("resource \"terraform_data\" \"a\" {\n  input = \"x\"\n}\nresource \"terraform_data\" \"b\" {}\n");
    let (mut store, opened) = open(directory.path(), Duration::ZERO).unwrap();
    let mut state = opened.state.unwrap_or_default();
    let waiting = terraform.spawn(directory.path(), &["apply", "-auto-approve", "-lock-timeout=60s"]);
    thread::sleep(Duration::from_secs(2));
    state.insert(&"terraform_data.a".parse().unwrap(), None, &builtin(), data("i-1"));
    store.save(&mut state).unwrap();
    store.close();
    let output = waiting.wait_with_output().unwrap();
    assert!(text(&output).contains("1 added, 0 changed, 0 destroyed"), "{}", text(&output));
    let after = file::read(&state_bytes(directory.path())).unwrap();
    let ids: Vec<_> = after.iter().map(|view| view.address().to_string()).collect();
    assert_eq!(ids, ["terraform_data.a", "terraform_data.b"]);
    assert_eq!(after.lineage, state.lineage);
    let kept = after.object(&"terraform_data.a".parse().unwrap(), None).unwrap();
    assert_eq!(kept.id_json().as_deref(), Some("\"i-1\""));
}

#[test]
fn a_lock_that_terraform_holds_is_respected_and_waited_for() {
    let Some(terraform) = Terraform::found() else { return };
    let directory = folder(
        "resource \"terraform_data\" \"a\" {\n  provisioner \"local-exec\" {\n    command = \"sleep 3\"\n  }\n}\n",
    );
    let running = terraform.spawn(directory.path(), &["apply", "-auto-approve"]);
    let started = Instant::now();
    while !directory.path().join(".terraform.tfstate.lock.info").exists() {
        assert!(started.elapsed() < Duration::from_secs(30), "terraform took no lock");
        thread::sleep(Duration::from_millis(20));
    }
    let error = open(directory.path(), Duration::ZERO).err().unwrap();
    assert_eq!(error.kind, StateErrorKind::Locked);
    assert!(error.detail.contains("Operation: OperationTypeApply"), "{error}");
    let (_store, opened) = open(directory.path(), Duration::from_secs(60)).unwrap();
    assert_eq!(opened.state.unwrap().len(), 1);
    assert!(running.wait_with_output().unwrap().status.success());
}
