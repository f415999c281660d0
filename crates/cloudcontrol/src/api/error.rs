//! Errors of the API.

use std::fmt;

/// The exceptions of the service, and what can go wrong on the way to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // the names are the service's own
pub enum Fault {
    AlreadyExists,
    ClientTokenConflict,
    ConcurrentModification,
    ConcurrentOperation,
    GeneralService,
    HandlerFailure,
    HandlerInternalFailure,
    InvalidCredentials,
    InvalidRequest,
    NetworkFailure,
    NotStabilized,
    NotUpdatable,
    PrivateType,
    RequestTokenNotFound,
    ResourceConflict,
    ResourceNotFound,
    ServiceInternalError,
    ServiceLimitExceeded,
    Throttling,
    TypeNotFound,
    UnsupportedAction,
    Validation,
    /// The body of a request could not be read.
    Serialization,
    /// The operation has no such name.
    UnknownOperation,
    /// The caller lacks a permission.
    AccessDenied,
    /// No answer arrived.
    Unreachable,
    /// The request could not be sent: credentials or a setting are missing.
    NotSent,
    /// Any other code, or an answer that cannot be read.
    Other,
}

impl Fault {
    /// All faults that the service itself reports.
    const REPORTED: [Self; 24] = [
        Self::AlreadyExists,
        Self::ClientTokenConflict,
        Self::ConcurrentModification,
        Self::ConcurrentOperation,
        Self::GeneralService,
        Self::HandlerFailure,
        Self::HandlerInternalFailure,
        Self::InvalidCredentials,
        Self::InvalidRequest,
        Self::NetworkFailure,
        Self::NotStabilized,
        Self::NotUpdatable,
        Self::PrivateType,
        Self::RequestTokenNotFound,
        Self::ResourceConflict,
        Self::ResourceNotFound,
        Self::ServiceInternalError,
        Self::ServiceLimitExceeded,
        Self::Throttling,
        Self::TypeNotFound,
        Self::UnsupportedAction,
        Self::Validation,
        Self::Serialization,
        Self::AccessDenied,
    ];

    /// Returns the fault of a code on the wire.
    pub fn of_code(code: &str) -> Self {
        Self::REPORTED.into_iter().find(|fault| fault.code() == code).unwrap_or(Self::Other)
    }

    /// The code on the wire.
    pub fn code(self) -> &'static str {
        match self {
            Self::AlreadyExists => "AlreadyExistsException",
            Self::ClientTokenConflict => "ClientTokenConflictException",
            Self::ConcurrentModification => "ConcurrentModificationException",
            Self::ConcurrentOperation => "ConcurrentOperationException",
            Self::GeneralService => "GeneralServiceException",
            Self::HandlerFailure => "HandlerFailureException",
            Self::HandlerInternalFailure => "HandlerInternalFailureException",
            Self::InvalidCredentials => "InvalidCredentialsException",
            Self::InvalidRequest => "InvalidRequestException",
            Self::NetworkFailure => "NetworkFailureException",
            Self::NotStabilized => "NotStabilizedException",
            Self::NotUpdatable => "NotUpdatableException",
            Self::PrivateType => "PrivateTypeException",
            Self::RequestTokenNotFound => "RequestTokenNotFoundException",
            Self::ResourceConflict => "ResourceConflictException",
            Self::ResourceNotFound => "ResourceNotFoundException",
            Self::ServiceInternalError => "ServiceInternalErrorException",
            Self::ServiceLimitExceeded => "ServiceLimitExceededException",
            Self::Throttling => "ThrottlingException",
            Self::TypeNotFound => "TypeNotFoundException",
            Self::UnsupportedAction => "UnsupportedActionException",
            Self::Validation => "ValidationException",
            Self::Serialization => "SerializationException",
            Self::UnknownOperation => "UnknownOperationException",
            Self::AccessDenied => "AccessDeniedException",
            Self::Unreachable => "No response",
            Self::NotSent => "Request not sent",
            Self::Other => "InternalFailure",
        }
    }

    /// Whether the service is at fault: the HTTP status is 500 then, and 400 otherwise.
    pub fn is_server_fault(self) -> bool {
        matches!(
            self,
            Self::ConcurrentModification
                | Self::HandlerFailure
                | Self::HandlerInternalFailure
                | Self::NetworkFailure
                | Self::ServiceInternalError
                | Self::Other
        )
    }

    /// Whether a start call may be sent again, under the same client token (CC-49).
    pub fn is_worth_retrying(self) -> bool {
        matches!(
            self,
            Self::Throttling
                | Self::ConcurrentOperation
                | Self::ConcurrentModification
                | Self::ResourceConflict
                | Self::NetworkFailure
                | Self::ServiceInternalError
                | Self::HandlerInternalFailure
                | Self::Unreachable
        )
    }

    /// Whether the service may have begun what a start call asks for, although this is its answer, or there was none.
    pub fn may_have_begun(self) -> bool {
        matches!(
            self,
            Self::NetworkFailure
                | Self::ServiceInternalError
                | Self::HandlerInternalFailure
                | Self::Unreachable
                | Self::Other
        )
    }
}

/// An operation that was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiError {
    /// The kind of the error.
    pub fault: Fault,
    /// The message of the service.
    pub message: String,
}

impl ApiError {
    /// An error with the service's words.
    pub fn new(fault: Fault, message: impl Into<String>) -> Self {
        Self { fault, message: message.into() }
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.fault {
            // The message has the code that no fault stands for.
            Fault::Other => formatter.write_str(&self.message),
            fault => write!(formatter, "{}: {}", fault.code(), self.message),
        }
    }
}

impl std::error::Error for ApiError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_the_service_are_recognized() {
        for fault in Fault::REPORTED {
            assert_eq!(Fault::of_code(fault.code()), fault);
        }
        assert_eq!(Fault::of_code("Whatever"), Fault::Other);
    }
}
