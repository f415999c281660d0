//! Requests followed to their end: started under a client token, asked after with growing patience (CC-46, CC-49).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use groma_framework::CallFate;

use super::tags::TagSettings;
use crate::api::{
    Answer, ApiError, CloudControl, CreateResource, DeleteResource, Fault, GetResource, HandlerErrorCode,
    ListResources, OperationStatus, ProgressEvent, ResourceDescription, UpdateResource,
};
use crate::schema::{Handler, TypeSchema};

const LONGEST_DELAY: Duration = Duration::from_secs(10);
const DEFAULT_TIMEOUT_MINUTES: u64 = 120;

/// The service as a configured provider uses it.
pub struct Connection {
    /// The operations of the API.
    pub api: Arc<dyn CloudControl>,
    /// The region, for what is listed in it.
    pub region: String,
    /// The role the service acts with.
    pub role_arn: Option<String>,
    /// Maximal number of retries of a call that was throttled or conflicted with another one.
    pub max_retries: u64,
    /// The first retry delay, from which the delay grows.
    pub first_delay: Duration,
    /// The tags of all objects, and the tags to ignore.
    pub tags: TagSettings,
    /// Set when the user wants to stop.
    pub stopping: Arc<AtomicBool>,
}

/// The failure of a request.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// The attempted action, for the summary.
    pub summary: String,
    /// The service's code and words.
    pub detail: String,
    /// The error code of the service, if it has one.
    pub code: Option<HandlerErrorCode>,
    /// The kind of error of a refused call.
    pub fault: Option<Fault>,
    /// The object the request is about, if the service named it.
    pub identifier: Option<String>,
    /// Whether the service may do, or have done, what it was asked for.
    pub fate: CallFate,
}

impl Failure {
    fn refused(operation: &str, error: &ApiError) -> Self {
        Self {
            summary: "AWS Cloud Control Operation Unsuccessful".to_owned(),
            detail: format!("Calling Cloud Control API service {operation} operation returned: {error}"),
            code: None,
            fault: Some(error.fault),
            identifier: None,
            fate: CallFate::Answered,
        }
    }

    fn ended(operation: &str, detail: String, event: &ProgressEvent) -> Self {
        Self {
            summary: "AWS Cloud Control Operation Incomplete".to_owned(),
            detail: format!(
                "Waiting for Cloud Control API service {operation} operation completion returned: {detail}"
            ),
            code: event.error_code,
            fault: None,
            identifier: event.identifier.clone(),
            fate: CallFate::Answered,
        }
    }

    /// The same failure of a request whose end is unknown.
    fn unanswered(self) -> Self {
        Self { fate: CallFate::NoResponse, ..self }
    }

    /// Whether the object is not there.
    pub fn is_not_found(&self) -> bool {
        self.fault == Some(Fault::ResourceNotFound) || self.code == Some(HandlerErrorCode::NotFound)
    }
}

impl Connection {
    /// Creates an object and gives its identifier.
    pub async fn create(&self, schema: &TypeSchema, desired_state: String, token: &str) -> Result<String, Failure> {
        const OPERATION: &str = "CreateResource";
        let request = CreateResource {
            type_name: schema.type_name.to_string(),
            desired_state,
            client_token: Some(token.to_owned()),
            role_arn: self.role_arn.clone(),
        };
        let started = self.start(OPERATION, || self.api.create_resource(request.clone())).await?;
        let ended = self.finish(OPERATION, started, schema.handlers.create.as_ref()).await?;
        ended
            .identifier
            .clone()
            .ok_or_else(|| Failure::ended(OPERATION, "no identifier of the new object".to_owned(), &ended))
    }

    /// Updates an object by a patch.
    pub async fn update(
        &self,
        schema: &TypeSchema,
        identifier: &str,
        patch: String,
        token: &str,
    ) -> Result<(), Failure> {
        const OPERATION: &str = "UpdateResource";
        let request = UpdateResource {
            type_name: schema.type_name.to_string(),
            identifier: identifier.to_owned(),
            patch_document: patch,
            client_token: Some(token.to_owned()),
            role_arn: self.role_arn.clone(),
        };
        let started = self.start(OPERATION, || self.api.update_resource(request.clone())).await?;
        self.finish(OPERATION, started, schema.handlers.update.as_ref()).await.map(drop)
    }

    /// Deletes an object; one that is gone already is deleted.
    pub async fn delete(&self, schema: &TypeSchema, identifier: &str) -> Result<(), Failure> {
        const OPERATION: &str = "DeleteResource";
        let request = DeleteResource {
            type_name: schema.type_name.to_string(),
            identifier: identifier.to_owned(),
            client_token: None,
            role_arn: self.role_arn.clone(),
        };
        let ended = match self.start(OPERATION, || self.api.delete_resource(request.clone())).await {
            Ok(started) => self.finish(OPERATION, started, schema.handlers.delete.as_ref()).await,
            Err(failure) => Err(failure),
        };
        match ended {
            Err(failure) if failure.is_not_found() => Ok(()),
            other => other.map(drop),
        }
    }

    /// Reads an object; none if it is gone.
    pub async fn get(&self, schema: &TypeSchema, identifier: &str) -> Result<Option<ResourceDescription>, Failure> {
        let request = GetResource {
            type_name: schema.type_name.to_string(),
            identifier: identifier.to_owned(),
            role_arn: self.role_arn.clone(),
        };
        match self.patiently("GetResource", || self.api.get_resource(request.clone())).await {
            Ok(description) => Ok(Some(description)),
            Err(failure) if failure.is_not_found() => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    /// The identifiers of all objects of a type, page by page (CC-44).
    pub async fn list(&self, type_name: &str) -> Result<Vec<String>, Failure> {
        let mut identifiers = Vec::new();
        let mut next_token = None;
        loop {
            let request = ListResources {
                type_name: type_name.to_owned(),
                next_token,
                role_arn: self.role_arn.clone(),
                ..ListResources::default()
            };
            let page = self.patiently("ListResources", || self.api.list_resources(request.clone())).await?;
            identifiers.extend(page.resource_descriptions.into_iter().map(|description| description.identifier));
            next_token = page.next_token;
            if next_token.is_none() {
                return Ok(identifiers);
            }
        }
    }

    /// Makes a call that starts a request. If an attempt may have reached the service and all failed, the request is unanswered.
    async fn start<'a>(
        &'a self,
        operation: &str,
        call: impl Fn() -> Answer<'a, ProgressEvent>,
    ) -> Result<ProgressEvent, Failure> {
        let may_have_begun = AtomicBool::new(false);
        let noted = || -> Answer<'_, ProgressEvent> {
            let (attempt, noted) = (call(), &may_have_begun);
            Box::pin(async move {
                let answer = attempt.await;
                if answer.as_ref().is_err_and(|error| error.fault.may_have_begun()) {
                    noted.store(true, Ordering::Relaxed);
                }
                answer
            })
        };
        let started = self.patiently(operation, noted).await;
        started.map_err(|failure| if may_have_begun.load(Ordering::Relaxed) { failure.unanswered() } else { failure })
    }

    /// Repeats a call that was throttled, or met another one, with the very same request.
    async fn patiently<'a, T>(&self, operation: &str, call: impl Fn() -> Answer<'a, T>) -> Result<T, Failure> {
        let mut delay = self.first_delay;
        let mut repeated = 0;
        loop {
            match call().await {
                Ok(answer) => return Ok(answer),
                Err(error) if error.fault.is_worth_retrying() && repeated < self.max_retries && !self.is_stopping() => {
                    repeated += 1;
                    pause(delay).await;
                    delay = longer(delay);
                }
                Err(error) => return Err(Failure::refused(operation, &error)),
            }
        }
    }

    fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    async fn finish(
        &self,
        operation: &str,
        started: ProgressEvent,
        handler: Option<&Handler>,
    ) -> Result<ProgressEvent, Failure> {
        let minutes = handler.and_then(|handler| handler.timeout_minutes).unwrap_or(DEFAULT_TIMEOUT_MINUTES);
        let begun = Instant::now();
        let mut delay = self.first_delay;
        let mut event = started;
        let mut cancelled = false;
        let mut asked = false;
        loop {
            if event.operation_status.is_final() {
                return ended(operation, event);
            }
            if begun.elapsed() > Duration::from_secs(minutes.saturating_mul(60)) {
                let detail = format!("timed out after {minutes} minutes; request {}", event.request_token);
                return Err(Failure::ended(operation, detail, &event).unanswered());
            }
            if self.is_stopping() && !cancelled {
                cancelled = true;
                // A request that can no longer be cancelled comes to its end, which is waited for in any case.
                let _ = self.api.cancel_resource_request(event.request_token.clone()).await;
            }
            // Only the first answer may come at once; after that the service is left in peace for a moment at least.
            let wait = until(event.retry_after, delay).max(if asked { delay / 10 } else { Duration::ZERO });
            asked = true;
            if !wait.is_zero() {
                pause(wait).await;
                delay = longer(delay);
            }
            let token = event.request_token.clone();
            let last = event;
            event = match self
                .patiently("GetResourceRequestStatus", || self.api.get_resource_request_status(token.clone()))
                .await
            {
                Ok(event) => event,
                Err(failure) => return Err(Failure { identifier: last.identifier, ..failure }.unanswered()),
            };
            event.identifier = event.identifier.or(last.identifier);
        }
    }
}

fn ended(operation: &str, event: ProgressEvent) -> Result<ProgressEvent, Failure> {
    match event.operation_status {
        OperationStatus::Success => Ok(event),
        OperationStatus::CancelComplete => Err(Failure::ended(
            operation,
            "the request was cancelled".to_owned(),
            &ProgressEvent { identifier: None, ..event },
        )),
        _ => {
            let message = event.status_message.as_deref().unwrap_or("no reason given");
            let code = event.error_code.map_or_else(String::new, |code| format!(" ErrorCode: {code:?}."));
            Err(Failure::ended(operation, format!("request {} FAILED: {message}{code}", event.request_token), &event))
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
    Duration::try_from_secs_f64((at - now).max(0.0)).unwrap_or(LONGEST_DELAY).min(LONGEST_DELAY)
}

/// Waits, with the runtime where there is one.
pub async fn pause(delay: Duration) {
    if tokio::runtime::Handle::try_current().is_ok() {
        tokio::time::sleep(delay).await;
    } else {
        std::thread::sleep(delay);
    }
}
