//! The account that the program runs as, from the user database.
//!
//! Services of cron and systemd often run without `HOME` and `USER`.

use std::path::PathBuf;

/// An entry of the user database.
pub struct Account {
    /// The login name of the user.
    pub name: String,
    /// The home directory, where the entry has one.
    pub home: Option<PathBuf>,
}

/// The entry of the user that the process runs as. Nothing where the database has none, as in containers that run with
/// any user number.
#[cfg(unix)]
pub fn account() -> Option<Account> {
    use nix::unistd::{Uid, User};
    let user = User::from_uid(Uid::current()).ok().flatten()?;
    let home = (!user.dir.as_os_str().is_empty()).then_some(user.dir);
    Some(Account { name: user.name, home })
}

/// The entry of the user that the process runs as. Other systems always tell it in the environment.
#[cfg(not(unix))]
pub fn account() -> Option<Account> {
    None
}
