//! The reading side: what an interrupted run has left.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use groma_address::Name;
use groma_encryption::Keyring;

use super::frame::{Frame, Frames};
use super::numbered::Numbered;
use super::record::{Begin, Finished, ObjectAddress, Record, RunHeader};
use super::sealing::{KEY, SEALED, SEALED_MAGIC};
use super::{MAGIC, form};
use crate::content::Content;
use crate::error::StateError;
use crate::file::{decode_check_results, decode_outputs};
use crate::model::{CheckResult, OutputValue};
use crate::storage::Storage;

/// One thing that happened, in the order in which it did.
#[derive(Debug)]
pub(crate) enum Event {
    Finished(Box<Finished>),
    Outputs(BTreeMap<Name, OutputValue>, Option<Vec<CheckResult>>),
}

/// A state file that was about to be written.
#[derive(Debug)]
pub(crate) struct Snapshot {
    pub lineage: String,
    pub serial: u64,
    pub bytes: Vec<u8>,
    /// Whether it is known to have reached the state file.
    pub is_written: bool,
}

/// The content of a journal that the state file may not have yet.
#[derive(Debug)]
pub(crate) struct Recovered {
    /// The run that wrote the rest.
    pub header: RunHeader,
    /// The events before the last snapshot, or all of them.
    pub events: Vec<Event>,
    /// The last snapshot, if there is one.
    pub snapshot: Option<Snapshot>,
    /// The events after the last snapshot.
    pub later: Vec<Event>,
    /// Calls that were begun, by this run or earlier ones, and neither finished nor settled; in their order.
    pub in_flight: Vec<Begin>,
    /// The offset at which the complete records end.
    pub end: u64,
    /// The content of the state file before the first checkpoint, if there was a state and a checkpoint.
    pub base: Option<Vec<u8>>,
    /// The contents that the run may have written to the state file.
    pub checkpoints: Vec<Content>,
    /// The number of events that are known to have reached the state file.
    pub resolved: usize,
    /// The unreadable parts that the user has not accepted as lost.
    pub damage: Damage,
}

impl Recovered {
    /// Whether the state file lacks nothing for certain: the run wrote nothing, or all of it was folded in.
    pub fn is_folded(&self) -> bool {
        self.events.is_empty() && self.snapshot.is_none() && self.later.is_empty() && self.damage.is_none()
    }

    /// The addresses with calls in flight.
    pub fn in_flight(&self) -> Vec<ObjectAddress> {
        self.in_flight.iter().map(|begin| (begin.address.clone(), begin.deposed.clone())).collect()
    }
}

/// Reads a journal; none when it says nothing, because no run got as far as its first record.
///
/// # Errors
/// Fails if the file is not a journal, or one of another version.
#[cfg(test)]
pub(crate) fn recover(bytes: &[u8]) -> Result<Option<Recovered>, StateError> {
    recover_after(bytes, 0)
}

/// Reads a journal of whose first `known` bytes only the run and the numbers matter, because another run has taken in the
/// results and the calls in flight; none when it says nothing.
///
/// # Errors
/// Fails if the file is not a journal, or one of another version.
pub(crate) fn recover_after(bytes: &[u8], known: usize) -> Result<Option<Recovered>, StateError> {
    // After a crash of the machine, the file may have its reserved length but none of the data.
    let is_unwritten = bytes.iter().all(|byte| *byte == 0);
    if is_unwritten || bytes.len() < MAGIC.len() && MAGIC.starts_with(bytes) {
        return Ok(None);
    }
    if !bytes.starts_with(MAGIC) {
        return Err(StateError::malformed(
            "Unknown journal",
            "The journal next to the state file was not written by this version. If another version of Groma was \
             interrupted here, run that version once more, so that it folds its journal into the state file.",
        ));
    }
    let mut frames = Frames::new(bytes, MAGIC.len());
    let mut reader = Reader::default();
    while let Some(frame) = frames.next() {
        let understood = match frame {
            Frame::Damaged(range) => reader.take(Record::Lost(range)),
            Frame::Whole(payload) => reader.read(payload),
        };
        match understood {
            Some(()) => {}
            // Records behind damage may refer to unreadable ones; they are counted instead of ending the recovery.
            None if !reader.damage.is_none() => reader.damage.records += 1,
            // Whole by its checksum, and still not understood: newer than this program, and not to be passed over.
            None => return Err(unknown_record()),
        }
        if frames.end() <= known as u64 {
            reader.forget();
        }
    }
    let mut damage = reader.damage;
    damage.without_dependencies = reader.without_dependencies + reader.numbered.take_missing_lists();
    let Some(header) = reader.header else {
        return if damage.is_none() { Ok(None) } else { Err(no_header()) };
    };
    Ok(Some(Recovered {
        header,
        events: reader.events,
        snapshot: reader.snapshot,
        later: reader.later,
        // In the order in which the calls began, so that they are repeated in this order.
        in_flight: reader.in_flight.into_values().map(|begin| *begin).collect(),
        end: frames.end(),
        base: reader.base,
        checkpoints: reader.checkpoints,
        resolved: reader.resolved,
        damage,
    }))
}

fn unknown_record() -> StateError {
    StateError::malformed(
        "Unknown journal",
        "The journal next to the state file has a record that this version does not know. Run the version of Groma \
         that was interrupted here once more, so that it folds its journal into the state file.",
    )
}

fn no_header() -> StateError {
    StateError::malformed(
        "Damaged journal",
        "The journal of an interrupted run is damaged at its beginning, so nothing in it can be assigned to a state. The file \
         was left as it is. Restore it from a copy if you have one. Otherwise move it away and import what the interrupted \
         run created.",
    )
}

/// Takes in records in their order.
#[derive(Default)]
pub(super) struct Reader {
    numbered: Numbered,
    header: Option<RunHeader>,
    events: Vec<Event>,
    snapshot: Option<Snapshot>,
    later: Vec<Event>,
    in_flight: BTreeMap<u64, Box<Begin>>,
    positions: BTreeMap<ObjectAddress, u64>,
    begun: u64,
    base: Option<Vec<u8>>,
    checkpoints: Vec<Content>,
    resolved: usize,
    /// The number of events in the last checkpoint.
    in_checkpoint: usize,
    damage: Damage,
    without_dependencies: usize,
}

impl Reader {
    /// Reads one record; none if it is damaged, of an unknown kind, or refers to records that are missing.
    pub(super) fn read(&mut self, payload: &[u8]) -> Option<()> {
        let record = form::decode(payload, &self.numbered)?;
        self.take(record)
    }

    /// Returns what happened since the last call.
    pub(super) fn drain(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    fn take(&mut self, record: Record<'_>) -> Option<()> {
        match record {
            Record::Run(header) => {
                self.header = Some(header);
                // The state file contains everything before a new run, except calls in flight.
                self.events.clear();
                self.later.clear();
                self.snapshot = None;
                self.base = None;
                self.checkpoints.clear();
                (self.resolved, self.in_checkpoint) = (0, 0);
                // A writer numbers its texts and lists from the beginning of its run on.
                self.without_dependencies += self.numbered.take_missing_lists();
                self.numbered = self.numbered.restarted();
            }
            Record::Text { number, rank, text } => self.numbered.add_text(number, text, rank)?,
            Record::List { number, resources } => self.numbered.add_list(number, &resources)?,
            Record::Union { number, own, lists } => self.numbered.add_union(number, &own, &lists)?,
            Record::Begin(begin) => {
                let object_address = (begin.address.clone(), begin.deposed.clone());
                // A repeated call replaces the earlier one at the same address.
                self.settle(&object_address);
                self.positions.insert(object_address, self.begun);
                self.in_flight.insert(self.begun, begin);
                self.begun += 1;
            }
            Record::Finished(finished) => {
                self.settle(&finished.object_address);
                self.push(Event::Finished(finished));
            }
            Record::Settled(object_address) => self.settle(&object_address),
            Record::Outputs { outputs, check_results } => {
                self.push(Event::Outputs(decode_outputs(outputs).ok()?, decode_check_results(check_results).ok()?));
            }
            Record::Snapshot { lineage, serial, bytes } => {
                // The snapshot contains all events so far; only later ones have to be folded in.
                self.events.append(&mut self.later);
                let (lineage, bytes) = (lineage.to_owned(), bytes.to_vec());
                self.snapshot = Some(Snapshot { lineage, serial, bytes, is_written: false });
            }
            Record::Base(bytes) => self.base = Some(bytes.to_vec()),
            Record::Checkpoint(content) => {
                self.checkpoints.push(content);
                self.in_checkpoint = self.events.len();
            }
            Record::Written => match &mut self.snapshot {
                Some(snapshot) => snapshot.is_written = true,
                // Without a snapshot the last checkpoint is what reached the file.
                None => self.resolved = self.in_checkpoint,
            },
            Record::Lost(range) => {
                self.numbered.allow_gaps(range.end.saturating_sub(range.start));
                // An empty range represents an encrypted record whose key could not be read.
                if range.is_empty() { self.damage.records += 1 } else { self.damage.bytes.push(range) }
            }
            Record::Accepted => {
                // The losses were accepted, so objects without dependencies are not reported again.
                self.numbered.take_missing_lists();
                (self.damage, self.without_dependencies) = (Damage::default(), 0);
            }
        }
        Some(())
    }

    /// Forgets all results and calls.
    fn forget(&mut self) {
        self.events.clear();
        self.later.clear();
        self.snapshot = None;
        self.in_flight.clear();
        self.positions.clear();
        (self.resolved, self.in_checkpoint) = (0, 0);
    }

    fn settle(&mut self, object_address: &ObjectAddress) {
        if let Some(number) = self.positions.remove(object_address) {
            self.in_flight.remove(&number);
        }
    }

    fn push(&mut self, event: Event) {
        if self.snapshot.is_some() { &mut self.later } else { &mut self.events }.push(event);
    }
}

/// The damage to a journal: bytes that differ from those that were written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Damage {
    /// Unreadable bytes, by their offsets in the file.
    pub bytes: Vec<Range<u64>>,
    /// The number of readable records that refer to unreadable ones.
    pub records: usize,
    /// The number of results that were read without the dependencies of their objects.
    pub without_dependencies: usize,
}

impl Damage {
    /// Whether nothing is lost.
    pub fn is_none(&self) -> bool {
        self.bytes.is_empty() && self.records == 0 && self.without_dependencies == 0
    }

    /// The number of unreadable bytes.
    pub fn length(&self) -> u64 {
        self.bytes.iter().map(|range| range.end - range.start).sum()
    }
}

/// Follows the records of the run that writes a journal, from a thread of the same process.
pub(crate) struct Follower {
    storage: Arc<dyn Storage>,
    position: u64,
    keyring: Option<Arc<Keyring>>,
    reader: Reader,
}

impl Follower {
    pub(super) fn new(storage: Arc<dyn Storage>, position: u64, keyring: Option<Arc<Keyring>>) -> Self {
        Self { storage, position, keyring, reader: Reader::default() }
    }

    /// Returns what happened up to `end`, where a record ends, since the last call.
    ///
    /// # Errors
    /// The file cannot be read, or was changed by another process.
    pub fn read_to(&mut self, end: u64) -> io::Result<Vec<Event>> {
        let length = usize::try_from(end.saturating_sub(self.position)).map_err(io::Error::other)?;
        let mut bytes = vec![0; length];
        if self.storage.read_at(&mut bytes, self.position)? < length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        // Only a reader that starts at the beginning of the file meets its header.
        let magics = [SEALED_MAGIC, MAGIC].into_iter().filter(|_| self.position == 0);
        let start = magics.filter(|magic| bytes.starts_with(magic)).map(<[u8]>::len).next().unwrap_or_default();
        self.take_frames(&bytes, start)?;
        self.position = end;
        Ok(self.reader.drain())
    }

    fn take_frames(&mut self, bytes: &[u8], start: usize) -> io::Result<()> {
        for frame in Frames::new(bytes, start) {
            // The writer is this process, so damage means that another process has changed the file.
            let Frame::Whole(payload) = frame else { return Err(io::ErrorKind::InvalidData.into()) };
            match (payload.split_first(), &self.keyring) {
                // Keys are known from the writer already.
                (Some((&KEY, _)), _) => {}
                (Some((&SEALED, sealed)), Some(keyring)) => {
                    let (_, records) = keyring.open(sealed).ok_or(io::ErrorKind::InvalidData)?;
                    let start = if records.starts_with(MAGIC) { MAGIC.len() } else { 0 };
                    self.take_frames(&records, start)?;
                }
                _ => self.reader.read(payload).ok_or(io::ErrorKind::InvalidData)?,
            }
        }
        Ok(())
    }
}
