//! Digests of states in a table next to a bucket: recorded with each write, checked with each read.
//!
//! The digests date from when object storage could return an old object after a write. Today a digest is wrong only if a run
//! was killed between the two writes, if somebody uploaded the object by hand, or if a program without the table wrote it. So
//! the digest of an older object is replaced. An object that is older than its digest, incomplete or missing is refused.

use std::future::Future;
use std::time::Duration;

use md5::{Digest as _, Md5};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::error::StoreError;
use crate::store::RESTORE_OBJECT;

/// The pauses before further reads: another run may be between the write of the object and that of the digest.
const PAUSES: [Duration; 4] =
    [Duration::from_millis(250), Duration::from_millis(500), Duration::from_secs(1), Duration::from_secs(2)];

/// The age at which the writer of an object has recorded its digest.
const WRITE_TIME: Duration = Duration::from_secs(60);

/// The recorded digest of a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Digest {
    /// The hexadecimal MD5 of the object.
    pub md5: String,
    /// The time of the object that the digest belongs to, where Groma wrote it: RFC 3339.
    pub written: Option<String>,
}

impl Digest {
    /// Returns the digest of bytes that are written now.
    pub fn of(bytes: &[u8]) -> Self {
        Self { md5: md5(bytes), written: OffsetDateTime::now_utc().format(&Rfc3339).ok() }
    }
}

/// A stored state.
pub(super) struct Object {
    pub bytes: Vec<u8>,
    /// The version in the terms of the store.
    pub version: String,
    /// The age of the object by the service's own clock.
    pub age: Option<Duration>,
    /// The time of the write.
    pub modified: Option<OffsetDateTime>,
    /// The note in the metadata, where the store keeps one.
    pub note: Option<String>,
}

/// The names of a state and its digest in messages.
pub(super) struct DigestNames {
    /// The service of the bucket: `S3`.
    pub service: &'static str,
    /// The location of the state.
    pub location: String,
    /// The table.
    pub table: String,
    /// The key of the digest in the table.
    pub item: String,
}

/// A state whose digest is in a table.
pub(super) trait DigestedState: Sync {
    /// Reads the object; `None` if it does not exist.
    fn read(&self) -> impl Future<Output = Result<Option<Object>, StoreError>> + Send;

    /// Returns the recorded digest.
    fn recorded(&self) -> impl Future<Output = Result<Option<Digest>, StoreError>> + Send;

    /// Replaces a digest, unless another run has written one in the meantime.
    fn replace(&self, old: &Digest, new: &Digest) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Whether this process holds the lock of the state. Only the holder replaces digests.
    fn is_locked_here(&self) -> bool;

    /// Returns the names for messages.
    fn names(&self) -> DigestNames;
}

/// Reads a state and checks it against its digest.
///
/// # Errors
/// The service fails, or the object is older than its digest, incomplete, or missing although it has a digest.
pub(super) async fn read_checked(state: &impl DigestedState) -> Result<Option<Object>, StoreError> {
    let mut pauses = PAUSES.into_iter();
    loop {
        let (found, recorded) = tokio::join!(state.read(), state.recorded());
        let (found, recorded) = (found?, recorded?);
        // Without a digest there is nothing to check.
        let Some(recorded) = &recorded else { return Ok(found) };
        if found.as_ref().is_some_and(|object| recorded.md5 == md5(&object.bytes)) {
            return Ok(found);
        }
        // The lock excludes a writer between its two writes, and the writer of an old object has ended.
        let age = found.as_ref().and_then(|object| object.age);
        let is_final = state.is_locked_here() || age.is_some_and(|age| age > WRITE_TIME);
        if !is_final && let Some(pause) = pauses.next() {
            tokio::time::sleep(pause).await;
            continue;
        }
        match &found {
            Some(object) => replace_outlived(state, object, recorded).await?,
            None => return Err(missing_object(&state.names(), recorded)),
        }
        return Ok(found);
    }
}

/// Returns the error about a digest whose object was deleted. Both are deleted with a workspace, the digest first, so this
/// object was deleted by accident: without the refusal, its resources would be created again.
fn missing_object(names: &DigestNames, recorded: &Digest) -> StoreError {
    unexpected(
        names,
        format!("the object does not exist. Calculated checksum: (empty). Stored checksum: {}", recorded.md5),
        format!(
            "If the bucket has versions, restore the object. If the state was deleted on purpose, delete the item {} from the table {}.",
            names.item, names.table
        ),
    )
}

/// Returns the error about a state that does not fit its digest.
fn unexpected(names: &DigestNames, reason: String, advice: String) -> StoreError {
    StoreError::InvalidData {
        location: names.location.clone(),
        reason: format!("state data in {} does not have the expected content: {reason}", names.service),
        advice,
    }
}

/// Replaces the digest of an object that is newer.
async fn replace_outlived(state: &impl DigestedState, object: &Object, recorded: &Digest) -> Result<(), StoreError> {
    let computed = md5(&object.bytes);
    let names = state.names();
    if is_older(object, recorded) {
        return Err(unexpected(
            &names,
            format!(
                "it is older than the digest {} in the table {}, which was recorded for a later write; the digest of the object is \
                 {computed}",
                recorded.md5, names.table
            ),
            format!(
                "If the object is the state to work with, record its digest: set the attribute Digest of the item {} in the table \
                 {} to {computed}. If the bucket has versions, compare the newer ones first.",
                names.item, names.table
            ),
        ));
    }
    // An incomplete upload is no newer state, so its digest is not adopted. An object that was truncated to nothing is none
    // either: with its digest recorded, every later run would believe that nothing exists.
    if serde_json::from_slice::<serde::de::IgnoredAny>(&object.bytes).is_err() {
        return Err(unexpected(
            &names,
            format!("it is not a complete JSON document, and its digest is {computed} instead of {}", recorded.md5),
            RESTORE_OBJECT.to_owned(),
        ));
    }
    // Without the lock, another run may be about to record the digest itself.
    if state.is_locked_here() {
        let new = Digest { md5: computed, written: object.modified.and_then(|time| time.format(&Rfc3339).ok()) };
        state.replace(recorded, &new).await?;
    }
    Ok(())
}

/// Returns the hexadecimal MD5 of bytes.
pub(super) fn md5(bytes: &[u8]) -> String {
    Md5::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whether the object was written well before its digest. Clocks of machines differ by minutes at most, as requests with
/// larger differences are refused.
fn is_older(object: &Object, recorded: &Digest) -> bool {
    const SKEW: Duration = Duration::from_secs(15 * 60);
    let written = recorded.written.as_deref().and_then(|time| OffsetDateTime::parse(time, &Rfc3339).ok());
    match (object.modified, written) {
        (Some(modified), Some(written)) => modified + SKEW < written,
        // Terraform and OpenTofu record no time, so their digests say nothing about the order.
        _ => false,
    }
}
