//! Typing that is not shown.

#[cfg(unix)]
use nix::sys::termios::{LocalFlags, SetArg, Termios, tcgetattr, tcsetattr};

/// While it lives, the terminal does not show what is typed; elsewhere nothing changes.
pub struct Hidden {
    #[cfg(unix)]
    before: Option<Termios>,
}

impl Hidden {
    /// Disables echo on the terminal.
    #[cfg(unix)]
    pub fn begin() -> Self {
        let before = tcgetattr(std::io::stdin()).ok();
        if let Some(before) = &before {
            let mut hidden = before.clone();
            hidden.local_flags.remove(LocalFlags::ECHO);
            // A terminal that cannot is no reason not to ask.
            let _ = tcsetattr(std::io::stdin(), SetArg::TCSADRAIN, &hidden);
        }
        Self { before }
    }

    /// Disables echo on the terminal.
    #[cfg(not(unix))]
    pub fn begin() -> Self {
        Self {}
    }
}

#[cfg(unix)]
impl Drop for Hidden {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            let _ = tcsetattr(std::io::stdin(), SetArg::TCSADRAIN, before);
        }
    }
}
