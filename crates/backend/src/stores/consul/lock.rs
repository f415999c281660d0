//! Locks of Consul: a key that a session holds, which ends unless it is renewed.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::task::AbortHandle;

use super::api::Api;
use crate::error::StoreError;
use crate::lock_info::{LockInfo, now_rfc3339};
use crate::store::HeldLock;

/// Half the lifetime of a session.
pub(super) const RENEWAL: Duration = Duration::from_millis(7500);

/// After a holder has vanished, Consul refuses the lock for some seconds. Nobody holds it then.
const DELAY_PAUSE: Duration = Duration::from_secs(1);
const DELAY_ATTEMPTS: u32 = 8;

pub(super) fn lock_key(key: &str) -> String {
    format!("{}/.lock", key.trim_end_matches('/'))
}

pub(super) fn info_key(key: &str) -> String {
    format!("{}/.lockinfo", key.trim_end_matches('/'))
}

/// A lock of this process, whose session a task renews.
pub(super) struct LiveLock {
    shared: Arc<Shared>,
    renewal: AbortHandle,
}

struct Shared {
    session: Mutex<String>,
    /// The reason why the lock was lost.
    loss: Mutex<Option<String>>,
}

impl Shared {
    fn session(&self) -> String {
        self.session.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn lose(&self, reason: &str) {
        *self.loss.lock().unwrap_or_else(PoisonError::into_inner) = Some(reason.to_owned());
    }
}

impl LiveLock {
    /// Takes the lock of the state at `key`.
    pub async fn take(api: &Api, key: &str, info: &LockInfo) -> Result<(HeldLock, Self), StoreError> {
        let session = api.create_session().await?;
        if let Err(problem) = acquire(api, key, &session).await {
            // Without a lock the session expires anyway, so a failure here does no harm.
            let _ = api.destroy_session(&session).await;
            return Err(problem);
        }
        let info = LockInfo {
            id: session.clone(),
            info: format!("consul session: {session}"),
            path: key.to_owned(),
            created: now_rfc3339(),
            ..info.clone()
        };
        if let Err(problem) = put_info(api, key, &info).await {
            let _ = api.release(&lock_key(key), &session).await;
            let _ = api.destroy_session(&session).await;
            return Err(problem);
        }
        let shared = Arc::new(Shared { session: Mutex::new(session.clone()), loss: Mutex::default() });
        let task = renew(api.clone(), key.to_owned(), info.clone(), Arc::clone(&shared));
        let renewal = tokio::spawn(task).abort_handle();
        Ok((HeldLock { id: session, info }, Self { shared, renewal }))
    }

    /// Returns the reason why the lock was lost, if it was.
    pub fn loss_reason(&self) -> Option<String> {
        self.shared.loss.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Releases the lock and removes its keys.
    pub async fn release(self, api: &Api, key: &str) -> Result<(), StoreError> {
        // The renewal ends first, because it would take the lock again.
        self.renewal.abort();
        let session = self.shared.session();
        if let Some(reason) = self.loss_reason() {
            return Err(StoreError::LockLost { location: api.shown(key), reason });
        }
        // The info is deleted while the lock is held, so that it cannot be that of the next holder.
        api.delete(&info_key(key)).await?;
        api.release(&lock_key(key), &session).await?;
        remove_free(api, key).await?;
        api.destroy_session(&session).await
    }
}

/// Removes the key of a lock that nobody holds.
pub(super) async fn remove_free(api: &Api, key: &str) -> Result<(), StoreError> {
    match api.get(&lock_key(key)).await? {
        // Only as it was read: another run may take the free lock meanwhile.
        Some(entry) if entry.session.is_none() => api.delete_at(&lock_key(key), entry.modify_index).await,
        _ => Ok(()),
    }
}

pub(super) async fn put_info(api: &Api, key: &str, info: &LockInfo) -> Result<(), StoreError> {
    api.put(&info_key(key), serde_json::to_vec(info).unwrap_or_default()).await
}

pub(super) async fn acquire(api: &Api, key: &str, session: &str) -> Result<(), StoreError> {
    for _ in 0..DELAY_ATTEMPTS {
        if api.acquire(&lock_key(key), session).await? {
            return Ok(());
        }
        let holder = api.get(&lock_key(key)).await?.and_then(|entry| entry.session);
        if holder.is_some() {
            let info = read_info(api, key).await?;
            // The info is written a moment after the lock was taken.
            let info = info.or_else(|| holder.map(|id| LockInfo { id, path: key.to_owned(), ..LockInfo::default() }));
            return Err(StoreError::Locked { holder: info.map(Box::new), reason: "Lock Session is held".to_owned() });
        }
        tokio::time::sleep(DELAY_PAUSE).await;
    }
    Err(StoreError::Locked {
        holder: None,
        reason: "the lock is free, but Consul does not grant it yet, because its last holder vanished".to_owned(),
    })
}

pub(super) async fn read_info(api: &Api, key: &str) -> Result<Option<LockInfo>, StoreError> {
    let entry = api.get(&info_key(key)).await?;
    Ok(entry.and_then(|entry| serde_json::from_slice(&entry.value).ok()))
}

/// Renews the session while the run goes on. A session that has ended is replaced, if nobody else has taken the lock.
async fn renew(api: Api, key: String, info: LockInfo, shared: Arc<Shared>) {
    loop {
        tokio::time::sleep(RENEWAL).await;
        // A failure of the network may pass before the session ends.
        let Ok(false) = api.renew_session(&shared.session()).await else { continue };
        let Ok(session) = api.create_session().await else { continue };
        match acquire(&api, &key, &session).await {
            Ok(()) => {
                shared.session.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&session);
                let info = LockInfo { info: format!("consul session: {session}"), id: session, ..info.clone() };
                // The lock is held in any case; the info is for people.
                let _ = put_info(&api, &key, &info).await;
            }
            Err(problem) => {
                let _ = api.destroy_session(&session).await;
                if matches!(problem, StoreError::Locked { .. }) {
                    shared.lose("the Consul session ended, and another run has taken the lock");
                    return;
                }
            }
        }
    }
}

/// Releases the lock with the ID of a user: a session.
pub(super) async fn force(api: &Api, key: &str, id: &str) -> Result<(), StoreError> {
    let holder = api.get(&lock_key(key)).await?.and_then(|entry| entry.session);
    let info = read_info(api, key).await?;
    if holder.is_none() && info.is_none() {
        return Err(StoreError::NotLocked { location: api.shown(key) });
    }
    // After a session was replaced, lock and info may name different ones; each identifies the lock.
    let is_known = holder.as_deref() == Some(id) || info.as_ref().is_some_and(|info| info.id == id);
    if !is_known {
        return Err(StoreError::LockIdMismatch { given: id.to_owned(), holder: info.map(Box::new) });
    }
    if let Some(session) = holder {
        api.destroy_session(&session).await?;
    }
    api.delete(&info_key(key)).await?;
    api.delete(&lock_key(key)).await
}
