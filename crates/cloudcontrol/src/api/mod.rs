//! The Cloud Control API as a trait: eight operations, in the words of its service model. The emulator implements it in
//! process; a client of the real service has the same shape.

mod error;
mod types;

use std::future::Future;
use std::pin::Pin;

pub use error::{ApiError, Fault};
pub use types::{
    CreateResource, DeleteResource, FailureMode, GetResource, HandlerErrorCode, HookEvent, HookStatus,
    ListResourceRequests, ListResources, Operation, OperationStatus, ProgressEvent, RequestList, RequestStatusFilter,
    ResourceDescription, ResourceList, UpdateResource,
};

/// The answer of an operation, some time later.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, ApiError>> + Send + 'a>>;

/// The operations of AWS Cloud Control. Create, update and delete only start a request, whose course
/// [`CloudControl::get_resource_request_status`] tells.
pub trait CloudControl: Send + Sync {
    /// Starts the creation of an object.
    fn create_resource(&self, request: CreateResource) -> Answer<'_, ProgressEvent>;
    /// Reads the current properties of an object.
    fn get_resource(&self, request: GetResource) -> Answer<'_, ResourceDescription>;
    /// Starts an update by JSON Patch.
    fn update_resource(&self, request: UpdateResource) -> Answer<'_, ProgressEvent>;
    /// Starts the deletion of an object.
    fn delete_resource(&self, request: DeleteResource) -> Answer<'_, ProgressEvent>;
    /// Lists one page of the objects of a type.
    fn list_resources(&self, request: ListResources) -> Answer<'_, ResourceList>;
    /// Returns the progress of a request.
    fn get_resource_request_status(&self, request_token: String) -> Answer<'_, ProgressEvent>;
    /// Lists one page of the requests.
    fn list_resource_requests(&self, request: ListResourceRequests) -> Answer<'_, RequestList>;
    /// Cancels a request that has not ended.
    fn cancel_resource_request(&self, request_token: String) -> Answer<'_, ProgressEvent>;
}
