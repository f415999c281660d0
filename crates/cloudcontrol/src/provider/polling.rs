//! Polling: asking after a request until it ends, first when it is expected to, then at growing intervals (CC-46).

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::connection::{Connection, LONGEST_DELAY, Retries, pause};
use super::failure::{Failure, ended};
use crate::Name;
use crate::api::{Operation, ProgressEvent};
use crate::schema::{Handler, TypeSchema};

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(120 * 60);
/// The longest wait before the first poll, however long earlier requests took.
const LATEST_FIRST_POLL: Duration = Duration::from_secs(30);
/// The time in which a request to stop is noticed.
const REACTION: Duration = Duration::from_millis(100);

/// The durations of requests, by type and operation, learned from those that have ended in this run.
#[derive(Debug, Default)]
pub struct Durations {
    known: Mutex<HashMap<(Name, Operation), Duration>>,
}

impl Durations {
    fn expected(&self, type_name: &Name, operation: Operation) -> Option<Duration> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(&(type_name.clone(), operation)).copied()
    }

    fn learn(&self, type_name: &Name, operation: Operation, took: Duration) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = known.entry((type_name.clone(), operation)).or_insert(took);
        // The shortest one of late counts: a poll too early costs a call, a poll too late costs time.
        *kept = took.min(*kept + *kept / 4);
    }
}

/// A request that the service has accepted.
pub(super) struct Finish<'a> {
    pub(super) connection: &'a Connection,
    pub(super) operation: &'static str,
    pub(super) kind: Operation,
    pub(super) schema: &'a TypeSchema,
    pub(super) handler: Option<&'a Handler>,
    /// The timeout of the provider block.
    pub(super) timeout: Option<Duration>,
}

impl Finish<'_> {
    /// Waits for the end of the request. When the user wants to stop, the request is cancelled if it still can be, and
    /// its end is waited for in any case.
    pub(super) async fn finish(&self, started: ProgressEvent) -> Result<ProgressEvent, Failure> {
        let (connection, type_name) = (self.connection, &self.schema.type_name);
        let of_handler = self.handler.and_then(|handler| handler.timeout_minutes);
        let of_handler = of_handler.map(|minutes| Duration::from_secs(minutes.saturating_mul(60)));
        let timeout = self.timeout.or(of_handler).unwrap_or(DEFAULT_TIMEOUT);
        let begun = Instant::now();
        let first = connection.first_delay;
        let expected = connection.durations.expected(type_name, self.kind);
        // A poll shortly before the expected end also finds requests that are faster than the earlier ones.
        let mut next = expected.map_or(first, |expected| expected.mul_f64(0.9).clamp(first, LATEST_FIRST_POLL));
        let mut delay = first.max(expected.unwrap_or_default() / 10).min(LONGEST_DELAY);
        let mut event = started;
        let mut asked = false;
        let mut cancelled = false;
        let _entered = connection.in_flight.as_ref().map(|requests| requests.enter(&event.request_token));
        loop {
            if event.operation_status.is_final() {
                connection.durations.learn(type_name, self.kind, begun.elapsed());
                return ended(self.operation, event);
            }
            if begun.elapsed() > timeout {
                // The service may still complete the request, so its result is unknown.
                let detail = format!("timed out after {}; request {}", readable(timeout), event.request_token);
                return Err(Failure::ended(self.operation, &detail, &event).unanswered());
            }
            if connection.is_stopping() && !cancelled {
                cancelled = true;
                event = self.cancel(event).await;
                next = first;
                continue;
            }
            // Only the first answer may come at once; after that the service is left in peace for a moment at least.
            let wait = until(event.retry_after, next).max(if asked { next / 10 } else { Duration::ZERO });
            if !self.wait_or_stop(wait, cancelled).await {
                continue;
            }
            if asked {
                delay = longer(delay);
            }
            next = delay;
            asked = true;
            let token = event.request_token.clone();
            let last = event;
            if let Some(requests) = &connection.in_flight
                && let Some(running) = requests.running(connection, &token, delay / 2).await
            {
                // A list may lack the identifier that an earlier answer had.
                event = ProgressEvent { identifier: running.identifier.clone().or(last.identifier), ..running };
                continue;
            }
            let status = || connection.api.get_resource_request_status(token.clone());
            event = match connection.patiently("GetResourceRequestStatus", Retries::Always, status).await {
                Ok(event) => event,
                // The request goes on, although its result cannot be read.
                Err(failure) => return Err(Failure { identifier: last.identifier, ..failure }.unanswered()),
            };
            event.identifier = event.identifier.or(last.identifier);
        }
    }

    /// Asks the service to cancel the request, and returns what it is doing now.
    async fn cancel(&self, event: ProgressEvent) -> ProgressEvent {
        let call = || self.connection.api.cancel_resource_request(event.request_token.clone());
        match self.connection.patiently("CancelResourceRequest", Retries::Cancellation, call).await {
            Ok(answer) => ProgressEvent { identifier: answer.identifier.clone().or(event.identifier), ..answer },
            // A request that is not cancelled comes to its end, which is waited for in any case.
            Err(_) => event,
        }
    }

    /// Waits for `wait`. Returns false at once when the user wants to stop and the request is not cancelled yet.
    async fn wait_or_stop(&self, wait: Duration, cancelled: bool) -> bool {
        let end = Instant::now() + wait;
        loop {
            if self.connection.is_stopping() && !cancelled {
                return false;
            }
            let rest = end.saturating_duration_since(Instant::now());
            if rest.is_zero() {
                return true;
            }
            pause(rest.min(REACTION)).await;
        }
    }
}

fn longer(delay: Duration) -> Duration {
    (delay * 8 / 5).min(LONGEST_DELAY)
}

/// Returns the delay that the service asks for, but not more than usual.
fn until(retry_after: Option<f64>, delay: Duration) -> Duration {
    let Some(at) = retry_after.filter(|at| at.is_finite() && *at >= 0.0) else { return delay };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
    // The clocks may differ, so the hint never delays a poll by more than usual.
    Duration::try_from_secs_f64((at - now).max(0.0)).unwrap_or(LONGEST_DELAY).min(LONGEST_DELAY)
}

fn readable(timeout: Duration) -> String {
    match timeout.as_secs() {
        seconds if seconds >= 60 && seconds.is_multiple_of(60) => format!("{} minutes", seconds / 60),
        seconds => format!("{seconds} seconds"),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::super::connection::Timeouts;
    use super::super::in_flight::InFlight;
    use super::super::pace::Pace;
    use super::super::tags::TagSettings;
    use super::*;
    use crate::api::{
        Answer, ApiError, CloudControl, CreateResource, DeleteResource, Fault, GetResource, ListResourceRequests,
        ListResources, RequestList, ResourceDescription, ResourceList, UpdateResource,
    };
    use crate::emulator::{Embedded, Settings, Store};
    use crate::schema::Catalogue;

    #[test]
    fn cc_46_durations_of_ended_requests_are_remembered_by_type_and_operation() {
        let durations = Durations::default();
        let bucket = Name::from("AWS::S3::Bucket");
        assert_eq!(durations.expected(&bucket, Operation::Create), None);
        durations.learn(&bucket, Operation::Create, Duration::from_secs(20));
        durations.learn(&bucket, Operation::Create, Duration::from_secs(16));
        assert_eq!(durations.expected(&bucket, Operation::Create), Some(Duration::from_secs(16)));
        // One slow request does not delay all others.
        durations.learn(&bucket, Operation::Create, Duration::from_secs(160));
        assert_eq!(durations.expected(&bucket, Operation::Create), Some(Duration::from_secs(20)));
        assert_eq!(durations.expected(&bucket, Operation::Delete), None);
    }

    #[test]
    fn timeouts_are_readable() {
        assert_eq!(readable(Duration::from_secs(7200)), "120 minutes");
        assert_eq!(readable(Duration::from_secs(90)), "90 seconds");
    }

    /// An API over the emulator that counts polls.
    struct Counting {
        service: Embedded,
        statuses: AtomicUsize,
        lists: AtomicUsize,
        refuses_lists: bool,
    }

    /// Takes away the hint of when the request will have ended, which AWS seldom gives.
    fn without_hint(answer: Answer<'_, ProgressEvent>) -> Answer<'_, ProgressEvent> {
        Box::pin(async move { answer.await.map(|event| ProgressEvent { retry_after: None, ..event }) })
    }

    impl CloudControl for Counting {
        fn create_resource(&self, request: CreateResource) -> Answer<'_, ProgressEvent> {
            without_hint(self.service.create_resource(request))
        }

        fn get_resource(&self, request: GetResource) -> Answer<'_, ResourceDescription> {
            self.service.get_resource(request)
        }

        fn update_resource(&self, request: UpdateResource) -> Answer<'_, ProgressEvent> {
            self.service.update_resource(request)
        }

        fn delete_resource(&self, request: DeleteResource) -> Answer<'_, ProgressEvent> {
            self.service.delete_resource(request)
        }

        fn list_resources(&self, request: ListResources) -> Answer<'_, ResourceList> {
            self.service.list_resources(request)
        }

        fn get_resource_request_status(&self, request_token: String) -> Answer<'_, ProgressEvent> {
            self.statuses.fetch_add(1, Ordering::Relaxed);
            without_hint(self.service.get_resource_request_status(request_token))
        }

        fn list_resource_requests(&self, request: ListResourceRequests) -> Answer<'_, RequestList> {
            self.lists.fetch_add(1, Ordering::Relaxed);
            if self.refuses_lists {
                return Box::pin(std::future::ready(Err(ApiError::new(Fault::AccessDenied, "no"))));
            }
            let page = self.service.list_resource_requests(request);
            Box::pin(async move {
                let mut page = page.await?;
                page.resource_request_status_summaries.iter_mut().for_each(|event| event.retry_after = None);
                Ok(page)
            })
        }

        fn cancel_resource_request(&self, request_token: String) -> Answer<'_, ProgressEvent> {
            self.service.cancel_resource_request(request_token)
        }
    }

    /// Creates twenty objects at once. Returns the number of polls and lists.
    fn polls(refuses_lists: bool) -> (usize, usize) {
        let settings = Settings { delay: Duration::from_millis(300), ..Settings::default() };
        let store = Arc::new(Store::in_memory(Catalogue::shipped().clone(), settings).unwrap());
        let api = Arc::new(Counting {
            service: Embedded::new(store.clone(), "eu-central-1"),
            statuses: AtomicUsize::new(0),
            lists: AtomicUsize::new(0),
            refuses_lists,
        });
        let first_delay = Duration::from_millis(20);
        let connection = Arc::new(Connection {
            account: None,
            other_regions: None,
            api: api.clone(),
            region: "eu-central-1".to_owned(),
            role_arn: None,
            max_retries: 3,
            first_delay,
            tags: TagSettings::default(),
            timeouts: Timeouts::default(),
            pace: Arc::new(Pace::new(first_delay)),
            in_flight: Some(InFlight::default()),
            durations: Durations::default(),
            stopping: Arc::default(),
        });
        let schema = Catalogue::shipped().get("AWS::SQS::Queue").unwrap().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut creations = tokio::task::JoinSet::new();
            for number in 0..20 {
                let (connection, schema) = (connection.clone(), schema.clone());
                creations.spawn(async move {
                    let document = format!("{{\"QueueName\":\"jobs-{number}\"}}");
                    connection.create(&schema, document, &format!("token-{number}")).await
                });
            }
            while let Some(created) = creations.join_next().await {
                created.unwrap().unwrap();
            }
        });
        assert_eq!(store.objects(None).unwrap().len(), 20);
        (api.statuses.load(Ordering::Relaxed), api.lists.load(Ordering::Relaxed))
    }

    #[test]
    fn cc_49_one_call_asks_after_all_requests_in_flight() {
        let (statuses, lists) = polls(false);
        // Each request is asked after once when it has ended, and seldom before.
        assert!((20..=40).contains(&statuses) && (1..=20).contains(&lists), "{statuses} statuses, {lists} lists");
    }

    #[test]
    fn cc_49_requests_are_asked_after_alone_where_lists_are_refused() {
        let (statuses, lists) = polls(true);
        assert!(statuses >= 40 && lists == 1, "{statuses} statuses, {lists} lists");
    }
}
