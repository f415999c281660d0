//! The backend `oss` against a double of object storage and of Tablestore.

use groma_backend::{Expected, StoreError};
use groma_value::Value;
use serde_json::{Value as Json, json};

use super::oss_server::OssServer;
use super::store::{self, Store, keeps_the_contract};

pub fn open(server: &OssServer, more: &[(&'static str, Value)]) -> Result<Store, StoreError> {
    let url = server.url();
    let given = [
        ("bucket", "states"),
        ("region", "cn-hangzhou"),
        ("prefix", "team"),
        ("access_key", "id"),
        ("secret_key", "key"),
        ("endpoint", &url),
        ("tablestore_endpoint", &url),
        ("tablestore_table", "locks"),
    ];
    let given: Vec<(&'static str, Value)> = given.map(|(name, value)| (name, Value::string(value))).to_vec();
    Store::open("oss", &store::block(&given, more), &[])
}

#[test]
fn states_and_locks_keep_the_contract() {
    let server = OssServer::start();
    let store = open(&server, &[]).unwrap();
    keeps_the_contract(&store);
    store::exchanges_locks(&store, "default");
    let held = store.lock("red").unwrap();
    let info = server.shared().rows["states/team/red/terraform.tfstate"]["Info"].clone();
    let info: Json = serde_json::from_str(&info).unwrap();
    assert_eq!((&info["Path"], &info["ID"]), (&json!("states/team/red/terraform.tfstate"), &json!(held.id)));
    store.unlock("red", &held.id).unwrap();
    for name in ["a", "b", "c"] {
        store.write(name, b"{}", Expected::Absent, None).unwrap();
    }
    server.shared().objects.insert("team/d/other.tfstate".to_owned(), Vec::new());
    assert_eq!(store.workspaces().unwrap(), ["a", "b", "c"]);
}

#[test]
fn arguments_set_headers_and_names() {
    let server = OssServer::start();
    let more =
        [("encrypt", Value::TRUE), ("acl", Value::string("private")), ("security_token", Value::string("token"))];
    let store = open(&server, &more).unwrap();
    store.write("default", b"{}", Expected::Absent, None).unwrap();
    let headers = server.shared().written.to_ascii_lowercase();
    for header in [
        "x-oss-server-side-encryption: aes256",
        "x-oss-object-acl: private",
        "x-oss-security-token: token",
        "x-oss-forbid-overwrite: true",
        "content-type: application/json",
    ] {
        assert!(headers.contains(header), "{header} in {headers}");
    }
    assert_eq!(store.0.location("default"), "oss://states/team/terraform.tfstate");
    assert_eq!(store.0.location("blue"), "oss://states/team/blue/terraform.tfstate");
    for (name, value) in [("acl", "public"), ("prefix", "/team"), ("key", "a/"), ("tablestore_endpoint", "")] {
        let refused = open(&server, &[(name, Value::string(value))]).err();
        let is_expected = matches!(&refused, Some(StoreError::InvalidArgument { argument, .. }) if argument == name);
        assert!(is_expected, "{name}: {refused:?}");
    }
}

#[test]
fn outlived_digest_is_replaced_and_newer_one_refused() {
    let server = OssServer::start();
    let store = open(&server, &[]).unwrap();
    store.write("default", br#"{"n":1}"#, Expected::Absent, None).unwrap();
    let (key, row) = ("team/terraform.tfstate", "states/team/terraform.tfstate-md5");
    let recorded = server.shared().rows[row].clone();
    server.shared().objects.insert(key.to_owned(), br#"{"n":2}"#.to_vec());
    let held = store.lock("default").unwrap();
    assert_eq!(store.read("default").unwrap().unwrap().bytes, br#"{"n":2}"#);
    assert_ne!(server.shared().rows[row]["Digest"], recorded["Digest"], "the holder of the lock mends the digest");
    server.shared().objects.insert(key.to_owned(), b"{".to_vec());
    assert!(matches!(store.read("default"), Err(StoreError::InvalidData { .. })), "the object is incomplete");
    server.shared().objects.insert(key.to_owned(), Vec::new());
    assert!(matches!(store.read("default"), Err(StoreError::InvalidData { .. })), "the object is emptied");
    server.shared().objects.remove(key);
    assert!(matches!(store.read("default"), Err(StoreError::InvalidData { .. })), "the object is deleted");
    server.shared().objects.insert(key.to_owned(), br#"{"n":3}"#.to_vec());
    server.shared().modified = Some("Sun, 29 Nov 2020 06:00:00 GMT".to_owned());
    server.shared().rows.get_mut(row).unwrap().insert("Written".to_owned(), "2026-11-29T06:00:00Z".to_owned());
    assert!(matches!(store.read("default"), Err(StoreError::InvalidData { .. })), "the object is older");
    store.unlock("default", &held.id).unwrap();
}

#[test]
fn lock_without_info_can_be_forced_open() {
    let server = OssServer::start();
    let store = open(&server, &[]).unwrap();
    for columns in [vec![], vec![("Info", "")], vec![("Info", "garbage")], vec![("Info", "{}")]] {
        let columns = columns.into_iter().map(|(name, text)| (name.to_owned(), text.to_owned())).collect();
        server.shared().rows.insert("states/team/terraform.tfstate".to_owned(), columns);
        let problem = store.lock("default").unwrap_err();
        assert!(problem.detail().ends_with("release it with force-unlock unknown."), "{}", problem.detail());
        store.unlock("default", "unknown").unwrap();
    }
}

#[test]
fn writes_and_locks_whose_responses_never_arrive_are_recognized() {
    let server = OssServer::start();
    let store = open(&server, &[]).unwrap();
    server.shared().dropped_responses = 1;
    let held = store.lock("default").unwrap();
    server.shared().dropped_responses = 1;
    store.write("default", b"{}", Expected::Absent, Some(&held)).unwrap();
    server.shared().dropped_responses = 1;
    store.unlock("default", &held.id).unwrap();
    assert!(!server.shared().rows.contains_key("states/team/terraform.tfstate"));
    store::renews_without_an_answer(&store, "default", || server.shared().dropped_responses = 1);
}

#[test]
fn requests_that_meet_another_one_at_their_row_are_repeated() {
    let server = OssServer::start();
    let store = open(&server, &[]).unwrap();
    server.shared().row_conflicts = 3;
    let held = store.lock("default").unwrap();
    server.shared().row_conflicts = 1;
    store.unlock("default", &held.id).unwrap();
    server.shared().row_conflicts = usize::MAX;
    let problem = store.lock("default").unwrap_err();
    let is_named = matches!(&problem, StoreError::Service { reason, .. } if reason.contains("OTSRowOperationConflict"));
    assert!(is_named, "{problem:?}");
}

#[test]
fn refusals_are_reported_with_advice() {
    let server = OssServer::start();
    let store = open(&server, &[]).unwrap();
    let refused = |status, code, more| {
        server.shared().refusal = Some((status, code, more));
        store.read("default").unwrap_err()
    };
    assert!(matches!(refused(404, "NoSuchBucket", ""), StoreError::NotFound { .. }));
    assert!(matches!(refused(403, "InvalidAccessKeyId", ""), StoreError::Unauthenticated { .. }));
    let other_region = refused(403, "AccessDenied", "<Endpoint>oss-cn-beijing.aliyuncs.com</Endpoint>");
    let is_named =
        matches!(&other_region, StoreError::InvalidArgument { reason, .. } if reason.contains("oss-cn-beijing"));
    assert!(is_named, "{other_region:?}");
    server.shared().refusal = Some((403, "AccessDenied", ""));
    for (attempt, expected) in [
        (store.read("default").unwrap_err(), "oss:GetObject"),
        (store.write("default", b"{}", Expected::Any, None).unwrap_err(), "oss:PutObject"),
        (store.workspaces().unwrap_err(), "oss:ListObjects"),
        (store.delete("default", None).unwrap_err(), "oss:DeleteObject"),
    ] {
        let StoreError::AccessDenied { permission, advice, .. } = &attempt else { panic!("{attempt:?}") };
        assert_eq!(permission.as_deref(), Some(expected));
        assert!(advice.contains("acs:oss:*:*:states/*"), "{advice}");
    }
    server.shared().refusal = None;
    let locked = |status, code| {
        server.shared().table_refusal = Some((status, code));
        store.lock("default").unwrap_err()
    };
    assert!(matches!(locked(404, "OTSObjectNotExist"), StoreError::NotFound { .. }));
    assert!(matches!(locked(400, "OTSInvalidPK"), StoreError::InvalidData { .. }), "a table of another schema");
    assert!(matches!(locked(403, "OTSAuthFailed"), StoreError::Unauthenticated { .. }));
    let denied = locked(403, "OTSNoPermissionAccess");
    let is_named = matches!(&denied, StoreError::AccessDenied { permission: Some(name), .. } if name == "ots:PutRow");
    assert!(is_named, "{denied:?}");
}

#[test]
fn keys_come_from_environment_profile_and_role() {
    let server = OssServer::start();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.json");
    let profiles = json!({ "profiles": [
        { "name": "ci", "mode": "AK", "access_key_id": "id", "access_key_secret": "key", "region_id": "cn-hangzhou" },
    ]});
    std::fs::write(&path, profiles.to_string()).unwrap();
    let url = server.url();
    let given = [("bucket", Value::string("states")), ("endpoint", Value::string(&*url))];
    let path = path.display().to_string();
    let of_profile = [("ALICLOUD_PROFILE", "ci"), ("ALICLOUD_SHARED_CREDENTIALS_FILE", &*path)];
    let of_environment = [("ALIBABA_CLOUD_ACCESS_KEY_ID", "id"), ("ALIBABA_CLOUD_ACCESS_KEY_SECRET", "key")];
    for variables in [of_profile, of_environment] {
        let store = Store::open("oss", &store::block(&given, &[]), &variables).unwrap();
        assert_eq!(store.read("default").unwrap(), None, "{variables:?}");
    }
    let nothing = Store::open("oss", &store::block(&given, &[]), &[]).unwrap().read("default");
    assert!(matches!(nothing, Err(StoreError::Unauthenticated { .. })), "{nothing:?}");
    let unknown = [("ALICLOUD_PROFILE", "other"), ("ALICLOUD_SHARED_CREDENTIALS_FILE", &*path)];
    let unknown = Store::open("oss", &store::block(&given, &[]), &unknown).err().unwrap();
    assert!(unknown.to_string().contains("no profile \"other\""), "{unknown}");
}
