//! Digests of states in the table: recorded with each write, checked with each read.
//!
//! The digests date from when S3 could return an old object after a write. Now they only get wrong: by a run that ended
//! between the two writes, by an upload by hand, by a program without the table. So a digest that an object has outlived
//! is replaced, and only an object that is older than its digest is refused.

use std::time::Duration;

use md5::{Digest as _, Md5};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::S3Store;
use super::lock::Target;
use super::objects::Object;
use super::table::{Digest, Table};
use crate::error::StoreError;
use crate::store::{Snapshot, Version};

/// The pauses before further reads: another run may be between the write of the object and that of the digest.
const PAUSES: [Duration; 4] =
    [Duration::from_millis(250), Duration::from_millis(500), Duration::from_secs(1), Duration::from_secs(2)];

/// The age at which the writer of an object has recorded its digest.
const WRITE_TIME: Duration = Duration::from_secs(60);

impl S3Store {
    /// Reads a state and checks it against its digest.
    pub(super) async fn fetch(&self, workspace: &str) -> Result<Option<Snapshot>, StoreError> {
        self.check_account().await?;
        let key = self.key(workspace);
        let Some(table) = &self.locks.table else {
            return Ok(self.objects.get(&key).await?.map(snapshot));
        };
        let path = Target { objects: &self.objects, key: &key }.path();
        let mut pauses = PAUSES.into_iter();
        loop {
            let found = self.objects.get(&key).await?;
            let recorded = table.digest(&path).await?;
            let (Some(object), Some(recorded)) = (&found, &recorded) else {
                // Without a digest there is nothing to check. A digest without an object may be that of a deleted state.
                return Ok(found.map(snapshot));
            };
            if recorded.md5 == md5(&object.bytes) {
                return Ok(found.map(snapshot));
            }
            let is_final = self.has_locked(&key) || object.age.is_some_and(|age| age > WRITE_TIME);
            if !is_final && let Some(pause) = pauses.next() {
                tokio::time::sleep(pause).await;
                continue;
            }
            self.replace_outlived(table, &path, object, recorded).await?;
            return Ok(found.map(snapshot));
        }
    }

    /// Replaces the digest of an object that is newer. Only the holder of the lock writes.
    async fn replace_outlived(
        &self,
        table: &Table,
        path: &str,
        object: &Object,
        recorded: &Digest,
    ) -> Result<(), StoreError> {
        let computed = md5(&object.bytes);
        let location = self.objects.location(path.split_once('/').map_or(path, |(_, key)| key));
        let advice = format!(
            "If the object is the state to work with, record its digest: set the attribute Digest of the item {path}-md5 in the \
             table {} to {computed}. If the bucket has versions, compare the newer ones first.",
            table.name
        );
        if is_older(object, recorded) {
            return Err(StoreError::InvalidData {
                location,
                reason: format!(
                    "state data in S3 does not have the expected content: it is older than the digest {} in the table {}, which \
                     was recorded for a later write; the digest of the object is {computed}",
                    recorded.md5, table.name
                ),
                advice,
            });
        }
        if !object.bytes.is_empty() && serde_json::from_slice::<serde::de::IgnoredAny>(&object.bytes).is_err() {
            return Err(StoreError::InvalidData {
                location,
                reason: format!(
                    "state data in S3 does not have the expected content: it is not a complete JSON document, and its digest is \
                     {computed} instead of {}",
                    recorded.md5
                ),
                advice: "Restore an earlier version of the object, if the bucket has versions.".to_owned(),
            });
        }
        let key = path.split_once('/').map_or(path, |(_, key)| key);
        if self.has_locked(key) {
            let new = Digest { md5: computed, written: object.modified.and_then(|time| time.format(&Rfc3339).ok()) };
            table.replace_digest(path, recorded, &new).await?;
        }
        Ok(())
    }

    /// Records the digest of a state that was written.
    pub(super) async fn record_digest(&self, key: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let Some(table) = &self.locks.table else { return Ok(()) };
        let path = Target { objects: &self.objects, key }.path();
        let written = OffsetDateTime::now_utc().format(&Rfc3339).ok();
        table.put_digest(&path, &Digest { md5: md5(bytes), written }).await
    }
}

fn snapshot(object: Object) -> Snapshot {
    Snapshot { bytes: object.bytes, version: Version(object.etag) }
}

fn md5(bytes: &[u8]) -> String {
    Md5::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whether the object was written well before its digest. Clocks of machines differ by minutes at most, as requests with
/// larger differences are refused.
fn is_older(object: &Object, recorded: &Digest) -> bool {
    const SKEW: Duration = Duration::from_secs(15 * 60);
    let written = recorded.written.as_deref().and_then(|time| OffsetDateTime::parse(time, &Rfc3339).ok());
    match (object.modified, written) {
        (Some(modified), Some(written)) => modified + SKEW < written,
        _ => false,
    }
}
