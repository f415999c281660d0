//! The eight operations of the API on a [`Store`](super::store::Store), with the refusals and pages that they share.

mod changes;
mod document;
mod read;
mod requests;
mod start;

use std::borrow::Cow;

use super::index::Kind;
use super::store::Turn;
use crate::api::{ApiError, Fault};

/// The result of an operation.
type Outcome<T> = Result<T, ApiError>;

fn invalid(message: impl Into<String>) -> ApiError {
    ApiError::new(Fault::Validation, message)
}

fn refuse(problems: &[String]) -> Outcome<()> {
    if problems.is_empty() {
        return Ok(());
    }
    Err(invalid(format!("Model validation failed ({})", problems.join("; "))))
}

fn refuse_concurrent(turn: &Turn<'_>, kind: &Kind, identifier: &str) -> Outcome<()> {
    match turn.index.at_work(kind, identifier) {
        None => Ok(()),
        Some(request) => {
            let message = format!(
                "Resource of type '{}' with identifier '{identifier}' has request {} in progress.",
                kind.type_name, request.token
            );
            Err(ApiError::new(Fault::ConcurrentOperation, message))
        }
    }
}

fn unsupported(type_name: &str, action: &str) -> ApiError {
    let message = format!("Resource type {type_name} does not support {action} action");
    ApiError::new(Fault::UnsupportedAction, message)
}

fn no_request(token: &str) -> ApiError {
    ApiError::new(Fault::RequestTokenNotFound, format!("Request with token {token} was not found"))
}

/// Maximal number of objects on a page.
const PAGE: usize = 100;
/// Number of requests on a page.
const REQUEST_PAGE: usize = 20;

fn pack_token(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

fn unpack_token(token: &str) -> Outcome<String> {
    let wrong = || invalid("NextToken is not one of this service");
    if !token.is_ascii() || !token.len().is_multiple_of(2) {
        return Err(wrong());
    }
    let digits: Option<Vec<u8>> =
        (0..token.len() / 2).map(|at| u8::from_str_radix(token.get(at * 2..at * 2 + 2)?, 16).ok()).collect();
    let text: Cow<'_, [u8]> = digits.ok_or_else(wrong)?.into();
    String::from_utf8(text.into_owned()).map_err(|_| wrong())
}
