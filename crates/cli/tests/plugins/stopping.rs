//! Providers that are asked to stop.

use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

use groma_scripted::Scripted;

use super::{flowing, folder, interrupt, nobody_is_left, until_second};

/// How long a provider may take to hear that it is to stop.
const PATIENCE: Duration = Duration::from_secs(10);

/// The provider of this process.
static SERVED: OnceLock<Weak<Scripted>> = OnceLock::new();

pub fn served(provider: Scripted) -> Arc<Scripted> {
    let provider = Arc::new(provider);
    let _ = SERVED.set(Arc::downgrade(&provider));
    provider
}

/// Returns when the provider was asked to stop, and later than anybody waits where it is not.
pub fn wait() {
    let begin = Instant::now();
    while begin.elapsed() < 2 * PATIENCE
        && SERVED.get().and_then(Weak::upgrade).is_some_and(|provider| !provider.is_stopped())
    {
        std::thread::sleep(Duration::from_millis(10));
    }
}

pub fn asked() {
    let folder = folder("waits to be stopped");
    let child = until_second(&folder);
    // One interrupt is enough: the provider hears of it, and its answer still counts.
    interrupt(&child);
    let begin = Instant::now();
    let output = child.wait_with_output().unwrap();
    assert!(begin.elapsed() < PATIENCE, "{:?}", begin.elapsed());
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(folder.ok(&["state", "list"]), "trouble_thing.first\ntrouble_thing.second\n");
    assert!(!flowing(&String::from_utf8_lossy(&output.stderr)).contains("Request cancelled"));
    nobody_is_left(&folder);
}
