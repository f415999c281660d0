//! Brings records to the disk in groups, on a thread of its own.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, Once, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::storage::{Storage, sync_folder};

/// The maximum time that a record waits for others before they are flushed together.
const GROUP_DELAY: Duration = Duration::from_millis(20);

/// Syncs a file soon after it was written, and at once when asked.
pub(super) struct Syncing {
    shared: Arc<Shared>,
    /// `None` if no thread could be started: then every record is flushed at once.
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    storage: Arc<dyn Storage>,
    /// The file may be new: its name has to reach the disk too, once.
    path: PathBuf,
    name: Once,
    state: Mutex<Pending>,
    wake: Condvar,
}

#[derive(Default)]
struct Pending {
    dirty: bool,
    /// Whether it waits for no others.
    hurry: bool,
    stop: bool,
    /// The first failure since the last time somebody asked.
    failure: Option<io::Error>,
}

impl Syncing {
    pub fn of(storage: Arc<dyn Storage>, path: PathBuf) -> Self {
        let (state, wake) = (Mutex::default(), Condvar::new());
        let shared = Arc::new(Shared { storage, path, name: Once::new(), state, wake });
        let own = shared.clone();
        let thread = thread::Builder::new().name("journal".to_owned()).spawn(move || own.run()).ok();
        Self { shared, thread }
    }

    /// Has the file synced within [`GROUP_DELAY`] and the time that syncing takes.
    pub fn soon(&self) {
        if self.thread.is_none() {
            return self.shared.sync();
        }
        let mut state = self.shared.lock();
        // A thread that already has something to do needs no second notice.
        if !state.dirty {
            state.dirty = true;
            self.shared.wake.notify_all();
        }
    }

    /// Has the file synced at once, without waiting for it.
    pub fn hurry(&self) {
        if self.thread.is_some() {
            let mut state = self.shared.lock();
            (state.dirty, state.hurry) = (true, true);
            self.shared.wake.notify_all();
        }
    }

    /// Syncs the file, and returns a failure since the last call.
    pub fn now(&self) -> io::Result<()> {
        // This call covers all earlier writes, so the thread need not repeat them.
        self.shared.lock().dirty = false;
        self.shared.sync();
        match self.shared.lock().failure.take() {
            Some(failure) => Err(failure),
            None => Ok(()),
        }
    }
}

impl Drop for Syncing {
    fn drop(&mut self) {
        self.shared.lock().stop = true;
        self.shared.wake.notify_all();
        // The thread flushes the remaining records before it ends.
        if let Some(thread) = self.thread.take() {
            // It only ends by returning; if it panicked there is nothing left to wait for.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn run(&self) {
        loop {
            let waiting = self.lock();
            let mut state = self
                .wake
                .wait_while(waiting, |state| !state.dirty && !state.stop)
                .unwrap_or_else(PoisonError::into_inner);
            if !state.stop {
                // Records of many calls arrive within this time and share one flush.
                let (after, _) = self
                    .wake
                    .wait_timeout_while(state, GROUP_DELAY, |state| !state.stop && !state.hurry)
                    .unwrap_or_else(PoisonError::into_inner);
                state = after;
            }
            state.hurry = false;
            let (dirty, stop) = (std::mem::take(&mut state.dirty), state.stop);
            // Writers must not wait for the disk while the lock is held.
            drop(state);
            if dirty {
                self.sync();
            }
            if stop {
                return;
            }
        }
    }

    fn sync(&self) {
        // The directory entry of a new file is part of what has to survive.
        self.name.call_once(|| sync_folder(&self.path));
        if let Err(error) = self.storage.sync() {
            // The first failure explains the later ones.
            self.lock().failure.get_or_insert(error);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Pending> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
