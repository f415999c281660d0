//! Changes in flight when the user wants to stop.

#![allow(clippy::unwrap_used)] // the helpers of a test may fail as the test itself may

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use groma_cloudcontrol::api::Fault;
use groma_cloudcontrol::emulator::{Faults, Settings, Store};
use groma_cloudcontrol::schema::Catalogue;
use groma_provider::{ApplyResponse, CallFate, Provider};
use serde_json::{Value as Json, json};
use support::{Call, Gated, World};

/// What becomes of cancellations.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cancellations {
    Possible,
    TooLate,
}

/// Returns a world whose service throttles every other call that starts nothing, and the number of cancellations that reach it.
fn throttled(cancellations: Cancellations) -> (World, Arc<AtomicUsize>) {
    let settings = Settings { delay: Duration::from_millis(300), ..Settings::default() };
    let store = Arc::new(Store::in_memory(Catalogue::shipped().clone(), settings).unwrap());
    let (calls, cancelled) = (AtomicUsize::new(0), Arc::new(AtomicUsize::new(0)));
    let counted = cancelled.clone();
    let gate = move |call: Call| match call {
        Call::Create | Call::Update | Call::Delete => None,
        _ if calls.fetch_add(1, Ordering::Relaxed).is_multiple_of(2) => Some(Fault::Throttling),
        Call::Cancel => {
            counted.fetch_add(1, Ordering::Relaxed);
            (cancellations == Cancellations::TooLate).then_some(Fault::ConcurrentModification)
        }
        _ => None,
    };
    let api = Arc::new(Gated::new(&store, gate));
    (World::with_api(store, api, &json!({"region": "eu-central-1"})), cancelled)
}

#[test]
fn cc_46_throttled_cancellation_is_repeated() {
    let (world, cancellations) = throttled(Cancellations::Possible);
    let bucket = json!({"bucket_name": "reports"});
    let plan = world.plan("awscc_s3_bucket", &bucket, None);
    world.provider.stop();
    let stopped = world.try_apply("awscc_s3_bucket", &bucket, None, &plan);
    let problems = &stopped.diagnostics;
    assert!(problems.iter().any(|problem| problem.detail.contains("cancelled")), "{problems:?}");
    assert!(stopped.new_state.unwrap().is_null());
    assert_eq!(cancellations.load(Ordering::Relaxed), 1);
}

#[test]
fn cc_46_throttled_polls_and_the_read_at_the_end_are_repeated_after_an_interrupt() {
    let (world, cancellations) = throttled(Cancellations::TooLate);
    let bucket = json!({"bucket_name": "reports"});
    let plan = world.plan("awscc_s3_bucket", &bucket, None);
    world.provider.stop();
    let created = world.try_apply("awscc_s3_bucket", &bucket, None, &plan);
    assert!(created.diagnostics.is_empty(), "{:?}", created.diagnostics);
    assert!(!created.new_state.unwrap().is_null());
    assert_eq!(cancellations.load(Ordering::Relaxed), 1, "a request that cannot be cancelled is left alone");
}

/// Plans a creation and applies it after an interrupt.
fn cancelled(world: &World, type_name: &str, config: &Json) -> ApplyResponse {
    let plan = world.plan(type_name, config, None);
    world.provider.stop();
    let response = world.try_apply(type_name, config, None, &plan);
    assert!(response.diagnostics.iter().any(|problem| problem.detail.contains("cancelled")));
    assert_eq!(response.diagnostics.fate(), CallFate::Answered);
    response
}

#[test]
fn cc_47_object_of_a_cancelled_creation_is_recorded() {
    let faults = Faults { cancelled_objects: true, ..Faults::default() };
    let settings = Settings { delay: Duration::from_secs(3_600), faults, ..Settings::default() };
    for (type_name, config) in [
        ("awscc_ec2_vpc", json!({"cidr_block": "10.0.0.0/16"})),
        ("awscc_s3_bucket", json!({"bucket_name": "reports", "tags": [{"key": "a", "value": "b"}]})),
    ] {
        let world = World::on(Arc::new(Store::in_memory(Catalogue::shipped().clone(), settings.clone()).unwrap()));
        let state = cancelled(&world, type_name, &config).new_state.unwrap();
        let identifier = state.as_object().unwrap().get("id").unwrap().as_str().unwrap().to_owned();
        assert_eq!(&*world.store.objects(Some(type_name)).unwrap()[0].identifier, identifier);
    }
}

#[test]
fn cc_47_existing_object_is_not_taken_for_that_of_a_cancelled_creation() {
    let (world, _) = throttled(Cancellations::Possible);
    let bucket = |owner: &str| json!({"bucket_name": "reports", "tags": [{"key": "owner", "value": owner}]});
    world.apply("awscc_s3_bucket", &bucket("somebody"), None);
    let response = cancelled(&world, "awscc_s3_bucket", &bucket("me"));
    assert!(response.new_state.unwrap().is_null(), "{:?}", response.diagnostics);
}
