//! The backend `s3`, with moto.

use std::io::{BufRead, BufReader};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use groma_cloud::Environment;
use groma_cloud::aws::{Addressing, AwsClient, AwsKeys, AwsRequest, AwsService, AwsSettings};
use groma_cloud::http::Method;
use serde_json::{Value as Json, json};

use super::{Project, configuration, one_line, slow};

/// A running moto, with one bucket and one table.
pub struct Moto {
    process: Child,
    url: String,
    client: AwsClient,
}

impl Moto {
    /// Starts moto, if it is installed.
    pub fn start() -> Option<Self> {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let started = Command::new("moto_server")
            .args(["-H", "127.0.0.1", "-p", &port.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn();
        let Ok(mut process) = started else {
            eprintln!("skipped: moto_server is not installed (pip install \"moto[server]\")");
            return None;
        };
        // It would block when nobody reads its log.
        if let Some(stderr) = process.stderr.take() {
            thread::spawn(move || BufReader::new(stderr).lines().for_each(drop));
        }
        let begin = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(begin.elapsed() < Duration::from_secs(120), "moto does not start");
            thread::sleep(Duration::from_millis(100));
        }
        let url = format!("http://127.0.0.1:{port}");
        let client = AwsClient::new(AwsSettings {
            keys: Some(AwsKeys::new("AKIAIOSFODNN7EXAMPLE", "secret", None)),
            region: Some("us-east-1".to_owned()),
            endpoints: ["s3", "dynamodb"].map(|name| (name.to_owned(), url.clone())).into(),
            environment: Environment::default().with("AWS_EC2_METADATA_DISABLED", "true"),
            ..AwsSettings::default()
        });
        let moto = Self { process, url, client: client.unwrap() };
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

    pub fn backend(&self, key: &str, more: &str) -> String {
        let url = &self.url;
        format!(
            "  backend \"s3\" {{\n    bucket = \"states\"\n    key = \"{key}\"\n    region = \"us-east-1\"\n    \
             access_key = \"AKIAIOSFODNN7EXAMPLE\"\n    secret_key = \"secret\"\n    use_path_style = true\n    \
             skip_metadata_api_check = true\n    {more}\n    \
             endpoints = {{ s3 = \"{url}\", dynamodb = \"{url}\", sts = \"{url}\", iam = \"{url}\" }}\n  }}"
        )
    }

    pub fn get(&self, key: &str) -> Option<Json> {
        let request = AwsRequest::s3(Method::GET, "GetObject", "states", key, Addressing::Path);
        let response = self.client.send_blocking(request).ok()?;
        Some(serde_json::from_slice(&response.body).unwrap())
    }

    pub fn put(&self, key: &str, document: &Json) {
        let request = AwsRequest::s3(Method::PUT, "PutObject", "states", key, Addressing::Path);
        self.client.send_blocking(request.with_body(document.to_string())).unwrap();
    }
}

impl Drop for Moto {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn until(what: &str, is_so: impl Fn() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < Duration::from_secs(60), "it takes too long until {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

const LOCKS: [&str; 3] =
    ["use_lockfile = true", "dynamodb_table = \"locks\"", "use_lockfile = true\n    dynamodb_table = \"locks\""];

#[test]
fn whole_life_is_in_the_bucket() {
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
