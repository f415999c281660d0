//! The emulator as an implementation of the API, in process and without a port.

use std::future::ready;
use std::sync::Arc;

use super::store::Store;
use crate::api::{
    Answer, ApiError, CloudControl, CreateResource, DeleteResource, GetResource, ListResourceRequests, ListResources,
    ProgressEvent, RequestList, ResourceDescription, ResourceList, UpdateResource,
};
use crate::pause::pause;

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

    fn after_latency<'a, T: Send + 'a>(
        &'a self,
        work: impl FnOnce(&Store, &str) -> Result<T, ApiError> + Send + 'a,
    ) -> Answer<'a, T> {
        let latency = self.store.damage_cases.latency();
        if latency.is_zero() {
            return Box::pin(ready(work(&self.store, &self.region)));
        }
        Box::pin(async move {
            pause(latency).await;
            work(&self.store, &self.region)
        })
    }
}

impl CloudControl for Embedded {
    fn create_resource(&self, request: CreateResource) -> Answer<'_, ProgressEvent> {
        self.after_latency(move |store, region| store.create_resource(region, &request))
    }

    fn get_resource(&self, request: GetResource) -> Answer<'_, ResourceDescription> {
        self.after_latency(move |store, region| store.get_resource(region, &request))
    }

    fn update_resource(&self, request: UpdateResource) -> Answer<'_, ProgressEvent> {
        self.after_latency(move |store, region| store.update_resource(region, &request))
    }

    fn delete_resource(&self, request: DeleteResource) -> Answer<'_, ProgressEvent> {
        self.after_latency(move |store, region| store.delete_resource(region, &request))
    }

    fn list_resources(&self, request: ListResources) -> Answer<'_, ResourceList> {
        self.after_latency(move |store, region| store.list_resources(region, &request))
    }

    fn get_resource_request_status(&self, request_token: String) -> Answer<'_, ProgressEvent> {
        self.after_latency(move |store, _| store.get_resource_request_status(&request_token))
    }

    fn list_resource_requests(&self, request: ListResourceRequests) -> Answer<'_, RequestList> {
        self.after_latency(move |store, _| store.list_resource_requests(&request))
    }

    fn cancel_resource_request(&self, request_token: String) -> Answer<'_, ProgressEvent> {
        self.after_latency(move |store, _| store.cancel_resource_request(&request_token))
    }
}
