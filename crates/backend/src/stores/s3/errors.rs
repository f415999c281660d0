//! Errors of AWS as errors of the store, with the missing permission and advice.

use groma_cloud::aws::{AwsError, RequestError, ServiceError};
use groma_cloud::http::HttpError;

use crate::error::StoreError;

const CREDENTIALS: &str = "Log in with \"aws sso login\" or \"aws login\" and set profile or AWS_PROFILE, set AWS_ACCESS_KEY_ID and \
                           AWS_SECRET_ACCESS_KEY, or name a role in assume_role.";

/// The subject of a request, for messages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Subject<'a> {
    /// The service as people know it: `S3`.
    pub service: &'static str,
    /// The location of the object or item.
    pub location: &'a str,
    /// The bucket or the table.
    pub container: &'a str,
    /// The action, as a verb phrase: `write the state`.
    pub action: &'static str,
}

impl Subject<'_> {
    /// Returns the failed request as an error of the store.
    pub fn error(&self, problem: &RequestError) -> StoreError {
        match problem {
            RequestError::Client(problem) => client_error(problem),
            RequestError::Network { error, .. } => network_error(self.service, error),
            RequestError::AccessDenied(error) => self.denied(error),
            RequestError::WrongRegion { expected, .. } => StoreError::InvalidArgument {
                argument: "region".to_owned(),
                reason: format!(
                    "the {} {:?} is in another region; set region to {expected:?}",
                    self.container_kind(),
                    self.container
                ),
            },
            RequestError::Throttled(error) | RequestError::Service(error) => self.refused(error),
        }
    }

    fn container_kind(&self) -> &'static str {
        if self.service == "S3" { "bucket" } else { "table" }
    }

    fn denied(&self, error: &ServiceError) -> StoreError {
        let permission = permission(error);
        let resource = match permission {
            "s3:ListBucket" => format!("arn:aws:s3:::{}", self.container),
            _ if self.service == "S3" => format!("arn:aws:s3:::{}", self.location.trim_start_matches("s3://")),
            _ => format!("the table {}", self.container),
        };
        let mut advice = format!(
            "Ask an administrator of the account to allow {permission} on {resource} for this identity (its policy, the bucket \
             policy and service control policies count), or use another identity: profile, assume_role."
        );
        if permission == "s3:GetObject" {
            advice.push_str(
                " S3 gives the same answer for a missing object to identities that may not list the bucket, so allow \
                 s3:ListBucket as well.",
            );
        }
        if self.service == "S3" {
            advice.push_str(
                " If the bucket is encrypted with a KMS key, the key's policy must allow kms:Decrypt and kms:GenerateDataKey.",
            );
        }
        StoreError::AccessDenied {
            resource: self.location.to_owned(),
            permission: Some(permission.to_owned()),
            reason: error.to_string(),
            advice,
        }
    }

    fn refused(&self, error: &ServiceError) -> StoreError {
        match &*error.code {
            "NoSuchBucket" => StoreError::NotFound {
                what: format!("the S3 bucket {:?}", self.container),
                advice: format!(
                    "Check bucket and region, or create the bucket, with versioning so that old states stay: aws s3 mb s3://{0} && \
                     aws s3api put-bucket-versioning --bucket {0} --versioning-configuration Status=Enabled",
                    self.container
                ),
            },
            "ResourceNotFoundException" => StoreError::NotFound {
                what: format!("the DynamoDB table {:?}", self.container),
                advice: format!(
                    "Check dynamodb_table and region, set use_lockfile = true instead, or create the table with the partition key \
                     \"LockID\" of type String: aws dynamodb create-table --table-name {} --attribute-definitions \
                     AttributeName=LockID,AttributeType=S --key-schema AttributeName=LockID,KeyType=HASH --billing-mode \
                     PAY_PER_REQUEST",
                    self.container
                ),
            },
            "ValidationException" => StoreError::InvalidData {
                location: format!("the DynamoDB table {:?}", self.container),
                reason: error.to_string(),
                advice: "A table for locks has the partition key \"LockID\" of type String, and no sort key."
                    .to_owned(),
            },
            "InvalidAccessKeyId"
            | "SignatureDoesNotMatch"
            | "ExpiredToken"
            | "ExpiredTokenException"
            | "InvalidToken"
            | "UnrecognizedClientException"
            | "InvalidClientTokenId"
            | "InvalidSignatureException" => StoreError::Unauthenticated {
                service: self.service.to_owned(),
                reason: error.to_string(),
                advice: CREDENTIALS.to_owned(),
            },
            "EntityTooLarge" => StoreError::TooLarge { location: self.location.to_owned(), reason: error.to_string() },
            _ => StoreError::Service {
                service: self.service.to_owned(),
                action: self.action.to_owned(),
                reason: error.to_string(),
            },
        }
    }
}

/// Returns the IAM action that a request needs.
fn permission(error: &ServiceError) -> &'static str {
    match (error.service.iam_prefix, error.operation) {
        ("s3", "ListObjectsV2") => "s3:ListBucket",
        ("s3", "PutObject" | "CopyObject") => "s3:PutObject",
        ("s3", "DeleteObject" | "DeleteObjects") => "s3:DeleteObject",
        // HeadObject has no action of its own: S3 checks s3:GetObject for it.
        ("s3", _) => "s3:GetObject",
        (_, "PutItem") => "dynamodb:PutItem",
        (_, "DeleteItem") => "dynamodb:DeleteItem",
        (_, "GetItem") => "dynamodb:GetItem",
        (_, "AssumeRole") => "sts:AssumeRole",
        _ => "sts:GetCallerIdentity",
    }
}

/// Returns the reason why no request could be sent as an error of the store.
pub(super) fn client_error(problem: &AwsError) -> StoreError {
    let unauthenticated = |advice: &str| StoreError::Unauthenticated {
        service: "AWS".to_owned(),
        reason: problem.to_string(),
        advice: advice.to_owned(),
    };
    match problem {
        AwsError::MissingRegion => StoreError::InvalidArgument {
            argument: "region".to_owned(),
            reason: "it is not set; set region, AWS_REGION, or the region of the AWS profile".to_owned(),
        },
        AwsError::Http(error) => network_error("AWS", error),
        AwsError::Setting(reason) => {
            StoreError::InvalidArgument { argument: "backend \"s3\"".to_owned(), reason: reason.clone() }
        }
        AwsError::Background(problem) => StoreError::Network { service: "AWS".to_owned(), reason: problem.to_string() },
        AwsError::MissingCredentials(_) | AwsError::Credentials { .. } => unauthenticated(CREDENTIALS),
        AwsError::MissingProfile { .. } | AwsError::SharedConfig(_) | AwsError::MfaRequired { .. } => {
            unauthenticated("")
        }
    }
}

fn network_error(service: &str, error: &HttpError) -> StoreError {
    match error {
        HttpError::TooLarge { url, limit } => StoreError::TooLarge {
            location: url.clone(),
            reason: format!("states of up to {limit} bytes are supported"),
        },
        _ => StoreError::Network { service: service.to_owned(), reason: error.to_string() },
    }
}
