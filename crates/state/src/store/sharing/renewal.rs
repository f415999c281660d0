//! The thread that renews the run of this process in a shared state.

use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use super::membership::Membership;

/// The thread that renews a membership, until this is dropped.
pub(super) struct Renewal {
    /// The thread stops when this is dropped.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Renewal {
    /// Starts the thread; `None` if the system refuses one. The run then renews itself before its writes, as long as these follow
    /// each other closely enough.
    pub fn start(membership: &Arc<Membership>, interval: Duration) -> Option<Self> {
        let (stop, stopped) = mpsc::channel();
        let membership = Arc::clone(membership);
        let run = move || {
            while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(interval) {
                // The next renewal may reach the store again; every write checks the run itself.
                let _ = membership.renew();
                // A lost run stays lost, and its journal was stopped.
                if membership.loss().is_some() {
                    return;
                }
            }
        };
        let thread = Builder::new().name("shared run".to_owned()).spawn(run).ok()?;
        Some(Self { stop: Some(stop), thread: Some(thread) })
    }

    #[cfg(test)]
    pub fn has_ended(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }
}

impl Drop for Renewal {
    fn drop(&mut self) {
        self.stop = None;
        // The membership keeps the journal of the run locked, which the next run on this machine opens.
        self.thread.take().into_iter().for_each(|thread| drop(thread.join()));
    }
}
