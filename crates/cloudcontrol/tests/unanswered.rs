//! Requests that reach the service while their answers do not come back.

#![allow(clippy::unwrap_used)] // the helpers of a test may fail as the test itself may

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use groma_cloudcontrol::api::{
    Answer, ApiError, CloudControl, CreateResource, DeleteResource, Fault, GetResource, ListResourceRequests,
    ListResources, ProgressEvent, RequestList, ResourceDescription, ResourceList, UpdateResource,
};
use groma_cloudcontrol::emulator::{Embedded, Settings, Store};
use groma_cloudcontrol::schema::Catalogue;
use groma_provider::{ApplyResponse, CallFate, PlanResponse, Private};
use serde_json::json;
use support::World;

/// The answers that are dropped on the way back.
#[derive(Default)]
struct Network {
    loses_starts: AtomicBool,
    loses_statuses: AtomicBool,
    /// The number of start calls that reached the service.
    started: AtomicUsize,
}

impl Network {
    fn lose(&self, starts: bool, statuses: bool) {
        self.loses_starts.store(starts, Ordering::Relaxed);
        self.loses_statuses.store(statuses, Ordering::Relaxed);
    }
}

struct Distant {
    service: Embedded,
    network: Arc<Network>,
}

impl Distant {
    fn started<'a>(&'a self, answer: Answer<'a, ProgressEvent>) -> Answer<'a, ProgressEvent> {
        self.network.started.fetch_add(1, Ordering::Relaxed);
        dropped_if(self.network.loses_starts.load(Ordering::Relaxed), answer)
    }
}

fn dropped_if<'a, T: Send + 'a>(is_dropped: bool, answer: Answer<'a, T>) -> Answer<'a, T> {
    Box::pin(async move {
        let answer = answer.await;
        if is_dropped { Err(ApiError::new(Fault::NetworkFailure, "connection reset")) } else { answer }
    })
}

impl CloudControl for Distant {
    fn create_resource(&self, request: CreateResource) -> Answer<'_, ProgressEvent> {
        self.started(self.service.create_resource(request))
    }

    fn get_resource(&self, request: GetResource) -> Answer<'_, ResourceDescription> {
        self.service.get_resource(request)
    }

    fn update_resource(&self, request: UpdateResource) -> Answer<'_, ProgressEvent> {
        self.started(self.service.update_resource(request))
    }

    fn delete_resource(&self, request: DeleteResource) -> Answer<'_, ProgressEvent> {
        self.started(self.service.delete_resource(request))
    }

    fn list_resources(&self, request: ListResources) -> Answer<'_, ResourceList> {
        self.service.list_resources(request)
    }

    fn get_resource_request_status(&self, request_token: String) -> Answer<'_, ProgressEvent> {
        dropped_if(
            self.network.loses_statuses.load(Ordering::Relaxed),
            self.service.get_resource_request_status(request_token),
        )
    }

    fn list_resource_requests(&self, request: ListResourceRequests) -> Answer<'_, RequestList> {
        self.service.list_resource_requests(request)
    }

    fn cancel_resource_request(&self, request_token: String) -> Answer<'_, ProgressEvent> {
        self.service.cancel_resource_request(request_token)
    }
}

fn world() -> (World, Arc<Network>) {
    // A moment, so that no request has ended when its first answer is given.
    let settings = Settings { delay: Duration::from_millis(20), ..Settings::default() };
    let store = Arc::new(Store::in_memory(Catalogue::shipped().clone(), settings).unwrap());
    let network = Arc::<Network>::default();
    let service = Embedded::new(store.clone(), "eu-central-1");
    let api = Arc::new(Distant { service, network: network.clone() });
    (World::with_api(store, api, &json!({"region": "eu-central-1", "max_retries": 2})), network)
}

fn fate(response: &ApplyResponse) -> CallFate {
    assert!(response.diagnostics.has_errors());
    response.diagnostics.fate()
}

#[test]
fn creation_without_a_response_is_recovered_by_its_token() {
    let (world, network) = world();
    let config = json!({"cidr_block": "10.0.0.0/16"});
    let plan = world.plan("awscc_ec2_vpc", &config, None);
    network.lose(true, false);
    let unanswered = world.try_apply("awscc_ec2_vpc", &config, None, &plan);
    assert_eq!(fate(&unanswered), CallFate::NoResponse, "{:?}", unanswered.diagnostics);
    assert!(unanswered.new_state.as_ref().unwrap().is_null());
    assert!(network.started.load(Ordering::Relaxed) > 1, "it was repeated");
    network.lose(false, false);
    let found = world.try_apply("awscc_ec2_vpc", &config, None, &plan);
    assert!(found.diagnostics.is_empty() && !found.new_state.unwrap().is_null());
    assert_eq!(world.store.objects(None).unwrap().len(), 1);
}

#[test]
fn creation_with_unknown_status_is_recovered_by_its_token() {
    let (world, network) = world();
    let bucket = json!({"bucket_name": "reports"});
    let plan = world.plan("awscc_s3_bucket", &bucket, None);
    network.lose(false, true);
    let unanswered = world.try_apply("awscc_s3_bucket", &bucket, None, &plan);
    assert_eq!(fate(&unanswered), CallFate::NoResponse, "{:?}", unanswered.diagnostics);
    // The object is complete by now: a record of it would be tainted, and the next apply would destroy it.
    assert!(unanswered.new_state.as_ref().unwrap().is_null());
    std::thread::sleep(Duration::from_millis(30));
    assert_eq!(world.store.objects(None).unwrap().len(), 1);
    network.lose(false, false);
    let found = world.try_apply("awscc_s3_bucket", &bucket, None, &plan);
    assert!(found.diagnostics.is_empty() && !found.new_state.unwrap().is_null());
    assert_eq!(world.store.objects(None).unwrap().len(), 1);
}

#[test]
fn creation_that_cannot_be_requested_again_is_recorded() {
    let (world, network) = world();
    let bucket = json!({"bucket_name": "reports"});
    let plan = world.plan("awscc_s3_bucket", &bucket, None);
    let plan = PlanResponse { planned_private: Private::default(), ..plan };
    network.lose(false, true);
    let unanswered = world.try_apply("awscc_s3_bucket", &bucket, None, &plan);
    // Without a planned token, the record is all that the next run has.
    assert!(unanswered.new_state.as_ref().is_some_and(|state| !state.is_null()), "{:?}", unanswered.diagnostics);
    assert_eq!(fate(&unanswered), CallFate::Answered);
}

#[test]
fn updates_and_deletions_without_a_response_are_unanswered_and_refusals_are_not() {
    let (world, network) = world();
    let bucket = |name: &str| json!({"bucket_name": "reports", "tags": [{"key": "name", "value": name}]});
    let object = world.apply("awscc_s3_bucket", &bucket("a"), None);
    let plan = world.plan("awscc_s3_bucket", &bucket("b"), Some(&object));
    network.lose(true, false);
    assert_eq!(fate(&world.try_apply("awscc_s3_bucket", &bucket("b"), Some(&object), &plan)), CallFate::NoResponse);
    assert_eq!(fate(&world.try_delete("awscc_s3_bucket", &object)), CallFate::NoResponse);
    network.lose(false, false);
    let again = world.plan("awscc_s3_bucket", &bucket("a"), None);
    let refused = world.try_apply("awscc_s3_bucket", &bucket("a"), None, &again);
    if refused.diagnostics.has_errors() {
        assert_eq!(fate(&refused), CallFate::Answered);
    }
}
