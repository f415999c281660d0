//! Plugin processes: exit, output streams, termination, and the guard that ends them if this process is killed.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{ChildStdin, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use groma_diagnostics::io_reason;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};
use tokio::process::{Child, ChildStderr};
use tokio::sync::watch;

use super::log::{LogLevel, LogSink, MAX_LINE, StderrCollector};

/// The time that a process gets to exit after a failed call, so that its exit status can be reported.
const EXIT_WAIT: Duration = Duration::from_millis(500);
/// The time to wait for the end of the output streams after the exit: a child process may hold them open.
const OUTPUT_WAIT: Duration = Duration::from_millis(200);

/// Exit status and last output of a process, for error messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExitInfo {
    /// The exit status or signal; `None` while the process runs.
    pub exit: Option<String>,
    /// The last lines that are not log lines, for example of a crash.
    pub stderr: String,
}

/// A running plugin process. Dropping it kills the whole process group.
#[derive(Debug)]
pub(super) struct Process {
    group: u32,
    exit: watch::Receiver<Option<String>>,
    words: Arc<Mutex<StderrCollector>>,
    stderr_open: watch::Receiver<bool>,
}

impl Process {
    /// Supervises `child`, which must lead its own process group.
    pub fn new(mut child: Child, name: &str, log: &Arc<dyn LogSink>) -> Self {
        let group = child.id().unwrap_or_default();
        let words = Arc::new(Mutex::new(StderrCollector::new(log.least())));
        let (stderr_sender, stderr_open) = watch::channel(true);
        if let Some(stderr) = child.stderr.take() {
            let (words, name, log) = (Arc::clone(&words), name.to_owned(), Arc::clone(log));
            tokio::spawn(async move {
                read_stderr(stderr, &words, &name, &*log).await;
                let _ = stderr_sender.send(false);
            });
        }
        let (exit_sender, exit) = watch::channel(None);
        // Registered before anything is awaited: if this process is killed, the guard kills the group.
        let guarded = Guarded::new(group);
        tokio::spawn(async move {
            let status = child.wait().await;
            // Kills surviving children of the plugin, too. Without children, the group no longer exists and nothing
            // happens.
            kill_group(group);
            // Only after the group is gone, because its number may be reused afterwards.
            drop(guarded);
            let _ = exit_sender
                .send(Some(status.map_or_else(|problem| io_reason(&problem), |status| format_exit(&status))));
        });
        Self { group, exit, words, stderr_open }
    }

    /// Waits up to `limit` for the exit; returns whether the process has exited.
    pub async fn ended_within(&self, limit: Duration) -> bool {
        let mut exit = self.exit.clone();
        tokio::time::timeout(limit, exit.wait_for(Option::is_some)).await.is_ok()
    }

    /// Whether the process has exited.
    pub fn has_ended(&self) -> bool {
        self.exit.borrow().is_some()
    }

    /// Waits for the exit.
    pub async fn ended(&self) {
        let _ = self.exit.clone().wait_for(Option::is_some).await;
    }

    /// Kills the process group and waits for the exit.
    pub async fn kill(&self) {
        self.kill_now();
        self.ended_within(EXIT_WAIT).await;
    }

    fn kill_now(&self) {
        if self.exit.borrow().is_none() {
            kill_group(self.group);
        }
    }

    /// Returns exit status and last output, after a short wait for the exit.
    pub async fn exit_info(&self) -> ExitInfo {
        if self.ended_within(EXIT_WAIT).await {
            // The exit is often noticed before the last output has been read.
            let mut open = self.stderr_open.clone();
            let _ = tokio::time::timeout(OUTPUT_WAIT, open.wait_for(|open| !open)).await;
        }
        self.exit_info_now()
    }

    /// Returns exit status and last output without waiting.
    pub fn exit_info_now(&self) -> ExitInfo {
        let stderr = self.words.lock().unwrap_or_else(PoisonError::into_inner).last();
        ExitInfo { exit: self.exit.borrow().clone(), stderr }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill_now();
    }
}

fn kill_group(group: u32) {
    // Group 0 is our own process group.
    if let Ok(group @ 1..) = i32::try_from(group) {
        let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
    }
}

/// Formats an exit status: `exit status 2`, `signal 9 (SIGKILL)`.
fn format_exit(status: &ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit status {code}"),
        (None, Some(signal)) => match Signal::try_from(signal) {
            Ok(name) => format!("signal {signal} ({})", name.as_str()),
            Err(_) => format!("signal {signal}"),
        },
        (None, None) => "it exited".to_owned(),
    }
}

async fn read_stderr(stderr: ChildStderr, words: &Mutex<StderrCollector>, name: &str, log: &dyn LogSink) {
    let mut lines = Lines::new(stderr);
    while let Some(line) = lines.next().await {
        let taken = words.lock().unwrap_or_else(PoisonError::into_inner).take(&line);
        if let Some((level, text)) = taken {
            log.log(level, name, &text);
        }
    }
}

/// Reads the remaining stream into the log, so that the process never blocks on a full pipe.
pub(super) async fn drain<R: AsyncRead + Unpin>(mut lines: Lines<R>, name: String, log: Arc<dyn LogSink>) {
    while let Some(line) = lines.next().await {
        log.log(LogLevel::Debug, &name, &line);
    }
}

/// The lines of a stream. Overlong lines are split, invalid UTF-8 is replaced.
pub(super) struct Lines<R>(BufReader<R>);

impl<R: AsyncRead + Unpin> Lines<R> {
    pub fn new(stream: R) -> Self {
        Self(BufReader::new(stream))
    }

    /// Returns the next line without its end, or `None` at the end of the stream or after an error.
    pub async fn next(&mut self) -> Option<String> {
        let mut bytes = Vec::new();
        // A limit on memory: binary output may contain no line end at all.
        let mut limited = (&mut self.0).take(MAX_LINE as u64);
        match limited.read_until(b'\n', &mut bytes).await {
            Ok(0) | Err(_) => None,
            Ok(_) => Some(String::from_utf8_lossy(&bytes).trim_end_matches(['\n', '\r']).to_owned()),
        }
    }
}

/// The program of the guard: a small shell, shared by all plugins of this process, since a killed process cannot clean
/// up. It waits at the end of a pipe that only this process holds; when the pipe closes for any reason, it kills the
/// remaining groups. That includes children of wrapper scripts, and requires only `/bin/sh` from the operating system.
///
/// Reads lines `add GROUP` and `drop GROUP`; at end of file kills the groups that were added and not dropped.
const SCRIPT: &str = r#"
groups=
while read -r what group; do
  case $what in
    add) groups="$groups $group" ;;
    drop) kept=
      for one in $groups; do [ "$one" = "$group" ] || kept="$kept $one"; done
      groups=$kept ;;
  esac
done
for one in $groups; do kill -s KILL -- "-$one"; done
"#;

/// The write end of the pipe to the guard; `None` before the first plugin, or without a shell.
static GUARD: Mutex<Option<ChildStdin>> = Mutex::new(None);

/// A process group that is killed if this process dies, until this value is dropped.
#[derive(Debug)]
pub(super) struct Guarded {
    group: u32,
}

impl Guarded {
    /// Registers the process group `group` with the guard.
    pub fn new(group: u32) -> Self {
        send_to_guard("add", group);
        Self { group }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        send_to_guard("drop", self.group);
    }
}

/// Starts the guard unless it is running: before the plugin, so that the plugin is hardly ever unguarded.
pub(super) fn start_guard_once() {
    let mut guard = GUARD.lock().unwrap_or_else(PoisonError::into_inner);
    if guard.is_none() {
        // Plugins work without a guard, too; only a kill of this process could then leave them running.
        *guard = start_guard();
    }
}

fn start_guard() -> Option<ChildStdin> {
    let child = Command::new("/bin/sh")
        .args(["-c", SCRIPT])
        // The guard must survive a terminal interrupt, and keep neither our working directory nor our environment
        // alive.
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn();
    child.ok().and_then(|mut child| child.stdin.take())
}

fn send_to_guard(what: &str, group: u32) {
    let mut guard = GUARD.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(pipe) = guard.as_mut()
        && writeln!(pipe, "{what} {group}").is_err()
    {
        // The shell has died; the next plugin starts another.
        *guard = None;
    }
}
