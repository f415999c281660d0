//! `s3`: states in a bucket of Amazon S3 or a compatible service, locked by a file, a DynamoDB table, or both.

mod digest;
mod errors;
mod lock;
mod objects;
mod schema;
mod settings;
mod sidecars;
mod state_note;
mod table;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::OnceCell;
use tokio::task::JoinSet;

use crate::backend_type::BackendType;
use crate::error::StoreError;
use crate::host::Host;
use crate::lock_info::LockInfo;
use crate::schema::Settings;
use crate::store::{
    DEFAULT_WORKSPACE, Expected, HeldLock, JournalStore, LeaseStore, SharingStore, Snapshot, StateStore, StoreFuture,
    Version, Write,
};
use crate::stores::lock_table::LockTable;
use errors::Subject;
use lock::{LockFile, Locks, Retired, Target};
use objects::{Condition, Objects, Outcome};
use settings::{Accounts, ObjectSettings};
use state_note::StateNotes;
use table::DynamoRows;

pub(crate) const TYPE: BackendType = BackendType { name: "s3", schema: schema::schema, open };

/// The number of parallel requests while workspaces are listed.
const PARALLEL: usize = 16;

/// States in a bucket.
struct S3Store {
    objects: Arc<Objects>,
    locks: Locks,
    state_tags: Vec<(String, String)>,
    notes: StateNotes,
    accounts: Accounts,
    checked_account: OnceCell<()>,
    /// The locks of this process, by the keys of their states.
    locked: Mutex<BTreeMap<String, OwnLock>>,
    /// The segments of journals that are deleted together with the lock file, by the keys of their states.
    retired: Mutex<BTreeMap<String, Vec<String>>>,
}

/// A lock of this process.
struct OwnLock {
    id: String,
    /// The ETag of the lock file, if there is one.
    file: Option<String>,
}

fn open(settings: &Settings, host: &Host) -> Result<Arc<dyn StateStore>, StoreError> {
    let renamed = settings::renamed_endpoint_variables(settings);
    let host = Host { environment: host.environment.with_missing(renamed), ..host.clone() };
    let client = settings::client(settings, &host)?;
    let table = settings.text("dynamodb_table").map(|name| {
        let rows = DynamoRows { client: client.clone(), name: name.to_owned() };
        LockTable(rows)
    });
    let file = if settings.flag("use_lockfile") { LockFile::On } else { LockFile::Off };
    Ok(Arc::new(S3Store {
        objects: Arc::new(Objects { client, settings: ObjectSettings::new(settings)? }),
        locks: Locks { file, table, tags: settings.map("lock_tags") },
        state_tags: settings.map("state_tags"),
        notes: StateNotes::default(),
        accounts: Accounts::new(settings)?,
        checked_account: OnceCell::new(),
        locked: Mutex::default(),
        retired: Mutex::default(),
    }))
}

impl S3Store {
    fn key(&self, workspace: &str) -> String {
        let settings = &self.objects.settings;
        match workspace {
            DEFAULT_WORKSPACE => settings.key.clone(),
            name => format!("{}{name}/{}", self.folder(), settings.key),
        }
    }

    /// The common beginning of the keys of all workspaces but the default one.
    fn folder(&self) -> String {
        match &*self.objects.settings.prefix {
            "" => String::new(),
            prefix => format!("{prefix}/"),
        }
    }

    /// Checks before the first request that the account is one that the configuration allows.
    async fn check_account(&self) -> Result<(), StoreError> {
        if !self.accounts.are_restricted() {
            return Ok(());
        }
        let check = || async {
            let identity = self.objects.client.caller_identity().await.map_err(|problem| {
                Subject { service: "STS", location: "STS", container: "", action: "return the account" }.error(&problem)
            })?;
            if self.accounts.allow(&identity.account) {
                return Ok(());
            }
            Err(StoreError::Unauthenticated {
                service: "the backend \"s3\"".to_owned(),
                reason: format!("the account {} is not one that the configuration allows", identity.account),
                advice: "Use credentials of another account, or change allowed_account_ids or forbidden_account_ids."
                    .to_owned(),
            })
        };
        // Only success is remembered: the next request repeats a check that failed.
        self.checked_account.get_or_try_init(check).await.map(|_| ())
    }

    async fn list(&self) -> Result<Vec<String>, StoreError> {
        self.check_account().await?;
        let folder = self.folder();
        let page = match self.objects.list(&folder, None, None).await {
            // Identities that only reach their own states work in the default workspace, as with Terraform and OpenTofu.
            Err(StoreError::AccessDenied { .. }) if self.objects.settings.prefix == settings::DEFAULT_PREFIX => {
                return Ok(Vec::new());
            }
            page => page?,
        };
        let suffix = format!("/{}", self.objects.settings.key);
        if page.next.is_none() {
            let keys = page.objects.iter().filter_map(|object| object.key.strip_prefix(&folder)?.strip_suffix(&suffix));
            return Ok(keys.filter(|name| !name.is_empty() && !name.contains('/')).map(str::to_owned).collect());
        }
        // The bucket has many objects of other configurations: to look for one object of each workspace is less.
        let mut names = Vec::new();
        let mut next = None;
        loop {
            let page = self.objects.list(&folder, Some('/'), next.as_deref()).await?;
            let prefixes = page.prefixes.iter().filter_map(|prefix| prefix.strip_prefix(&folder)?.strip_suffix('/'));
            names.extend(prefixes.filter(|name| !name.is_empty()).map(str::to_owned));
            next = page.next;
            if next.is_none() {
                return self.existing(names).await;
            }
        }
    }

    /// Returns the workspaces that have a state.
    async fn existing(&self, names: Vec<String>) -> Result<Vec<String>, StoreError> {
        let mut found = Vec::new();
        for names in names.chunks(PARALLEL) {
            let mut lookups = JoinSet::new();
            for name in names {
                let (objects, key, name) = (Arc::clone(&self.objects), self.key(name), name.clone());
                lookups.spawn(async move { objects.etag(&key).await.map(|etag| etag.map(|_| name)) });
            }
            for name in lookups.join_all().await {
                found.extend(name?);
            }
        }
        Ok(found)
    }

    async fn put(&self, workspace: &str, write: Write<'_>) -> Result<Version, StoreError> {
        self.check_account().await?;
        let key = self.key(workspace);
        let current = match &write.expected {
            Expected::Version(Version(etag)) => self.notes.current(&key, etag),
            Expected::Any | Expected::Absent => String::new(),
        };
        let condition = match &write.expected {
            Expected::Any => Condition::None,
            Expected::Absent => Condition::Absent,
            Expected::Version(_) => Condition::Matches(&current),
        };
        let note = self.notes.of_write(&key, write.journals);
        let put = self.objects.put_shared(&key, write.bytes, &self.state_tags, note.as_deref(), condition);
        let etag = match put.await? {
            Outcome::Done(etag) => etag,
            Outcome::Refused => {
                let found = self.objects.get(&key).await?;
                match found {
                    // The answer to an earlier attempt was lost: the object is this run's own.
                    Some(found) if found.bytes == *write.bytes => found.version,
                    found => {
                        let location = self.objects.location(&key);
                        let found = found.map(|found| Version(found.version));
                        return Err(StoreError::Conflict { location, found });
                    }
                }
            }
        };
        // Before the digest, whose failure does not undo the write of the object.
        self.notes.written(&key, &etag, note.as_deref());
        self.record_digest(&key, write.bytes).await?;
        Ok(Version(etag))
    }

    async fn remove(&self, workspace: &str) -> Result<(), StoreError> {
        self.check_account().await?;
        let key = self.key(workspace);
        // The digest is deleted first, because reads refuse a digest without an object.
        if let Some(table) = &self.locks.table {
            table.delete_digest(&Target { objects: &self.objects, key: &key }.path()).await?;
        }
        self.objects.delete_all(&self.take_retired(&key)).await?;
        self.objects.delete(&key, Condition::None).await?;
        Ok(())
    }

    async fn take_lock(&self, workspace: &str, info: &LockInfo) -> Result<HeldLock, StoreError> {
        self.check_account().await?;
        let key = self.key(workspace);
        let target = Target { objects: &self.objects, key: &key };
        let info = LockInfo { path: target.path(), ..info.clone() };
        let file = self.locks.take(target, &info).await?;
        let own = OwnLock { id: info.id.clone(), file };
        self.locked.lock().unwrap_or_else(PoisonError::into_inner).insert(key, own);
        Ok(HeldLock { id: info.id.clone(), info })
    }

    async fn exchange_lock(&self, workspace: &str, stored: &HeldLock, info: &LockInfo) -> Result<HeldLock, StoreError> {
        let key = self.key(workspace);
        let target = Target { objects: &self.objects, key: &key };
        let info = LockInfo { path: target.path(), ..info.clone() };
        let file = self.locks.exchange(target, &stored.info, &info).await?;
        let own = OwnLock { id: info.id.clone(), file };
        self.locked.lock().unwrap_or_else(PoisonError::into_inner).insert(key, own);
        Ok(HeldLock { id: info.id.clone(), info })
    }

    async fn release(&self, workspace: &str, id: &str) -> Result<(), StoreError> {
        let key = self.key(workspace);
        // Forgotten before the request: if that fails, a repetition must read the file instead of trusting its ETag.
        let file = self.forget_lock(&key, id);
        let journals = self.take_retired(&key);
        let possible = if journals.is_empty() { Vec::new() } else { self.notes.possible_leftovers(&key) };
        let retired = Retired { journals, possible };
        let released =
            self.locks.release(Target { objects: &self.objects, key: &key }, id, file.as_deref(), &retired).await;
        if released.is_err() {
            self.retire(&key, retired.journals);
        }
        released
    }

    /// Leaves segments to be deleted together with the lock file.
    fn retire(&self, key: &str, segments: Vec<String>) {
        let mut retired = self.retired.lock().unwrap_or_else(PoisonError::into_inner);
        retired.entry(key.to_owned()).or_default().extend(segments);
    }

    fn take_retired(&self, key: &str) -> Vec<String> {
        self.retired.lock().unwrap_or_else(PoisonError::into_inner).remove(key).unwrap_or_default()
    }

    /// Forgets a lock of this process, and returns the ETag of its file.
    fn forget_lock(&self, key: &str, id: &str) -> Option<String> {
        let mut locked = self.locked.lock().unwrap_or_else(PoisonError::into_inner);
        let is_own = locked.get(key).is_some_and(|own| own.id == id);
        if is_own { locked.remove(key)?.file } else { None }
    }

    fn has_locked(&self, key: &str) -> bool {
        self.locked.lock().unwrap_or_else(PoisonError::into_inner).contains_key(key)
    }

    /// Whether this process has created the lock file of a state.
    fn has_lock_file(&self, key: &str) -> bool {
        self.locked.lock().unwrap_or_else(PoisonError::into_inner).get(key).is_some_and(|own| own.file.is_some())
    }
}

impl StateStore for S3Store {
    fn location(&self, workspace: &str) -> String {
        self.objects.location(&self.key(workspace))
    }

    fn can_lock(&self) -> bool {
        self.locks.are_configured()
    }

    fn workspaces(&self) -> StoreFuture<'_, Vec<String>> {
        Box::pin(self.list())
    }

    fn read<'a>(&'a self, workspace: &'a str) -> StoreFuture<'a, Option<Snapshot>> {
        Box::pin(async move { Ok(self.fetch(workspace).await?.map(|found| found.snapshot)) })
    }

    fn write<'a>(&'a self, workspace: &'a str, write: Write<'a>) -> StoreFuture<'a, Version> {
        Box::pin(self.put(workspace, write))
    }

    fn delete_workspace<'a>(&'a self, workspace: &'a str, _: Option<&'a HeldLock>) -> StoreFuture<'a, ()> {
        Box::pin(self.remove(workspace))
    }

    fn lock<'a>(&'a self, workspace: &'a str, info: &'a LockInfo) -> StoreFuture<'a, HeldLock> {
        Box::pin(self.take_lock(workspace, info))
    }

    fn unlock<'a>(&'a self, workspace: &'a str, id: &'a str) -> StoreFuture<'a, ()> {
        Box::pin(self.release(workspace, id))
    }

    fn leases(&self) -> Option<&dyn LeaseStore> {
        Some(self)
    }

    fn journals(&self) -> Option<&dyn JournalStore> {
        Some(self)
    }

    fn sharing(&self) -> Option<&dyn SharingStore> {
        Some(self)
    }
}

impl LeaseStore for S3Store {
    fn replace_lock<'a>(
        &'a self,
        workspace: &'a str,
        stored: &'a HeldLock,
        info: &'a LockInfo,
    ) -> StoreFuture<'a, HeldLock> {
        Box::pin(self.exchange_lock(workspace, stored, info))
    }
}
