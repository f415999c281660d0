//! The backend `s3`, with moto.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use groma_cloud::Environment;
use groma_cloud::aws::{Addressing, AwsClient, AwsKeys, AwsRequest, AwsService, AwsSettings};
use groma_cloud::http::Method;
use serde_json::{Value as Json, json};
use tempfile::TempDir;

use crate::common::serving::KillOnDrop;

use super::{Project, configuration, one_line, slow, until};

/// A running moto, with one bucket and one table.
pub struct Moto {
    _process: KillOnDrop,
    /// Where it records requests.
    directory: TempDir,
    port: u16,
    pub url: String,
    client: AwsClient,
}

fn client(url: &str, [id, secret]: [&str; 2]) -> AwsClient {
    AwsClient::new(AwsSettings {
        keys: Some(AwsKeys::new(id, secret, None)),
        region: Some("us-east-1".to_owned()),
        endpoints: ["s3", "dynamodb"].map(|name| (name.to_owned(), url.to_owned())).into(),
        environment: Environment::default().with("AWS_EC2_METADATA_DISABLED", "true"),
        ..AwsSettings::default()
    })
    .unwrap()
}

impl Moto {
    /// Starts moto, if it is installed.
    pub fn start() -> Option<Self> {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let directory = tempfile::tempdir().unwrap();
        let started = Command::new("moto_server")
            .args(["-H", "127.0.0.1", "-p", &port.to_string()])
            .current_dir(directory.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn();
        let Ok(process) = started else {
            eprintln!("skipped: moto_server is not installed (pip install \"moto[server]\")");
            return None;
        };
        let mut process = KillOnDrop(process);
        // It would block when nobody reads its log.
        if let Some(stderr) = process.0.stderr.take() {
            thread::spawn(move || BufReader::new(stderr).lines().for_each(drop));
        }
        let begin = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(begin.elapsed() < Duration::from_secs(120), "moto does not start");
            thread::sleep(Duration::from_millis(100));
        }
        let url = format!("http://127.0.0.1:{port}");
        let client = client(&url, ["AKIAIOSFODNN7EXAMPLE", "secret"]);
        let moto = Self { _process: process, directory, port, url, client };
        let bucket = AwsRequest::s3(Method::PUT, "CreateBucket", "states", "", Addressing::Path);
        moto.client.send_blocking(bucket).unwrap();
        let table = json!({
            "TableName": "locks",
            "AttributeDefinitions": [{ "AttributeName": "LockID", "AttributeType": "S" }],
            "KeySchema": [{ "AttributeName": "LockID", "KeyType": "HASH" }],
            "BillingMode": "PAY_PER_REQUEST",
        });
        let table = table.to_string().into_bytes();
        let table = AwsRequest::json(AwsService::DYNAMODB, "DynamoDB_20120810", "CreateTable", "1.0", table);
        moto.client.send_blocking(table).unwrap();
        Some(moto)
    }

    pub fn client_with_keys(&self, keys: [&str; 2]) -> AwsClient {
        client(&self.url, keys)
    }

    pub fn backend(&self, key: &str, more: &str) -> String {
        self.backend_with_keys(["AKIAIOSFODNN7EXAMPLE", "secret"], key, more)
    }

    pub fn backend_with_keys(&self, [id, secret]: [&str; 2], key: &str, more: &str) -> String {
        let url = &self.url;
        format!(
            "  backend \"s3\" {{\n    bucket = \"states\"\n    key = \"{key}\"\n    region = \"us-east-1\"\n    \
             access_key = \"{id}\"\n    secret_key = \"{secret}\"\n    use_path_style = true\n    \
             skip_metadata_api_check = true\n    {more}\n    \
             endpoints = {{ s3 = \"{url}\", dynamodb = \"{url}\", sts = \"{url}\", iam = \"{url}\" }}\n  }}"
        )
    }

    /// Returns the requests that it gets during `operation`: method and path.
    pub fn requests_of(&self, operation: impl FnOnce()) -> Vec<String> {
        self.control("reset-recording");
        self.control("start-recording");
        operation();
        self.control("stop-recording");
        let recorded = std::fs::read_to_string(self.directory.path().join("moto_recording")).unwrap_or_default();
        let request = |line: &str| {
            let request: Json = serde_json::from_str(line).unwrap();
            let url = request["url"].as_str().unwrap().split('?').next().unwrap().to_owned();
            format!("{} {}", request["method"].as_str().unwrap(), url.replace(&self.url, ""))
        };
        recorded.lines().map(request).filter(|request| !request.contains("/moto-api/")).collect()
    }

    fn control(&self, action: &str) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let head = format!(
            "POST /moto-api/recorder/{action} HTTP/1.1\r\nHost: moto\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }

    pub fn get(&self, key: &str) -> Option<Json> {
        let request = AwsRequest::s3(Method::GET, "GetObject", "states", key, Addressing::Path);
        let response = self.client.send_blocking(request).ok()?;
        Some(serde_json::from_slice(&response.body).unwrap())
    }

    /// Returns the note in the metadata of a state about its journals.
    fn note(&self, key: &str) -> String {
        let request = AwsRequest::s3(Method::GET, "GetObject", "states", key, Addressing::Path);
        let response = self.client.send_blocking(request).unwrap();
        response.header("x-amz-meta-groma-journals").unwrap_or_default().to_owned()
    }

    /// Returns the names of the objects of journals beside a state.
    pub fn segments(&self, key: &str) -> Vec<String> {
        let prefix = format!("{key}.groma-journal/");
        let request = AwsRequest::s3(Method::GET, "ListObjectsV2", "states", "", Addressing::Path);
        let request = request.with_query("list-type", "2").with_query("prefix", prefix);
        let response = self.client.send_blocking(request).unwrap();
        let document = String::from_utf8(response.body).unwrap();
        document.split("<Key>").skip(1).map(|rest| rest.split("</Key>").next().unwrap().to_owned()).collect()
    }

    pub fn delete(&self, key: &str) {
        let request = AwsRequest::s3(Method::DELETE, "DeleteObject", "states", key, Addressing::Path);
        self.client.send_blocking(request).unwrap();
    }

    pub fn put(&self, key: &str, document: &Json) {
        let request = AwsRequest::s3(Method::PUT, "PutObject", "states", key, Addressing::Path);
        self.client.send_blocking(request.with_body(document.to_string())).unwrap();
    }
}

const LOCKS: [&str; 3] =
    ["use_lockfile = true", "dynamodb_table = \"locks\"", "use_lockfile = true\n    dynamodb_table = \"locks\""];

#[test]
fn lifecycle_uses_only_the_bucket() {
    let Some(moto) = Moto::start() else { return };
    for (number, locks) in LOCKS.into_iter().enumerate() {
        let key = format!("life/{number}.tfstate");
        let project = Project::new(&configuration(&moto.backend(&key, locks)));
        project.ok(&["init"]);
        project.ok(&["apply", "-auto-approve"]);
        assert!(project.has_no_changes());
        assert_eq!(moto.get(&format!("{key}.tflock")), None);
        project.ok(&["workspace", "new", "blue"]);
        project.ok(&["apply", "-auto-approve"]);
        assert!(moto.get(&format!("env:/blue/{key}")).is_some());
        assert_eq!(project.ok(&["workspace", "list"]), "  default\n* blue\n\n");
        project.ok(&["destroy", "-auto-approve"]);
        project.ok(&["workspace", "select", "default"]);
        project.ok(&["workspace", "delete", "blue"]);
        assert_eq!(moto.get(&format!("env:/blue/{key}")), None);
    }
}

/// Objects that are created one after the other, with a cloud of their own.
fn chain(backend: &str, cloud: &std::path::Path, length: usize) -> String {
    let mut text = format!(
        "terraform {{\n{backend}\n  required_providers {{\n    awscc = {{ source = \"hashicorp/awscc\" }}\n  }}\n}}\nprovider \"awscc\" {{\n  region = \
         \"eu-central-1\"\n  emulator = {{ delay = \"100ms\", path = {cloud:?} }}\n}}\nresource \"awscc_ssm_parameter\" \"p0\" {{\n  type = \
         \"String\"\n  value = \"0\"\n}}\n"
    );
    for number in 1..length {
        let before = number - 1;
        text.push_str(&format!(
            "resource \"awscc_ssm_parameter\" \"p{number}\" {{\n  type = \"String\"\n  value = awscc_ssm_parameter.p{before}.id\n}}\n"
        ));
    }
    text
}

#[test]
fn plan_sends_three_requests_and_apply_one_a_second_and_five() {
    let Some(moto) = Moto::start() else { return };
    let cloud = tempfile::tempdir().unwrap();
    let configuration =
        chain(&moto.backend("count.tfstate", "use_lockfile = true"), &cloud.path().join("cloud.json"), 6);
    let project = Project::new(&configuration);
    project.ok(&["init"]);
    for round in ["create", "replace"] {
        let begin = Instant::now();
        let value = "-replace=awscc_ssm_parameter.p0".to_owned();
        let arguments: &[&str] =
            if round == "create" { &["apply", "-auto-approve"] } else { &["apply", "-auto-approve", &value] };
        let sent = moto.requests_of(|| drop(project.ok(arguments)));
        let seconds = begin.elapsed().as_secs_f64().max(2.0);
        assert!(sent.len() as f64 <= seconds + 5.0, "{round}: {} requests in {seconds} s: {sent:#?}", sent.len());
        assert!(sent.iter().any(|request| request.contains(".groma-journal/")), "{sent:#?}");
        let planned = moto.requests_of(|| assert!(project.has_no_changes()));
        let state = "/states/count.tfstate";
        let expected = [format!("PUT {state}.tflock"), format!("GET {state}"), format!("DELETE {state}.tflock")];
        assert_eq!(planned, expected);
    }
    // Another program says nothing about journals and sharing: one listing has both, and the version of the state.
    let state = moto.get("count.tfstate").unwrap();
    moto.put("count.tfstate", &state);
    let listed = moto.requests_of(|| assert!(project.has_no_changes()));
    let expected = [
        "PUT /states/count.tfstate.tflock",
        "GET /states/count.tfstate",
        "GET /states/",
        "DELETE /states/count.tfstate.tflock",
    ];
    assert_eq!(listed, expected);
    project.ok(&["destroy", "-auto-approve"]);
    assert_eq!(moto.segments("count.tfstate"), Vec::<String>::new(), "the journal is deleted with the lock");
}

#[test]
fn journal_of_a_killed_run_is_found_after_the_lock_is_forced_open() {
    let Some(moto) = Moto::start() else { return };
    let cloud = tempfile::tempdir().unwrap();
    let path = cloud.path().join("cloud.json");
    let backend = moto.backend("forced.tfstate", "use_lockfile = true");
    let first = Project::new(&chain(&backend, &path, 1));
    first.ok(&["init"]);
    first.ok(&["apply", "-auto-approve"]);
    // The note that there are no journals is removed before the first segment is written.
    let configuration = chain(&backend, &path, 3);
    let lost = Project::new(&configuration);
    lost.ok(&["init"]);
    let mut child = lost.start(&["apply", "-auto-approve"]);
    until("the second object is announced", || !moto.segments("forced.tfstate").is_empty());
    thread::sleep(Duration::from_millis(500));
    child.kill().unwrap();
    child.wait().unwrap();
    drop(lost);
    moto.delete("forced.tfstate.tflock");
    let next = Project::new(&configuration);
    next.ok(&["init"]);
    next.ok(&["apply", "-auto-approve"]);
    assert!(next.has_no_changes());
    let listed = next.ok(&["emulator", "list", &format!("-data={}", path.display())]);
    assert_eq!(listed.lines().count(), 3, "{listed}");
    // The end of the killed run's journal stays for one more run, in case that run was only paused.
    next.ok(&["apply", "-auto-approve"]);
    let left = moto.segments("forced.tfstate");
    assert!(left.len() == 1 && left[0].ends_with("/00000000"), "the note for the lost machine stays: {left:?}");
    // It is no journal that a plan would have to look for.
    next.write("main.tf", &chain(&backend, &path, 2));
    next.ok(&["apply", "-auto-approve"]);
    let plan = moto.requests_of(|| drop(next.ok(&["plan"])));
    assert_eq!(plan.len(), 3, "{plan:?}");
}

#[test]
fn journal_that_a_killed_run_has_not_deleted_is_deleted_by_the_next_one() {
    let Some(moto) = Moto::start() else { return };
    let cloud = tempfile::tempdir().unwrap();
    let backend = moto.backend("left.tfstate", "use_lockfile = true");
    let project = Project::new(&chain(&backend, &cloud.path().join("cloud.json"), 2));
    project.ok(&["init"]);
    project.ok(&["apply", "-auto-approve"]);
    let note = moto.note("left.tfstate");
    let run = note.strip_prefix("closed ").expect("the state names the run whose journal is part of it");
    // As if the run had been killed after its last write. The state says that no journal is open, so nobody lists it.
    let left = format!("left.tfstate.groma-journal/{run}/00000001");
    moto.put(&left, &json!("results that the state has"));
    project.ok(&["apply", "-auto-approve", "-replace=awscc_ssm_parameter.p0"]);
    assert!(!moto.segments("left.tfstate").contains(&left));
    assert!(moto.note("left.tfstate").starts_with(&format!("closed {run} ")), "{}", moto.note("left.tfstate"));
}

#[test]
fn write_after_another_program_is_refused() {
    let Some(moto) = Moto::start() else { return };
    let project = Project::new(&slow(&moto.backend("race.tfstate", "use_lockfile = true"), 3));
    project.ok(&["init"]);
    let child = project.start(&["apply", "-auto-approve"]);
    until("the lock is taken", || moto.get("race.tfstate.tflock").is_some());
    thread::sleep(Duration::from_secs(1));
    let theirs = json!({"version": 4, "terraform_version": "1.15.5", "serial": 5, "lineage": "theirs", "outputs": {}, "resources": []});
    moto.put("race.tfstate", &theirs);
    let ran = Project::ran(child.wait_with_output().unwrap());
    assert_eq!(ran.code, 1, "{}", ran.text);
    assert!(one_line(&ran.text).contains("The state was changed by another run"), "{}", ran.text);
    assert_eq!(moto.get("race.tfstate").unwrap()["lineage"], "theirs");
    assert!(project.path("errored.tfstate").exists());
}

#[test]
fn terraform_and_groma_share_states_workspaces_and_locks() {
    let Some(moto) = Moto::start() else { return };
    for (number, locks) in LOCKS.into_iter().enumerate() {
        let key = format!("shared/{number}.tfstate");
        let block = moto.backend(&key, locks);
        let Some(theirs) = Project::of_terraform(&configuration(&block)) else { return };
        let ours = Project::new(&configuration(&block));
        ours.ok(&["init"]);
        ours.ok(&["apply", "-auto-approve"]);
        theirs.ok(&["init"]);
        assert!(theirs.has_no_changes(), "Terraform reads what Groma wrote");
        theirs.ok(&["apply", "-auto-approve", "-var=input=two"]);
        assert_eq!(ours.ok(&["output", "-raw", "value"]), "two");
        theirs.ok(&["workspace", "new", "green"]);
        assert!(ours.ok(&["workspace", "list"]).contains("green"));
        theirs.ok(&["workspace", "select", "default"]);
        for (holder, other) in [(&ours, &theirs), (&theirs, &ours)] {
            holder.write("main.tf", &slow(&block, 8));
            // The plans of the other one take the lock as well, for a moment each.
            let mut child = holder.start(&["apply", "-auto-approve", "-lock-timeout=60s"]);
            let begin = Instant::now();
            let reported = loop {
                let ran = other.run(&["plan", "-input=false"]);
                if ran.code == 1 {
                    break one_line(&ran.text);
                }
                assert!(begin.elapsed() < Duration::from_secs(60), "the lock is never seen");
                assert!(child.try_wait().unwrap().is_none(), "the run has ended");
            };
            assert!(reported.contains("Error acquiring the state lock"), "{reported}");
            let ran = Project::ran(child.wait_with_output().unwrap());
            assert_eq!(ran.code, 0, "{}", ran.text);
            holder.write("main.tf", &configuration(&block));
            holder.ok(&["apply", "-auto-approve"]);
        }
    }
}

#[test]
fn record_of_terraform_is_taken_over() {
    let Some(moto) = Moto::start() else { return };
    let block = moto.backend("record.tfstate", "use_lockfile = true");
    let Some(theirs) = Project::of_terraform(&configuration(&block)) else { return };
    theirs.ok(&["init"]);
    theirs.ok(&["apply", "-auto-approve"]);
    let ours = Project::new(&configuration(&block));
    std::fs::create_dir(ours.path(".terraform")).unwrap();
    ours.write(".terraform/terraform.tfstate", &theirs.read(".terraform/terraform.tfstate"));
    assert!(ours.has_no_changes(), "no further init is needed");
}
