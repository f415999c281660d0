//! The programs that a provisioner starts, and how they are told that the run stops.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::cancel::{Cancellation, Stop};

/// Runs the programs of one provisioner, one at a time.
///
/// Each leads a process group of its own. The first request to stop interrupts the group and waits, so that a program
/// can leave things in order; the second kills it.
pub(super) struct Runner {
    cancellation: Cancellation,
    /// The group under way.
    running: Mutex<Option<u32>>,
}

#[derive(Clone, Copy)]
enum Urgency {
    Interrupt,
    Kill,
}

impl Runner {
    pub(super) fn new(cancellation: Cancellation) -> Arc<Self> {
        Arc::new(Self { cancellation, running: Mutex::new(None) })
    }

    /// Whether the run was asked to stop, so that nothing new should begin.
    pub(super) fn is_stopped(&self) -> bool {
        self.cancellation.state() != Stop::No
    }

    /// Does `work` on a thread of its own; none if that ended without a result.
    pub(super) async fn drive<T: Send + 'static>(
        self: Arc<Self>,
        work: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> Option<T> {
        let (sender, mut receiver) = tokio::sync::oneshot::channel();
        let runner = Arc::clone(&self);
        std::thread::spawn(move || sender.send(work(&runner)));
        for (stop, urgency) in [(Stop::Gracefully, Urgency::Interrupt), (Stop::Now, Urgency::Kill)] {
            tokio::select! {
                done = &mut receiver => return done.ok(),
                () = self.cancellation.at_least(stop) => self.signal(urgency),
            }
        }
        receiver.await.ok()
    }

    /// Runs a program to its end; `tell` gets every line that it prints.
    pub(super) fn lines(&self, mut command: Command, tell: &mut dyn FnMut(&str)) -> std::io::Result<ExitStatus> {
        let (reader, writer) = std::io::pipe()?;
        command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
        // The command holds ends of the pipe, which would never be closed.
        let child = self.start(command)?;
        let mut reader = BufReader::new(reader);
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line)? > 0 {
            let text = String::from_utf8_lossy(&line);
            tell(text.trim_end_matches(['\n', '\r']));
            line.clear();
        }
        child.wait()
    }

    /// Starts a program; it is told of a request to stop until it is waited for.
    pub(super) fn start(&self, mut command: Command) -> std::io::Result<Running<'_>> {
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_stopped() {
            return Err(std::io::Error::new(std::io::ErrorKind::Interrupted, "the run was interrupted"));
        }
        let child = command.spawn()?;
        *running = Some(child.id());
        Ok(Running { child, runner: self })
    }

    fn signal(&self, urgency: Urgency) {
        if let Some(group) = *self.running.lock().unwrap_or_else(PoisonError::into_inner) {
            signal(group, urgency);
        }
    }
}

#[cfg(unix)]
fn signal(group: u32, urgency: Urgency) {
    use nix::sys::signal::{Signal, killpg};

    let signal = match urgency {
        Urgency::Interrupt => Signal::SIGINT,
        Urgency::Kill => Signal::SIGKILL,
    };
    if let Ok(group) = i32::try_from(group) {
        // A group that has just ended needs no telling.
        let _ = killpg(nix::unistd::Pid::from_raw(group), signal);
    }
}

#[cfg(not(unix))]
fn signal(_: u32, _: Urgency) {
    // Elsewhere the console tells all its programs.
}

/// A program under way.
pub(super) struct Running<'r> {
    pub(super) child: Child,
    runner: &'r Runner,
}

impl Running<'_> {
    /// Waits for its end.
    pub(super) fn wait(mut self) -> std::io::Result<ExitStatus> {
        let mut pause = Duration::from_micros(100);
        loop {
            {
                // Nobody may be told by a number that another program could have by then.
                let mut running = self.runner.running.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(status) = self.child.try_wait()? {
                    *running = None;
                    return Ok(status);
                }
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(20));
        }
    }
}
