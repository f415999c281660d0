//! Default tags and tags of others (CC-37).

#![allow(clippy::unwrap_used)] // the helpers of a test may fail as the test itself may

mod support;

use std::sync::Arc;

use groma_cloudcontrol::emulator::{Settings, Store};
use groma_cloudcontrol::schema::Catalogue;
use serde_json::{Value as Json, json};
use support::{Object, World, text};

const QUEUE: &str = "awscc_sqs_queue";
const QUEUE_TYPE: &str = "AWS::SQS::Queue";

fn store() -> Arc<Store> {
    Arc::new(Store::in_memory(Catalogue::shipped().clone(), Settings::default()).unwrap())
}

/// A provider whose objects all get these tags.
fn world(store: &Arc<Store>, defaults: &Json) -> World {
    World::configured(store.clone(), &json!({"region": "eu-central-1", "default_tags": {"tags": defaults}}))
}

/// What the service has, as `key=value`, sorted.
fn tags(store: &Arc<Store>, type_name: &str, object: &Object) -> Vec<String> {
    let mut tags: Vec<String> = match store.show(type_name, &text(object, "id")).unwrap().get("Tags") {
        Some(Json::Array(entries)) => {
            let text = |entry: &Json, name: &str| entry[name].as_str().unwrap().to_owned();
            entries.iter().map(|entry| format!("{}={}", text(entry, "Key"), text(entry, "Value"))).collect()
        }
        Some(Json::Object(members)) => {
            members.iter().map(|(key, value)| format!("{key}={}", value.as_str().unwrap())).collect()
        }
        _ => Vec::new(),
    };
    tags.sort();
    tags
}

/// What somebody else does to the object.
fn patched(store: &Arc<Store>, type_name: &str, object: &Object, patch: &Json) {
    store.patch(type_name, &text(object, "id"), &patch.to_string()).unwrap();
}

/// An attribute as JSON.
fn shown(object: &Object, name: &str) -> Json {
    let value = object.state.attribute(name).unwrap();
    serde_json::from_slice(&groma_value::json::to_json(&value, &value.ty()).unwrap()).unwrap()
}

#[test]
fn cc_37_every_object_gets_the_default_tags_and_its_own_win() {
    let store = store();
    let world = world(&store, &json!({"team": "a", "stage": "test"}));
    let own = json!({"queue_name": "q", "tags": [{"key": "stage", "value": "prod"}, {"key": "x", "value": "1"}]});
    let queue = world.applied(QUEUE, &own);
    assert_eq!(tags(&store, QUEUE_TYPE, &queue), ["stage=prod", "team=a", "x=1"]);
    assert_eq!(shown(&queue, "tags").as_array().unwrap().len(), 2, "the author's form is kept");
    assert_eq!(shown(&queue, "tags_all"), json!({"stage": "prod", "team": "a", "x": "1"}));

    let untagged = world.applied(QUEUE, &json!({"queue_name": "u"}));
    assert_eq!(tags(&store, QUEUE_TYPE, &untagged), ["stage=test", "team=a"]);
    assert_eq!(shown(&untagged, "tags"), Json::Null);

    // Types whose tags are a map, too; and those that take none.
    let parameter = world.applied("awscc_ssm_parameter", &json!({"name": "/p", "type": "String", "value": "v"}));
    assert_eq!(tags(&store, "AWS::SSM::Parameter", &parameter), ["stage=test", "team=a"]);
    let policy = json!({"policy_document": "{}", "queues": ["https://sqs.eu-central-1.amazonaws.com/123456789012/q"]});
    let policy = world.applied("awscc_sqs_queue_policy", &policy);
    assert!(policy.state.attribute("tags_all").is_none());
}

#[test]
fn cc_37_a_change_of_the_default_tags_is_an_update_of_every_object() {
    let store = store();
    let config = json!({"queue_name": "q", "tags": [{"key": "x", "value": "1"}]});
    let plain = World::on(store.clone());
    let mut queue = plain.applied(QUEUE, &config);
    assert_eq!(shown(&queue, "tags_all"), Json::Null, "without default tags nothing looks different");
    for (defaults, expected) in [
        (json!({"team": "a"}), vec!["team=a", "x=1"]),
        (json!({"team": "b", "new": "n"}), vec!["new=n", "team=b", "x=1"]),
        (json!({}), vec!["x=1"]),
    ] {
        let world = world(&store, &defaults);
        let read = world.read(QUEUE, &queue);
        assert_eq!(shown(&read, "tags"), shown(&queue, "tags"), "its own tags have not changed");
        let plan = world.plan(QUEUE, &config, Some(&read));
        assert_ne!(plan.planned_state, read.state, "{defaults}: nothing is planned");
        queue = world.apply(QUEUE, &config, Some(&read));
        assert_eq!(tags(&store, QUEUE_TYPE, &queue), expected);
        let again = world.read(QUEUE, &queue);
        assert_eq!(world.plan(QUEUE, &config, Some(&again)).planned_state, again.state);
    }
}

#[test]
fn cc_37_a_default_tag_that_somebody_took_away_comes_back() {
    let store = store();
    let world = world(&store, &json!({"team": "a"}));
    let config = json!({"queue_name": "q", "tags": [{"key": "x", "value": "1"}]});
    let queue = world.applied(QUEUE, &config);
    for tampered in
        [json!([{"Key": "x", "Value": "1"}]), json!([{"Key": "x", "Value": "1"}, {"Key": "team", "Value": "z"}])]
    {
        patched(&store, QUEUE_TYPE, &queue, &json!([{"op": "add", "path": "/Tags", "value": tampered}]));
        let read = world.read(QUEUE, &queue);
        assert_ne!(read.state, queue.state, "it is seen");
        world.apply(QUEUE, &config, Some(&read));
        assert_eq!(tags(&store, QUEUE_TYPE, &queue), ["team=a", "x=1"]);
    }
}

#[test]
fn cc_37_tags_that_are_ignored_are_neither_shown_nor_taken_away() {
    let store = store();
    let settings = json!({"region": "eu-central-1", "ignore_tags": {"keys": ["cost"], "key_prefixes": ["backup:"]}});
    let world = World::configured(store.clone(), &settings);
    let with = |value: &str| json!({"queue_name": "q", "tags": [{"key": "x", "value": value}]});
    let queue = world.applied(QUEUE, &with("1"));
    let others =
        json!([{"Key": "x", "Value": "1"}, {"Key": "cost", "Value": "7"}, {"Key": "backup:plan", "Value": "p"}]);
    patched(&store, QUEUE_TYPE, &queue, &json!([{"op": "add", "path": "/Tags", "value": others}]));
    let read = world.read(QUEUE, &queue);
    assert_eq!(read.state, queue.state);
    world.apply(QUEUE, &with("2"), Some(&read));
    assert_eq!(tags(&store, QUEUE_TYPE, &queue), ["backup:plan=p", "cost=7", "x=2"]);
    // What the author configures is not ignored.
    let own = json!({"queue_name": "own", "tags": [{"key": "cost", "value": "1"}]});
    let own = world.applied(QUEUE, &own);
    assert_eq!(tags(&store, QUEUE_TYPE, &own), ["cost=1"]);
}
