//! The backend `s3` against moto.

use std::sync::LazyLock;

use groma_backend::{Expected, StoreError};
use groma_cloud::Environment;
use groma_cloud::aws::{
    Addressing, AwsClient, AwsKeys, AwsRequest, AwsResponse, AwsService, AwsSettings, RequestError,
};
use groma_cloud::http::Method;
use groma_value::Value;
use serde_json::{Value as Json, json};

use super::proxy::Proxy;
use super::server::Server;
use super::store::{self, Store, has_one_winner, keeps_the_contract};

static MOTO: LazyLock<Option<Server>> = LazyLock::new(|| {
    Server::start("moto_server", &[], |port| ["-H", "127.0.0.1", "-p", &port.to_string()].map(str::to_owned).to_vec())
});

/// The objects and tables of moto, behind the store's back.
pub struct Moto {
    pub port: u16,
    client: AwsClient,
}

impl Moto {
    pub fn start() -> Option<Self> {
        let Some(server) = &*MOTO else {
            eprintln!("skipped: moto_server is not installed (pip install \"moto[server]\")");
            return None;
        };
        let url = format!("http://127.0.0.1:{}", server.port);
        let client = AwsClient::new(AwsSettings {
            keys: Some(AwsKeys::new("AKIAIOSFODNN7EXAMPLE", "secret", None)),
            region: Some("us-east-1".to_owned()),
            endpoints: ["s3", "dynamodb"].map(|name| (name.to_owned(), url.clone())).into(),
            environment: Environment::default().with("AWS_EC2_METADATA_DISABLED", "true"),
            ..AwsSettings::default()
        });
        Some(Self { port: server.port, client: client.unwrap() })
    }

    fn s3(&self, method: Method, bucket: &str, key: &str, body: &[u8]) -> Result<AwsResponse, RequestError> {
        let request = AwsRequest::s3(method, "Test", bucket, key, Addressing::Path).with_body(body.to_vec());
        self.client.send_blocking(request)
    }

    pub fn make_bucket(&self, name: &str) {
        self.s3(Method::PUT, name, "", b"").unwrap();
    }

    pub fn put(&self, bucket: &str, key: &str, body: &[u8]) {
        self.s3(Method::PUT, bucket, key, body).unwrap();
    }

    pub fn delete(&self, bucket: &str, key: &str) {
        self.s3(Method::DELETE, bucket, key, b"").unwrap();
    }

    pub fn head(&self, bucket: &str, key: &str) -> AwsResponse {
        self.s3(Method::GET, bucket, key, b"").unwrap()
    }

    pub fn get(&self, bucket: &str, key: &str) -> Option<Vec<u8>> {
        self.s3(Method::GET, bucket, key, b"").ok().map(|response| response.body)
    }

    fn dynamodb(&self, operation: &'static str, body: &Json) -> Json {
        let body = body.to_string().into_bytes();
        let request = AwsRequest::json(AwsService::DYNAMODB, "DynamoDB_20120810", operation, "1.0", body);
        serde_json::from_slice(&self.client.send_blocking(request).unwrap().body).unwrap()
    }

    pub fn make_table(&self, name: &str) {
        self.dynamodb(
            "CreateTable",
            &json!({
                "TableName": name,
                "AttributeDefinitions": [{ "AttributeName": "LockID", "AttributeType": "S" }],
                "KeySchema": [{ "AttributeName": "LockID", "KeyType": "HASH" }],
                "BillingMode": "PAY_PER_REQUEST",
            }),
        );
    }

    pub fn item(&self, table: &str, key: &str) -> Json {
        let key = json!({ "LockID": { "S": key } });
        self.dynamodb("GetItem", &json!({ "TableName": table, "Key": key }))["Item"].take()
    }

    pub fn put_item(&self, table: &str, item: &Json) {
        self.dynamodb("PutItem", &json!({ "TableName": table, "Item": item }));
    }
}

/// A backend block for a server on this port.
pub fn block(port: u16, bucket: &str, more: &[(&'static str, Value)]) -> Value {
    let text = |text: &str| Value::string(text);
    let url = text(&format!("http://127.0.0.1:{port}"));
    let endpoints = Value::object(["s3", "dynamodb", "sts"].map(|name| (name, url.clone())));
    let given = [
        ("bucket", text(bucket)),
        ("key", text("team/a.tfstate")),
        ("region", text("us-east-1")),
        ("access_key", text("AKIAIOSFODNN7EXAMPLE")),
        ("secret_key", text("secret")),
        ("use_path_style", Value::bool(true)),
        ("max_retries", Value::number(1)),
        ("endpoints", endpoints),
    ];
    store::block(&given, more)
}

fn open(moto: &Moto, bucket: &str, more: &[(&'static str, Value)]) -> Store {
    Store::open("s3", &block(moto.port, bucket, more), &[]).unwrap()
}

#[test]
fn states_and_locks_keep_the_contract_with_every_kind_of_lock() {
    let Some(moto) = Moto::start() else { return };
    let file = ("use_lockfile", Value::bool(true));
    for (bucket, locks) in [("file", vec![file.clone()]), ("table", vec![]), ("both", vec![file])] {
        moto.make_bucket(bucket);
        let mut arguments = locks;
        if bucket != "file" {
            moto.make_table(bucket);
            arguments.push(("dynamodb_table", Value::string(bucket)));
        }
        let store = open(&moto, bucket, &arguments);
        assert!(store.0.can_lock());
        keeps_the_contract(&store);
        store::keeps_journals(&store);
        store::exchanges_locks(&store, "green");
        let proxy = Proxy::start(moto.port);
        let racing = Store::open("s3", &block(proxy.port, bucket, &arguments), &[]).unwrap();
        for workspace in ["default", "red"] {
            has_one_winner(&racing, workspace);
        }
    }
    let without = open(&moto, "file", &[]);
    assert!(!without.0.can_lock());
}

#[test]
fn lock_records_are_those_of_the_peers() {
    let Some(moto) = Moto::start() else { return };
    moto.make_bucket("records");
    moto.make_table("records");
    let table = ("dynamodb_table", Value::string("records"));
    let store = open(&moto, "records", &[("use_lockfile", Value::bool(true)), table]);
    let held = store.lock("blue").unwrap();
    let expected = json!({
        "ID": held.id, "Operation": "OperationTypeApply", "Info": "", "Who": "tester@here", "Version": "1.15.5",
        "Created": held.info.created, "Path": "records/env:/blue/team/a.tfstate",
    });
    let file = moto.get("records", "env:/blue/team/a.tfstate.tflock").unwrap();
    assert_eq!(serde_json::from_slice::<Json>(&file).unwrap(), expected);
    let item = moto.item("records", "records/env:/blue/team/a.tfstate");
    assert_eq!(serde_json::from_str::<Json>(item["Info"]["S"].as_str().unwrap()).unwrap(), expected);
    store.write("blue", b"{}", Expected::Absent, Some(&held)).unwrap();
    let digest = moto.item("records", "records/env:/blue/team/a.tfstate-md5");
    assert_eq!(digest["Digest"]["S"], "99914b932bd37a50b983c5e7c90ae93b");
    store.unlock("blue", &held.id).unwrap();
    assert_eq!(moto.get("records", "env:/blue/team/a.tfstate.tflock"), None);
    assert!(moto.item("records", "records/env:/blue/team/a.tfstate").is_null());
    store.delete("blue", None).unwrap();
    assert!(moto.item("records", "records/env:/blue/team/a.tfstate-md5").is_null());
}

#[test]
fn half_a_lock_is_released_by_its_id() {
    let Some(moto) = Moto::start() else { return };
    moto.make_bucket("half");
    moto.make_table("half");
    let table = ("dynamodb_table", Value::string("half"));
    let both = open(&moto, "half", &[("use_lockfile", Value::bool(true)), table.clone()]);
    let only_table = open(&moto, "half", &[table]);
    let held = only_table.lock("default").unwrap();
    let refused = both.lock("default").unwrap_err();
    assert!(refused.is_held_lock(), "{refused:?}");
    assert_eq!(moto.get("half", "team/a.tfstate.tflock"), None, "the file goes with the failed attempt");
    both.unlock("default", &held.id).unwrap();
    assert!(matches!(both.unlock("default", &held.id), Err(StoreError::NotLocked { .. })));
}

#[test]
fn objects_have_the_configured_encryption_and_tags() {
    let Some(moto) = Moto::start() else { return };
    moto.make_bucket("sealed");
    let encrypt = ("encrypt", Value::bool(true));
    let tags = ("state_tags", Value::map(groma_value::Type::String, [("team", Value::string("a b"))]));
    let kms = open(&moto, "sealed", &[encrypt.clone(), ("kms_key_id", Value::string("alias/k")), tags]);
    kms.write("default", b"{}", Expected::Absent, None).unwrap();
    let stored = moto.head("sealed", "team/a.tfstate");
    assert_eq!(stored.header("x-amz-server-side-encryption"), Some("aws:kms"));
    assert_eq!(stored.header("x-amz-server-side-encryption-aws-kms-key-id"), Some("alias/k"));
    assert_eq!(stored.header("x-amz-tagging-count"), Some("1"));
    let key = Value::string("MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=");
    let customer = open(&moto, "sealed", &[encrypt, ("sse_customer_key", key.clone())]);
    customer.write("other", b"{}", Expected::Absent, None).unwrap();
    assert_eq!(customer.read("other").unwrap().unwrap().bytes, b"{}");
    let both = block(moto.port, "sealed", &[("sse_customer_key", key), ("kms_key_id", Value::string("k"))]);
    let refused = Store::open("s3", &both, &[]).err().unwrap();
    assert!(matches!(&refused, StoreError::InvalidArgument { argument, .. } if argument == "kms_key_id"), "{refused}");
}

#[test]
fn workspaces_are_found_among_many_objects_of_others() {
    let Some(moto) = Moto::start() else { return };
    moto.make_bucket("crowd");
    let store = open(&moto, "crowd", &[]);
    for name in ["a b", "é&<"] {
        store.write(name, b"{}", Expected::Absent, None).unwrap();
    }
    assert_eq!(store.workspaces().unwrap(), ["a b", "é&<"]);
    moto.put("crowd", "env:/other/b.tfstate", b"{}");
    moto.put("crowd", "env:/deep/er/team/a.tfstate", b"{}");
    assert_eq!(store.workspaces().unwrap(), ["a b", "é&<"]);
    let top = open(&moto, "crowd", &[("workspace_key_prefix", Value::string(""))]);
    top.write("blue", b"{}", Expected::Absent, None).unwrap();
    assert_eq!(moto.get("crowd", "blue/team/a.tfstate").as_deref(), Some(&b"{}"[..]));
    assert_eq!(top.workspaces().unwrap(), ["blue"]);
    // More than one page of the listing.
    std::thread::scope(|scope| {
        for part in 0..8 {
            let moto = &moto;
            scope.spawn(move || (0..130).for_each(|n| moto.put("crowd", &format!("env:/w{part}/{n}"), b"")));
        }
    });
    assert_eq!(store.workspaces().unwrap(), ["a b", "é&<"]);
}

#[test]
fn missing_buckets_and_tables_are_named_with_advice() {
    let Some(moto) = Moto::start() else { return };
    let store = open(&moto, "nowhere", &[("use_lockfile", Value::bool(true))]);
    for problem in [
        store.read("default").unwrap_err(),
        store.lock("default").unwrap_err(),
        store.workspaces().unwrap_err(),
        store.write("default", b"{}", Expected::Absent, None).unwrap_err(),
    ] {
        let StoreError::NotFound { what, advice } = &problem else { panic!("{problem:?}") };
        assert!(what.contains("\"nowhere\"") && advice.contains("aws s3 mb s3://nowhere"), "{problem:?}");
    }
    moto.make_bucket("somewhere");
    let store = open(&moto, "somewhere", &[("dynamodb_table", Value::string("no-table"))]);
    let problem = store.lock("default").unwrap_err();
    let StoreError::NotFound { what, advice } = &problem else { panic!("{problem:?}") };
    assert!(what.contains("\"no-table\"") && advice.contains("create-table --table-name no-table"), "{problem:?}");
}

#[test]
fn accounts_that_are_not_allowed_are_refused() {
    let Some(moto) = Moto::start() else { return };
    moto.make_bucket("accounts");
    let accounts = |name, id: &str| (name, Value::set(groma_value::Type::String, vec![Value::string(id)]));
    let store = open(&moto, "accounts", &[accounts("allowed_account_ids", "111111111111")]);
    let problem = store.read("default").unwrap_err();
    assert!(problem.to_string().contains("the account 123456789012"), "{problem}");
    let store = open(&moto, "accounts", &[accounts("forbidden_account_ids", "111111111111")]);
    assert_eq!(store.read("default").unwrap(), None);
}
