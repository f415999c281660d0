//! The provider against the emulator on a port, which it reaches as it reaches AWS.

#![allow(clippy::unwrap_used)] // the helpers of a test may fail as the test itself may

mod support;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use groma_cloud::Environment;
use groma_cloudcontrol::api::{
    Answer, ApiError, CloudControl, CreateResource, DeleteResource, Fault, GetResource, HandlerErrorCode,
    ListResourceRequests, ListResources, OperationStatus, ProgressEvent, RequestList, ResourceDescription,
    ResourceList, UpdateResource,
};
use groma_cloudcontrol::emulator::{Embedded, Faults, Settings, Store};
use groma_cloudcontrol::schema::Catalogue;
use groma_provider::CallFate;
use serde_json::{Value as Json, json};
use support::{Call, Gated, World, configure, remote_provider, remote_provider_in, serve, text};

fn store(settings: Settings) -> Arc<Store> {
    Arc::new(Store::in_memory(Catalogue::shipped().clone(), settings).unwrap())
}

/// The provider block for an emulator at `address`, with more arguments.
fn block(address: SocketAddr, more: &Json) -> Json {
    let url = format!("http://{address}");
    let mut block = json!({
        "access_key": format!("AKID{}", address.port()),
        "secret_key": "s",
        "region": "eu-west-1",
        "endpoints": {"cloudcontrolapi": url, "sts": url},
    });
    block.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    block
}

#[test]
fn cc_48_objects_live_a_whole_life_over_http() {
    let store = store(Settings { delay: Duration::from_millis(20), ..Settings::default() });
    let world = World::remote(store.clone(), &block(serve(store.clone()), &json!({})));
    let queue = |delay: u64| json!({"queue_name": "jobs", "delay_seconds": delay});
    let made = world.applied("awscc_sqs_queue", &queue(5));
    assert_eq!(text(&made, "arn"), "arn:aws:sqs:eu-west-1:123456789012:jobs", "the signature names the region");
    let changed = world.apply("awscc_sqs_queue", &queue(9), Some(&made));
    assert_eq!(world.read("awscc_sqs_queue", &changed).state, changed.state);
    world.delete("awscc_sqs_queue", &changed);
    assert!(store.objects(None).unwrap().is_empty());
}

#[test]
fn cc_48_requests_go_through_the_proxy() {
    let store = store(Settings::default());
    let address = serve(store.clone());
    let more = json!({
        "http_proxy": format!("http://{address}"),
        "endpoints": {"cloudcontrolapi": "http://cloudcontrolapi.invalid"},
    });
    let world = World::remote(store.clone(), &block(address, &more));
    world.apply("awscc_sqs_queue", &json!({"queue_name": "jobs"}), None);
    assert_eq!(store.objects(None).unwrap().len(), 1);
}

#[test]
fn cc_48_user_agent_has_the_products_of_block_and_environment() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let heard = std::thread::spawn(move || {
        let mut stream = listener.accept().unwrap().0;
        let mut head = [0; 4096];
        let length = Read::read(&mut stream, &mut head).unwrap();
        let answer = "<R><Account>123456789012</Account><Arn>arn:aws:iam::123456789012:root</Arn></R>";
        let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{answer}", answer.len());
        Write::write_all(&mut stream, answer.as_bytes()).unwrap();
        String::from_utf8_lossy(&head[..length]).into_owned()
    });
    let provider = remote_provider_in(Environment::default().with("TF_APPEND_USER_AGENT", "pipeline/7"));
    let more = json!({
        "user_agent": [{"product_name": "tool", "product_version": "1.0", "comment": "x"}, {"product_name": "other"}],
        "allowed_account_ids": ["123456789012"],
    });
    assert!(configure(&provider, &block(address, &more)).is_empty());
    let head = heard.join().unwrap();
    assert!(head.contains("tool/1.0 (x) other pipeline/7\r\n"), "{head}");
}

#[test]
fn cc_49_throttling_errors_and_broken_connections_leave_one_object_each() {
    let faults = Faults { throttling: 0.2, server_errors: 0.05, drops: 0.05, seed: 7, ..Faults::default() };
    let store = store(Settings { faults, ..Settings::default() });
    let world = World::remote(store.clone(), &block(serve(store.clone()), &json!({})));
    for number in 0..12 {
        world.apply("awscc_sqs_queue", &json!({"queue_name": format!("jobs-{number}")}), None);
    }
    assert_eq!(store.objects(None).unwrap().len(), 12);
}

#[test]
fn cc_48_accounts_are_checked_before_the_first_call() {
    let store = store(Settings::default());
    let address = serve(store.clone());
    let problems = |more: Json| {
        let problems = configure(&remote_provider(), &block(address, &more));
        problems.iter().map(|problem| problem.detail.to_string()).collect::<Vec<String>>().join("\n")
    };
    assert_eq!(problems(json!({"allowed_account_ids": ["123456789012"]})), "");
    assert_eq!(problems(json!({"forbidden_account_ids": ["210987654321"]})), "");
    let refused = problems(json!({"allowed_account_ids": ["210987654321"]}));
    assert!(refused.contains("123456789012") && refused.contains("allowed_account_ids"), "{refused}");
    assert!(problems(json!({"forbidden_account_ids": ["123456789012"]})).contains("forbidden_account_ids"));
    assert!(problems(json!({"allowed_account_ids": ["1"], "forbidden_account_ids": ["2"]})).contains("both"));
}

#[test]
fn cc_48_missing_credentials_and_regions_are_reported_once() {
    let problem = |block: Json| {
        let problems = configure(&remote_provider(), &block);
        problems.iter().map(|problem| (problem.summary.to_string(), problem.detail.to_string())).next().unwrap()
    };
    let (summary, detail) = problem(json!({"region": "eu-west-1"}));
    assert_eq!(summary, "No valid credential sources found");
    assert!(detail.contains("AWS_ACCESS_KEY_ID") && detail.contains("~/.aws/config"), "{detail}");
    let keys = json!({"access_key": "A", "secret_key": "s"});
    assert_eq!(problem(keys).0, "Missing AWS Region");
    assert_eq!(problem(json!({"access_key": "A"})).0, "Incomplete Static Credentials");
    let duration = json!({"assume_role": {"role_arn": "arn:aws:iam::1:role/r", "duration": "5m"}});
    assert_eq!(problem(duration).0, "Invalid Session Duration");
}

/// An address in front of the service at `target`, where the first calls get these statuses and codes.
fn faulty_front(target: SocketAddr, mut answers: Vec<(u16, &'static str)>) -> SocketAddr {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    answers.reverse();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let request = whole_request(&mut stream);
            let answer = match answers.pop() {
                Some((status, code)) => {
                    let body = format!("{{\"__type\":\"{code}\",\"message\":\"internal\"}}");
                    let head = format!("HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-length: {}", body.len());
                    format!("{head}\r\n\r\n{body}").into_bytes()
                }
                None => relayed(target, &request),
            };
            stream.write_all(&answer).unwrap();
        }
    });
    address
}

/// Reads a request with its body.
fn whole_request(stream: &mut TcpStream) -> String {
    let mut request = String::new();
    let mut bytes = [0; 4096];
    loop {
        let count = stream.read(&mut bytes).unwrap();
        request.push_str(std::str::from_utf8(&bytes[..count]).unwrap());
        let Some((head, body)) = request.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
        if count == 0 || body.len() >= length.unwrap_or(0) {
            return request;
        }
    }
}

/// Returns the answer of the service at `target`, on a connection of its own.
fn relayed(target: SocketAddr, request: &str) -> Vec<u8> {
    let mut stream = TcpStream::connect(target).unwrap();
    let request = request.replacen("\r\n", "\r\nconnection: close\r\n", 1);
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    answer
}

#[test]
fn cc_49_general_errors_of_aws_are_repeated() {
    let store = store(Settings::default());
    let target = serve(store.clone());
    let general = vec![
        (500, "InternalFailure"),
        (500, "InternalServerError"),
        (400, "RequestTimeout"),
        (503, "ServiceUnavailable"),
    ];
    let world = World::remote(store.clone(), &block(faulty_front(target, general), &json!({})));
    world.apply("awscc_sqs_queue", &json!({"queue_name": "jobs"}), None);
    assert_eq!(store.objects(None).unwrap().len(), 1);
}

#[test]
fn general_errors_of_aws_are_reported_with_one_code() {
    let store = store(Settings::default());
    let target = serve(store.clone());
    for (status, code, expected) in [
        (500, "InternalFailure", "returned: ServiceInternalErrorException: internal"),
        (400, "RequestExpired", "returned: RequestExpired: internal"),
    ] {
        let front = faulty_front(target, vec![(status, code)]);
        let world = World::remote(store.clone(), &block(front, &json!({"max_retries": 0})));
        let queue = json!({"queue_name": "jobs"});
        let plan = world.plan("awscc_sqs_queue", &queue, None);
        let failed = world.try_apply("awscc_sqs_queue", &queue, None, &plan);
        let detail = failed.diagnostics.iter().next().unwrap().detail.to_string();
        assert!(detail.contains(expected), "{detail}");
    }
}

/// A service whose first requests end with a failure, and that counts calls.
struct Failing {
    service: Embedded,
    code: HandlerErrorCode,
    message: &'static str,
    left: AtomicUsize,
    creations: AtomicUsize,
    reads: AtomicUsize,
    /// Whether reads fail inside of the handler.
    fails_reads: bool,
}

impl Failing {
    fn world(code: HandlerErrorCode, message: &'static str, times: usize, fails_reads: bool) -> (World, Arc<Self>) {
        let store = store(Settings::default());
        let failing = Arc::new(Self {
            service: Embedded::new(store.clone(), "eu-central-1"),
            code,
            message,
            left: AtomicUsize::new(times),
            creations: AtomicUsize::new(0),
            reads: AtomicUsize::new(0),
            fails_reads,
        });
        (World::with_api(store, failing.clone(), &json!({"region": "eu-central-1"})), failing)
    }
}

impl CloudControl for Failing {
    fn create_resource(&self, request: CreateResource) -> Answer<'_, ProgressEvent> {
        self.creations.fetch_add(1, Ordering::Relaxed);
        if self.left.load(Ordering::Relaxed) == 0 {
            return self.service.create_resource(request);
        }
        self.left.fetch_sub(1, Ordering::Relaxed);
        let event = json!({
            "TypeName": request.type_name, "RequestToken": request.client_token, "Operation": "CREATE",
            "OperationStatus": "FAILED", "EventTime": 0.0, "StatusMessage": self.message,
        });
        let event: ProgressEvent = serde_json::from_value(event).unwrap();
        Box::pin(std::future::ready(Ok(ProgressEvent { error_code: Some(self.code), ..event })))
    }

    fn get_resource(&self, request: GetResource) -> Answer<'_, ResourceDescription> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        if self.fails_reads {
            return Box::pin(std::future::ready(Err(ApiError::new(Fault::HandlerInternalFailure, "broken"))));
        }
        self.service.get_resource(request)
    }

    fn update_resource(&self, request: UpdateResource) -> Answer<'_, ProgressEvent> {
        self.service.update_resource(request)
    }

    fn delete_resource(&self, request: DeleteResource) -> Answer<'_, ProgressEvent> {
        assert!(request.client_token.is_some(), "a deletion has a token too");
        self.service.delete_resource(request)
    }

    fn list_resources(&self, request: ListResources) -> Answer<'_, ResourceList> {
        self.service.list_resources(request)
    }

    fn get_resource_request_status(&self, request_token: String) -> Answer<'_, ProgressEvent> {
        self.service.get_resource_request_status(request_token)
    }

    fn list_resource_requests(&self, request: ListResourceRequests) -> Answer<'_, RequestList> {
        self.service.list_resource_requests(request)
    }

    fn cancel_resource_request(&self, request_token: String) -> Answer<'_, ProgressEvent> {
        self.service.cancel_resource_request(request_token)
    }
}

#[test]
fn cc_49_failed_requests_start_again_if_no_object_came_into_being() {
    let queue = json!({"queue_name": "jobs"});
    for (code, message) in [
        (HandlerErrorCode::Throttling, "Rate exceeded"),
        (HandlerErrorCode::ResourceConflict, "busy"),
        (HandlerErrorCode::NetworkFailure, "reset"),
        (HandlerErrorCode::ServiceInternalError, "oops"),
        (HandlerErrorCode::InvalidRequest, "The role defined for the function cannot be assumed by Lambda."),
    ] {
        let (world, service) = Failing::world(code, message, 2, false);
        let made = world.apply("awscc_sqs_queue", &queue, None);
        assert_eq!(service.creations.load(Ordering::Relaxed), 3, "{code:?}");
        world.delete("awscc_sqs_queue", &made);
    }
    for code in [HandlerErrorCode::InvalidRequest, HandlerErrorCode::AlreadyExists, HandlerErrorCode::AccessDenied] {
        let (world, service) = Failing::world(code, "no", 1, false);
        let plan = world.plan("awscc_sqs_queue", &queue, None);
        assert!(world.try_apply("awscc_sqs_queue", &queue, None, &plan).diagnostics.has_errors());
        assert_eq!(service.creations.load(Ordering::Relaxed), 1, "{code:?}");
    }
}

#[test]
fn cc_49_failed_request_does_not_start_again_if_the_object_is_there() {
    let (world, service) = Failing::world(HandlerErrorCode::Throttling, "Rate exceeded", 0, false);
    let bucket = json!({"bucket_name": "reports", "tags": [{"key": "owner", "value": "me"}]});
    world.apply("awscc_s3_bucket", &bucket, None);
    service.left.store(1, Ordering::Relaxed);
    service.creations.store(0, Ordering::Relaxed);
    let plan = world.plan("awscc_s3_bucket", &bucket, None);
    let failed = world.try_apply("awscc_s3_bucket", &bucket, None, &plan);
    assert!(failed.diagnostics.has_errors());
    assert_eq!(service.creations.load(Ordering::Relaxed), 1);
    // AWS has not named the object, which the provider has found by the name in the configuration.
    let state = failed.new_state.unwrap();
    assert_eq!(state.as_object().unwrap().get("id").unwrap().as_str(), Some("reports"));
    service.left.store(1, Ordering::Relaxed);
    let other = json!({"bucket_name": "reports", "tags": [{"key": "owner", "value": "somebody"}]});
    let plan = world.plan("awscc_s3_bucket", &other, None);
    let failed = world.try_apply("awscc_s3_bucket", &other, None, &plan);
    assert!(failed.new_state.unwrap().is_null(), "a different object of this name existed before");
}

#[test]
fn cc_47_failed_creation_is_asked_for_again_if_nothing_can_be_read() {
    let (world, service) = Failing::world(HandlerErrorCode::Throttling, "Rate exceeded", 1, true);
    let bucket = json!({"bucket_name": "reports"});
    let plan = world.plan("awscc_s3_bucket", &bucket, None);
    let failed = world.try_apply("awscc_s3_bucket", &bucket, None, &plan);
    assert_eq!(failed.diagnostics.fate(), CallFate::NoResponse, "{:?}", failed.diagnostics);
    assert!(failed.new_state.unwrap().is_null());
    assert_eq!(service.creations.load(Ordering::Relaxed), 1);
}

/// Calls per second, and the number of calls that may come at once.
const RATE: f64 = 100.0;
const BURST: f64 = 10.0;

/// Returns a gate that accepts so many calls per second, however many arrive, and counts them in `accepted`.
fn limit(accepted: Arc<AtomicUsize>) -> impl Fn(Call) -> Option<Fault> {
    let bucket = Mutex::new((BURST, Instant::now()));
    move |_| {
        let mut bucket = bucket.lock().unwrap();
        let now = Instant::now();
        let tokens = (bucket.0 + (now - bucket.1).as_secs_f64() * RATE).min(BURST);
        let is_accepted = tokens >= 1.0;
        *bucket = (if is_accepted { tokens - 1.0 } else { tokens }, now);
        accepted.fetch_add(usize::from(is_accepted), Ordering::Relaxed);
        (!is_accepted).then_some(Fault::Throttling)
    }
}

#[test]
fn cc_49_many_creations_at_once_use_the_allowed_rate_without_errors() {
    let store = store(Settings::default());
    let accepted = Arc::new(AtomicUsize::new(0));
    let api = Arc::new(Gated::new(&store, limit(accepted.clone())));
    let world = World::with_api_patiently(store, api, &json!({"region": "eu-central-1"}));
    let begun = Instant::now();
    std::thread::scope(|threads| {
        for thread in 0..16 {
            let world = &world;
            threads.spawn(move || {
                for number in 0..10 {
                    let name = format!("jobs-{thread}-{number}");
                    world.apply("awscc_sqs_queue", &json!({"queue_name": name}), None);
                }
            });
        }
    });
    let used = accepted.load(Ordering::Relaxed) as f64 / begun.elapsed().as_secs_f64();
    assert_eq!(world.store.objects(None).unwrap().len(), 160);
    // Only printed: the share of the rate is asserted by the simulated clock of `provider::pace`, because real threads
    // on a busy machine say nothing about it.
    println!("{used:.0} of {RATE} calls per second");
}

#[test]
fn cc_49_internal_failure_of_a_read_is_tried_three_times() {
    let (world, service) = Failing::world(HandlerErrorCode::Throttling, "", 0, true);
    let plan = world.plan("awscc_sqs_queue", &json!({"queue_name": "jobs"}), None);
    let failed = world.try_apply("awscc_sqs_queue", &json!({"queue_name": "jobs"}), None, &plan);
    assert!(failed.diagnostics.has_errors());
    assert_eq!(service.reads.load(Ordering::Relaxed), 3);
}

#[test]
fn statuses_of_later_versions_of_the_service_are_read() {
    let event = json!({
        "TypeName": "AWS::S3::Bucket", "RequestToken": "t", "Operation": "CREATE", "OperationStatus": "FAILED",
        "EventTime": 1.5, "ErrorCode": "BrandNew", "HooksRequestToken": "h",
    });
    let event: ProgressEvent = serde_json::from_value(event).unwrap();
    assert_eq!((event.operation_status, event.error_code), (OperationStatus::Failed, Some(HandlerErrorCode::Unknown)));
}
