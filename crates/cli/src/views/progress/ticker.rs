//! Timer that updates live progress.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use groma_engine::Hooks;

/// Progress that is drawn or sent on now and then.
pub trait Progress: Hooks {
    /// A moment has passed.
    fn tick(&self);

    /// Everything is done: nothing is left to draw or to send.
    fn settle(&self);
}

/// The interval between updates.
const MOMENT: Duration = Duration::from_millis(100);

/// Lets moments pass until it is dropped.
pub struct Ticker {
    progress: Arc<dyn Progress>,
    done: Arc<AtomicBool>,
    /// `None` where the operating system allows no further thread: then progress is shown at the end.
    thread: Option<JoinHandle<()>>,
}

impl Ticker {
    /// Starts the timer thread.
    pub fn start(progress: Arc<dyn Progress>) -> Self {
        let done = Arc::new(AtomicBool::new(false));
        let thread = {
            let (progress, done) = (Arc::clone(&progress), Arc::clone(&done));
            let tick = move || {
                while !done.load(Ordering::Acquire) {
                    std::thread::park_timeout(MOMENT);
                    progress.tick();
                }
            };
            std::thread::Builder::new().name("progress".to_owned()).spawn(tick)
        };
        Self { progress, done, thread: thread.ok() }
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.done.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
        self.progress.settle();
    }
}
