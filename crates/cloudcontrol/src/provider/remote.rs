//! The API of the real service, over HTTP.

use groma_cloud::aws::{AwsClient, AwsRequest, AwsService, RequestError};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::api::{
    Answer, ApiError, CloudControl, CreateResource, DeleteResource, Fault, GetResource, HookEvent,
    ListResourceRequests, ListResources, ProgressEvent, RequestList, ResourceDescription, ResourceList, UpdateResource,
};

/// Cloud Control in an account and region.
///
/// Every call is sent once: [`super::connection`] repeats calls within the rate budget of the account.
#[derive(Debug, Clone)]
pub struct Remote {
    client: AwsClient,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct ByToken {
    request_token: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Progress {
    progress_event: ProgressEvent,
    #[serde(default)]
    hooks_progress_event: Vec<HookEvent>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Described {
    resource_description: ResourceDescription,
}

impl Remote {
    /// Creates the API over a client.
    pub fn new(client: AwsClient) -> Self {
        Self { client }
    }

    async fn call<T: DeserializeOwned>(
        &self,
        operation: &'static str,
        request: &impl Serialize,
    ) -> Result<T, ApiError> {
        let body = serde_json::to_vec(request).map_err(|error| ApiError::new(Fault::NotSent, error.to_string()))?;
        let request = AwsRequest::json(AwsService::CLOUD_CONTROL, "CloudApiService", operation, "1.0", body);
        let response = self.client.send(request.with_attempts(1)).await.map_err(|error| api_error(&error))?;
        serde_json::from_slice(&response.body).map_err(|error| {
            // The message of the JSON reader may quote the document, which may hold secrets.
            let (line, column) = (error.line(), error.column());
            let problem = format!("the response of {operation} cannot be read (line {line}, column {column})");
            ApiError::new(Fault::Other, problem)
        })
    }

    async fn progress(&self, operation: &'static str, request: &impl Serialize) -> Result<ProgressEvent, ApiError> {
        let answer = self.call::<Progress>(operation, request).await?;
        Ok(ProgressEvent { hooks: answer.hooks_progress_event, ..answer.progress_event })
    }
}

/// Returns the kind of an error. All services of AWS share codes that the model of Cloud Control does not list.
fn fault(code: &str, status: u16) -> Fault {
    match (Fault::of_code(code), code) {
        // The service waited for the request in vain, as if the network had lost it.
        (Fault::Other, "RequestTimeout" | "RequestTimeoutException") => Fault::NetworkFailure,
        // The front end of a service answers with InternalFailure or ServiceUnavailable, and a gateway without a code.
        (Fault::Other, _) if matches!(status, 500 | 502..=504) => Fault::ServiceInternalError,
        (fault, _) => fault,
    }
}

/// Translates an error of the client.
fn api_error(error: &RequestError) -> ApiError {
    match error {
        RequestError::Client(error) => ApiError::new(Fault::NotSent, error.to_string()),
        RequestError::Network { error, .. } if error.is_transient() => {
            ApiError::new(Fault::Unreachable, error.to_string())
        }
        RequestError::Network { error, .. } => ApiError::new(Fault::NotSent, error.to_string()),
        RequestError::Throttled(answer) => ApiError::new(Fault::Throttling, answer.message.clone()),
        RequestError::AccessDenied(answer) => {
            let message = answer.message.trim_end_matches('.');
            let action = answer.action();
            ApiError::new(
                Fault::AccessDenied,
                format!(
                    "{message}. Allow it for this identity (the call itself needs {action}), or use another identity"
                ),
            )
        }
        RequestError::WrongRegion { error, .. } | RequestError::Service(error) => {
            let fault = fault(&error.code, error.status);
            let request = error.request_id.as_ref().map_or_else(String::new, |id| format!(" (request ID {id})"));
            let code = if fault == Fault::Other { format!("{}: ", error.code) } else { String::new() };
            ApiError::new(fault, format!("{code}{}{request}", error.message))
        }
    }
}

impl CloudControl for Remote {
    fn create_resource(&self, request: CreateResource) -> Answer<'_, ProgressEvent> {
        Box::pin(async move { self.progress("CreateResource", &request).await })
    }

    fn get_resource(&self, request: GetResource) -> Answer<'_, ResourceDescription> {
        Box::pin(async move {
            self.call::<Described>("GetResource", &request).await.map(|answer| answer.resource_description)
        })
    }

    fn update_resource(&self, request: UpdateResource) -> Answer<'_, ProgressEvent> {
        Box::pin(async move { self.progress("UpdateResource", &request).await })
    }

    fn delete_resource(&self, request: DeleteResource) -> Answer<'_, ProgressEvent> {
        Box::pin(async move { self.progress("DeleteResource", &request).await })
    }

    fn list_resources(&self, request: ListResources) -> Answer<'_, ResourceList> {
        Box::pin(async move { self.call("ListResources", &request).await })
    }

    fn get_resource_request_status(&self, request_token: String) -> Answer<'_, ProgressEvent> {
        Box::pin(async move { self.progress("GetResourceRequestStatus", &ByToken { request_token }).await })
    }

    fn list_resource_requests(&self, request: ListResourceRequests) -> Answer<'_, RequestList> {
        Box::pin(async move { self.call("ListResourceRequests", &request).await })
    }

    fn cancel_resource_request(&self, request_token: String) -> Answer<'_, ProgressEvent> {
        Box::pin(async move { self.progress("CancelResourceRequest", &ByToken { request_token }).await })
    }
}
