//! The journals in the store of a remote state: what earlier runs left there, and the copy of this run's journal.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::left::read_bytes;
use super::open::{is_locked, read_if_there, write_whole};
use super::paths::StatePaths;
use super::remote::{Access, Replicating};
use crate::error::{StateError, StateErrorKind};
use crate::journal::{
    Begin, CLOSED, Copied, Journal, MergedJournals, Progress, Recovered, Replication, SegmentCreated, SegmentId,
    SegmentStore, Sender, SentNote, merged_length,
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
    note: SentNote,
    /// The journals of earlier runs.
    merged: MergedJournals,
    /// The notes of other runs that they have merged the journal of this machine.
    own_notes: Vec<SegmentId>,
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
    /// Creates the journal of a new run, which has no earlier ones.
    pub fn of_new_run(store: Option<Arc<dyn SegmentStore>>, paths: &StatePaths) -> Self {
        Self { store, note: SentNote::of(&paths.journal()), ..Self::default() }
    }

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
        let mut shared = Self::of_new_run(store, paths);
        let Some(store) = shared.store.clone() else { return Ok((shared, Taken::default())) };
        let local = local_journal(paths)?;
        let copies = if local.is_empty() { Vec::new() } else { shared.note.read() };
        let found = shared.collect(&*store, access, &copies)?;
        let (is_continued, others) = shared.adopt_longest(found, &local, paths)?;
        let known = match is_continued {
            true => 0,
            false => shared.known_length(&*store, &copies)?,
        };
        let mut taken = Taken { known, others: Vec::new() };
        for journal in others {
            let path = PathBuf::from(format!("journal {}", journal.run));
            let (_, recovered) = read_bytes(&journal.bytes, 0, &path, paths)?;
            taken.others.extend(recovered);
        }
        Ok((shared, taken))
    }

    /// Reads the journals of all runs. `copies` are those that the local journal begins with.
    fn collect(
        &mut self,
        store: &dyn SegmentStore,
        access: Access,
        copies: &[Copied],
    ) -> Result<Vec<Found>, StateError> {
        let mut runs: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
        let (notes, segments): (Vec<_>, Vec<_>) = store.list()?.into_iter().partition(SegmentId::is_merge_note);
        for id in segments {
            runs.entry(id.run.clone()).or_default().insert(id.number);
            self.merged.segments.push(id);
        }
        // The machine on which the local journal was written is this one, unless the journal was copied from the store.
        let is_own = |run: &str| copies.iter().any(|copy| copy.run == run && !copy.is_adopted);
        let mut found = Vec::new();
        for (run, numbers) in runs {
            // Remaining segments of a merged journal are deleted without being read.
            let is_merged = notes.iter().any(|note| note.run == run);
            let Some(read) = (if is_merged { None } else { read_run(store, &run, &numbers)? }) else { continue };
            let mut bytes = read.bytes;
            match (read.next, access) {
                (None, _) => {}
                (Some(next), Access::Exclusive) => self.close(store, next, &mut bytes)?,
                (Some(next), Access::Unlocked) => self.unclosed.push(next),
            }
            if !is_own(&run) {
                self.merged.of_other_machines.push((run.clone(), bytes.len() as u64));
            }
            found.push(Found { run, bytes });
        }
        (self.own_notes, self.merged.notes) = notes.into_iter().partition(|note| is_own(&note.run));
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
                self.merged.segments.push(next.clone());
                next.number += 1;
            }
        }
        Err(still_written())
    }

    /// Makes the longest journal the local one, unless that has more. Returns whether the local journal is a continuation of one in the
    /// store now, and the other journals.
    fn adopt_longest(
        &self,
        mut found: Vec<Found>,
        local: &[u8],
        paths: &StatePaths,
    ) -> Result<(bool, Vec<Found>), StateError> {
        found.sort_by_key(|journal| Reverse(journal.bytes.len()));
        let mut journals: Vec<Found> = Vec::new();
        for journal in found {
            // A run begins its journal with what it has found, so an earlier journal is the beginning of a later one.
            if !journals.iter().any(|longer| longer.bytes.starts_with(&journal.bytes)) {
                journals.push(journal);
            }
        }
        if !local.is_empty() && journals.iter().any(|journal| local.starts_with(&journal.bytes)) {
            journals.retain(|journal| !local.starts_with(&journal.bytes));
            return Ok((true, journals));
        }
        let path = paths.journal();
        if let Some(longer) = journals.iter().position(|journal| journal.bytes.starts_with(local))
            && !is_locked(&path)
        {
            self.adopt(&journals.remove(longer), &path)?;
            return Ok((true, journals));
        }
        Ok((false, journals))
    }

    /// Returns the length of the part of the local journal that another machine has merged, which is what the store had of it.
    fn known_length(&self, store: &dyn SegmentStore, copies: &[Copied]) -> Result<u64, StateError> {
        let mut known = 0;
        for copy in copies {
            let is_noted = self.own_notes.iter().chain(&self.merged.notes).any(|note| note.run == copy.run);
            let merged = if is_noted { merged_length(store, &copy.run)? } else { None };
            known = known.max(merged.unwrap_or(copy.bytes));
        }
        Ok(known)
    }

    fn adopt(&self, journal: &Found, path: &Path) -> Result<(), StateError> {
        let failed = |error| StateError::io("write", path, &error);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        write_whole(path, &journal.bytes).map_err(failed)?;
        self.note.adopted(&journal.run, journal.bytes.len() as u64);
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
        let run = uuid();
        self.note.begin(&run);
        let progress = Arc::<Progress>::default();
        let storage = journal.replicate(&progress);
        let sender = Sender {
            storage,
            store,
            progress: progress.clone(),
            run,
            segments: 0,
            note: self.note.clone(),
            replaced: std::mem::take(&mut self.merged),
            undeleted: MergedJournals::default(),
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
        let mut merged = std::mem::take(&mut self.merged);
        merged.segments.extend(sender.iter().flat_map(own_segments));
        if !merged.is_empty() && merged.delete(&*store).is_err() && merged.delete(&*store).is_err() {
            // A journal that stays would be merged again by a later run, over newer changes.
            let _ = merged.note(&*store);
            self.merged = merged;
        }
    }

    /// Forgets what the store had of the local journal, which is no longer there.
    pub fn forget(&mut self) {
        self.note.remove();
        let mut notes = std::mem::take(&mut self.own_notes);
        // A journal that could not be deleted needs its note still.
        notes.retain(|note| !self.merged.segments.iter().any(|id| id.run == note.run));
        if let Some(store) = self.store.as_ref().filter(|_| !notes.is_empty()) {
            // A note that stays is deleted when it is old.
            let _ = store.delete(&notes);
        }
    }

    /// Sends the rest of the journal, which stays because of calls in flight.
    pub fn keep(&mut self) {
        let Some(mut sender) = self.stop() else { return };
        // A run that has lost its lock leaves its journal on its machine alone. What is not sent is there as well.
        if sender.progress.stopped().is_none() {
            let _ = sender.send();
        }
        self.merged.append(sender.take_undeleted());
        self.merged.segments.extend(own_segments(&sender));
    }

    /// Ends the copying.
    pub fn stop(&mut self) -> Option<Sender> {
        let mut sender = match self.replication.take()? {
            Running::Thread(replication) => replication.stop()?,
            Running::Caller(sender) => *sender,
        };
        self.merged.append(sender.take_undeleted());
        Some(sender)
    }
}

/// Returns the segments that a run has sent.
fn own_segments(sender: &Sender) -> impl Iterator<Item = SegmentId> + use<> {
    let run = sender.run.clone();
    (1..=sender.segments).map(move |number| SegmentId { run: run.clone(), number })
}

/// Reads the local journal; empty if it does not exist.
fn local_journal(paths: &StatePaths) -> Result<Vec<u8>, StateError> {
    let mut local = read_if_there(&paths.journal())?.unwrap_or_default();
    // The end of the file may be reserved for records that were never written.
    local.truncate(local.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1));
    Ok(local)
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
