//! Error messages about objects.

use groma_framework::{CallFate, ProviderDiagnostic};

use super::failure::Failure;
use super::interpreted::Interpreted;
use crate::api::HandlerErrorCode;

pub(super) fn no_identifier(interpreted: &Interpreted) -> ProviderDiagnostic {
    ProviderDiagnostic::error(
        "Resource Identifier Not Found",
        format!(
            "The stored object of {} has no id, so the real object cannot be identified.",
            interpreted.schema.type_name
        ),
    )
}

pub(super) fn missing_identifier(interpreted: &Interpreted, identifier: &str) -> ProviderDiagnostic {
    ProviderDiagnostic::error(
        "AWS Resource Not Found After Creation or Update",
        format!(
            "{} {identifier:?} cannot be read back after the service said that it is done.",
            interpreted.schema.type_name
        ),
    )
}

/// The failure as people read it, with a word on what to do where there is one.
pub(super) fn diagnostic(interpreted: &Interpreted, failure: &Failure) -> ProviderDiagnostic {
    let advice = match failure.code {
        Some(HandlerErrorCode::AlreadyExists) => {
            "\n\nAn object of this name exists already and is managed elsewhere or by hand. Choose another name, or import it."
        }
        Some(HandlerErrorCode::NotUpdatable) => "\n\nThe service refuses this change of an existing object.",
        _ => "",
    };
    let detail = format!("{}: {}{advice}", interpreted.schema.type_name, failure.detail);
    ProviderDiagnostic::error(failure.summary.clone(), detail).unanswered(failure.fate)
}

/// The record of an object in the state after a failed request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RecordAfterFailure {
    /// The object was not created.
    Absent,
    /// The object was created in part.
    Tainted,
    /// An object has the given name, but it may have existed before.
    Unclaimed,
    /// The object may have changed in part.
    BeforeUpdate,
    /// The object was not deleted.
    BeforeDelete,
}

impl RecordAfterFailure {
    fn text(self, fate: CallFate) -> &'static str {
        match self {
            Self::Absent if fate == CallFate::NoResponse => {
                "The result of the request is unknown. The next apply asks for it again, with the same client token."
            }
            Self::Absent => "The state has no record of the object, because it was not created.",
            Self::Tainted => "The state records the object as tainted, so the next apply replaces it.",
            Self::Unclaimed => {
                "The state has no record of an object. One with this identifier may exist that this request did not create. If it \
                 belongs to this configuration, import or delete it."
            }
            Self::BeforeUpdate => {
                "The state has the object as it was before the update. The next plan reads it again and shows what is left to change."
            }
            Self::BeforeDelete => "The object is still in the state. The next apply tries to delete it again.",
        }
    }
}

/// Returns the error for a failed change of an object, with its identifier and its record in the state.
pub(super) fn failed_change(
    interpreted: &Interpreted,
    failure: &Failure,
    identifier: Option<&str>,
    record: RecordAfterFailure,
) -> ProviderDiagnostic {
    let mut problem = diagnostic(interpreted, failure);
    if let Some(identifier) = identifier.or(failure.identifier.as_deref()) {
        problem.detail.push_str(&format!("\n\nIdentifier: {identifier}"));
    }
    problem.detail.push_str(&format!("\n\n{}", record.text(failure.fate)));
    problem
}
