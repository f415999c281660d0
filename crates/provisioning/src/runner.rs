//! Processes of provisioners, and their cancellation.

use std::io::{BufRead, BufReader};
use std::pin::Pin;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Runs the programs of one provisioner, one at a time.
///
/// Each leads a process group of its own. The first request to stop interrupts the group and waits, so that a program
/// can leave things in order; the second kills it.
pub(super) struct Runner {
    interruption: Arc<dyn Interruption>,
    /// The group under way.
    running: Mutex<Option<u32>>,
}

/// How urgently programs are to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Urgency {
    /// Programs are interrupted, and may clean up.
    Interrupt,
    /// Programs are killed.
    Kill,
}

/// A future that a trait object returns.
type Waiting<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// The cancellation of the run.
pub trait Interruption: Send + Sync {
    /// Returns how urgently programs must end; `None` without a cancellation.
    fn urgency(&self) -> Option<Urgency>;

    /// Waits until programs are to end at least as urgently as this.
    fn at_least(&self, urgency: Urgency) -> Waiting<'_>;
}

impl Runner {
    pub(super) fn new(interruption: Arc<dyn Interruption>) -> Arc<Self> {
        Arc::new(Self { interruption, running: Mutex::new(None) })
    }

    /// Whether the run was asked to stop, so that nothing new should begin.
    pub(super) fn is_stopped(&self) -> bool {
        self.interruption.urgency().is_some()
    }

    /// Does `work` on a thread of its own; none if that ended without a result.
    ///
    /// # Errors
    /// The operating system does not allow another thread.
    pub(super) async fn drive<T: Send + 'static>(
        self: Arc<Self>,
        work: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> std::io::Result<Option<T>> {
        // Programs are waited for on a thread, because reading their output blocks.
        let (sender, mut receiver) = tokio::sync::oneshot::channel();
        let runner = Arc::clone(&self);
        let work = move || _ = sender.send(work(&runner));
        std::thread::Builder::new().name("provisioner".to_owned()).spawn(work)?;
        // The first request interrupts, the second one kills; after that only the end is left to wait for.
        for urgency in [Urgency::Interrupt, Urgency::Kill] {
            tokio::select! {
                done = &mut receiver => return Ok(done.ok()),
                () = self.interruption.at_least(urgency) => self.signal(urgency),
            }
        }
        Ok(receiver.await.ok())
    }

    /// Runs a program to its end; `tell` gets every line that it prints. A carriage return ends a line, too: what programs draw over
    /// itself, such as a bar of progress, would otherwise be drawn over the name of the object.
    pub(super) fn lines(&self, mut command: Command, tell: &mut dyn FnMut(&str)) -> std::io::Result<ExitStatus> {
        let (reader, writer) = std::io::pipe()?;
        // One pipe for both streams keeps the order in which the program wrote.
        command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
        // The command holds ends of the pipe, which would never be closed.
        let child = self.start(command)?;
        let mut reader = BufReader::new(reader);
        each_line(&mut reader, tell)?;
        child.wait()
    }

    /// Starts a process; a request to stop is passed on until it has been waited for.
    pub(super) fn start(&self, mut command: Command) -> std::io::Result<Running<'_>> {
        // A group of its own, so that a signal also reaches the children of the program.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        // Under the lock, so that a request to stop cannot come between the check and the start.
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

/// A line that is longer than this is passed on in pieces, so that output without line ends does not fill the memory.
const LONGEST_LINE: usize = 1 << 16;

/// Passes on what `reader` gives, line by line. Nothing is between a carriage return and the end of its line.
fn each_line(reader: &mut impl BufRead, tell: &mut dyn FnMut(&str)) -> std::io::Result<()> {
    let mut line = Vec::new();
    // Whether a carriage return has passed the line on, so that a line feed after it ends no other one.
    let mut is_ended = false;
    loop {
        let read = match reader.fill_buf() {
            Ok(read) => read,
            // A signal interrupts the call without an error of the program.
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if read.is_empty() {
            break;
        }
        let end = read.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
        line.extend_from_slice(&read[..end.unwrap_or(read.len())]);
        let found = end.and_then(|at| read.get(at)).copied();
        let used = end.map_or(read.len(), |at| at + 1);
        reader.consume(used);
        let is_reported = match found {
            Some(b'\n') => !line.is_empty() || !is_ended,
            Some(_) => !line.is_empty(),
            None => line.len() >= LONGEST_LINE && is_whole(&line),
        };
        if is_reported {
            tell(&String::from_utf8_lossy(&line));
        }
        if is_reported || found.is_some() {
            line.clear();
        }
        is_ended = found == Some(b'\r') && (is_reported || is_ended);
    }
    if !line.is_empty() {
        tell(&String::from_utf8_lossy(&line));
    }
    Ok(())
}

/// Whether the last character of `bytes` is complete.
fn is_whole(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).map_or_else(|error| error.error_len().is_some(), |_| true)
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
                // The process identifier may belong to another process by then, so no signal is sent.
                let mut running = self.runner.running.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(status) = self.child.try_wait()? {
                    *running = None;
                    return Ok(status);
                }
            }
            // Polling, because the lock must not be held while waiting.
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(20));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &[u8]) -> Vec<String> {
        let mut lines = Vec::new();
        let mut reader = BufReader::with_capacity(3, text);
        each_line(&mut reader, &mut |line| lines.push(line.to_owned())).unwrap();
        lines
    }

    #[test]
    fn carriage_returns_end_lines() {
        assert_eq!(lines(b"10%\r50%\r100%\r\n"), ["10%", "50%", "100%"]);
        assert_eq!(lines(b"a\r\n\r\n\nb\r\r\n"), ["a", "", "", "b"]);
        assert_eq!(lines(b"\n"), [""]);
        assert_eq!(lines("unfinished \u{e9}".as_bytes()), ["unfinished \u{e9}"]);
    }

    #[test]
    fn output_without_line_ends_comes_in_pieces_of_whole_characters() {
        let text = "\u{20ac}".repeat(LONGEST_LINE);
        let pieces = lines(text.as_bytes());
        assert!(pieces.len() > 2 && pieces.concat() == text);
    }
}
