//! Locks: a lease on the blob of the state, whose metadata has the info.
//!
//! Terraform and OpenTofu take a lease without an end and write the info after it, and remove the info before they end the lease: a run
//! that is killed in between leaves a lease that nobody can name. Here the lease ends after a minute until the info is
//! written, and it is ended before the info is removed. A nameless lease of Terraform or OpenTofu can be released by force.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::blobs::{Condition, Container, Lease, Metadata, Outcome, Properties};
use crate::error::StoreError;
use crate::lock_info::{LockInfo, NAMELESS};

/// The name of the metadata with the lock info.
const INFO: &str = "terraformlockid";

/// The seconds in which the info must be written, the longest time that the service allows for a lease with an end.
const PROVISIONAL: i32 = 60;
const ENDLESS: i32 = -1;

/// The pauses in which another run may write the info of its new lease.
const INFO_PAUSES: [Duration; 3] = [Duration::from_millis(500), Duration::from_secs(1), Duration::from_secs(2)];

/// The blob of a state.
#[derive(Clone, Copy)]
pub(super) struct Target<'a> {
    pub container: &'a Container,
    pub blob: &'a str,
}

impl Target<'_> {
    fn location(&self) -> String {
        self.container.location(self.blob)
    }

    /// Returns the properties of the blob, which is created empty if it does not exist: a lease needs one.
    async fn existing(&self) -> Result<Properties, StoreError> {
        const ATTEMPTS: u32 = 3;
        for _ in 0..ATTEMPTS {
            if let Some(found) = self.container.head(self.blob).await? {
                return Ok(found);
            }
            // Another run may create it at the same time.
            self.container.put(self.blob, &[], &Metadata::new(), None, Condition::Absent).await?;
        }
        Err(StoreError::Service {
            service: self.location(),
            action: "create the blob".to_owned(),
            reason: "it is created and deleted all the time".to_owned(),
        })
    }

    /// Returns the info as it is stored with this blob.
    fn stored(&self, info: &LockInfo) -> LockInfo {
        LockInfo { path: format!("{}/{}", self.container.name, self.blob), ..info.clone() }
    }

    /// Takes the lock that shared runs hold together under the ID of `info`, or extends it, and returns its info as it was stored.
    pub async fn join(&self, info: &LockInfo) -> Result<LockInfo, StoreError> {
        let info = self.stored(info);
        match self.container.lease(self.blob, Lease::Acquire(&info.id, PROVISIONAL)).await? {
            Outcome::Refused(_) => return Err(self.held().await),
            // Only the first run writes the info: it changes the version of the state.
            Outcome::Done(_) if self.is_held_by(&info.id).await? => {}
            Outcome::Done(_) => self.write_info(&info).await?,
        }
        Ok(info)
    }

    /// Takes the lock in one attempt, and returns its info as it was stored.
    pub async fn take(&self, info: &LockInfo) -> Result<LockInfo, StoreError> {
        let info = self.stored(info);
        let found = self.existing().await?;
        if found.is_leased && holder(&found.metadata).is_none_or(|holder| holder.id != info.id) {
            return Err(self.held().await);
        }
        match self.container.lease(self.blob, Lease::Acquire(&info.id, PROVISIONAL)).await? {
            Outcome::Done(_) => {}
            Outcome::Refused(_) => return Err(self.held().await),
        }
        let written = self.write_info(&info).await;
        if let Err(problem) = written {
            // If this fails, the lease still ends a minute later.
            let _ = self.container.lease(self.blob, Lease::Release(&info.id)).await;
            return Err(problem);
        }
        Ok(info)
    }

    async fn write_info(&self, info: &LockInfo) -> Result<(), StoreError> {
        // Setting metadata replaces all of it, so that of others is read first.
        let metadata = self.container.head(self.blob).await?.map(|found| found.metadata).unwrap_or_default();
        let metadata = with_info(&metadata, info);
        let written = self.container.put_metadata(self.blob, &metadata, Some(&info.id), Condition::None).await?;
        let endless = match written {
            Outcome::Done(_) => {
                // A holder that renews its lease lets the service end it.
                let duration = if info.deadline.is_empty() { ENDLESS } else { PROVISIONAL };
                self.container.lease(self.blob, Lease::Acquire(&info.id, duration)).await?
            }
            refused => refused,
        };
        match endless {
            Outcome::Done(_) => Ok(()),
            Outcome::Refused(code) => Err(StoreError::LockLost { location: self.location(), reason: code }),
        }
    }

    /// Extends the lease with this ID. One that has ended is taken again, if nobody else has taken it.
    pub async fn renew(&self, id: &str) -> Result<(), StoreError> {
        match self.container.lease(self.blob, Lease::Acquire(id, PROVISIONAL)).await? {
            Outcome::Done(_) => Ok(()),
            Outcome::Refused(_) => {
                let found = self.container.head(self.blob).await?;
                let info = found.and_then(|found| holder(&found.metadata)).filter(|holder| holder.id != id);
                Err(StoreError::lock_loss(self.location(), info.as_ref()))
            }
        }
    }

    /// Whether the blob has a lease whose info has this ID.
    pub async fn is_held_by(&self, id: &str) -> Result<bool, StoreError> {
        let found = self.container.head(self.blob).await?.filter(|found| found.is_leased);
        Ok(found.and_then(|found| holder(&found.metadata)).is_some_and(|holder| holder.id == id))
    }

    /// Returns the error about the holder of the lease.
    async fn held(&self) -> StoreError {
        let mut pauses = INFO_PAUSES.into_iter();
        loop {
            let found = match self.container.head(self.blob).await {
                Ok(found) => found,
                Err(problem) => return problem,
            };
            let info = found.as_ref().and_then(|found| holder(&found.metadata));
            let is_leased = found.is_some_and(|found| found.is_leased);
            if info.is_none()
                && is_leased
                && let Some(pause) = pauses.next()
            {
                tokio::time::sleep(pause).await;
                continue;
            }
            let reason = match (&info, is_leased) {
                (Some(_), _) => "state blob is already locked".to_owned(),
                (None, true) => {
                    "state blob is already locked, by a lease without lock info: a run was killed while it locked or unlocked the state"
                        .to_owned()
                }
                (None, false) => "state blob was locked until now".to_owned(),
            };
            let nameless = || LockInfo { id: NAMELESS.to_owned(), path: self.location(), ..LockInfo::default() };
            return StoreError::Locked { holder: Some(Box::new(info.unwrap_or_else(nameless))), reason };
        }
    }

    /// Releases the lock with this ID.
    pub async fn release(&self, id: &str) -> Result<(), StoreError> {
        let not_locked = || StoreError::NotLocked { location: self.location() };
        // The properties first: whether a state was written decides if the blob is deleted.
        let found = self.container.head(self.blob).await?.ok_or_else(not_locked)?;
        if !found.is_leased {
            return Err(not_locked());
        }
        match holder(&found.metadata) {
            Some(holder) if holder.id != id => {
                return Err(StoreError::LockIdMismatch { given: id.to_owned(), holder: Some(Box::new(holder)) });
            }
            Some(_) => {}
            None => return self.break_nameless(id, &found).await,
        }
        if found.length == 0 {
            // No state was written: the blob was only made for the lease.
            if let Outcome::Done(_) =
                self.container.delete(self.blob, Some(id), Condition::Matches(&found.etag)).await?
            {
                return Ok(());
            }
        }
        match self.container.lease(self.blob, Lease::Release(id)).await? {
            Outcome::Done(_) => {}
            Outcome::Refused(reason) => return Err(StoreError::LockLost { location: self.location(), reason }),
        }
        // The lock is free. If another run has taken it already, it has replaced the info.
        let metadata = without_info(&found.metadata);
        let _ = self.container.put_metadata(self.blob, &metadata, None, Condition::Matches(&found.etag)).await;
        Ok(())
    }

    /// Ends a lease without info. One that is just being taken has its info a moment later, so that this waits for it.
    async fn break_nameless(&self, id: &str, found: &Properties) -> Result<(), StoreError> {
        // The ID may be that of a lease whose run was killed before it wrote the info.
        if let Outcome::Done(_) = self.container.lease(self.blob, Lease::Release(id)).await? {
            return Ok(());
        }
        tokio::time::sleep(INFO_PAUSES.iter().sum()).await;
        let now = self.container.head(self.blob).await?;
        if let Some(now) = now.filter(|now| now.is_leased) {
            if let Some(holder) = holder(&now.metadata) {
                return Err(StoreError::LockIdMismatch { given: id.to_owned(), holder: Some(Box::new(holder)) });
            }
            // A changed blob belongs to a run that works, so only an unchanged one loses its lease.
            if now.etag == found.etag {
                self.container.lease(self.blob, Lease::Break).await?;
            }
        }
        Ok(())
    }
}

/// Returns the lock info in the metadata.
fn holder(metadata: &Metadata) -> Option<LockInfo> {
    let (_, encoded) = metadata.iter().find(|(name, _)| name == INFO)?;
    serde_json::from_slice(&STANDARD.decode(encoded).ok()?).ok()
}

/// Returns the metadata of a locked blob.
pub(super) fn with_info(metadata: &Metadata, info: &LockInfo) -> Metadata {
    let encoded = STANDARD.encode(serde_json::to_vec(info).unwrap_or_default());
    without_info(metadata).into_iter().chain([(INFO.to_owned(), encoded)]).collect()
}

fn without_info(metadata: &Metadata) -> Metadata {
    metadata.iter().filter(|(name, _)| name != INFO).cloned().collect()
}
