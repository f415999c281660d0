//! The emulator as an implementation of the API, in process and without a port.

use std::future::ready;
use std::sync::Arc;

use super::store::Store;
use crate::api::{
    Answer, CloudControl, CreateResource, DeleteResource, GetResource, ListResourceRequests, ListResources,
    ProgressEvent, RequestList, ResourceDescription, ResourceList, UpdateResource,
};

/// A store as seen from one region.
#[derive(Debug, Clone)]
pub struct Embedded {
    store: Arc<Store>,
    region: String,
}

impl Embedded {
    /// The API of a store in a region.
    pub fn new(store: Arc<Store>, region: &str) -> Self {
        Self { store, region: region.to_owned() }
    }

    /// The store behind it.
    pub fn store(&self) -> &Arc<Store> {
        &self.store
    }
}

impl CloudControl for Embedded {
    fn create_resource(&self, request: CreateResource) -> Answer<'_, ProgressEvent> {
        Box::pin(ready(self.store.create_resource(&self.region, &request)))
    }

    fn get_resource(&self, request: GetResource) -> Answer<'_, ResourceDescription> {
        Box::pin(ready(self.store.get_resource(&self.region, &request)))
    }

    fn update_resource(&self, request: UpdateResource) -> Answer<'_, ProgressEvent> {
        Box::pin(ready(self.store.update_resource(&self.region, &request)))
    }

    fn delete_resource(&self, request: DeleteResource) -> Answer<'_, ProgressEvent> {
        Box::pin(ready(self.store.delete_resource(&self.region, &request)))
    }

    fn list_resources(&self, request: ListResources) -> Answer<'_, ResourceList> {
        Box::pin(ready(self.store.list_resources(&self.region, &request)))
    }

    fn get_resource_request_status(&self, request_token: String) -> Answer<'_, ProgressEvent> {
        Box::pin(ready(self.store.get_resource_request_status(&request_token)))
    }

    fn list_resource_requests(&self, request: ListResourceRequests) -> Answer<'_, RequestList> {
        Box::pin(ready(self.store.list_resource_requests(&request)))
    }

    fn cancel_resource_request(&self, request_token: String) -> Answer<'_, ProgressEvent> {
        Box::pin(ready(self.store.cancel_resource_request(&request_token)))
    }
}
