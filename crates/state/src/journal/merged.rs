//! Journals that a run has merged: their deletion, and the notes that tell their machines how much of them was merged.

use std::collections::BTreeSet;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::segments::{SegmentId, SegmentStore};
use crate::error::StateError;

/// The time for which notes are kept. A machine that comes back later repeats results of a lost answer, perhaps over newer changes.
const KEPT: Duration = Duration::from_secs(90 * 24 * 3600);

/// The largest number of older notes that one run examines.
const EXAMINED: usize = 20;

/// The journals in the store that a run has found and merged. They are deleted when the state or the run's own journal has
/// everything in them.
///
/// A machine that has stopped may come back with its journal on its disk, and must not repeat what was merged, because others have
/// changed the same objects since. It cannot know itself what was merged: the answer to its last segment may have been lost. A note
/// therefore takes the place of the journal, with the merged length.
#[derive(Clone, Debug, Default)]
pub(crate) struct MergedJournals {
    /// The segments of these journals in the store.
    pub segments: Vec<SegmentId>,
    /// The journals, with their lengths, of which other machines may have a copy on disk.
    pub of_other_machines: Vec<(String, u64)>,
    /// The notes about other journals that were merged before.
    pub notes: Vec<SegmentId>,
}

impl MergedJournals {
    /// Adds other merged journals.
    pub fn append(&mut self, mut other: Self) {
        self.segments.append(&mut other.segments);
        self.of_other_machines.append(&mut other.of_other_machines);
        self.notes.append(&mut other.notes);
    }

    /// Whether there is nothing to delete.
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Notes that the journals are merged, so that no later run reads them again. For journals that this identity cannot delete.
    ///
    /// # Errors
    /// The store fails.
    pub fn note(&self, store: &dyn SegmentStore) -> Result<(), StateError> {
        let time = store.now();
        let runs: BTreeSet<&str> = self.segments.iter().map(|id| &*id.run).collect();
        for run in runs {
            let known = self.of_other_machines.iter().find(|(other, _)| other == run);
            // The machine of this run merges nothing of its own journals again.
            let length = known.map_or(u64::MAX, |(_, length)| *length);
            MergeNote { length, time }.create(store, run)?;
        }
        Ok(())
    }

    /// Deletes the journals, after noting how much of each was merged.
    ///
    /// # Errors
    /// The store fails. Then the journals stay, or the notes say that they are merged.
    pub fn delete(&self, store: &dyn SegmentStore) -> Result<(), StateError> {
        let now = store.now();
        for (run, length) in &self.of_other_machines {
            MergeNote { length: *length, time: now }.create(store, run)?;
        }
        let mut ids = self.segments.clone();
        if !self.of_other_machines.is_empty() {
            for id in self.notes.iter().take(EXAMINED) {
                let found = store.read(id)?.and_then(|bytes| MergeNote::parse(&bytes));
                if found.is_some_and(|note| now.duration_since(note.time).is_ok_and(|age| age > KEPT)) {
                    ids.push(id.clone());
                }
            }
        }
        store.delete(&ids)
    }
}

/// Returns the note that the whole journal of a run is merged, for a store that cannot delete the journal.
pub fn whole_merge_note(time: SystemTime) -> Vec<u8> {
    MergeNote { length: u64::MAX, time }.text().into_bytes()
}

/// The content of a note.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct MergeNote {
    /// The merged bytes of the journal, or any larger number if that is all of them.
    length: u64,
    time: SystemTime,
}

impl MergeNote {
    fn create(self, store: &dyn SegmentStore, run: &str) -> Result<(), StateError> {
        // An existing note has the same length, because a closed journal does not grow.
        store.create(&SegmentId::merge_note(run), self.text().as_bytes()).map(drop)
    }

    fn text(self) -> String {
        let seconds = self.time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        format!("groma journal merged: {} bytes, {seconds}\n", self.length)
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?.strip_prefix("groma journal merged: ")?;
        let (length, seconds) = text.trim_end().split_once(" bytes, ")?;
        let time = UNIX_EPOCH.checked_add(Duration::from_secs(seconds.parse().ok()?))?;
        Some(Self { length: length.parse().ok()?, time })
    }
}

/// Reads how many bytes of the journal of a run were merged; `None` if nobody has noted it.
///
/// # Errors
/// The store fails.
pub(crate) fn merged_length(store: &dyn SegmentStore, run: &str) -> Result<Option<u64>, StateError> {
    let found = store.read(&SegmentId::merge_note(run))?;
    Ok(found.and_then(|bytes| MergeNote::parse(&bytes)).map(|note| note.length))
}
