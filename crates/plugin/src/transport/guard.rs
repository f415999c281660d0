//! A guard process that kills the plugins if this process is killed.
//!
//! A killed process cannot clean up, so a small shell, shared by all plugins of this process, waits at the end of a
//! pipe that only this process holds. It knows the process groups of the plugins, and when the pipe closes for any
//! reason, it kills the remaining groups. That includes children of wrapper scripts, and requires only `/bin/sh` from
//! the operating system.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::{Mutex, PoisonError};

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

/// The write end of the pipe; `None` before the first plugin, or without a shell.
static GUARD: Mutex<Option<ChildStdin>> = Mutex::new(None);

/// A process group that is killed if this process dies, until this value is dropped.
#[derive(Debug)]
pub(super) struct Guarded {
    group: u32,
}

impl Guarded {
    /// Registers the process group `group` with the guard.
    pub fn new(group: u32) -> Self {
        send("add", group);
        Self { group }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        send("drop", self.group);
    }
}

/// Starts the guard unless it is running: before the plugin, so that the plugin is hardly ever unguarded.
pub(super) fn start_once() {
    let mut guard = GUARD.lock().unwrap_or_else(PoisonError::into_inner);
    if guard.is_none() {
        // Plugins work without a guard, too; only a kill of this process could then leave them running.
        *guard = start();
    }
}

fn start() -> Option<ChildStdin> {
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

fn send(what: &str, group: u32) {
    let mut guard = GUARD.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(pipe) = guard.as_mut()
        && writeln!(pipe, "{what} {group}").is_err()
    {
        // The shell has died; the next plugin starts another.
        *guard = None;
    }
}
