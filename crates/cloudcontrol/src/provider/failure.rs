//! Failures of requests, and which of them may be tried again.

use groma_framework::CallFate;

use crate::api::{ApiError, FailureMode, Fault, HandlerErrorCode, HookStatus, OperationStatus, ProgressEvent};

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
    /// Whether that object may have existed before the request, because its identifier was given.
    pub may_be_foreign: bool,
    /// Whether the service may do, or have done, what it was asked for.
    pub fate: CallFate,
    /// The reason to start the request again, if there is one.
    pub again: Option<Again>,
}

/// A reason to start a request again that the service had accepted and that failed (CC-49).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Again {
    /// Too many requests, or another one for the same object.
    Busy,
    /// A passing problem of the service or its network.
    Broken,
    /// A role that was just created is not known everywhere yet.
    Propagating,
}

impl Again {
    /// Returns how often a request is started again for this reason.
    pub fn limit(self) -> u32 {
        match self {
            Self::Busy | Self::Propagating => 12,
            Self::Broken => 3,
        }
    }
}

impl Failure {
    /// Returns the failure of a call that the service refused.
    pub(super) fn refused(operation: &str, error: &ApiError) -> Self {
        Self {
            summary: "AWS Cloud Control Operation Unsuccessful".to_owned(),
            detail: format!("Calling Cloud Control API service {operation} operation returned: {error}"),
            code: None,
            fault: Some(error.fault),
            identifier: None,
            may_be_foreign: false,
            fate: CallFate::Answered,
            again: None,
        }
    }

    /// Returns the failure of a request that the service had accepted.
    pub(super) fn ended(operation: &str, detail: &str, event: &ProgressEvent) -> Self {
        Self {
            summary: "AWS Cloud Control Operation Incomplete".to_owned(),
            detail: format!(
                "Waiting for Cloud Control API service {operation} operation completion returned: {detail}"
            ),
            code: event.error_code,
            fault: None,
            identifier: event.identifier.clone(),
            // Unlike a request that failed, a cancelled one may have ended before it looked whether there is an object.
            may_be_foreign: event.operation_status == OperationStatus::CancelComplete,
            fate: CallFate::Answered,
            again: again(event),
        }
    }

    /// Returns the same failure of a request whose end is unknown.
    pub(super) fn unanswered(self) -> Self {
        Self { fate: CallFate::NoResponse, again: None, ..self }
    }

    /// Whether the object is not there.
    pub fn is_not_found(&self) -> bool {
        self.fault == Some(Fault::ResourceNotFound) || self.code == Some(HandlerErrorCode::NotFound)
    }
}

/// Returns the reason to start the request of a failed event again.
fn again(event: &ProgressEvent) -> Option<Again> {
    if event.operation_status != OperationStatus::Failed {
        return None;
    }
    match event.error_code? {
        HandlerErrorCode::Throttling | HandlerErrorCode::ResourceConflict => Some(Again::Busy),
        HandlerErrorCode::NetworkFailure | HandlerErrorCode::ServiceInternalError => Some(Again::Broken),
        // IAM has no code for a role that is not known everywhere yet; services only say it in their message.
        HandlerErrorCode::InvalidRequest | HandlerErrorCode::GeneralServiceException => {
            let message = event.status_message.as_deref().unwrap_or_default();
            message.contains("cannot be assumed").then_some(Again::Propagating)
        }
        _ => None,
    }
}

/// Returns the failure of a request that ended without success.
pub(super) fn ended(operation: &str, event: ProgressEvent) -> Result<ProgressEvent, Failure> {
    match event.operation_status {
        OperationStatus::Success => Ok(event),
        OperationStatus::CancelComplete => Err(Failure::ended(operation, "the request was cancelled", &event)),
        _ => {
            let message = event.status_message.as_deref().unwrap_or("no reason given");
            let code = event.error_code.map_or_else(String::new, |code| format!(" ErrorCode: {code:?}."));
            let hooks = failed_hooks(&event);
            let detail = format!("request {} FAILED: {message}{code}{hooks}", event.request_token);
            Err(Failure::ended(operation, &detail, &event))
        }
    }
}

/// Names the hooks that stopped a request.
fn failed_hooks(event: &ProgressEvent) -> String {
    let failed = event.hooks.iter().filter(|hook| {
        matches!(hook.hook_status, HookStatus::HookFailed | HookStatus::HookCompleteFailed)
            && hook.failure_mode == FailureMode::Fail
    });
    let texts: Vec<String> = failed
        .map(|hook| {
            let message = hook.hook_status_message.as_deref().unwrap_or("no reason given");
            format!("{} ({}): {message}", hook.hook_type_name, hook.invocation_point)
        })
        .collect();
    if texts.is_empty() { String::new() } else { format!(" Hook failures: {}.", texts.join("; ")) }
}
