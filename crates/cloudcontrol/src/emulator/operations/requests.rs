//! Requests under way, and those that have ended.

use super::{Outcome, PAGE, REQUEST_PAGE, invalid, no_request, pack_token, unpack_token};
use crate::api::{ApiError, Fault, ListResourceRequests, Operation, ProgressEvent, RequestList};
use crate::emulator::index::{Effect, Record};
use crate::emulator::store::Store;

impl Store {
    /// `GetResourceRequestStatus`
    pub fn get_resource_request_status(&self, token: &str) -> Outcome<ProgressEvent> {
        self.damage_cases.refuse()?;
        self.work(|turn| {
            turn.index.request(token).map(|request| request.progress(turn.now)).ok_or_else(|| no_request(token))
        })
    }

    /// `ListResourceRequests`
    pub fn list_resource_requests(&self, request: &ListResourceRequests) -> Outcome<RequestList> {
        self.damage_cases.refuse()?;
        let filter = request.resource_request_status_filter.clone().unwrap_or_default();
        let page = request.max_results.map_or(REQUEST_PAGE, |most| (most as usize).clamp(1, PAGE));
        let below = match request.next_token.as_deref().map(unpack_token).transpose()? {
            Some(text) => text.parse().map_err(|_| invalid("NextToken is not one of this service"))?,
            None => usize::MAX,
        };
        self.work(|turn| {
            let mut summaries = Vec::new();
            let mut last = 0;
            let mut next_token = None;
            for (number, request) in turn.index.requests_newest_first().filter(|(number, _)| *number < below) {
                let progress = request.progress(turn.now);
                let wanted = (filter.operations.is_empty() || filter.operations.contains(&progress.operation))
                    && (filter.operation_statuses.is_empty()
                        || filter.operation_statuses.contains(&progress.operation_status));
                if !wanted {
                    continue;
                }
                // A next page exists only if another request matches the filter.
                if summaries.len() == page {
                    next_token = Some(pack_token(&last.to_string()));
                    break;
                }
                summaries.push(progress);
                last = number;
            }
            Ok(RequestList { resource_request_status_summaries: summaries, next_token })
        })
    }

    /// `CancelResourceRequest`
    pub fn cancel_resource_request(&self, token: &str) -> Outcome<ProgressEvent> {
        self.damage_cases.refuse()?;
        self.work(|turn| {
            let request = turn.index.request(token).ok_or_else(|| no_request(token))?.clone();
            let progress = request.progress(turn.now);
            if progress.operation_status.is_final() {
                let message = format!("The request {token} has ended and cannot be cancelled.");
                return Err(ApiError::new(Fault::ConcurrentModification, message));
            }
            let at = turn.now;
            turn.record(Record::Cancel { token: token.to_owned(), at })?;
            if let (true, Operation::Create, Effect::Put(model), Some(identifier)) =
                (self.settings.faults.cancelled_objects, request.operation, request.effect, request.identifier)
            {
                let (region, type_name) = (request.region, request.type_name);
                turn.record(Record::Put { region, type_name, identifier, model, at })?;
            }
            turn.index.request(token).map(|request| request.progress(at)).ok_or_else(|| no_request(token))
        })
    }
}
