//! The mock cloud: rules that real clouds enforce, and instructions by tests.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use groma_provider::{Answer, ApplyRequest, ConfigureRequest, PlanRequest, Provider};
use groma_scripted::cloud::{Cloud, EVERY, Moment, Operation, Outcome, Store, Times};
use groma_value::{Type, Value};

/// A value of the resource type with an unknown identifier.
fn object(name: &str, replace: &str, refs: &[&str]) -> Value {
    Value::object([
        ("id", Value::unknown(Type::String)),
        ("name", Value::string(name)),
        ("parent", Value::null(Type::String)),
        ("refs", Value::list(Type::String, refs.iter().map(Value::string).collect())),
        ("replace", Value::string(replace)),
        ("value", Value::null(Type::String)),
    ])
}

/// Applies a change and returns the new object and the errors.
fn apply(cloud: &Cloud, prior: Value, planned: Value) -> (Value, Vec<String>) {
    let type_name = "cloud_object".into();
    let request = ApplyRequest { type_name, prior_state: prior, planned_state: planned, ..ApplyRequest::default() };
    let response = Answer::wait(cloud.apply_resource(request));
    let problems = response.diagnostics.iter().map(|problem| format!("{}: {}", problem.summary, problem.detail));
    (response.new_state.unwrap(), problems.collect())
}

fn cloud() -> (tempfile::TempDir, Store, Cloud) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::at(folder.path().join("store"));
    let cloud = Cloud::new("cloud", store.clone());
    (folder, store, cloud)
}

const NOTHING: Value = Value::NULL;

#[test]
fn delete_is_refused_while_another_object_refers_to_the_object() {
    let (_folder, store, cloud) = cloud();
    let (base, _) = apply(&cloud, NOTHING, object("base", "1", &[]));
    let (user, _) = apply(&cloud, NOTHING, object("user", "1", &["base#1"]));
    let (kept, errors) = apply(&cloud, base.clone(), NOTHING);
    assert_eq!((kept, errors), (base.clone(), vec![String::from("Object in use: used by user#1")]));
    assert_eq!(apply(&cloud, user, NOTHING).1, [""; 0]);
    assert_eq!(apply(&cloud, base, NOTHING), (NOTHING, Vec::new()));
    assert!(store.objects().unwrap().is_empty());
    let log: Vec<String> = store.events().unwrap().iter().map(ToString::to_string).collect();
    assert_eq!(log[4..6], ["3 begin delete base#1", "3 failed delete base#1: Object in use: used by user#1"]);
}

#[test]
fn create_is_refused_while_a_reference_is_dangling() {
    let (_folder, _, cloud) = cloud();
    let (made, errors) = apply(&cloud, NOTHING, object("user", "1", &["base#1"]));
    assert_eq!((made, errors), (NOTHING, vec![String::from("Object not found: base#1 does not exist")]));
}

#[test]
fn calls_fail_while_no_object_serves_the_endpoint() {
    let (_folder, _, cloud) = cloud();
    let config = Value::object([("endpoint", Value::string("cluster#1")), ("store", Value::null(Type::String))]);
    let terraform_version = String::from("1.15.5");
    let request = ConfigureRequest { terraform_version, config, client_capabilities: Default::default() };
    assert!(!Answer::wait(cloud.configure(request)).has_errors());
    let (_, errors) = apply(&cloud, NOTHING, object("app", "1", &[]));
    assert_eq!(errors, ["Endpoint unreachable: no object serves cluster#1"]);
}

#[test]
fn operation_fails_before_or_after_its_effect_as_instructed() {
    let (_folder, store, cloud) = cloud();
    store.fail(Operation::Create, "web", Times::Once, Moment::Before).unwrap();
    assert_eq!(apply(&cloud, NOTHING, object("web", "1", &[])).0, NOTHING);
    store.fail(Operation::Create, "web", Times::Once, Moment::After).unwrap();
    let (made, errors) = apply(&cloud, NOTHING, object("web", "1", &[]));
    assert!(!made.is_null() && errors == ["Injected failure: injected by the test"], "{errors:?}");
    assert_eq!(apply(&cloud, NOTHING, object("web", "1", &[])).1, [""; 0]);
    store.fail(Operation::Create, EVERY, Times::Always, Moment::Before).unwrap();
    for name in ["web", "other"] {
        assert_eq!(apply(&cloud, NOTHING, object(name, "1", &[])).1, ["Injected failure: injected by the test"]);
    }
}

#[test]
fn operation_waits_until_resumed() {
    let (_folder, store, cloud) = cloud();
    store.wait(Operation::Create, "web").unwrap();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| apply(&cloud, NOTHING, object("web", "1", &[])));
        while store.events().unwrap().is_empty() {
            std::thread::yield_now();
        }
        apply(&cloud, NOTHING, object("other", "1", &[]));
        store.resume().unwrap();
        assert_eq!(waiting.join().unwrap().1, [""; 0]);
    });
    let ends: Vec<String> = store
        .events()
        .unwrap()
        .into_iter()
        .filter(|event| event.outcome == Outcome::Done)
        .map(|event| event.object)
        .collect();
    assert_eq!(ends, ["other#1", "web#1"]);
}

#[test]
fn held_deletions_overtake_concurrent_creations() {
    let (_folder, store, cloud) = cloud();
    let (old, _) = apply(&cloud, NOTHING, object("old", "1", &[]));
    store.hold(0).unwrap();
    store.forget_events().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| apply(&cloud, NOTHING, object("new", "1", &[])));
        // Both have started before either takes effect, so the order of arrival is irrelevant.
        scope.spawn(|| apply(&cloud, old, NOTHING));
    });
    let done = store.events().unwrap().into_iter().filter(|event| event.outcome == Outcome::Done);
    let done: Vec<String> = done.map(|event| event.object).collect();
    assert_eq!(done.len(), 2);
}

#[test]
fn change_of_force_new_argument_requires_replacement() {
    let (_folder, _, cloud) = cloud();
    let (prior, _) = apply(&cloud, NOTHING, object("web", "1", &[]));
    let proposed_new_state = Value::object(
        prior
            .as_object()
            .unwrap()
            .iter()
            .map(|(name, value)| (name.clone(), if &**name == "replace" { Value::string("2") } else { value.clone() }))
            .collect::<Vec<_>>(),
    );
    let request = PlanRequest { prior_state: prior, proposed_new_state, ..PlanRequest::default() };
    assert_eq!(Answer::wait(cloud.plan_resource(request)).requires_replace.len(), 1);
}
