//! Lifecycles of objects through the SDK and the command line of AWS, against the emulator on a port.

use std::collections::BTreeMap;
use std::io::Write;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};

use groma_value::Value;
use serde_json::{Value as Json, json};

use super::super::interpreted::{Interpreted, Types};
use super::super::patch::{desired_state, patch};
use super::super::plan::{Sources, plan};
use super::exceptions::{FAILING_WITH_BOTO3, differences};
use super::generator::generate;
use super::lifecycle::emulator;
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

/// Returns the documents of an object: the one that creates it, and the patch that updates it. Both have the defaults of the
/// schema, because AWS requires some of these properties.
fn case(interpreted: &Interpreted, seed: u64) -> Option<Json> {
    let generated = generate(interpreted, seed)?;
    let fields = &interpreted.fields;
    let nothing = fields.block.null_value();
    let planned = |config: &Value| {
        let sources = Sources { config, prior: &nothing, framework: config, configured: None, import: None };
        plan(fields, sources).state.unknown_as_null()
    };
    let (minimal, extended) = (planned(&generated.minimal), planned(&generated.extended));
    let list = &interpreted.schema.handlers.list;
    Some(json!({
        "type": interpreted.schema.type_name.to_string(),
        "desired": desired_state(fields, &minimal),
        "patch": patch(fields, &minimal, &extended),
        "inputs": list.as_ref().map(|list| list.required_inputs.iter().map(ToString::to_string).collect::<Vec<_>>()),
    }))
}

/// Returns the types to try, each with its documents if a valid configuration was found.
fn cases(number: usize) -> Vec<(&'static str, Option<Json>)> {
    let types = Types::new(Catalogue::shipped().clone());
    full_types(number)
        .into_iter()
        .map(|(number, name)| {
            let interpreted = names::resource_type(name).and_then(|resource| types.one(&resource).ok().flatten());
            (name, interpreted.and_then(|interpreted| case(&interpreted, number as u64 * 1_009)))
        })
        .collect()
}

/// Whether a program answers.
fn runs(program: &str, arguments: &[&str]) -> bool {
    let output = Command::new(program).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).status();
    output.is_ok_and(|status| status.success())
}

#[test]
fn objects_pass_their_lifecycle_with_boto3() {
    // `GROMA_PYTHON` names an interpreter with boto3, such as that of a virtual environment.
    let python = std::env::var("GROMA_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    if !runs(&python, &["-c", "import boto3"]) {
        eprintln!("skipped: boto3 is not installed (pip install boto3)");
        return;
    }
    let cases = cases(wanted());
    let documents: Vec<Json> = cases.iter().filter_map(|(_, documents)| documents.clone()).collect();
    let count = documents.len();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/boto3_lifecycles.py");
    let mut child = Command::new(&python)
        .arg(script)
        .arg(format!("http://{}", serve()))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(Json::Array(documents).to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let results = String::from_utf8(output.stdout).unwrap();
    let results: Vec<Json> = results.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(results.len(), count);
    let name = |result: &Json| result["type"].as_str().unwrap().to_owned();
    let tried = cases.iter().map(|(name, _)| (*name).to_owned()).collect();
    let without = cases.iter().filter(|(_, documents)| documents.is_none());
    let without = without.map(|(name, _)| ((*name).to_owned(), "no valid configuration was found".to_owned()));
    let failed = results.iter().filter(|result| !result["error"].is_null());
    let failed = failed.map(|result| (name(result), format!("after {}: {}", result["steps"], result["error"])));
    let failed: BTreeMap<String, String> = without.chain(failed).collect();
    println!("{} types, {} failed: {failed:#?}", cases.len(), failed.len());
    let unexpected = differences(FAILING_WITH_BOTO3, &tried, &failed);
    assert!(unexpected.is_empty(), "{unexpected:#?}");
}

#[test]
fn object_passes_its_lifecycle_with_the_aws_command_line() {
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
