//! Starts to write data to the disk while more is produced, so that the final sync is shorter.

use std::ops::Range;
use std::sync::mpsc::{self, Sender};
use std::thread::{Builder, Scope};

use crate::storage::Storage;

/// Starts syncing a file while it is written from its beginning to its end, on a thread of its own once there is much.
///
/// It only shortens a later [`Storage::sync`]: that one counts, and reports failures.
pub(crate) struct EarlySync<'scope, 'env> {
    storage: &'env dyn Storage,
    scope: &'scope Scope<'scope, 'env>,
    /// The end of the data that is being written.
    sent: u64,
    ranges: Option<Sender<Range<u64>>>,
}

/// Number of bytes to write at once.
const MUCH: u64 = 4 << 20;

impl<'scope, 'env> EarlySync<'scope, 'env> {
    pub fn of(storage: &'env dyn Storage, scope: &'scope Scope<'scope, 'env>) -> Self {
        Self { storage, scope, sent: 0, ranges: None }
    }

    /// Everything up to `length` has been written.
    pub fn written(&mut self, length: u64) {
        if length - self.sent < MUCH {
            return;
        }
        let (storage, scope) = (self.storage, self.scope);
        let ranges = self.ranges.get_or_insert_with(|| {
            let (ranges, written) = mpsc::channel::<Range<u64>>();
            let start = move || written.into_iter().for_each(|range| storage.start_sync(range));
            // Without a thread nothing is sent early.
            let _ = Builder::new().name("sync".to_owned()).spawn_scoped(scope, start);
            ranges
        });
        let _ = ranges.send(self.sent..length);
        self.sent = length;
    }
}
