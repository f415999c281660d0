//! That no plugin outlives us, even when we are killed.
//!
//! A killed process cannot tidy up, so somebody else must: one small shell for all plugins of this process waits at the
//! end of a pipe that only we hold. It knows the process groups of the plugins. When the pipe closes, whatever closed it,
//! it kills those that are left. This reaches the children of wrapper scripts too, and needs nothing of the operating
//! system but `/bin/sh`.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::{Mutex, PoisonError};

/// Reads lines `add GROUP` and `drop GROUP`; at the end kills the groups that were added and not dropped.
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

/// The guard's end of the pipe; `None` before the first plugin, or when there is no shell.
static GUARD: Mutex<Option<ChildStdin>> = Mutex::new(None);

/// A process group that is killed when we die, until this is dropped.
#[derive(Debug)]
pub(super) struct Guarded {
    group: u32,
}

impl Guarded {
    /// Puts the process group `group` under the guard.
    pub fn new(group: u32) -> Self {
        tell("add", group);
        Self { group }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        tell("drop", self.group);
    }
}

/// Starts the guard if it does not run yet: before the plugin, so that there is hardly a moment without one.
pub(super) fn ready() {
    let mut guard = GUARD.lock().unwrap_or_else(PoisonError::into_inner);
    if guard.is_none() {
        // Without a guard plugins work all the same; only a killed process of ours could leave one behind.
        *guard = start();
    }
}

fn start() -> Option<ChildStdin> {
    let child = Command::new("/bin/sh")
        .args(["-c", SCRIPT])
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn();
    child.ok().and_then(|mut child| child.stdin.take())
}

fn tell(what: &str, group: u32) {
    let mut guard = GUARD.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(pipe) = guard.as_mut()
        && writeln!(pipe, "{what} {group}").is_err()
    {
        *guard = None;
    }
}
