//! The AWS client against moto, an emulation of AWS that others wrote. Skipped where moto is not installed.

#![allow(clippy::unwrap_used)]

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use groma_cloud::Environment;
use groma_cloud::aws::{Addressing, AssumeRole, AwsClient, AwsKeys, AwsRequest, AwsService, AwsSettings};
use groma_cloud::http::Method;
use serde_json::{Value as Json, json};

/// A running moto, ended when the test ends.
struct Moto {
    process: Child,
    url: String,
}

impl Moto {
    /// Starts moto on a free port; `None` if it is not installed or does not start.
    fn start() -> Option<Self> {
        // The listener is dropped at once: moto needs the number, and another process rarely takes it in between.
        let port = std::net::TcpListener::bind("127.0.0.1:0").ok()?.local_addr().ok()?.port();
        let mut process = Command::new("moto_server")
            .args(["-H", "127.0.0.1", "-p", &port.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .ok()?;
        // The program prints its address when it listens; the remaining output is read so that it never blocks.
        if let Some(stderr) = process.stderr.take() {
            std::thread::spawn(move || BufReader::new(stderr).lines().for_each(drop));
        }
        let url = format!("http://127.0.0.1:{port}");
        let moto = Self { process, url };
        let deadline = Instant::now() + Duration::from_secs(60);
        while Instant::now() < deadline {
            if std::net::TcpStream::connect(("127.0.0.1", port)).is_ok() {
                return Some(moto);
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        None
    }

    fn client(&self, roles: Vec<AssumeRole>) -> AwsClient {
        let endpoints = ["s3", "kms", "sts", "dynamodb"].map(|name| (name.to_owned(), self.url.clone()));
        AwsClient::new(AwsSettings {
            keys: Some(AwsKeys::new("AKIAIOSFODNN7EXAMPLE", "secret", None)),
            region: Some("us-east-1".to_owned()),
            endpoints: endpoints.into_iter().collect(),
            roles,
            environment: Environment::default().with("AWS_EC2_METADATA_DISABLED", "true"),
            ..AwsSettings::default()
        })
        .expect("the settings are valid")
    }
}

impl Drop for Moto {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn moto_accepts_requests_to_its_services() {
    let Some(moto) = Moto::start() else {
        eprintln!("skipped: moto_server is not installed (pip install moto[server])");
        return;
    };
    let client = moto.client(Vec::new());
    assert_eq!(client.caller_identity_blocking().unwrap().account, "123456789012");
    let s3 = |method: Method, operation, key: &str| AwsRequest::s3(method, operation, "states", key, Addressing::Path);
    client.send_blocking(s3(Method::PUT, "CreateBucket", "")).unwrap();
    // The prefix of workspaces in the S3 backend, and characters that need encoding in signatures.
    let key = "env:/a b/+é.tfstate";
    client.send_blocking(s3(Method::PUT, "PutObject", key).with_body(b"{}".to_vec())).unwrap();
    // Conditional writes are how the S3 backend locks with `use_lockfile`.
    let again = s3(Method::PUT, "PutObject", key).with_header("if-none-match", "*").with_body(b"x".to_vec());
    assert_eq!(client.send_blocking(again).unwrap_err().status(), Some(412));
    assert_eq!(client.send_blocking(s3(Method::GET, "GetObject", key)).unwrap().body, b"{}");
    let list = s3(Method::GET, "ListObjectsV2", "").with_query("list-type", "2").with_query("prefix", "env:/");
    let list = client.send_blocking(list).unwrap();
    assert!(String::from_utf8(list.body).unwrap().contains(key));
    let missing = client.send_blocking(s3(Method::GET, "GetObject", "nothing")).unwrap_err();
    assert_eq!((missing.status(), missing.code()), (Some(404), Some("NoSuchKey")));

    let kms = |operation: &'static str, body: Json| {
        let request =
            AwsRequest::json(AwsService::KMS, "TrentService", operation, "1.1", body.to_string().into_bytes());
        serde_json::from_slice::<Json>(&client.send_blocking(request).unwrap().body).unwrap()
    };
    let id = kms("CreateKey", json!({}))["KeyMetadata"]["KeyId"].clone();
    let made = kms("GenerateDataKey", json!({ "KeyId": id, "KeySpec": "AES_256" }));
    let opened = kms("Decrypt", json!({ "CiphertextBlob": made["CiphertextBlob"] }));
    assert_eq!(made["Plaintext"], opened["Plaintext"]);

    let role = AssumeRole { role_arn: "arn:aws:iam::111122223333:role/deploy".to_owned(), ..AssumeRole::default() };
    let identity = moto.client(vec![role]).caller_identity_blocking().unwrap();
    assert!(identity.arn.contains(":assumed-role/deploy/groma-"), "{}", identity.arn);
}
