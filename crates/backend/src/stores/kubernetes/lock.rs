//! Locks: a lease whose holder is the ID of the lock, with the info in an annotation.

use std::sync::PoisonError;

use serde_json::{Value as Json, json};

use super::KubernetesStore;
use super::api::{Outcome, Resource};
use crate::error::StoreError;
use crate::lock_info::{LockInfo, held_reason};
use crate::store::{HeldLock, StateStore};

const INFO: &str = "app.terraform.io/lock-info";

/// The attempts to update a lease that other runs change at the same time.
const ATTEMPTS: u32 = 5;

impl KubernetesStore {
    pub(super) fn lease(&self, workspace: &str) -> String {
        format!("lock-{}", self.secret(workspace))
    }

    pub(super) async fn take_lock(&self, workspace: &str, info: &LockInfo) -> Result<HeldLock, StoreError> {
        let info = LockInfo { path: String::new(), ..info.clone() };
        let held = || HeldLock { id: info.id.clone(), info: info.clone() };
        let name = self.lease(workspace);
        for _ in 0..ATTEMPTS {
            let found = self.api.get(Resource::Leases, &name).await?;
            if let Some(holder) = found.as_ref().and_then(holder) {
                // The answer to an earlier attempt was lost: the lock is this run's own.
                if holder.id == info.id {
                    return Ok(held());
                }
                let reason = held_reason(&holder, &format!("the lease {name} has a holder"));
                return Err(StoreError::Locked { holder: Some(Box::new(holder)), reason });
            }
            let is_new = found.is_none();
            let mut lease = found.unwrap_or_else(|| {
                let metadata = json!({ "name": name, "namespace": self.api.namespace });
                json!({ "apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata, "spec": {} })
            });
            self.label(&mut lease, workspace);
            lease["metadata"]["annotations"][INFO] = json!(serde_json::to_string(&info).unwrap_or_default());
            lease["spec"]["holderIdentity"] = json!(info.id);
            // An update names the resource version that was read, so of two runs only one succeeds.
            let outcome = match is_new {
                true => self.api.create(Resource::Leases, &lease).await?,
                false => self.api.update(Resource::Leases, &lease).await?,
            };
            if let Outcome::Done(_) = outcome {
                return Ok(held());
            }
        }
        Err(self.contended(&name))
    }

    pub(super) async fn exchange_lock(
        &self,
        workspace: &str,
        stored: &HeldLock,
        info: &LockInfo,
    ) -> Result<HeldLock, StoreError> {
        let (name, location) = (self.lease(workspace), self.location(workspace));
        let held = HeldLock { id: info.id.clone(), info: LockInfo { path: String::new(), ..info.clone() } };
        for _ in 0..ATTEMPTS {
            let found = self.api.get(Resource::Leases, &name).await?;
            let Some(mut lease) = found else { return Err(StoreError::lock_loss(location, None)) };
            let holder = holder(&lease);
            // The answer to an earlier attempt was lost.
            if holder.as_ref() == Some(&held.info) {
                return Ok(held);
            }
            if holder.as_ref() != Some(&stored.info) {
                return Err(StoreError::lock_loss(location, holder.as_ref()));
            }
            lease["metadata"]["annotations"][INFO] = json!(serde_json::to_string(&held.info).unwrap_or_default());
            lease["spec"]["holderIdentity"] = json!(held.id);
            if let Outcome::Done(_) = self.api.update(Resource::Leases, &lease).await? {
                return Ok(held);
            }
        }
        Err(self.contended(&name))
    }

    pub(super) async fn release(&self, workspace: &str, id: &str) -> Result<(), StoreError> {
        if self.deleted.lock().unwrap_or_else(PoisonError::into_inner).remove(id) {
            return Ok(());
        }
        let name = self.lease(workspace);
        for _ in 0..ATTEMPTS {
            let not_locked = || StoreError::NotLocked { location: self.location(workspace) };
            let mut lease = self.api.get(Resource::Leases, &name).await?.ok_or_else(not_locked)?;
            let holder = holder(&lease).ok_or_else(not_locked)?;
            if holder.id != id {
                return Err(StoreError::LockIdMismatch { given: id.to_owned(), holder: Some(Box::new(holder)) });
            }
            if let Some(spec) = lease["spec"].as_object_mut() {
                spec.remove("holderIdentity");
            }
            if let Some(annotations) = lease["metadata"]["annotations"].as_object_mut() {
                annotations.remove(INFO);
            }
            if let Outcome::Done(_) = self.api.update(Resource::Leases, &lease).await? {
                return Ok(());
            }
        }
        Err(self.contended(&name))
    }

    fn contended(&self, name: &str) -> StoreError {
        StoreError::Service {
            service: "the Kubernetes API".to_owned(),
            action: format!("update the lease {name}"),
            reason: "other runs change it all the time".to_owned(),
        }
    }
}

/// Returns the holder of a lease: what its annotation says, under the ID that releases it.
fn holder(lease: &Json) -> Option<LockInfo> {
    let id = lease["spec"]["holderIdentity"].as_str().filter(|id| !id.is_empty())?;
    let info = lease["metadata"]["annotations"][INFO].as_str().unwrap_or_default();
    // The holder is known even if its info is unreadable: the ID alone releases the lock.
    let info: LockInfo = serde_json::from_str(info).unwrap_or_default();
    Some(LockInfo { id: id.to_owned(), ..info })
}
