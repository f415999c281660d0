//! Lives of objects through the SDK and the command line of AWS, against the emulator on a port.

use std::io::Write;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value as Json, json};

use super::super::interpreted::{Interpreted, Types};
use super::super::patch::{desired_state, patch};
use super::generator::generate;
use super::life::emulator;
use super::{full_types, wanted};
use crate::emulator::Server;
use crate::names;
use crate::schema::Catalogue;

/// Serves an emulator that shuffles unordered arrays.
fn serve() -> SocketAddr {
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let server = Server::bind("127.0.0.1:0".parse().unwrap(), emulator()).await.unwrap();
            sender.send(server.address().unwrap()).unwrap();
            server.run().await.unwrap();
        });
    });
    receiver.recv().unwrap()
}

/// Returns the documents of an object: the one that creates it, and the patch that updates it.
fn case(interpreted: &Interpreted, seed: u64) -> Option<Json> {
    let generated = generate(interpreted, seed)?;
    let fields = &interpreted.fields;
    let list = &interpreted.schema.handlers.list;
    Some(json!({
        "type": interpreted.schema.type_name.to_string(),
        "desired": desired_state(fields, &generated.minimal),
        "patch": patch(fields, &generated.minimal, &generated.extended),
        "inputs": list.as_ref().map(|list| list.required_inputs.iter().map(ToString::to_string).collect::<Vec<_>>()),
    }))
}

fn cases(number: usize) -> Vec<Json> {
    let types = Types::new(Catalogue::shipped().clone());
    full_types(number)
        .into_iter()
        .filter_map(|(number, name)| {
            let interpreted = types.one(&names::resource_type(name)?).ok().flatten()?;
            case(&interpreted, number as u64 * 1_009)
        })
        .collect()
}

/// Whether a program answers.
fn runs(program: &str, arguments: &[&str]) -> bool {
    let output = Command::new(program).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).status();
    output.is_ok_and(|status| status.success())
}

#[test]
fn boto3_takes_objects_through_their_life() {
    if !runs("python3", &["-c", "import boto3"]) {
        eprintln!("skipped: boto3 is not installed (pip install boto3)");
        return;
    }
    let cases = cases(wanted());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/aws_sdk_lives.py");
    let mut child = Command::new("python3")
        .arg(script)
        .arg(format!("http://{}", serve()))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(Json::from(cases.clone()).to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let results = String::from_utf8(output.stdout).unwrap();
    let results: Vec<Json> = results.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(results.len(), cases.len());
    let failed: Vec<&Json> = results.iter().filter(|result| !result["error"].is_null()).collect();
    println!("{} of {} types: {failed:#?}", results.len() - failed.len(), results.len());
    assert!(failed.len() * 50 <= results.len(), "{failed:#?}");
}

#[test]
fn the_aws_command_line_takes_an_object_through_its_life() {
    if !runs("aws", &["cloudcontrol", "list-resources", "help"]) {
        eprintln!("skipped: the AWS command line is not installed (pip install awscli)");
        return;
    }
    let endpoint = format!("http://{}", serve());
    let aws = |arguments: &[&str]| -> (bool, Json) {
        let output = Command::new("aws")
            .arg("cloudcontrol")
            .args(arguments)
            .args(["--output", "json", "--endpoint-url", &endpoint])
            .envs([("AWS_ACCESS_KEY_ID", "x"), ("AWS_SECRET_ACCESS_KEY", "x")])
            .envs([("AWS_DEFAULT_REGION", "eu-central-1"), ("AWS_PAGER", "")])
            .output()
            .unwrap();
        (output.status.success(), serde_json::from_slice(&output.stdout).unwrap_or_default())
    };
    let ok = |arguments: &[&str]| {
        let (success, answer) = aws(arguments);
        assert!(success, "{arguments:?}: {answer}");
        answer
    };
    let bucket = ["--type-name", "AWS::S3::Bucket"];
    let one = [&bucket[..], &["--identifier", "cli-assets"]].concat();
    ok(&[&["create-resource", "--desired-state", r#"{"BucketName": "cli-assets"}"#], &bucket[..]].concat());
    let found = ok(&[&["get-resource"], &one[..]].concat());
    assert_eq!(found["ResourceDescription"]["Identifier"], "cli-assets");
    let listed = ok(&[&["list-resources"], &bucket[..]].concat());
    assert_eq!(listed["ResourceDescriptions"].as_array().unwrap().len(), 1);
    let tags = r#"[{"op": "add", "path": "/Tags", "value": [{"Key": "team", "Value": "web"}]}]"#;
    let updated = ok(&[&["update-resource", "--patch-document", tags], &one[..]].concat());
    let token = updated["ProgressEvent"]["RequestToken"].as_str().unwrap().to_owned();
    let status = ok(&["get-resource-request-status", "--request-token", &token]);
    assert_eq!(status["ProgressEvent"]["OperationStatus"], "SUCCESS");
    let found = ok(&[&["get-resource"], &one[..]].concat());
    let properties: Json = serde_json::from_str(found["ResourceDescription"]["Properties"].as_str().unwrap()).unwrap();
    assert_eq!(properties["Tags"][0]["Value"], "web");
    ok(&[&["delete-resource"], &one[..]].concat());
    assert!(!aws(&[&["get-resource"], &one[..]].concat()).0);
}
