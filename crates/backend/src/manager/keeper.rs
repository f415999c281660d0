//! The lock of this run: it is renewed while the run lives, and lost if another run has taken it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use groma_state::Replicating;
use groma_state::lease::{Deadline, LEASE, RENEWAL};
use tokio::task::AbortHandle;

use super::backend::RemoteBackend;
use super::retry::repeated;
use crate::error::StoreError;
use crate::lock_info::LockInfo;
use crate::store::{HeldLock, LeaseStore};

/// The longest time for which the end of a run waits for the answer to a renewal.
const ANSWER: Duration = Duration::from_secs(10);

/// Returns the deadline of a lock that is taken or renewed now.
pub(super) fn deadline(now: SystemTime) -> String {
    Deadline::of_renewal(now).to_string()
}

/// Whether the deadline of a lock has passed. A lock without a readable deadline has none: it is one of Terraform or
/// OpenTofu, or of a store whose locks end otherwise.
pub(super) fn is_over(info: &LockInfo, now: SystemTime) -> bool {
    info.deadline.parse().is_ok_and(|deadline: Deadline| deadline.is_over(now))
}

/// The lock of this run in a store.
///
/// A task renews it, and each write of the state checks it before: a run that was paused for longer than its lock lasts
/// renews it first, or learns that another run has taken it. A lost lock stays lost.
pub(super) struct Keeper {
    backend: RemoteBackend,
    workspace: String,
    lock: Mutex<Kept>,
    /// Held during a renewal: of two at once, the later one would find the record of the other and take the lock for lost.
    renewing: tokio::sync::Mutex<()>,
    task: Mutex<Option<AbortHandle>>,
}

struct Kept {
    held: HeldLock,
    renewed: SystemTime,
    /// The last renewal, with its time, until it is answered: the store may have its record instead of `held`.
    unanswered: Option<(LockInfo, SystemTime)>,
    loss: Option<StoreError>,
    on_loss: Option<LossNotice>,
}

/// Is called with the reason when the lock is found lost.
type LossNotice = Box<dyn FnOnce(&StoreError) + Send>;

impl Keeper {
    /// Keeps a lock that was taken at `taken`.
    pub fn new(backend: &RemoteBackend, workspace: &str, held: HeldLock, taken: SystemTime) -> Self {
        let kept = Kept { held, renewed: taken, unanswered: None, loss: None, on_loss: None };
        Self {
            backend: backend.clone(),
            workspace: workspace.to_owned(),
            lock: Mutex::new(kept),
            renewing: tokio::sync::Mutex::default(),
            task: Mutex::default(),
        }
    }

    /// Renews the lock in the background, if it has a deadline.
    pub fn keep(self: &Arc<Self>) {
        // Without background threads, the caller renews the lock.
        if !self.has_deadline() || self.backend.replicating() == Replicating::Caller {
            return;
        }
        // A weak reference, so that the task does not keep the lock of a run that has ended.
        let keeper = Arc::downgrade(self);
        let task = self.backend.spawn(async move {
            loop {
                tokio::time::sleep(RENEWAL).await;
                // The task ends with the run.
                let Some(keeper) = keeper.upgrade() else { return };
                // The next renewal may reach the store again; what writes the state checks the lock itself.
                if let Err(StoreError::LockLost { .. }) = keeper.renew().await {
                    return;
                }
            }
        });
        *self.task.lock().unwrap_or_else(PoisonError::into_inner) = Some(task);
    }

    /// Returns the lock.
    pub fn held(&self) -> HeldLock {
        self.kept().held.clone()
    }

    /// Has `notify` called when the lock is found lost, or at once if it is.
    pub fn on_loss(&self, notify: impl FnOnce(&StoreError) + Send + 'static) {
        let mut kept = self.kept();
        match &kept.loss {
            Some(problem) => notify(problem),
            None => kept.on_loss = Some(Box::new(notify)),
        }
    }

    /// Returns the lock, if it is still this run's. One that may have ended is renewed first.
    ///
    /// # Errors
    /// The lock is lost, or the store cannot be asked.
    pub fn check(&self) -> Result<HeldLock, StoreError> {
        // The guard ends before the renewal, which takes it again.
        let loss = self.kept().loss.clone();
        if let Some(problem) = loss {
            return Err(problem);
        }
        // Up to two intervals the renewal in the background is on time, and a write needs no request for the lock.
        if self.age() >= 2 * RENEWAL && self.has_deadline() {
            self.confirm()?;
        }
        Ok(self.held())
    }

    /// Returns the time since the last renewal.
    fn age(&self) -> Duration {
        let renewed = self.kept().renewed;
        // A clock that was set back says nothing about the age, so the lock is renewed.
        self.backend.clock().now().duration_since(renewed).unwrap_or(LEASE)
    }

    /// Renews the lock. Until its deadline it lasts without an answer of the store.
    fn confirm(&self) -> Result<(), StoreError> {
        match repeated(self.backend.clock(), || self.backend.block_on(self.renew())) {
            // The attempts take time themselves.
            Err(StoreError::Network { .. } | StoreError::Service { .. }) if self.age() < LEASE => Ok(()),
            Err(problem @ (StoreError::Network { .. } | StoreError::Service { .. })) => Err(StoreError::LockLost {
                location: self.backend.location(&self.workspace),
                reason: format!("its deadline has passed, and it cannot be renewed: {problem}"),
            }),
            confirmed => confirmed,
        }
    }

    /// Replaces the deadline by a later one.
    pub async fn renew(&self) -> Result<(), StoreError> {
        let Some(leases) = self.backend.store().leases() else { return Ok(()) };
        let _turn = self.renewing.lock().await;
        // Repeated as it was, because only then the store recognizes the record.
        let unanswered = self.kept().unanswered.clone();
        if let Some((info, time)) = unanswered {
            self.replace(leases, info, time).await?;
        }
        // The time before the request: a slow answer must not make the lock seem younger than its deadline.
        let now = self.backend.clock().now();
        let info = LockInfo { deadline: deadline(now), ..self.held().info };
        self.replace(leases, info, now).await
    }

    /// Replaces the record of the lock by one that was made at `time`.
    async fn replace(&self, leases: &dyn LeaseStore, info: LockInfo, time: SystemTime) -> Result<(), StoreError> {
        let held = self.held();
        // Before the request, whose future may be dropped.
        self.kept().unanswered = Some((info.clone(), time));
        let problem = match leases.replace_lock(&self.workspace, &held, &info).await {
            Ok(held) => {
                let mut kept = self.kept();
                (kept.held, kept.renewed, kept.unanswered) = (held, time, None);
                return Ok(());
            }
            Err(problem) => problem,
        };
        match &problem {
            StoreError::LockLost { .. } => self.lose(&problem),
            StoreError::Network { .. } | StoreError::Service { .. } => {}
            // The store has refused it.
            _ => self.kept().unanswered = None,
        }
        Err(problem)
    }

    fn lose(&self, problem: &StoreError) {
        // The notice is called without the guard, because it may ask for the lock.
        let notify = {
            let mut kept = self.kept();
            kept.loss.get_or_insert_with(|| problem.clone());
            kept.on_loss.take()
        };
        if let Some(notify) = notify {
            notify(problem);
        }
    }

    /// Ends the renewals, and returns the lock to release, or why there is none.
    pub fn end(&self) -> Result<HeldLock, StoreError> {
        // The guard ends before the wait.
        let task = self.task.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(task) = task {
            // In some stores, a renewal gives the lock another identifier, so the answer to one under way is awaited.
            let answered = async { tokio::time::timeout(ANSWER, self.renewing.lock()).await.map(drop) };
            let _ = self.backend.block_on(answered);
            task.abort();
        }
        let unanswered = {
            let kept = self.kept();
            kept.unanswered.clone().filter(|_| kept.loss.is_none())
        };
        if let (Some((info, time)), Some(leases)) = (unanswered, self.backend.store().leases()) {
            // The store recognizes the record of a repeated renewal. Any failure is reported by the release.
            let _ = self.backend.block_on(self.replace(leases, info, time));
        }
        let kept = self.kept();
        kept.loss.clone().map_or_else(|| Ok(kept.held.clone()), Err)
    }

    /// Whether another run has taken the lock.
    pub fn is_taken_over(&self) -> bool {
        self.kept().loss.is_some()
    }

    fn has_deadline(&self) -> bool {
        !self.kept().held.info.deadline.is_empty()
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.lock.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use groma_state::lease::TOLERANCE;

    use super::*;

    #[test]
    fn only_locks_with_a_passed_deadline_are_over() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_257_000);
        let mut info = LockInfo { deadline: deadline(now), ..LockInfo::default() };
        assert!(!is_over(&info, now + LEASE + TOLERANCE));
        assert!(is_over(&info, now + LEASE + TOLERANCE + Duration::from_secs(1)));
        for other in ["", "soon"] {
            other.clone_into(&mut info.deadline);
            assert!(!is_over(&info, now + Duration::from_secs(1 << 30)), "{other:?}");
        }
    }
}
