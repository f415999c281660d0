//! Requests and answers, with the member names of the wire.

use serde::{Deserialize, Serialize};

/// Start of a creation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct CreateResource {
    /// `AWS::EC2::VPC`
    pub type_name: String,
    /// The wanted properties: JSON text.
    pub desired_state: String,
    /// Makes the call safe to repeat: the same token with the same request starts nothing new.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_token: Option<String>,
    /// The role the service acts with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role_arn: Option<String>,
}

/// The input of `GetResource`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct GetResource {
    /// `AWS::EC2::VPC`
    pub type_name: String,
    /// The primary identifier, compound ones joined by `|`, or a JSON object of an identifier's properties.
    pub identifier: String,
    /// The role the service acts with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role_arn: Option<String>,
}

/// Start of an update.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct UpdateResource {
    /// `AWS::EC2::VPC`
    pub type_name: String,
    /// The primary identifier, as in [`GetResource`].
    pub identifier: String,
    /// RFC 6902 JSON Patch, as text, on the properties as they are read.
    pub patch_document: String,
    /// The idempotency token, as in [`CreateResource`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_token: Option<String>,
    /// The role the service acts with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role_arn: Option<String>,
}

/// Start of a deletion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct DeleteResource {
    /// `AWS::EC2::VPC`
    pub type_name: String,
    /// The primary identifier, as in [`GetResource`].
    pub identifier: String,
    /// The idempotency token, as in [`CreateResource`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_token: Option<String>,
    /// The role the service acts with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role_arn: Option<String>,
}

/// One page of the objects of a type.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct ListResources {
    /// `AWS::EC2::VPC`
    pub type_name: String,
    /// Properties the list is restricted to, where the type's list handler wants some: JSON text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_model: Option<String>,
    /// The continuation token of the previous page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_token: Option<String>,
    /// At most so many, 1 to 100.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_results: Option<u32>,
    /// The role the service acts with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role_arn: Option<String>,
}

/// One page of the requests of the last seven days.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct ListResourceRequests {
    /// At most so many, 1 to 100.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_results: Option<u32>,
    /// The continuation token of the previous page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_token: Option<String>,
    /// The filter of requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_request_status_filter: Option<RequestStatusFilter>,
}

/// The filter of requests to list; an empty list allows all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct RequestStatusFilter {
    /// The operations to include.
    pub operations: Vec<Operation>,
    /// The statuses to include.
    pub operation_statuses: Vec<OperationStatus>,
}

/// The operation of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
#[allow(missing_docs)] // the names say it
pub enum Operation {
    Create,
    Delete,
    Update,
}

/// The status of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[allow(missing_docs)] // the names say it
pub enum OperationStatus {
    Pending,
    InProgress,
    Success,
    Failed,
    CancelInProgress,
    CancelComplete,
}

impl OperationStatus {
    /// Whether nothing will change any more.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Success | Self::Failed | Self::CancelComplete)
    }
}

/// The reason why a request failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs)] // the names are the service's own
pub enum HandlerErrorCode {
    NotUpdatable,
    InvalidRequest,
    AccessDenied,
    UnauthorizedTaggingOperation,
    InvalidCredentials,
    AlreadyExists,
    NotFound,
    ResourceConflict,
    Throttling,
    ServiceLimitExceeded,
    NotStabilized,
    GeneralServiceException,
    ServiceInternalError,
    ServiceTimeout,
    NetworkFailure,
    InternalFailure,
    /// A code that the service has introduced since.
    #[serde(other)]
    Unknown,
}

/// The course of a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct ProgressEvent {
    /// The type of the object.
    pub type_name: String,
    /// The object, as soon as the service knows it; possibly long before the request ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identifier: Option<String>,
    /// The name of the request.
    pub request_token: String,
    /// The operation of the request.
    pub operation: Operation,
    /// The status of the request.
    pub operation_status: OperationStatus,
    /// The time of the last status change, in seconds since 1970.
    pub event_time: f64,
    /// The properties, where the service gives them: JSON text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_model: Option<String>,
    /// The message of the handler.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status_message: Option<String>,
    /// The reason of a failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_code: Option<HandlerErrorCode>,
    /// The time of the next poll, in seconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<f64>,
    /// The name of the request to the hooks, if any were invoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hooks_request_token: Option<String>,
    /// The hooks that were invoked: a separate member of the answer that has them.
    #[serde(skip)]
    pub hooks: Vec<HookEvent>,
}

/// The course of a hook: a check of the account's administrators that runs before a handler.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct HookEvent {
    /// `Company::Storage::Encrypted`
    #[serde(default)]
    pub hook_type_name: String,
    /// The moment of the invocation, such as `CREATE_PRE_PROVISION`.
    #[serde(default)]
    pub invocation_point: String,
    /// The status of the hook.
    pub hook_status: HookStatus,
    /// The time of the last status change, in seconds since 1970.
    #[serde(default)]
    pub hook_event_time: f64,
    /// The message of the hook.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hook_status_message: Option<String>,
    /// The effect of a failure on the request.
    #[serde(default)]
    pub failure_mode: FailureMode,
}

/// The status of a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[allow(missing_docs)] // the names are the service's own
pub enum HookStatus {
    HookPending,
    HookInProgress,
    HookCompleteSucceeded,
    HookCompleteFailed,
    HookFailed,
    /// A status that the service has introduced since.
    #[serde(other)]
    Unknown,
}

/// The effect of a failed hook.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum FailureMode {
    /// The request fails.
    #[default]
    Fail,
    /// The request continues.
    Warn,
}

/// The description of an object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct ResourceDescription {
    /// The primary identifier of the object.
    pub identifier: String,
    /// Its properties: JSON text.
    pub properties: String,
}

/// A page of objects.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct ResourceList {
    /// The listed resource type.
    pub type_name: String,
    /// The objects of the page.
    pub resource_descriptions: Vec<ResourceDescription>,
    /// The token of the next page; `None` on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_token: Option<String>,
}

/// A page of requests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct RequestList {
    /// The requests, the newest first.
    pub resource_request_status_summaries: Vec<ProgressEvent>,
    /// The token of the next page; `None` on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_token: Option<String>,
}
