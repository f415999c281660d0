//! The backend `s3` with lost answers, services without conditional writes, missing permissions and wrong digests.

use groma_backend::{Companions, Expected, SegmentCreated, StoreError, Version};
use groma_value::Value;
use serde_json::json;

use super::proxy::{Fault, Proxy};
use super::s3::{Moto, block};
use super::store::{self, Store};

const DENIED: &str = "<Error><Code>AccessDenied</Code><Message>no</Message></Error>";

struct Faulty {
    moto: Moto,
    proxy: Proxy,
    store: Store,
}

fn faulty(bucket: &str, more: &[(&'static str, Value)]) -> Option<Faulty> {
    let moto = Moto::start()?;
    moto.make_bucket(bucket);
    moto.make_table(bucket);
    let proxy = Proxy::start(moto.port);
    let store = Store::open("s3", &block(proxy.port, bucket, more), &[]).unwrap();
    Some(Faulty { moto, proxy, store })
}

#[test]
fn writes_and_locks_whose_responses_never_arrive_are_recognized() {
    let table = ("dynamodb_table", Value::string("lost"));
    let Some(Faulty { moto, proxy, store }) = faulty("lost", &[("use_lockfile", Value::bool(true)), table]) else {
        return;
    };
    proxy.break_next("PUT", "a.tfstate.tflock", Fault::LostAnswer);
    let held = store.lock("default").unwrap();
    proxy.break_next("PUT", "a.tfstate", Fault::LostAnswer);
    let one = store.write("default", b"{\"n\":1}", Expected::Absent, Some(&held)).unwrap();
    proxy.break_next("PUT", "a.tfstate", Fault::LostAnswer);
    let two = store.write("default", b"{\"n\":2}", Expected::Version(one), Some(&held)).unwrap();
    assert_eq!(store.read("default").unwrap().unwrap().version, two);
    proxy.break_next("DELETE", "a.tfstate.tflock", Fault::LostAnswer);
    // The manager repeats a release that failed, and then a missing lock is the expected result.
    assert!(matches!(store.unlock("default", &held.id), Err(StoreError::Network { .. })));
    assert!(matches!(store.unlock("default", &held.id), Ok(()) | Err(StoreError::NotLocked { .. })));
    let mut is_dropped = false;
    proxy.break_if(move |request| {
        let is_put = request.headers.contains("DynamoDB_20120810.PutItem") && !is_dropped;
        is_dropped |= is_put;
        is_put.then_some(Fault::LostAnswer)
    });
    let held = store.lock("default").unwrap();
    assert!(!moto.item("lost", "lost/team/a.tfstate").is_null());
    store.unlock("default", &held.id).unwrap();
    store::renews_without_an_answer(&store, "default", || {
        proxy.break_next("PUT", "a.tfstate.tflock", Fault::LostAnswer);
    });
    store::renews_without_an_answer(&store, "default", || {
        let mut is_dropped = false;
        proxy.break_if(move |request| {
            let is_put = request.headers.contains("DynamoDB_20120810.PutItem") && !is_dropped;
            is_dropped |= is_put;
            is_put.then_some(Fault::LostAnswer)
        });
    });
}

/// Breaks the first copies of an object in these ways, as a service that gives each copy another ETag would.
fn break_copies(proxy: &Proxy, faults: &'static [Fault]) {
    let mut faults = faults.iter();
    proxy.break_if(move |request| {
        let is_copy = request.header("x-amz-copy-source").is_some();
        if is_copy { faults.next().cloned() } else { None }
    });
}

#[test]
fn journal_begins_although_the_answer_to_the_change_of_the_note_is_lost() {
    const REFUSED: Fault = Fault::Answer(412, "<Error><Code>PreconditionFailed</Code><Message>no</Message></Error>");
    let Some(Faulty { proxy, store, .. }) = faulty("noted", &[("use_lockfile", Value::bool(true))]) else { return };
    assert_eq!(store.companions("default").unwrap(), Companions::default());
    store.write_last("default", b"{\"n\":1}", Expected::Absent).unwrap();
    let version = store.read("default").unwrap().unwrap().version;
    break_copies(&proxy, &[Fault::LostAnswer, REFUSED]);
    assert_eq!(store.create_segment("default", "aa/00000001", b"one").unwrap(), SegmentCreated::Yes);
    // The caller still expects the version that it has read.
    store.write_last("default", b"{\"n\":2}", Expected::Version(version)).unwrap();
    store.read("default").unwrap();
    break_copies(&proxy, &[REFUSED]);
    let refused = store.create_segment("default", "bb/00000001", b"one");
    assert!(matches!(refused, Err(StoreError::Conflict { .. })), "another run has replaced the state: {refused:?}");
}

#[test]
fn first_segments_are_deleted_before_the_others() {
    let Some(Faulty { proxy, store, .. }) = faulty("partly", &[("use_lockfile", Value::bool(true))]) else { return };
    let names = ["aa/00000001", "aa/00000002", "aa/00000003", "bb/00000001", "bb/00000002"];
    for name in names {
        store.create_segment("default", name, b"part").unwrap();
    }
    let mut batches = 0;
    proxy.break_if(move |request| {
        let is_batch = request.method == "POST" && request.target.contains("delete");
        batches += usize::from(is_batch);
        (is_batch && batches > 1).then_some(Fault::Answer(403, DENIED))
    });
    assert!(matches!(store.delete_segments("default", &names), Err(StoreError::AccessDenied { .. })));
    assert_eq!(store.segments("default").unwrap(), ["aa/00000002", "aa/00000003", "bb/00000002"]);
    proxy.break_if(|_| None);
    store.delete_segments("default", &names).unwrap();
    assert_eq!(store.segments("default").unwrap(), [""; 0]);
}

/// Writes a state with a journal of one segment, which the state then contains; returns the ID of its lock.
fn journal_to_retire(store: &Store) -> String {
    let held = store.lock("default").unwrap();
    store.companions("default").unwrap();
    store.create_segment("default", "aa/00000001", b"part").unwrap();
    store.write_last("default", b"{}", Expected::Absent).unwrap();
    store.delete_segments("default", &["aa/00000001"]).unwrap();
    held.id
}

#[test]
fn journal_is_deleted_with_the_lock() {
    const SEGMENT: &str = "a.tfstate.groma-journal/aa/00000001";
    let cases = [
        ("retired-answered", None),
        ("retired-lost", Some(Fault::LostAnswer)),
        ("retired-missing", Some(Fault::Answer(501, "<Error><Code>NotImplemented</Code></Error>"))),
        (
            "retired-refused",
            Some(Fault::Answer(
                200,
                "<R><Error><Key>team/a.tfstate.tflock</Key><Code>PreconditionFailed</Code></Error></R>",
            )),
        ),
    ];
    for (bucket, fault) in cases {
        let Some(Faulty { moto, proxy, store }) = faulty(bucket, &[("use_lockfile", Value::bool(true))]) else {
            return;
        };
        let id = journal_to_retire(&store);
        let segment = || moto.get(bucket, &format!("team/{SEGMENT}"));
        assert!(segment().is_some(), "{bucket}: it is deleted later");
        let mut fault = fault;
        proxy.break_if(move |request| if request.method == "POST" { fault.take() } else { None });
        if bucket == "retired-lost" {
            assert!(matches!(store.unlock("default", &id), Err(StoreError::Network { .. })));
            assert!(matches!(store.unlock("default", &id), Err(StoreError::NotLocked { .. })), "it was released");
        } else {
            store.unlock("default", &id).unwrap();
        }
        assert_eq!(moto.get(bucket, "team/a.tfstate.tflock"), None, "{bucket}");
        // The forged answer says nothing about the segment, which then stays.
        assert_eq!(segment().is_some(), bucket == "retired-refused", "{bucket}");
    }
}

#[test]
fn companions_are_found_among_many_other_objects() {
    let Some(Faulty { moto, proxy, store }) = faulty("crowd", &[("use_lockfile", Value::bool(true))]) else { return };
    store.create_segment("default", "aa/00000001", b"part").unwrap();
    let Version(etag) = store.write("default", b"{}", Expected::Absent, None).unwrap();
    moto.put("crowd", "team/a.tfstate.groma-sharing", b"{}");
    let expected =
        Companions { version: Some(Version(etag)), segments: vec!["aa/00000001".to_owned()], has_sharing: true };
    assert_eq!(store.companions("default").unwrap(), expected);
    // A listing that goes on says nothing about what is missing in it.
    let mut is_first = true;
    proxy.break_if(move |request| {
        let is_page = std::mem::take(&mut is_first) && request.target.contains("list-type");
        let page =
            "<R><Contents><Key>team/a.tfstate</Key></Contents><NextContinuationToken>n</NextContinuationToken></R>";
        is_page.then_some(Fault::Answer(200, page))
    });
    assert_eq!(store.companions("default").unwrap(), expected);
}

#[test]
fn services_without_conditional_requests_are_checked_by_reading() {
    let Some(Faulty { proxy, store, .. }) = faulty("plain", &[("use_lockfile", Value::bool(true))]) else { return };
    proxy.break_if(|request| {
        let headers = request.headers.to_lowercase();
        let is_conditional = headers.contains("if-match:") || headers.contains("if-none-match:");
        is_conditional.then_some(Fault::Answer(501, "<Error><Code>NotImplemented</Code></Error>"))
    });
    let held = store.lock("default").unwrap();
    assert!(store.lock("default").unwrap_err().is_held_lock());
    let one = store.write("default", b"{\"n\":1}", Expected::Absent, None).unwrap();
    store.write("default", b"{\"n\":2}", Expected::Version(one.clone()), None).unwrap();
    let stale = store.write("default", b"{\"n\":3}", Expected::Version(one), None);
    assert!(matches!(stale, Err(StoreError::Conflict { .. })), "{stale:?}");
    store.unlock("default", &held.id).unwrap();
}

#[test]
fn missing_permissions_are_named() {
    let Some(Faulty { proxy, store, .. }) = faulty("denied", &[("use_lockfile", Value::bool(true))]) else { return };
    let held = store.lock("default").unwrap();
    let named = |problem: StoreError, expected: &str| {
        let StoreError::AccessDenied { permission, advice, .. } = &problem else { panic!("{problem:?}") };
        assert_eq!(permission.as_deref(), Some(expected), "{problem:?}");
        assert!(advice.contains("allow ") && advice.contains("arn:aws:s3:::denied"), "{advice}");
    };
    proxy.break_if(|_| Some(Fault::Answer(403, DENIED)));
    named(store.read("default").unwrap_err(), "s3:GetObject");
    named(store.write("default", b"{}", Expected::Absent, None).unwrap_err(), "s3:PutObject");
    named(store.delete("default", None).unwrap_err(), "s3:DeleteObject");
    assert_eq!(store.workspaces().unwrap(), [""; 0], "the default prefix may be that of others");
    proxy.break_if(|request| (request.method == "DELETE").then_some(Fault::Answer(403, DENIED)));
    named(store.unlock("default", &held.id).unwrap_err(), "s3:DeleteObject");
    let prefix = [("workspace_key_prefix", Value::string("mine"))];
    let own = Store::open("s3", &block(proxy.port, "denied", &prefix), &[]).unwrap();
    proxy.break_if(|_| Some(Fault::Answer(403, DENIED)));
    let problem = own.workspaces().unwrap_err();
    assert!(matches!(&problem, StoreError::AccessDenied { permission: Some(name), .. } if name == "s3:ListBucket"));
}

#[test]
fn wrong_regions_and_keys_are_explained() {
    let Some(Faulty { proxy, store, .. }) = faulty("elsewhere", &[]) else { return };
    let body = "<Error><Code>PermanentRedirect</Code><Region>eu-west-3</Region></Error>";
    proxy.break_if(move |_| Some(Fault::Answer(301, body)));
    let problem = store.read("default").unwrap_err();
    assert!(problem.to_string().contains("set region to \"eu-west-3\""), "{problem}");
    let body = "<Error><Code>InvalidAccessKeyId</Code><Message>unknown</Message></Error>";
    proxy.break_if(move |_| Some(Fault::Answer(403, body)));
    let problem = store.read("default").unwrap_err();
    assert!(matches!(&problem, StoreError::Unauthenticated { advice, .. } if advice.contains("aws sso login")));
    let mistyped = block(proxy.port, "elsewhere", &[("region", Value::string("eu-west"))]);
    let problem = Store::open("s3", &mistyped, &[]).err().unwrap();
    assert!(matches!(&problem, StoreError::InvalidArgument { argument, .. } if argument == "region"), "{problem}");
}

#[test]
fn emptied_and_deleted_objects_with_a_digest_are_refused() {
    let table = ("dynamodb_table", Value::string("emptied"));
    let Some(Faulty { moto, store, .. }) = faulty("emptied", &[table]) else { return };
    store.write("default", b"{\"n\":1}", Expected::Absent, None).unwrap();
    let recorded = || moto.item("emptied", "emptied/team/a.tfstate-md5");
    let digest = recorded();
    let held = store.lock("default").unwrap();
    moto.put("emptied", "team/a.tfstate", b"");
    let problem = store.read("default").unwrap_err();
    assert!(problem.to_string().contains("not a complete JSON document"), "{problem}");
    moto.delete("emptied", "team/a.tfstate");
    let problem = store.read("default").unwrap_err();
    let StoreError::InvalidData { reason, advice, .. } = &problem else { panic!("{problem:?}") };
    assert!(reason.contains("does not have the expected content"), "{reason}");
    assert!(reason.contains(digest["Digest"]["S"].as_str().unwrap()), "{reason}");
    assert!(advice.contains("delete the item emptied/team/a.tfstate-md5 from the table emptied"), "{advice}");
    store.unlock("default", &held.id).unwrap();
    assert!(store.read("default").is_err(), "readers without the lock refuse it too");
    assert_eq!(recorded(), digest, "the digest stays");
    store.delete("default", None).unwrap();
    assert_eq!(store.read("default").unwrap(), None, "the digest is deleted with the workspace");
}

#[test]
fn workspace_that_cannot_be_deleted_completely_can_be_read() {
    let table = ("dynamodb_table", Value::string("halves"));
    let Some(Faulty { proxy, store, .. }) = faulty("halves", &[table]) else { return };
    store.write("blue", b"{}", Expected::Absent, None).unwrap();
    proxy.break_if(|request| (request.method == "DELETE").then_some(Fault::Answer(403, DENIED)));
    assert!(matches!(store.delete("blue", None), Err(StoreError::AccessDenied { .. })));
    assert_eq!(store.read("blue").unwrap().unwrap().bytes, b"{}");
}

#[test]
fn locks_without_valid_info_can_be_forced_open() {
    let table = ("dynamodb_table", Value::string("nameless"));
    let Some(Faulty { moto, store, .. }) = faulty("nameless", &[("use_lockfile", Value::bool(true)), table]) else {
        return;
    };
    let item = |info: &str| json!({ "LockID": { "S": "nameless/team/a.tfstate" }, "Info": { "S": info } });
    let mut bare = item("");
    bare.as_object_mut().unwrap().remove("Info");
    let refused = || {
        let problem = store.lock("default").unwrap_err();
        let detail = problem.detail();
        assert!(detail.ends_with("release it with force-unlock unknown."), "{detail}");
        assert!(detail.contains("the lock has no valid info") && !detail.contains("by  "), "{detail}");
        store.unlock("default", "unknown").unwrap();
    };
    for content in [&b"garbage"[..], b"{}", b""] {
        moto.put("nameless", "team/a.tfstate.tflock", content);
        refused();
    }
    for item in [bare, item(""), item("garbage"), item("{}")] {
        moto.put_item("nameless", &item);
        refused();
    }
    let held = store.lock("default").unwrap();
    store.unlock("default", &held.id).unwrap();
}

#[test]
fn digests_that_the_object_has_outlived_heal_under_the_lock() {
    let table = ("dynamodb_table", Value::string("digests"));
    let Some(Faulty { moto, store, .. }) = faulty("digests", &[table]) else { return };
    store.write("default", b"{\"n\":1}", Expected::Absent, None).unwrap();
    // A program without the table writes the state.
    moto.put("digests", "team/a.tfstate", b"{\"n\":2}");
    let item = |md5: &str| json!({ "LockID": { "S": "digests/team/a.tfstate-md5" }, "Digest": { "S": md5 } });
    let recorded = || moto.item("digests", "digests/team/a.tfstate-md5")["Digest"]["S"].as_str().map(str::to_owned);
    let stale = recorded();
    assert_eq!(store.read("default").unwrap().unwrap().bytes, b"{\"n\":2}");
    assert_eq!(recorded(), stale, "a reader without the lock writes nothing");
    let held = store.lock("default").unwrap();
    assert_eq!(store.read("default").unwrap().unwrap().bytes, b"{\"n\":2}");
    let healed = recorded();
    assert_ne!(healed, stale);
    // An object that is cut off is no state, whatever its time.
    moto.put("digests", "team/a.tfstate", b"{\"n\":");
    let problem = store.read("default").unwrap_err();
    assert!(problem.to_string().contains("does not have the expected content"), "{problem}");
    // An object that is older than its digest was put back by somebody.
    moto.put("digests", "team/a.tfstate", b"{\"n\":3}");
    let mut later = item("00000000000000000000000000000000");
    later["Written"] = json!({ "S": "2999-01-01T00:00:00Z" });
    moto.put_item("digests", &later);
    let problem = store.read("default").unwrap_err();
    let StoreError::InvalidData { reason, advice, .. } = &problem else { panic!("{problem:?}") };
    assert!(reason.contains("older than the digest 00000000000000000000000000000000"), "{reason}");
    assert!(advice.contains("digests/team/a.tfstate-md5 in the table digests"), "{advice}");
    store.unlock("default", &held.id).unwrap();
}
