//! Opens web pages in the user's browser.

use std::process::{Command, Stdio};

use groma_install::http::Url;

use crate::settings::Settings;

/// Opens `page` in the user's browser; returns whether a browser could be started.
pub(super) fn open(settings: &Settings, page: &Url) -> bool {
    let chosen = settings.path("BROWSER");
    let usual = match std::env::consts::OS {
        "macos" => "open",
        "windows" => "explorer",
        _ => "xdg-open",
    };
    let program = chosen.unwrap_or_else(|| usual.into());
    let mut command = Command::new(program);
    // Browsers print warnings, which must not mix with our output.
    command.arg(page.as_str()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().is_ok()
}
