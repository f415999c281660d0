//! The writing side of the journal.

use std::collections::HashSet;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use foldhash::fast::RandomState;
use groma_address::{ProviderConfig, ResourceInstance};

use super::form::{self, Numbers};
use super::numbered::Known;
use super::read::Follower;
use super::record::{Begin, ObjectAddress, Outcome, RunHeader};
use super::replication::{Durable, Progress};
use super::sealing::Seal;
use super::syncing::Syncing;
use super::{MAGIC, frame};
use crate::content::Content;
use crate::error::StateError;
use crate::file::{write_check_results, write_outputs};
use crate::model::State;
use crate::object::{DeposedKey, ObjectRecord};
use crate::storage::Storage;
use crate::window::{WINDOW, Window};

/// The least room that is reserved for the result of a call.
const RESULT: u64 = 16 << 10;

/// The room that is reserved in advance.
const RESERVE: u64 = 256 << 10;

/// The write-ahead journal of a running apply, in a file next to the state.
///
/// Records each provider call before it begins ([`Journal::begin`]) and its result before the walk continues
/// ([`Journal::finished`]), so that a killed process loses no result of a provider. A record is with the
/// operating system when a method returns; [`Journal::sync`] waits until it is on the disk, and groups the records of
/// many threads into one flush.
///
/// All methods may be called from any thread. A method that fails has written nothing and may be called again: when
/// the disk is full, later results are recorded as soon as there is room.
///
/// The journal knows neither the state nor its file. [`crate::LocalStore`] opens it, folds its records into the state,
/// and deletes it once the file has them.
pub struct Journal {
    path: PathBuf,
    storage: Arc<dyn Storage>,
    writer: Mutex<Writer>,
    syncing: Syncing,
    /// The copy of the journal in the store of a remote state.
    replica: OnceLock<Arc<Progress>>,
}

/// The end of the file, and the values that already have numbers.
struct Writer {
    end: u64,
    /// The mapped part of the file, if records are not written one by one.
    window: Option<Window>,
    /// Whether a window may have made the file longer than its records.
    is_stretched: bool,
    buffer: Vec<u8>,
    seal: Seal,
    known: Known,
    in_flight: HashSet<ObjectAddress, RandomState>,
    /// Whether what follows the records may be a part of one that could not be written.
    is_torn: bool,
    /// Up to where the disk has room for certain.
    reserved: u64,
    /// The longest result so far, in bytes.
    longest: u64,
    /// Whether a record could not be written.
    lacks_records: bool,
    on_next_result: Option<Box<dyn FnOnce() + Send>>,
}

impl Journal {
    /// Continues the journal in `storage`, whose whole records end at `end`, while calls at `in_flight` have no result.
    pub(crate) fn open(
        path: PathBuf,
        storage: Arc<dyn Storage>,
        end: u64,
        in_flight: &[ObjectAddress],
        seal: Seal,
    ) -> Self {
        let in_flight = in_flight.iter().cloned().collect();
        Self {
            syncing: Syncing::of(storage.clone(), path.clone()),
            path,
            storage,
            replica: OnceLock::new(),
            writer: Mutex::new(Writer {
                end,
                window: None,
                is_stretched: false,
                buffer: Vec::new(),
                seal,
                known: Known::default(),
                in_flight,
                is_torn: false,
                reserved: 0,
                longest: 0,
                lacks_records: false,
                on_next_result: None,
            }),
        }
    }

    /// Returns a reader of all records that follow.
    pub(crate) fn follow(&self) -> Follower {
        let writer = self.lock();
        // With the keyring of this moment, since records before it may use another one.
        Follower::new(self.storage.clone(), writer.end, writer.seal.keyring())
    }

    /// Has `progress` learn of every further record, and returns the file for reading them.
    pub(crate) fn replicate(&self, progress: &Arc<Progress>) -> Arc<dyn Storage> {
        let writer = self.lock();
        if writer.end > 0 {
            progress.appended(writer.end);
        }
        // The first replica stays: a run has one.
        let _ = self.replica.set(progress.clone());
        self.storage.clone()
    }

    /// Waits until a killed run on a machine that is lost leaves everything recorded so far to the next one. Without a
    /// copy of the journal in a remote store, nothing is waited for.
    pub fn durable(&self) -> Durable {
        Durable::new(self.replica.get().cloned())
    }

    /// Makes every further call of the run fail with `problem`, because the run has lost its lock. Results are still
    /// recorded.
    pub fn stop(&self, problem: StateError) {
        self.replica.get_or_init(Arc::default).stop(problem);
    }

    /// Returns where the journal ends.
    pub(crate) fn end(&self) -> u64 {
        self.lock().end
    }

    /// Has `notify` called when the next result is in the journal.
    pub(crate) fn on_next_result(&self, notify: impl FnOnce() + Send + 'static) {
        self.lock().on_next_result = Some(Box::new(notify));
    }

    /// Notes the beginning of a run, which says: what came before is in the state file, apart from calls under way.
    /// Returns where the journal ends then.
    pub(crate) fn start_run(&self, header: &RunHeader) -> Result<u64, StateError> {
        let is_new = self.is_empty();
        self.append(|known, out| {
            if is_new {
                out.extend_from_slice(MAGIC);
            }
            // Texts and lists are numbered from the beginning of a run on.
            *known = Known::default();
            frame::append(out, |out| form::encode_run(header, out));
        })?;
        // Nothing can be assigned to a state without it, so damage to one record must not cost all of them.
        self.append(|_, out| frame::append(out, |out| form::encode_run(header, out)))?;
        Ok(self.lock().end)
    }

    /// Whether records are sealed.
    pub(crate) fn is_sealed(&self) -> bool {
        !self.lock().seal.is_clear()
    }

    /// Whether nothing has been noted yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.lock().end == 0
    }

    /// Records a provider call before it begins, and reserves room for its result.
    ///
    /// # Errors
    /// Fails if the record cannot be written, or the run has lost its lock. The provider must not be called then.
    pub fn begin(&self, begin: &Begin) -> Result<(), StateError> {
        if let Some(problem) = self.replica.get().and_then(|replica| replica.stopped()) {
            return Err(problem);
        }
        // Before the call: afterwards a full disk could no longer prevent the loss of its result.
        self.reserve_result(begin)?;
        self.append(|known, out| {
            let numbers =
                Numbers { provider: known.provider(&begin.provider, out), list: known.list(&begin.dependencies, out) };
            frame::append(out, |out| form::encode_begin(begin, &numbers, out));
        })?;
        // Only now, because a call whose record failed is never made.
        self.lock().in_flight.insert((begin.address.clone(), begin.deposed.clone()));
        Ok(())
    }

    /// Notes what is now at a place, after a provider was asked or for any other reason; `before` is what was there.
    ///
    /// # Errors
    /// Fails if the record cannot be written.
    pub fn finished(
        &self,
        address: &ResourceInstance,
        deposed: Option<&DeposedKey>,
        provider: &ProviderConfig,
        before: Option<&ObjectRecord>,
        outcome: Outcome,
    ) -> Result<(), StateError> {
        self.append(|known, out| {
            let list = match &outcome {
                Outcome::Present(object) => known.list(&object.dependencies, out),
                Outcome::Gone => 0,
            };
            let numbers = Numbers { provider: known.provider(provider, out), list };
            let object_address = (address, deposed);
            frame::append(out, |out| form::encode_finished(object_address, before, &outcome, &numbers, out));
        })?;
        let mut writer = self.lock();
        // The longest result so far predicts the size of the next ones.
        writer.longest = writer.longest.max(writer.buffer.len() as u64);
        if !writer.in_flight.is_empty() {
            writer.in_flight.remove(&(address.clone(), deposed.cloned()));
        }
        if let Some(notify) = writer.on_next_result.take() {
            // The notification may use the journal again, so the lock is released first.
            drop(writer);
            notify();
        }
        Ok(())
    }

    /// Notes that a call under way, of this run or an earlier one, needs no asking any more, whatever became of it.
    ///
    /// # Errors
    /// Fails if the record cannot be written.
    pub fn resolved(&self, address: &ResourceInstance, deposed: Option<&DeposedKey>) -> Result<(), StateError> {
        let object_address: ObjectAddress = (address.clone(), deposed.cloned());
        self.append(|_, out| frame::append(out, |out| form::encode_resolved(&object_address, out)))?;
        self.lock().in_flight.remove(&object_address);
        Ok(())
    }

    /// Whether calls were begun, by this run or earlier ones, of which the result is not known.
    pub fn has_calls_in_flight(&self) -> bool {
        !self.lock().in_flight.is_empty()
    }

    /// Notes the outputs and check results of `state`.
    ///
    /// # Errors
    /// Fails if the record cannot be written.
    pub fn outputs(&self, state: &State) -> Result<(), StateError> {
        let (mut outputs, mut results) = (Vec::new(), Vec::new());
        write_outputs(&state.outputs, &mut outputs);
        write_check_results(state.check_results.as_deref(), &mut results);
        self.append(|_, out| frame::append(out, |out| form::encode_outputs(&outputs, &results, out)))
    }

    pub(crate) fn in_flight(&self) -> Vec<ObjectAddress> {
        self.lock().in_flight.iter().cloned().collect()
    }

    /// Waits until everything noted is on the disk.
    ///
    /// # Errors
    /// Fails if the disk is faulty, now or since the last call.
    pub fn sync(&self) -> Result<(), StateError> {
        self.syncing.now().map_err(|error| self.failure("write", &error))
    }

    /// Notes what else is in a state of which every object was noted, and has all of it brought to the disk at once,
    /// without waiting for it; says whether that worked, which it does not where an object is missing.
    pub(crate) fn complete(&self, state: &State) -> Result<bool, StateError> {
        if self.lock().lacks_records {
            return Ok(false);
        }
        self.outputs(state)?;
        self.syncing.hurry();
        Ok(true)
    }

    /// Notes that the user has accepted the loss of what cannot be read before.
    pub(crate) fn accept_damage(&self) -> Result<(), StateError> {
        // The damage stays in the file; the record tells later readers that it was accepted.
        self.append(|_, out| frame::append(out, form::encode_accepted))
    }

    /// Notes the content of the state file before the first checkpoint, and waits until it is on the disk.
    pub(crate) fn base(&self, content: &[u8]) -> Result<(), StateError> {
        self.whole(&form::encode_base_head(), &[content])
    }

    /// Notes that the state file is about to get this content, which has all results up to here.
    pub(crate) fn checkpoint(&self, content: Content) -> Result<(), StateError> {
        self.append(|_, out| frame::append(out, |out| form::encode_checkpoint(content, out)))
    }

    /// Notes that the state file has the content of the last checkpoint or snapshot.
    pub(crate) fn written(&self) -> Result<(), StateError> {
        self.append(|_, out| frame::append(out, form::encode_written))
    }

    /// Notes a whole state file that is about to be written, and waits until it is on the disk.
    pub(crate) fn snapshot(&self, lineage: &str, serial: u64, parts: &[&[u8]]) -> Result<(), StateError> {
        self.whole(&form::encode_snapshot_head(lineage, serial), parts)?;
        // It has every result, whatever could not be written before.
        self.lock().lacks_records = false;
        Ok(())
    }

    /// Writes a record with the content of a file, and waits until it is on the disk.
    fn whole(&self, head: &[u8], parts: &[&[u8]]) -> Result<(), StateError> {
        let parts: Vec<&[u8]> = [head].into_iter().chain(parts.iter().copied()).collect();
        let header = frame::header(&parts);
        let mut writer = self.lock();
        let start = writer.end;
        let parts = [&header[..]].into_iter().chain(parts);
        // Parts are written one by one, because a copy of a large state would double the memory.
        if writer.seal.is_clear() {
            for part in parts {
                self.write(&mut writer, part, start)?;
            }
        } else {
            let whole: Vec<u8> = parts.flatten().copied().collect();
            self.put(&mut writer, &whole, start)?;
        }
        drop(writer);
        self.sync()
    }

    /// Reserves room for the results of all calls under way, and of the one that is about to begin.
    fn reserve_result(&self, begin: &Begin) -> Result<(), StateError> {
        let mut writer = self.lock();
        let request = begin.request.as_ref().map_or(0, |request| request.planned_state.len() + request.config.len());
        // A result can be larger than its request, by computed attributes and their text form.
        let result = RESULT.max(2 * writer.longest).max(4 * request as u64);
        let needed = writer.end + result * (writer.in_flight.len() as u64 + 1);
        if needed <= writer.reserved {
            return Ok(());
        }
        // A little more than needed, so that most calls ask the system for nothing.
        let reserved = self.storage.reserve(needed + RESERVE).map(|()| needed + RESERVE);
        let reserved = reserved.or_else(|_| self.storage.reserve(needed).map(|()| needed));
        writer.reserved = reserved.map_err(|error| self.failure("write", &error))?;
        writer.is_stretched = true;
        Ok(())
    }

    /// Whether every result is in the journal.
    pub(crate) fn is_complete(&self) -> bool {
        !self.lock().lacks_records
    }

    fn append(&self, encode: impl FnOnce(&mut Known, &mut Vec<u8>)) -> Result<(), StateError> {
        let mut writer = self.lock();
        let (start, texts, lists) = (writer.end, writer.known.texts, writer.known.lists);
        let mut buffer = std::mem::take(&mut writer.buffer);
        buffer.clear();
        encode(&mut writer.known, &mut buffer);
        let result = self.put(&mut writer, &buffer, start);
        writer.buffer = buffer;
        match result {
            Ok(()) => {
                self.syncing.soon();
                self.replica.get().inspect(|replica| replica.appended(writer.end));
            }
            // The numbers were assigned in a buffer that was not written, so later records must not use them.
            Err(_) => writer.known.forget(texts, lists),
        }
        result
    }

    /// Writes records at the end, sealed where they have to be.
    fn put(&self, writer: &mut Writer, records: &[u8], start: u64) -> Result<(), StateError> {
        let bytes = writer.seal.bytes(start, records)?;
        self.write(writer, &bytes, start)?;
        writer.seal.written();
        Ok(())
    }

    /// Writes at the end; after a failure the end is `start`, and what follows it is no record.
    fn write(&self, writer: &mut Writer, bytes: &[u8], start: u64) -> Result<(), StateError> {
        if writer.is_torn {
            // The remains of a failed write are cut off before anything follows them.
            self.storage.set_length(writer.end).map_err(|error| self.failure("write", &error))?;
            writer.is_torn = false;
        }
        let written = match writer.put(bytes, &*self.storage) {
            true => Ok(()),
            false => self.storage.write_at(bytes, writer.end),
        };
        match written {
            Ok(()) => {
                writer.end += bytes.len() as u64;
                Ok(())
            }
            Err(error) => {
                writer.end = start;
                // A window is no longer trusted after a failure; the next write maps a new one.
                writer.window = None;
                (writer.lacks_records, writer.reserved) = (true, 0);
                // A part of a record must not follow shorter ones. If it cannot be cut off now, the next record does.
                writer.is_torn = self.storage.set_length(start).is_err();
                Err(self.failure("write", &error))
            }
        }
    }

    /// Gives back what was reserved for records to come.
    pub(crate) fn trim(&self) {
        self.lock().trim(&*self.storage);
    }

    /// The file is gone: what was reserved goes with it.
    pub(crate) fn removed(&self) {
        self.lock().is_stretched = false;
    }

    /// As if a record could not have been written.
    #[cfg(test)]
    pub(crate) fn fail_once(&self) {
        self.lock().lacks_records = true;
    }

    fn failure(&self, action: &str, error: &io::Error) -> StateError {
        StateError::io(action, &self.path, error)
            .with_advice("The journal keeps what an interrupted run has done; without it no further change is begun.")
    }

    fn lock(&self) -> MutexGuard<'_, Writer> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Writer {
    /// Puts bytes at the end without asking the system; says whether that was possible.
    fn put(&mut self, bytes: &[u8], storage: &dyn Storage) -> bool {
        // What a file begins with is there before the file is stretched, and large records are written as they are.
        if self.end == 0 || bytes.len() > WINDOW / 4 {
            return false;
        }
        if self.window.as_mut().is_some_and(|window| window.put(bytes, self.end)) {
            return true;
        }
        // The window is full; a new one begins where the records end.
        self.window = None;
        // On a disk that is nearly full it may be longer without there being a window.
        self.is_stretched = true;
        self.window = storage.window(self.end);
        self.window.as_mut().is_some_and(|window| window.put(bytes, self.end))
    }

    fn trim(&mut self, storage: &dyn Storage) {
        self.window = None;
        if std::mem::take(&mut self.is_stretched) {
            // Best effort: what follows the last record is passed over when reading.
            let _ = storage.set_length(self.end);
        }
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        let writer = self.writer.get_mut().unwrap_or_else(PoisonError::into_inner);
        writer.trim(&*self.storage);
    }
}
