//! The journals in the store of a remote state: what earlier runs left there, and the copy of this run's journal.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::left::read_bytes;
use super::open::{is_locked, read_if_there, write_whole};
use super::paths::{StatePaths, suffixed};
use super::remote::{Access, Replicating};
use crate::error::{StateError, StateErrorKind};
use crate::journal::{
    Begin, CLOSED, Journal, Progress, Recovered, Replication, SegmentCreated, SegmentId, SegmentStore, Sender,
};
use crate::random::uuid;

/// The number of segments that may arrive while a journal is closed.
const LATE_SEGMENTS: u32 = 100;

/// The journals of one state in its store, from opening the state to retiring the journal of this run.
///
/// A run that opens the state with its lock closes every journal that it finds: the run that wrote it, if it still
/// exists, has lost its lock, and its next segment is refused. So two runs never make changes at once.
#[derive(Default)]
pub(super) struct SharedJournal {
    store: Option<Arc<dyn SegmentStore>>,
    /// The file that says how much of the local journal the store has.
    note: PathBuf,
    /// The segments of earlier runs.
    stale: Vec<SegmentId>,
    /// The names of the segments that close journals, where that is left for the first write.
    unclosed: Vec<SegmentId>,
    /// Calls in flight that the local journal does not have.
    carried: Vec<Begin>,
    replication: Option<Running>,
    progress: Option<Arc<Progress>>,
}

/// The copying of this run's journal.
enum Running {
    Thread(Replication),
    Caller(Box<Sender>),
}

/// The journals that the opened state has to take in.
#[derive(Default)]
pub(super) struct Taken {
    /// The length of the part of the local journal that another machine has taken in already.
    pub known: u64,
    /// The journals that are not a part of the local one.
    pub others: Vec<Recovered>,
}

/// The journal of one run in the store.
struct Found {
    run: String,
    bytes: Vec<u8>,
}

impl SharedJournal {
    /// Reads the journals of a state, and closes them if this run holds the lock. The longest of them becomes the local
    /// journal, unless that has more.
    ///
    /// # Errors
    /// The store fails, or a journal is damaged.
    pub fn open(
        store: Option<Arc<dyn SegmentStore>>,
        paths: &StatePaths,
        access: Access,
    ) -> Result<(Self, Taken), StateError> {
        let note = suffixed(&paths.journal(), ".sent");
        let Some(store) = store else { return Ok((Self { note, ..Self::default() }, Taken::default())) };
        let mut shared = Self { store: Some(store.clone()), note, ..Self::default() };
        let found = shared.collect(&*store, access)?;
        let (known, others) = shared.merge(found, paths)?;
        let mut taken = Taken { known, others: Vec::new() };
        for journal in others {
            let path = PathBuf::from(format!("journal {}", journal.run));
            let (_, recovered) = read_bytes(&journal.bytes, 0, &path, paths)?;
            taken.others.extend(recovered);
        }
        Ok((shared, taken))
    }

    /// Reads the journals of all runs.
    fn collect(&mut self, store: &dyn SegmentStore, access: Access) -> Result<Vec<Found>, StateError> {
        let mut runs: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
        for id in store.list()? {
            runs.entry(id.run).or_default().insert(id.number);
        }
        let mut found = Vec::new();
        for (run, numbers) in runs {
            self.stale.extend(numbers.iter().map(|number| SegmentId { run: run.clone(), number: *number }));
            let Some(read) = read_run(store, &run, &numbers)? else { continue };
            let mut bytes = read.bytes;
            match (read.next, access) {
                (None, _) => {}
                (Some(next), Access::Exclusive) => self.close(store, next, &mut bytes)?,
                (Some(next), Access::Unlocked) => self.unclosed.push(next),
            }
            found.push(Found { run, bytes });
        }
        Ok(found)
    }

    /// Closes a journal with the segment `next`. Segments that arrive before it are read.
    fn close(&mut self, store: &dyn SegmentStore, mut next: SegmentId, bytes: &mut Vec<u8>) -> Result<(), StateError> {
        for _ in 0..LATE_SEGMENTS {
            if store.create(&next, CLOSED)? == SegmentCreated::Yes {
                return Ok(());
            }
            if let Some(late) = store.read(&next)? {
                bytes.extend(late);
                self.stale.push(next.clone());
                next.number += 1;
            }
        }
        Err(still_written())
    }

    /// Makes one of the journals the local one. Returns how much of the local one is known to the store, and the other
    /// journals.
    fn merge(&self, mut found: Vec<Found>, paths: &StatePaths) -> Result<(u64, Vec<Found>), StateError> {
        found.sort_by_key(|journal| Reverse(journal.bytes.len()));
        let mut journals: Vec<Found> = Vec::new();
        for journal in found {
            // A run begins its journal with what it has found, so an earlier journal is the beginning of a later one.
            if !journals.iter().any(|longer| longer.bytes.starts_with(&journal.bytes)) {
                journals.push(journal);
            }
        }
        let path = paths.journal();
        let mut local = read_if_there(&path)?.unwrap_or_default();
        // The end of the file may be reserved for records that were never written.
        local.truncate(local.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1));
        if !local.is_empty() && journals.iter().any(|journal| local.starts_with(&journal.bytes)) {
            journals.retain(|journal| !local.starts_with(&journal.bytes));
            return Ok((0, journals));
        }
        if let Some(longer) = journals.iter().position(|journal| journal.bytes.starts_with(&local))
            && !is_locked(&path)
        {
            self.adopt(&journals.remove(longer), &path)?;
            return Ok((0, journals));
        }
        // Another machine has taken in what the store had of the local journal, and nothing after it.
        let known = fs::read_to_string(&self.note).ok().and_then(|note| note.split_once(' ')?.1.trim().parse().ok());
        Ok((known.unwrap_or_default(), journals))
    }

    fn adopt(&self, journal: &Found, path: &Path) -> Result<(), StateError> {
        let failed = |error| StateError::io("write", path, &error);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        write_whole(path, &journal.bytes).map_err(failed)?;
        // Without the note, the next run on this machine compares more than it has to.
        let _ = fs::write(&self.note, format!("{} {}\n", journal.run, journal.bytes.len()));
        Ok(())
    }

    /// Takes over calls in flight from a journal that is not a part of the local one.
    pub fn carry(&mut self, calls: &[Begin]) {
        self.carried.extend_from_slice(calls);
    }

    /// Closes the journals that were left open because this run holds no lock.
    ///
    /// # Errors
    /// Another run still writes one of them, or the store fails.
    pub fn close_found(&mut self) -> Result<(), StateError> {
        let Some(store) = self.store.clone() else { return Ok(()) };
        for id in std::mem::take(&mut self.unclosed) {
            let is_closed = store.create(&id, CLOSED)? == SegmentCreated::Yes
                || store.read(&id)?.is_none_or(|segment| segment == CLOSED);
            if !is_closed {
                return Err(still_written());
            }
        }
        Ok(())
    }

    /// Begins to copy the journal of this run to the store.
    ///
    /// # Errors
    /// As for [`SharedJournal::close_found`], and if the journal cannot be written.
    pub fn start(&mut self, journal: &Arc<Journal>, replicating: Replicating) -> Result<(), StateError> {
        self.close_found()?;
        let Some(store) = self.store.clone() else { return Ok(()) };
        for begin in std::mem::take(&mut self.carried) {
            journal.begin(&begin)?;
        }
        let progress = Arc::<Progress>::default();
        let storage = journal.replicate(&progress);
        let sender = Sender {
            storage,
            store,
            progress: progress.clone(),
            run: uuid(),
            segments: 0,
            note: self.note.clone(),
            replaced: std::mem::take(&mut self.stale),
        };
        self.replication = match replicating {
            Replicating::Background => Replication::start(sender).map(Running::Thread),
            Replicating::Caller => Some(Running::Caller(Box::new(sender))),
        };
        self.progress = Some(progress);
        Ok(())
    }

    /// Sends what the journal has, where the caller does that.
    pub fn replicate(&mut self) {
        if let Some(Running::Caller(sender)) = &mut self.replication {
            sender.attempt();
        }
    }

    /// Returns the progress of the copy; `None` without one.
    pub fn progress(&self) -> Option<Arc<Progress>> {
        self.progress.clone()
    }

    /// Whether calls in flight of earlier runs are only in their journals.
    pub fn has_carried(&self) -> bool {
        !self.carried.is_empty()
    }

    /// Sends nothing any more, because another run has written the state.
    pub fn lose(&self, problem: &StateError) {
        self.progress.iter().for_each(|progress| progress.stop(problem.clone()));
    }

    /// Deletes all journals of the state, because the state has everything in them.
    pub fn remove(&mut self) {
        let sender = self.stop();
        // Calls in flight that only an earlier run has recorded stay there.
        let Some(store) = self.store.clone().filter(|_| self.carried.is_empty()) else { return };
        let mut ids = std::mem::take(&mut self.stale);
        if let Some(sender) = sender {
            let own = (1..=sender.segments).map(|number| SegmentId { run: sender.run.clone(), number });
            ids.extend(own);
        }
        // A journal that stays is taken in again by the next run, which changes nothing.
        if !ids.is_empty() && store.delete(&ids).is_err() {
            let _ = store.delete(&ids);
        }
        let _ = fs::remove_file(&self.note);
    }

    /// Sends the rest of the journal, which stays because of calls in flight.
    pub fn keep(&mut self) {
        let Some(mut sender) = self.stop() else { return };
        // A run that has lost its lock leaves its journal on its machine alone. What is not sent is there as well.
        if sender.progress.stopped().is_none() {
            let _ = sender.send();
        }
        self.stale.append(&mut sender.replaced);
        self.stale.extend((1..=sender.segments).map(|number| SegmentId { run: sender.run.clone(), number }));
    }

    /// Ends the copying.
    pub fn stop(&mut self) -> Option<Sender> {
        let mut sender = match self.replication.take()? {
            Running::Thread(replication) => replication.stop()?,
            Running::Caller(sender) => *sender,
        };
        self.stale.append(&mut sender.replaced);
        Some(sender)
    }
}

/// The segments of one run.
struct ReadRun {
    bytes: Vec<u8>,
    /// The name of the segment that closes the journal; `None` if it is closed.
    next: Option<SegmentId>,
}

/// Reads the listed segments of a run; `None` if their journal is being deleted.
///
/// Segments are created one after the other, and deleted only when the state or a later journal has all of them. So a journal
/// that lacks a segment before its last one is the rest of a deletion: the first segment is deleted first, and a service may
/// delete only some of the objects of a request.
fn read_run(store: &dyn SegmentStore, run: &str, numbers: &BTreeSet<u32>) -> Result<Option<ReadRun>, StateError> {
    let id = |number| SegmentId { run: run.to_owned(), number };
    let Some(last) = numbers.last().copied().filter(|_| numbers.contains(&1)) else { return Ok(None) };
    let mut bytes = Vec::new();
    for number in 1..=last {
        match store.read(&id(number))? {
            Some(segment) if segment == CLOSED => return Ok(Some(ReadRun { bytes, next: None })),
            Some(segment) => bytes.extend(segment),
            // It was deleted after the listing, so the state that was read may be older than the deletion.
            None if numbers.contains(&number) => return Err(taken_in()),
            None => return Ok(None),
        }
    }
    Ok(Some(ReadRun { bytes, next: Some(id(last.saturating_add(1))) }))
}

fn taken_in() -> StateError {
    StateError::new(
        StateErrorKind::Changed,
        "The state was changed by another run",
        "Another run has written the state and deleted its journal while this run was reading both. Nothing was changed. Run the \
         command again.",
    )
}

fn still_written() -> StateError {
    StateError::new(
        StateErrorKind::Changed,
        "The state was changed by another run",
        "Another run is changing the objects of this state at this moment: it writes its journal next to the state. Nothing was \
         changed. Wait until it has ended, then run the command again. Configure a lock, so that runs wait for each other.",
    )
}
