//! Errors of refused requests.

use crate::api::{ApiError, Fault};
use crate::emulator::index::Kind;
use crate::emulator::store::Turn;

/// The result of an operation.
pub(super) type Outcome<T> = Result<T, ApiError>;

pub(super) fn invalid(message: impl Into<String>) -> ApiError {
    ApiError::new(Fault::Validation, message)
}

pub(super) fn refuse(problems: &[String]) -> Outcome<()> {
    if problems.is_empty() {
        return Ok(());
    }
    Err(invalid(format!("Model validation failed ({})", problems.join("; "))))
}

pub(super) fn refuse_concurrent(turn: &Turn<'_>, kind: &Kind, identifier: &str) -> Outcome<()> {
    match turn.index.at_work(kind, identifier) {
        None => Ok(()),
        Some(request) => {
            let message = format!(
                "Resource of type '{}' with identifier '{identifier}' is at work on request {}.",
                kind.type_name, request.token
            );
            Err(ApiError::new(Fault::ConcurrentOperation, message))
        }
    }
}

pub(super) fn unsupported(type_name: &str, action: &str) -> ApiError {
    let message = format!("Resource type {type_name} does not support {action} action");
    ApiError::new(Fault::UnsupportedAction, message)
}

pub(super) fn no_request(token: &str) -> ApiError {
    ApiError::new(Fault::RequestTokenNotFound, format!("Request with token {token} was not found"))
}
