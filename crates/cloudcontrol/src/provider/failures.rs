//! Error messages about objects.

use groma_framework::ProviderDiagnostic;

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
