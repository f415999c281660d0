//! The operating system account that runs the program.
//!
//! The account replaces the variables `HOME` and `USER`, which cron and systemd often do not set.

use std::path::PathBuf;

/// Entry of the user database.
pub struct Account {
    /// Login name of the user.
    pub name: String,
    /// Home directory, if the entry has one.
    pub home: Option<PathBuf>,
}

/// Returns the account of the process; `None` if the database does not contain its user ID, as in containers that run with an
/// arbitrary one.
#[cfg(unix)]
pub fn account() -> Option<Account> {
    use nix::unistd::{Uid, User};
    let user = User::from_uid(Uid::current()).ok().flatten()?;
    let home = (!user.dir.as_os_str().is_empty()).then_some(user.dir);
    Some(Account { name: user.name, home })
}

/// Returns `None`: other systems always set the environment variables.
#[cfg(not(unix))]
pub fn account() -> Option<Account> {
    None
}
