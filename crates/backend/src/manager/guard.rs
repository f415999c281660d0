//! Locks of remote workspaces: acquisition, waiting (`-lock-timeout`), and release. Each store implements `lock` and `unlock`; locks of
//! local files are in `groma_state`.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use groma_state::LockRequest;

use super::backend::RemoteBackend;
use super::keeper::{self, Keeper};
use super::retry::{lock_pauses, request_pauses};
use crate::error::StoreError;
use crate::lock_info::{LockInfo, new_lock};
use crate::store::HeldLock;

/// The time after which the user is informed that the store is slow.
const PATIENCE: Duration = Duration::from_millis(400);

/// The interval between checks for an interrupt during a pause.
const TICK: Duration = Duration::from_millis(100);

/// The behavior of a command while it waits for a lock.
pub trait Waiting {
    /// Whether to go on waiting.
    fn keep_waiting(&self) -> bool;

    /// Called once if the lock takes longer than a moment to acquire or release.
    fn is_slow(&self, message: &str);
}

/// Reports a lock that could not be released.
pub type ReleaseReport = Arc<dyn Fn(&StoreError, &HeldLock) + Send + Sync>;

/// The lock of a workspace, released when this is dropped.
pub struct LockGuard {
    backend: RemoteBackend,
    workspace: String,
    keeper: Option<Arc<Keeper>>,
    report: ReleaseReport,
}

impl RemoteBackend {
    /// Takes the lock of a workspace, and waits for another holder as long as the request allows.
    ///
    /// `report` receives the error if the lock cannot be released in the end. A store without locks returns a guard of
    /// nothing.
    ///
    /// # Errors
    /// Another run holds the lock, or the store fails. Only a holder that the store can name is waited for: any other
    /// error would not go away.
    pub fn lock(
        &self,
        workspace: &str,
        request: &LockRequest,
        waiting: &dyn Waiting,
        report: ReleaseReport,
    ) -> Result<LockGuard, StoreError> {
        let guard = |keeper| LockGuard { backend: self.clone(), workspace: workspace.to_owned(), keeper, report };
        if !self.store().can_lock() {
            return Ok(guard(None));
        }
        let started = Instant::now();
        let mut pauses = lock_pauses();
        let mut notice = SlowNotice { waiting, is_given: false };
        loop {
            let attempt = LockAttempt::new(self, request);
            let result = match attempt.take(self, workspace, &mut notice) {
                Err(StoreError::Locked { holder: Some(holder), reason }) => {
                    self.take_over(workspace, *holder, reason, &attempt.info)
                }
                result => result,
            };
            let problem = match result {
                Ok(held) => return Ok(guard(Some(attempt.keeper(self, workspace, held)))),
                Err(problem) if problem.is_held_lock() => problem,
                Err(problem) => return Err(problem),
            };
            let left = request.timeout.saturating_sub(started.elapsed());
            let Some(pause) = pauses.next().filter(|_| !left.is_zero()) else { return Err(problem) };
            notice.give();
            let until = Instant::now() + pause.min(left);
            while Instant::now() < until {
                if !waiting.keep_waiting() {
                    return Err(problem);
                }
                std::thread::sleep(TICK.min(until.saturating_duration_since(Instant::now())));
            }
        }
    }
}

impl RemoteBackend {
    /// Takes the lock of a workspace if nobody has it: neither waits for a holder nor takes over a lock whose deadline has passed.
    /// Returns `None` if there is a lock.
    ///
    /// # Errors
    /// The store fails.
    pub(super) fn lock_if_free(
        &self,
        workspace: &str,
        request: &LockRequest,
        waiting: &dyn Waiting,
        report: ReleaseReport,
    ) -> Result<Option<LockGuard>, StoreError> {
        let attempt = LockAttempt::new(self, request);
        match attempt.take(self, workspace, &mut SlowNotice { waiting, is_given: false }) {
            Ok(held) => {
                let keeper = Some(attempt.keeper(self, workspace, held));
                Ok(Some(LockGuard { backend: self.clone(), workspace: workspace.to_owned(), keeper, report }))
            }
            Err(problem) if problem.is_held_lock() => Ok(None),
            Err(problem) => Err(problem),
        }
    }

    /// Takes the lock of a run whose deadline has passed. Of several runs that try so, one succeeds.
    fn take_over(
        &self,
        workspace: &str,
        holder: LockInfo,
        reason: String,
        info: &LockInfo,
    ) -> Result<HeldLock, StoreError> {
        let is_over = keeper::is_over(&holder, self.clock().now());
        let locked = |holder| StoreError::Locked { holder: Some(Box::new(holder)), reason };
        let Some(leases) = self.store().leases().filter(|_| is_over) else { return Err(locked(holder)) };
        let stored = HeldLock { id: holder.id.clone(), info: holder };
        match self.block_on(leases.replace_lock(workspace, &stored, info)) {
            // Another run was faster, or the holder has renewed its lock after all.
            Err(StoreError::LockLost { .. }) => Err(locked(stored.info)),
            taken => taken,
        }
    }
}

/// One attempt to take a lock. Its time and its deadline begin with the attempt.
struct LockAttempt {
    info: LockInfo,
    begun: SystemTime,
}

impl LockAttempt {
    fn new(backend: &RemoteBackend, request: &LockRequest) -> Self {
        let (mut info, begun) = (new_lock(request), backend.clock().now());
        // A deadline promises renewals, which need a store that can replace a lock.
        if backend.store().leases().is_some() {
            info.deadline = keeper::deadline(begun);
        }
        Self { info, begun }
    }

    fn take(
        &self,
        backend: &RemoteBackend,
        workspace: &str,
        notice: &mut SlowNotice<'_>,
    ) -> Result<HeldLock, StoreError> {
        backend.block_on(async {
            let attempt = backend.store().lock(workspace, &self.info);
            tokio::pin!(attempt);
            if !notice.is_given
                && let Ok(result) = tokio::time::timeout(PATIENCE, &mut attempt).await
            {
                return result;
            }
            notice.give();
            attempt.await
        })
    }

    /// Begins to renew the lock that this attempt has taken.
    fn keeper(&self, backend: &RemoteBackend, workspace: &str, held: HeldLock) -> Arc<Keeper> {
        let keeper = Arc::new(Keeper::new(backend, workspace, held, self.begun));
        keeper.keep();
        keeper
    }
}

/// The notice that the lock takes a while, which is given at most once.
struct SlowNotice<'a> {
    waiting: &'a dyn Waiting,
    is_given: bool,
}

impl SlowNotice<'_> {
    fn give(&mut self) {
        if !std::mem::replace(&mut self.is_given, true) {
            self.waiting.is_slow("Acquiring state lock. This may take a few moments...");
        }
    }
}

impl LockGuard {
    /// Returns the lock; `None` in a store without locks.
    pub fn held(&self) -> Option<HeldLock> {
        self.keeper.as_ref().map(|keeper| keeper.held())
    }

    /// Returns the keeper of the lock.
    pub(super) fn keeper(&self) -> Option<&Arc<Keeper>> {
        self.keeper.as_ref()
    }

    /// Forgets the lock without releasing it, because it was deleted with its workspace.
    pub fn forget(mut self) {
        if let Some(keeper) = self.keeper.take() {
            // Whether it was lost matters no more.
            let _ = keeper.end();
        }
    }

    /// Releases the lock. Failures of the network are repeated, because a lock that stays blocks everybody.
    fn release(&self, held: &HeldLock) -> Result<(), StoreError> {
        let mut pauses = request_pauses();
        let mut is_repeated = false;
        loop {
            match self.backend.force_unlock(&self.workspace, &held.id) {
                Err(problem @ (StoreError::Network { .. } | StoreError::Service { .. })) => match pauses.next() {
                    Some(pause) => self.backend.clock().sleep(pause),
                    None => return Err(problem),
                },
                // The answer of the attempt before was lost, not its effect.
                Err(StoreError::NotLocked { .. }) if is_repeated => return Ok(()),
                result => return result,
            }
            is_repeated = true;
        }
    }
}

impl Drop for LockGuard {
    fn drop(&mut self) {
        let Some(keeper) = self.keeper.take() else { return };
        let released = keeper.end().and_then(|held| self.release(&held));
        // A lost lock was reported by what failed for it, and there is nothing to release.
        if let Err(problem) = released.or_else(|problem| if keeper.is_taken_over() { Ok(()) } else { Err(problem) }) {
            (self.report)(&problem, &keeper.held());
        }
    }
}
