//! A plugin's process: its streams, its end.

use std::process::ExitStatus;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use groma_diagnostics::io_reason;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};
use tokio::process::{Child, ChildStderr};
use tokio::sync::watch;

use super::guard::Guarded;
use super::log::{LONGEST_LINE, LogLevel, LogSink, Words};

/// How long a process that just failed a call is given to be gone, for its last words.
const LAST_BREATH: Duration = Duration::from_millis(500);
/// How long the streams of an ended process may hold back their end: a child of its own may have them open.
const LAST_OUTPUT: Duration = Duration::from_millis(200);

/// What is left of a process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LastWords {
    /// How it ended; `None` while it runs.
    pub exit: Option<String>,
    /// Its last lines that are no log lines, such as those of a crash.
    pub stderr: String,
}

/// A running plugin. Dropping it kills the process and all of its process group.
#[derive(Debug)]
pub(super) struct Process {
    group: u32,
    exit: watch::Receiver<Option<String>>,
    words: Arc<Mutex<Words>>,
    stderr_open: watch::Receiver<bool>,
}

impl Process {
    /// Looks after `child`, which leads a process group of its own.
    pub fn new(mut child: Child, name: &str, log: &Arc<dyn LogSink>) -> Self {
        let group = child.id().unwrap_or_default();
        let words = Arc::new(Mutex::new(Words::new(log.least())));
        let (stderr_sender, stderr_open) = watch::channel(true);
        if let Some(stderr) = child.stderr.take() {
            let (words, name, log) = (Arc::clone(&words), name.to_owned(), Arc::clone(log));
            tokio::spawn(async move {
                read_stderr(stderr, &words, &name, &*log).await;
                let _ = stderr_sender.send(false);
            });
        }
        let (exit_sender, exit) = watch::channel(None);
        let guarded = Guarded::new(group);
        tokio::spawn(async move {
            let status = child.wait().await;
            // What it started and left behind goes with it; without that the group is gone, and nothing happens.
            kill_group(group);
            drop(guarded);
            let _ = exit_sender.send(Some(status.map_or_else(|problem| io_reason(&problem), |status| told(&status))));
        });
        Self { group, exit, words, stderr_open }
    }

    /// Waits for its end, at most `limit`; whether it came.
    pub async fn ended_within(&self, limit: Duration) -> bool {
        let mut exit = self.exit.clone();
        tokio::time::timeout(limit, exit.wait_for(Option::is_some)).await.is_ok()
    }

    /// Whether it has ended.
    pub fn has_ended(&self) -> bool {
        self.exit.borrow().is_some()
    }

    /// Waits for its end.
    pub async fn ended(&self) {
        let _ = self.exit.clone().wait_for(Option::is_some).await;
    }

    /// Kills it and waits until it is gone.
    pub async fn kill(&self) {
        self.kill_now();
        self.ended_within(LAST_BREATH).await;
    }

    fn kill_now(&self) {
        if self.exit.borrow().is_none() {
            kill_group(self.group);
        }
    }

    /// What it said last; waits a little for its end.
    pub async fn last_words(&self) -> LastWords {
        if self.ended_within(LAST_BREATH).await {
            let mut open = self.stderr_open.clone();
            let _ = tokio::time::timeout(LAST_OUTPUT, open.wait_for(|open| !open)).await;
        }
        self.words_so_far()
    }

    /// What it said last, without waiting.
    pub fn words_so_far(&self) -> LastWords {
        let stderr = self.words.lock().unwrap_or_else(PoisonError::into_inner).last();
        LastWords { exit: self.exit.borrow().clone(), stderr }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill_now();
    }
}

fn kill_group(group: u32) {
    // Group 0 would be our own.
    if let Ok(group @ 1..) = i32::try_from(group) {
        let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
    }
}

/// `exit status 2`, `signal 9 (SIGKILL)`.
fn told(status: &ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit status {code}"),
        (None, Some(signal)) => match Signal::try_from(signal) {
            Ok(name) => format!("signal {signal} ({})", name.as_str()),
            Err(_) => format!("signal {signal}"),
        },
        (None, None) => "it ended".to_owned(),
    }
}

async fn read_stderr(stderr: ChildStderr, words: &Mutex<Words>, name: &str, log: &dyn LogSink) {
    let mut lines = Lines::new(stderr);
    while let Some(line) = lines.next().await {
        let taken = words.lock().unwrap_or_else(PoisonError::into_inner).take(&line);
        if let Some((level, text)) = taken {
            log.log(level, name, &text);
        }
    }
}

/// Reads the rest of a stream into the log, so that the process never waits for a reader.
pub(super) async fn drain<R: AsyncRead + Unpin>(mut lines: Lines<R>, name: String, log: Arc<dyn LogSink>) {
    while let Some(line) = lines.next().await {
        log.log(LogLevel::Debug, &name, &line);
    }
}

/// The lines of a stream; overlong ones in pieces, and whatever is no text made into some.
pub(super) struct Lines<R>(BufReader<R>);

impl<R: AsyncRead + Unpin> Lines<R> {
    pub fn new(stream: R) -> Self {
        Self(BufReader::new(stream))
    }

    /// The next line without its end; `None` when the stream has ended or cannot be read.
    pub async fn next(&mut self) -> Option<String> {
        let mut bytes = Vec::new();
        let mut limited = (&mut self.0).take(LONGEST_LINE as u64);
        match limited.read_until(b'\n', &mut bytes).await {
            Ok(0) | Err(_) => None,
            Ok(_) => Some(String::from_utf8_lossy(&bytes).trim_end_matches(['\n', '\r']).to_owned()),
        }
    }
}
