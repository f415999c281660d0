//! One poll for many requests: which of them are still running.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex as BlockingMutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Mutex;

use super::connection::{Connection, Retries};
use crate::api::{ListResourceRequests, OperationStatus, ProgressEvent, RequestStatusFilter};

/// Below this number of requests each is asked after alone.
const ENOUGH: usize = 4;
/// The most requests that the service lists on a page.
const PAGE: u32 = 100;

/// The requests that are in flight.
///
/// Requests that are due about the same time share one call, which lists those that still run. A request that is not
/// listed has probably ended, and is asked after alone: the result never depends on the list being complete.
#[derive(Debug, Default)]
pub struct InFlight {
    tokens: BlockingMutex<HashSet<String>>,
    listed: Mutex<Option<Listed>>,
    /// Set when the service refuses to list requests, for which it needs a permission of its own.
    is_refused: AtomicBool,
}

#[derive(Debug)]
struct Listed {
    at: Instant,
    running: HashMap<String, ProgressEvent>,
}

impl InFlight {
    /// Adds a request until the guard is dropped.
    pub(super) fn enter(&self, token: &str) -> Entered<'_> {
        self.tokens.lock().unwrap_or_else(PoisonError::into_inner).insert(token.to_owned());
        Entered { requests: self, token: token.to_owned() }
    }

    /// Returns the state of a request that is known to run still. `age` is how old the knowledge may be.
    pub(super) async fn running(&self, connection: &Connection, token: &str, age: Duration) -> Option<ProgressEvent> {
        let count = self.tokens.lock().unwrap_or_else(PoisonError::into_inner).len();
        if count < ENOUGH || self.is_refused.load(Ordering::Relaxed) {
            return None;
        }
        // The lock is held during the call, so that requests that are due together share it.
        let mut listed = self.listed.lock().await;
        if listed.as_ref().is_none_or(|listed| listed.at.elapsed() > age) {
            *listed = self.list(connection).await;
        }
        listed.as_ref()?.running.get(token).cloned()
    }

    async fn list(&self, connection: &Connection) -> Option<Listed> {
        let running = vec![OperationStatus::Pending, OperationStatus::InProgress, OperationStatus::CancelInProgress];
        // One page suffices: a request that is not listed is polled alone.
        let request = ListResourceRequests {
            max_results: Some(PAGE),
            next_token: None,
            resource_request_status_filter: Some(RequestStatusFilter {
                operations: Vec::new(),
                operation_statuses: running,
            }),
        };
        // The time before the call, because what it returns may have changed during it.
        let at = Instant::now();
        let call = || connection.api.list_resource_requests(request.clone());
        match connection.patiently("ListResourceRequests", Retries::Always, call).await {
            Ok(page) => {
                let events = page.resource_request_status_summaries.into_iter();
                Some(Listed { at, running: events.map(|event| (event.request_token.clone(), event)).collect() })
            }
            Err(_) => {
                // Any failure ends the lists of this run, because single polls still work.
                self.is_refused.store(true, Ordering::Relaxed);
                None
            }
        }
    }
}

/// A request that is in flight as long as this exists.
pub(super) struct Entered<'a> {
    requests: &'a InFlight,
    token: String,
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.requests.tokens.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.token);
    }
}
