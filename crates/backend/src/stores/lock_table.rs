//! Locks and digests of states in a table next to a bucket, as Terraform and OpenTofu lay them out.
//!
//! Each row has the key `LockID`: the name of a state, with the lock in the column `Info`, or that name with the suffix `-md5`,
//! with the digest in the column `Digest`.

use std::collections::BTreeMap;
use std::future::Future;

use crate::error::{StoreError, check_lock_id};
use crate::lock_info::{LockInfo, read_holder};
use crate::stores::digests::Digest;

/// The column of the primary key.
pub(super) const KEY: &str = "LockID";

const INFO: &str = "Info";
const DIGEST: &str = "Digest";
/// The time of the state that the digest belongs to. Terraform and OpenTofu ignore it.
const WRITTEN: &str = "Written";

/// The columns of a row besides its key. All of them are strings.
pub(super) type Columns = BTreeMap<String, String>;

/// The condition of a write or a deletion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowCondition<'a> {
    None,
    /// No row has the key.
    Absent,
    /// The row has this value in this column.
    Column(&'a str, &'a str),
    /// The row exists, and does not have this column.
    NoColumn(&'a str),
}

/// The outcome of a write or a deletion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowOutcome {
    Done,
    /// The condition does not hold.
    Refused,
}

/// The requests of one service to one table. `action` is the verb phrase for messages: `write the lock`.
pub(super) trait Rows: Sync {
    /// Returns the name of the table.
    fn name(&self) -> &str;

    /// Reads a row with strong consistency: an eventually consistent read could miss a lock that another run has just put.
    fn get(&self, key: &str, action: &'static str) -> impl Future<Output = Result<Option<Columns>, StoreError>> + Send;

    /// Replaces a row.
    fn put(
        &self,
        key: &str,
        columns: &[(&str, &str)],
        condition: RowCondition<'_>,
        action: &'static str,
    ) -> impl Future<Output = Result<RowOutcome, StoreError>> + Send;

    /// Deletes a row. Without a condition, a missing one is not an error.
    fn delete(
        &self,
        key: &str,
        condition: RowCondition<'_>,
        action: &'static str,
    ) -> impl Future<Output = Result<RowOutcome, StoreError>> + Send;
}

/// The result of an attempt to put a lock.
#[derive(Debug)]
pub(super) enum PutLock {
    Done,
    /// Another run holds the lock; `None` if the row comes and goes too fast to be read.
    Held(Option<LockInfo>),
}

/// The row of a lock.
#[derive(Debug)]
pub(super) struct LockRow {
    /// The text of the info; `None` if the row does not have the column.
    info: Option<String>,
}

impl LockRow {
    /// Returns the holder; unreadable info equals no record of any run.
    pub fn holder(&self) -> LockInfo {
        self.info.as_deref().and_then(|info| serde_json::from_str(info).ok()).unwrap_or_default()
    }

    /// Returns the condition that the row is still this one.
    fn unchanged(&self) -> RowCondition<'_> {
        match &self.info {
            Some(info) => RowCondition::Column(INFO, info),
            None => RowCondition::NoColumn(INFO),
        }
    }
}

/// A table with locks and digests.
pub(super) struct LockTable<R>(pub R);

impl<R: Rows> LockTable<R> {
    /// Returns the name of the table.
    pub fn name(&self) -> &str {
        self.0.name()
    }

    /// Returns the lock with this key; `None` without a lock.
    pub async fn lock(&self, key: &str) -> Result<Option<LockRow>, StoreError> {
        let found = self.0.get(key, "read the lock").await?;
        Ok(found.map(|mut columns| LockRow { info: columns.remove(INFO) }))
    }

    /// Puts a lock if the table has no row of this key.
    pub async fn put_lock(&self, key: &str, info: &LockInfo) -> Result<PutLock, StoreError> {
        let text = serde_json::to_string(info).unwrap_or_default();
        // The holder may release the lock between the two requests; then it is free for another attempt.
        const ATTEMPTS: u32 = 3;
        for _ in 0..ATTEMPTS {
            let put = self.0.put(key, &[(INFO, &text)], RowCondition::Absent, "write the lock").await?;
            if put == RowOutcome::Done {
                return Ok(PutLock::Done);
            }
            let Some(found) = self.lock(key).await? else { continue };
            let holder = read_holder(found.info.unwrap_or_default().as_bytes());
            // The answer to an earlier attempt was lost: the lock is this run's own.
            if holder.id == info.id {
                return Ok(PutLock::Done);
            }
            return Ok(PutLock::Held(Some(holder)));
        }
        Ok(PutLock::Held(None))
    }

    /// Replaces the lock if it is still `stored`. `location` is that of the state, for messages.
    pub async fn replace_lock(
        &self,
        key: &str,
        location: &str,
        stored: &LockRow,
        info: &LockInfo,
    ) -> Result<(), StoreError> {
        let text = serde_json::to_string(info).unwrap_or_default();
        if self.0.put(key, &[(INFO, &text)], stored.unchanged(), "write the lock").await? == RowOutcome::Done {
            return Ok(());
        }
        let found = self.lock(key).await?;
        // The answer to an earlier attempt was lost: the lock is this run's own.
        if found.as_ref().is_some_and(|found| found.info.as_deref() == Some(&*text)) {
            return Ok(());
        }
        Err(StoreError::lock_loss(location.to_owned(), found.map(|found| found.holder()).as_ref()))
    }

    /// Releases the lock with this ID. `location` is that of the state, for messages.
    pub async fn release(&self, key: &str, location: &str, id: &str) -> Result<(), StoreError> {
        let Some(found) = self.lock(key).await? else {
            return Err(StoreError::NotLocked { location: location.to_owned() });
        };
        check_lock_id(found.holder(), id)?;
        // The condition is the record that was just read: another run may have replaced it since.
        let deleted = self.0.delete(key, found.unchanged(), "delete the lock").await?;
        // A row that is gone was deleted by an earlier attempt whose answer was lost.
        if deleted == RowOutcome::Done || self.lock(key).await?.is_none() {
            return Ok(());
        }
        Err(StoreError::LockLost {
            location: location.to_owned(),
            reason: "another run has replaced the lock in the meantime".to_owned(),
        })
    }

    /// Returns the digest of the state whose lock has this key.
    pub async fn digest(&self, key: &str) -> Result<Option<Digest>, StoreError> {
        let Some(mut columns) = self.0.get(&digest_key(key), "read the digest of the state").await? else {
            return Ok(None);
        };
        let mut text = |name: &str| columns.remove(name).filter(|text| !text.is_empty());
        let written = text(WRITTEN);
        Ok(text(DIGEST).map(|md5| Digest { md5, written }))
    }

    /// Records the digest of a state.
    pub async fn put_digest(&self, key: &str, digest: &Digest) -> Result<(), StoreError> {
        self.write_digest(key, digest, RowCondition::None).await
    }

    /// Replaces a digest, unless another run has written one in the meantime.
    pub async fn replace_digest(&self, key: &str, old: &Digest, new: &Digest) -> Result<(), StoreError> {
        self.write_digest(key, new, RowCondition::Column(DIGEST, &old.md5)).await
    }

    async fn write_digest(&self, key: &str, digest: &Digest, condition: RowCondition<'_>) -> Result<(), StoreError> {
        let mut columns = vec![(DIGEST, digest.md5.as_str())];
        columns.extend(digest.written.as_deref().map(|written| (WRITTEN, written)));
        // A refusal means that another run has recorded a digest since, which is the newer one.
        self.0.put(&digest_key(key), &columns, condition, "write the digest of the state").await.map(|_| ())
    }

    /// Deletes the digest of a state.
    pub async fn delete_digest(&self, key: &str) -> Result<(), StoreError> {
        self.0.delete(&digest_key(key), RowCondition::None, "delete the digest of the state").await.map(|_| ())
    }
}

/// Returns the key of the row with the digest of a state.
pub(super) fn digest_key(key: &str) -> String {
    format!("{key}-md5")
}
