//! Flags that many commands have.

use clap::Args;

use super::flags::{Duration, Flag};

/// How texts are shown.
#[derive(Args, Clone, Debug)]
pub struct View {
    /// Show text without colours
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub no_color: Option<Flag>,
    /// Show warnings as a short list when there are no errors
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub compact_warnings: Option<Flag>,
}

/// How the state is locked.
#[derive(Args, Clone, Debug)]
pub struct Locking {
    /// Do without the lock of the state; another run may get in the way
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub lock: Option<Flag>,
    /// Wait this long for the lock
    #[arg(long, value_name = "DURATION", default_value = "0s")]
    pub lock_timeout: Duration,
}
