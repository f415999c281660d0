//! Hides typed secrets.

#[cfg(unix)]
use nix::sys::termios::{LocalFlags, SetArg, Termios, tcgetattr, tcsetattr};

/// Guard that turns off the echo of the terminal while it is alive. Without effect on other systems than Unix.
pub struct Hidden {
    #[cfg(unix)]
    before: Option<Termios>,
}

impl Hidden {
    /// Turns off the echo.
    #[cfg(unix)]
    pub fn begin() -> Self {
        let before = tcgetattr(std::io::stdin()).ok();
        if let Some(before) = &before {
            let mut hidden = before.clone();
            hidden.local_flags.remove(LocalFlags::ECHO);
            // If the terminal does not support this, the prompt works anyway.
            let _ = tcsetattr(std::io::stdin(), SetArg::TCSADRAIN, &hidden);
        }
        Self { before }
    }

    /// Returns a guard without effect.
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
