//! Errors of AWS clients.

use std::fmt;

use super::service::AwsService;
use crate::background::BackgroundError;
use crate::http::HttpError;

/// The reason why no request can be sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AwsError {
    /// No source has credentials.
    #[error("{0}")]
    MissingCredentials(CredentialsProblem),
    /// A source of credentials is configured and failed.
    #[error("cannot get AWS credentials: {reason}")]
    Credentials {
        /// The answer of the source.
        reason: String,
    },
    /// The selected profile does not exist.
    #[error(
        "the AWS profile {profile:?} does not exist in {files}; set \"profile\" or AWS_PROFILE to one of: {existing}"
    )]
    MissingProfile {
        /// The name of the profile.
        profile: String,
        /// The files that were read.
        files: String,
        /// The names of the profiles that exist.
        existing: String,
    },
    /// The shared configuration files cannot be read.
    #[error("the AWS configuration files cannot be used: {0}")]
    SharedConfig(String),
    /// The profile needs a code that only a person has.
    #[error(
        "the AWS profile {profile:?} requires an MFA code (mfa_serial), which cannot be entered here; run \
         \"aws configure export-credentials --profile {profile} --format env\" and pass the keys in the environment"
    )]
    MfaRequired {
        /// The name of the profile.
        profile: String,
    },
    /// No source names a region.
    #[error("no AWS region is set; set \"region\", the environment variable AWS_REGION, or region in the AWS profile")]
    MissingRegion,
    /// A setting is invalid.
    #[error("{0}")]
    Setting(String),
    /// The HTTP client cannot be created.
    #[error(transparent)]
    Http(#[from] HttpError),
    /// The thread for requests does not run.
    #[error(transparent)]
    Background(#[from] BackgroundError),
}

/// The sources of credentials that were tried, each with what it lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CredentialsProblem {
    /// One line for each source.
    pub sources: Vec<String>,
}

impl fmt::Display for CredentialsProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no valid credential sources found for AWS. Tried, in this order:")?;
        for source in &self.sources {
            write!(f, "\n  - {source}")?;
        }
        f.write_str("\nSet one of them, for example AWS_PROFILE after \"aws sso login\" or \"aws login\".")
    }
}

/// The reason why a request has no successful response.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// The request could not be built or signed.
    #[error(transparent)]
    Client(#[from] AwsError),
    /// No response arrived after all attempts.
    #[error("{service} {operation}: {error}")]
    Network {
        /// The name of the service.
        service: &'static str,
        /// The operation of the request.
        operation: &'static str,
        /// The error of the last attempt.
        error: HttpError,
    },
    /// The caller lacks a permission.
    #[error("{0}; allow {action} for this identity, or use another one", action = .0.action())]
    AccessDenied(Box<ServiceError>),
    /// The service refused all attempts because there were too many requests.
    #[error("{0}; wait, or request a higher quota")]
    Throttled(Box<ServiceError>),
    /// The object is in another region.
    #[error("{error}; set the region to {expected:?}")]
    WrongRegion {
        /// The region that the service names.
        expected: String,
        /// The answer of the service.
        error: Box<ServiceError>,
    },
    /// The service answered with another error.
    #[error("{0}")]
    Service(Box<ServiceError>),
}

impl RequestError {
    /// Returns the answer of the service, if one arrived.
    pub fn service(&self) -> Option<&ServiceError> {
        match self {
            Self::AccessDenied(error)
            | Self::Throttled(error)
            | Self::Service(error)
            | Self::WrongRegion { error, .. } => Some(error),
            Self::Client(_) | Self::Network { .. } => None,
        }
    }

    /// Returns the HTTP status of the service's answer, if one arrived.
    pub fn status(&self) -> Option<u16> {
        self.service().map(|error| error.status)
    }

    /// Returns the error code of the service's answer, if one arrived.
    pub fn code(&self) -> Option<&str> {
        self.service().map(|error| error.code.as_str())
    }
}

/// An error that a service answered with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceError {
    /// The service that refused the request.
    pub service: AwsService,
    /// The operation of the request.
    pub operation: &'static str,
    /// The HTTP status of the response.
    pub status: u16,
    /// The code, such as `NoSuchBucket`; the status if the answer has none.
    pub code: String,
    /// The message of the service.
    pub message: String,
    /// The identifier of the request, for AWS support.
    pub request_id: Option<String>,
    /// The region of the resource, where the service names one.
    pub region: Option<String>,
}

impl ServiceError {
    /// Returns the IAM action of the operation.
    pub fn action(&self) -> String {
        format!("{}:{}", self.service.iam_prefix, self.operation)
    }
}

impl fmt::Display for ServiceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.service.title, self.operation, self.code)?;
        if !self.message.is_empty() {
            write!(f, ": {}", self.message.trim_end_matches('.'))?;
        }
        // AWS Support finds a request by this ID.
        match &self.request_id {
            Some(id) => write!(f, " (status {}, request ID {id})", self.status),
            None => write!(f, " (status {})", self.status),
        }
    }
}
