//! Locks: an object that only one run can create, an item of a table, or both.

use super::objects::{Condition, Objects, Outcome};
use super::state_note::note_merged;
use super::table::Table;
use crate::error::{StoreError, check_lock_id};
use crate::lock_info::{LockInfo, held_reason, read_holder};
use crate::stores::lock_table::PutLock;

/// The locks that the configuration asks for.
pub(super) struct Locks {
    pub file: LockFile,
    pub table: Option<Table>,
    /// The tags of lock files.
    pub tags: Vec<(String, String)>,
}

/// Whether runs create a lock file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LockFile {
    On,
    Off,
}

/// The state that a lock protects.
#[derive(Clone, Copy)]
pub(super) struct Target<'a> {
    pub objects: &'a Objects,
    /// The key of the state.
    pub key: &'a str,
}

impl Target<'_> {
    fn file(&self) -> String {
        format!("{}.tflock", self.key)
    }

    /// The name of the state in locks.
    pub fn path(&self) -> String {
        format!("{}/{}", self.objects.settings.bucket, self.key)
    }
}

impl Locks {
    pub fn are_configured(&self) -> bool {
        self.file == LockFile::On || self.table.is_some()
    }

    /// Takes all configured locks, the file first, as Terraform and OpenTofu do: so two runs cannot hold one lock each. Returns the ETag of the
    /// file.
    pub async fn take(&self, target: Target<'_>, info: &LockInfo) -> Result<Option<String>, StoreError> {
        let file = match self.file {
            LockFile::On => Some(self.create_file(target, info).await?),
            LockFile::Off => None,
        };
        let Some(table) = &self.table else { return Ok(file) };
        let problem = match table.put_lock(&target.path(), info).await {
            Ok(PutLock::Done) => return Ok(file),
            Ok(PutLock::Held(Some(holder))) => held(Some(holder), "the item of the DynamoDB table exists"),
            Ok(PutLock::Held(None)) => held(None, "other runs keep taking and releasing the lock"),
            Err(problem) => problem,
        };
        if file.is_some() {
            // The first problem is the one to report; the file names this run, so force-unlock can remove it.
            let _ = release_file(target, &info.id, file.as_deref(), &Retired::default()).await;
        }
        Err(problem)
    }

    /// Replaces the records of all configured locks, the file first. Returns the ETag of the file.
    ///
    /// A run that was killed between the two locks has left only the file, so a missing item is put.
    pub async fn exchange(
        &self,
        target: Target<'_>,
        stored: &LockInfo,
        info: &LockInfo,
    ) -> Result<Option<String>, StoreError> {
        let file = match self.file {
            LockFile::On => Some(exchange_file(target, stored, info, &self.tags).await?),
            LockFile::Off => None,
        };
        if let Some(table) = &self.table {
            exchange_item(table, target, stored, info, self.file).await?;
        }
        Ok(file)
    }

    /// Creates the lock file and returns its ETag.
    async fn create_file(&self, target: Target<'_>, info: &LockInfo) -> Result<String, StoreError> {
        let (file, body) = (target.file(), serde_json::to_vec(info).unwrap_or_default());
        // The holder may release the lock between the two requests; then it is free for another attempt.
        const ATTEMPTS: u32 = 3;
        for _ in 0..ATTEMPTS {
            if let Outcome::Done(etag) = target.objects.put(&file, &body, &self.tags, Condition::Absent).await? {
                return Ok(etag);
            }
            let Some(found) = target.objects.get(&file).await? else { continue };
            let holder = read_holder(&found.bytes);
            // The answer to an earlier attempt was lost: the lock is this run's own.
            if holder.id == info.id {
                return Ok(found.version);
            }
            return Err(held(Some(holder), "the lock file exists"));
        }
        Err(held(None, "other runs keep taking and releasing the lock"))
    }

    /// Releases all configured locks. Each one is tried, so that the failure of one does not leave the other. `file` is the ETag of a
    /// lock file of this process, which the segments of `retired` journals are deleted with.
    pub async fn release(
        &self,
        target: Target<'_>,
        id: &str,
        file: Option<&str>,
        retired: &Retired,
    ) -> Result<(), StoreError> {
        let mut results = Vec::new();
        // The file goes last, as it was created first: the run that creates it next finds the item free.
        if let Some(table) = &self.table {
            results.push(release_item(table, target, id).await);
        }
        if self.file == LockFile::On {
            results.push(release_file(target, id, file, retired).await);
        }
        let is_released = results.iter().any(Result::is_ok);
        let mut problems = results.into_iter().filter_map(Result::err);
        // A run that was killed between the two locks leaves one of them, and that one is released.
        let lasting = problems.find(|problem| !is_released || !matches!(problem, StoreError::NotLocked { .. }));
        lasting.map_or(Ok(()), Err)
    }
}

fn held(holder: Option<LockInfo>, how: &str) -> StoreError {
    let reason = match &holder {
        Some(holder) => held_reason(holder, how),
        None => format!("the state is locked ({how})"),
    };
    StoreError::Locked { holder: holder.map(Box::new), reason }
}

async fn exchange_file(
    target: Target<'_>,
    stored: &LockInfo,
    info: &LockInfo,
    tags: &[(String, String)],
) -> Result<String, StoreError> {
    let (file, location) = (target.file(), target.objects.location(target.key));
    let Some(found) = target.objects.get(&file).await? else { return Err(StoreError::lock_loss(location, None)) };
    let holder: LockInfo = serde_json::from_slice(&found.bytes).unwrap_or_default();
    // The answer to an earlier attempt was lost.
    if holder == *info {
        return Ok(found.version);
    }
    if holder != *stored {
        return Err(StoreError::lock_loss(location, Some(&holder)));
    }
    let body = serde_json::to_vec(info).unwrap_or_default();
    if let Outcome::Done(etag) = target.objects.put(&file, &body, tags, Condition::Matches(&found.version)).await? {
        return Ok(etag);
    }
    match target.objects.get(&file).await? {
        // The answer to an earlier attempt of the request was lost.
        Some(found) if found.bytes == body => Ok(found.version),
        found => {
            let holder = found.and_then(|found| serde_json::from_slice::<LockInfo>(&found.bytes).ok());
            Err(StoreError::lock_loss(location, holder.as_ref()))
        }
    }
}

async fn exchange_item(
    table: &Table,
    target: Target<'_>,
    stored: &LockInfo,
    info: &LockInfo,
    file: LockFile,
) -> Result<(), StoreError> {
    let (key, location) = (target.path(), target.objects.location(target.key));
    let Some(found) = table.lock(&key).await? else {
        return match file {
            LockFile::On => match table.put_lock(&key, info).await? {
                PutLock::Done => Ok(()),
                PutLock::Held(holder) => Err(StoreError::lock_loss(location, holder.as_ref())),
            },
            LockFile::Off => Err(StoreError::lock_loss(location, None)),
        };
    };
    let holder = found.holder();
    if holder == *info {
        return Ok(());
    }
    // With a lock file, an item of the former holder may be older than its file.
    if holder.id != stored.id || (file == LockFile::Off && holder != *stored) {
        return Err(StoreError::lock_loss(location, Some(&holder)));
    }
    table.replace_lock(&key, &location, &found, info).await
}

async fn release_item(table: &Table, target: Target<'_>, id: &str) -> Result<(), StoreError> {
    table.release(&target.path(), &target.objects.location(target.key), id).await
}

/// The segments of journals that are deleted together with a lock file.
#[derive(Debug, Default)]
pub(super) struct Retired {
    pub journals: Vec<String>,
    /// Those that a killed run may have left.
    pub possible: Vec<String>,
}

async fn release_file(target: Target<'_>, id: &str, etag: Option<&str>, retired: &Retired) -> Result<(), StoreError> {
    let file = target.file();
    // The file of this process need not be read: it is the one with this ETag, or it is another one.
    let deleted = match (etag, retired) {
        (Some(etag), Retired { journals, .. }) if journals.is_empty() => {
            target.objects.delete(&file, Condition::Matches(etag)).await?
        }
        (Some(etag), Retired { journals, possible }) => {
            let (deleted, staying) = target.objects.delete_with(journals, possible, &file, etag).await?;
            note_merged(target.objects, &staying).await;
            deleted
        }
        (None, Retired { journals, .. }) => {
            // The lock is released whether they can be deleted or not.
            if target.objects.delete_all(journals).await.is_err() {
                note_merged(target.objects, journals).await;
            }
            Outcome::Refused
        }
    };
    if let Outcome::Done(_) = deleted {
        return Ok(());
    }
    let Some(found) = target.objects.get(&file).await? else {
        return Err(StoreError::NotLocked { location: target.objects.location(target.key) });
    };
    check_lock_id(serde_json::from_slice(&found.bytes).unwrap_or_default(), id)?;
    match target.objects.delete(&file, Condition::Matches(&found.version)).await? {
        Outcome::Done(_) => Ok(()),
        Outcome::Refused => Err(StoreError::LockLost {
            location: target.objects.location(target.key),
            reason: "another run has replaced the lock file in the meantime".to_owned(),
        }),
    }
}
