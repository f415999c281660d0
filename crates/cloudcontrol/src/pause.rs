//! Waiting, with or without an async runtime.

use std::time::Duration;

/// Waits, with the runtime where there is one.
pub async fn pause(delay: Duration) {
    if tokio::runtime::Handle::try_current().is_ok() {
        tokio::time::sleep(delay).await;
    } else {
        std::thread::sleep(delay);
    }
}
