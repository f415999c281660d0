//! Sharing documents as keys next to the state, and one session that all shared runs renew.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::task::AbortHandle;

use super::ConsulStore;
use super::api::{Api, Committed};
use super::lock::{RENEWAL, acquire, info_key, lock_key, put_info, read_info, remove_free};
use crate::error::StoreError;
use crate::lock_info::{LockInfo, now_rfc3339};
use crate::store::{
    HeldLock, Leaving, SharedLockStore, SharingStore, Snapshot, StoreFuture, Version, Write, sharing_object,
};

/// The end of the text in the lock info by which shared runs recognize the session that they renew together.
const MARK: &str = "held by all runs of Groma that share this state";

/// The attempts to find or to take a lock that other runs release at the same time.
const ATTEMPTS: u32 = 5;

/// The pause before an info is read again that does not name the session which holds the lock.
const INFO_PAUSE: Duration = Duration::from_millis(300);

/// The part of this process in the session of shared runs.
pub(super) struct SharedSession {
    session: Arc<Mutex<String>>,
    renewal: AbortHandle,
}

impl SharedSession {
    fn id(&self) -> String {
        self.session.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Returns the session of the shared runs that hold the lock, or takes the free lock with a new one.
async fn join(api: &Api, key: &str, info: &LockInfo) -> Result<String, StoreError> {
    for attempt in 1..=ATTEMPTS {
        let Some(session) = api.get(&lock_key(key)).await?.and_then(|entry| entry.session) else {
            let session = api.create_session().await?;
            match acquire(api, key, &session).await {
                Ok(()) => {
                    let text = format!("consul session: {session}, {MARK}");
                    let created = now_rfc3339();
                    let path = key.to_owned();
                    put_info(api, key, &LockInfo { id: session.clone(), info: text, path, created, ..info.clone() })
                        .await?;
                    return Ok(session);
                }
                Err(problem) => {
                    // The session expires anyway.
                    let _ = api.destroy_session(&session).await;
                    match problem {
                        // Another shared run may have been faster.
                        StoreError::Locked { .. } => continue,
                        problem => return Err(problem),
                    }
                }
            }
        };
        match read_info(api, key).await?.filter(|holder| holder.info.contains(&session)) {
            Some(holder) if holder.info.ends_with(MARK) => {
                if api.renew_session(&session).await? {
                    return Ok(session);
                }
                // The session has ended, so the lock is free now or in a moment.
            }
            Some(holder) => return Err(held_by(holder)),
            // The info is written a moment after the lock was taken; until then there is none, or one of an earlier session.
            None if attempt < ATTEMPTS => tokio::time::sleep(INFO_PAUSE).await,
            None => return Err(held_by(LockInfo { id: session, path: key.to_owned(), ..LockInfo::default() })),
        }
    }
    Err(StoreError::Service {
        service: api.shown(key),
        action: "take the lock".to_owned(),
        reason: "other runs take and release it all the time".to_owned(),
    })
}

fn held_by(holder: LockInfo) -> StoreError {
    StoreError::Locked { holder: Some(Box::new(holder)), reason: "Lock Session is held".to_owned() }
}

/// Renews the session while the run goes on. One that has ended is replaced, unless another program has taken the lock: the next
/// renewal of the run finds that out.
async fn renew(api: Api, key: String, info: LockInfo, session: Arc<Mutex<String>>) {
    loop {
        tokio::time::sleep(RENEWAL).await;
        let current = session.lock().unwrap_or_else(PoisonError::into_inner).clone();
        // A failure of the network may pass before the session ends.
        let Ok(false) = api.renew_session(&current).await else { continue };
        if let Ok(joined) = join(&api, &key, &info).await {
            *session.lock().unwrap_or_else(PoisonError::into_inner) = joined;
        }
    }
}

impl ConsulStore {
    /// The key of the document. With a slash in it, nobody takes it for the state of a workspace.
    fn sharing_key(&self, workspace: &str) -> String {
        format!("{}/document", sharing_object(&self.key(workspace)))
    }

    async fn put_sharing(&self, workspace: &str, write: Write<'_>) -> Result<Version, StoreError> {
        let key = self.sharing_key(workspace);
        match self.commit(&key, write.bytes, &write.expected).await? {
            Committed::At(index) => Ok(Version(index.to_string())),
            Committed::TooLarge => Err(StoreError::TooLarge {
                location: self.api.shown(&key),
                reason: "the server accepts only a document with fewer claims".to_owned(),
            }),
        }
    }

    fn shared_session(&self, workspace: &str) -> Option<String> {
        let shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        shared.get(workspace).map(SharedSession::id)
    }

    async fn take_shared(&self, workspace: &str, info: &LockInfo) -> Result<HeldLock, StoreError> {
        let key = self.key(workspace);
        let held = |session: String| HeldLock { info: LockInfo { id: session.clone(), ..info.clone() }, id: session };
        if let Some(session) = self.shared_session(workspace)
            && self.api.get(&lock_key(&key)).await?.and_then(|entry| entry.session).as_ref() == Some(&session)
        {
            return Ok(held(session));
        }
        let joined = join(&self.api, &key, info).await?;
        let session = Arc::new(Mutex::new(joined.clone()));
        let task = renew(self.api.clone(), key, info.clone(), Arc::clone(&session));
        let part = SharedSession { session, renewal: tokio::spawn(task).abort_handle() };
        let former = self.shared.lock().unwrap_or_else(PoisonError::into_inner).insert(workspace.to_owned(), part);
        // Two tasks would renew different sessions, and only one of them can hold the lock.
        former.iter().for_each(|former| former.renewal.abort());
        Ok(held(joined))
    }

    async fn leave_shared(&self, workspace: &str, leaving: Leaving) -> Result<(), StoreError> {
        let part = self.shared.lock().unwrap_or_else(PoisonError::into_inner).remove(workspace);
        let Some(part) = part else { return Ok(()) };
        // The renewal ends first, because it would join the lock again.
        part.renewal.abort();
        // The others renew the session; it ends some seconds after the last of them, however they end.
        if leaving == Leaving::Others {
            return Ok(());
        }
        let (key, session) = (self.key(workspace), part.id());
        self.api.delete(&info_key(&key)).await?;
        self.api.release(&lock_key(&key), &session).await?;
        remove_free(&self.api, &key).await?;
        self.api.destroy_session(&session).await
    }
}

impl SharingStore for ConsulStore {
    fn read_sharing<'a>(&'a self, workspace: &'a str) -> StoreFuture<'a, Option<Snapshot>> {
        Box::pin(async move {
            let found = self.api.get(&self.sharing_key(workspace)).await?;
            Ok(found.map(|entry| Snapshot { bytes: entry.value, version: Version(entry.modify_index.to_string()) }))
        })
    }

    fn write_sharing<'a>(&'a self, workspace: &'a str, write: Write<'a>) -> StoreFuture<'a, Version> {
        Box::pin(self.put_sharing(workspace, write))
    }

    fn shared_locks(&self) -> Option<&dyn SharedLockStore> {
        Some(self)
    }
}

impl SharedLockStore for ConsulStore {
    fn lock_shared<'a>(&'a self, workspace: &'a str, info: &'a LockInfo) -> StoreFuture<'a, HeldLock> {
        Box::pin(self.take_shared(workspace, info))
    }

    fn unlock_shared<'a>(&'a self, workspace: &'a str, _: &'a HeldLock, leaving: Leaving) -> StoreFuture<'a, ()> {
        Box::pin(self.leave_shared(workspace, leaving))
    }
}
