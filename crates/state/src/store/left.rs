//! The journal next to a state file: what an earlier run left in it, and where the next one goes on.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use groma_diagnostics::Diagnostic;

use super::disk::changed_meanwhile;
use super::open::{copy_whole, is_at, open_private, read_if_there, try_lock};
use super::paths::{DamagedJournal, StatePaths, suffixed};
use crate::error::{StateError, StateErrorKind};
use crate::journal::{self, Damage, Journal, ObjectAddress, Recovered, RunHeader, Seal, Tail, recover_after, unseal};
use crate::random::random_bits;
use crate::storage::Storage;

/// The content that an earlier run left in the journal.
#[derive(Default)]
pub(super) struct Left {
    /// The length of the file.
    pub length: u64,
    /// The end of the complete records.
    pub end: u64,
    pub is_folded: bool,
    pub in_flight: Vec<ObjectAddress>,
    pub tail: Tail,
    /// The unreadable parts of the file.
    pub damage: Option<AcceptedDamage>,
}

/// Damage that the user accepts, and where the damaged journal is kept.
pub(super) struct AcceptedDamage {
    damage: Damage,
    kept: PathBuf,
}

impl Left {
    /// Opens the journal for notes after what was found in it; nobody else may write it until it is dropped.
    pub fn open_journal(&self, paths: &StatePaths) -> Result<Arc<Journal>, StateError> {
        let path = paths.journal();
        let failed = |action: &str, error: &io::Error| StateError::io(action, &path, error);
        // A journal that was removed between opening and locking it is opened again.
        let file = loop {
            let file = open_private(&path).map_err(|error| failed("open", &error))?;
            if !try_lock(&file).map_err(|error| failed("lock", &error))? {
                return Err(journal_in_use());
            }
            if is_at(&file, &path) {
                break file;
            }
        };
        // Another process has written since the journal was read, and its records were not recovered.
        if file.length().map_err(|error| failed("read", &error))? != self.length {
            return Err(changed_meanwhile(&path));
        }
        // The copy precedes every write, so that the damaged bytes stay available for inspection.
        if let Some(damage) = &self.damage {
            copy_whole(&damage.kept, &path, &file).map_err(|error| StateError::io("write", &damage.kept, &error))?;
        }
        // What a stopped process has left of its last record must not follow shorter ones.
        if self.end < self.length {
            file.set_length(self.end).map_err(|error| failed("write", &error))?;
        }
        let keyring = paths.encryption.as_ref().map_or(Ok(None), |encryption| encryption.current_keyring());
        let tail = if self.end == 0 { Tail::Clear } else { self.tail };
        let seal = Seal::new(keyring.map_err(journal::failed)?, tail);
        let journal = Journal::open(path, Arc::new(file), self.end, &self.in_flight, seal);
        if self.damage.is_some() {
            journal.accept_damage()?;
        }
        Ok(Arc::new(journal))
    }

    /// Whether the journal has more than the calls of which the result is not known.
    pub fn is_unretired(&self) -> bool {
        self.length > 0 && (!self.is_folded || self.in_flight.is_empty())
    }

    /// Ends the journal, because everything in it is stored. Calls still under way stay noted after `header`. `scope` says
    /// whether that includes the journal of an earlier run.
    pub fn retire(
        &mut self,
        journal: Option<Arc<Journal>>,
        paths: &StatePaths,
        header: &RunHeader,
        scope: Retire,
    ) -> Result<(), StateError> {
        let journal = match journal {
            Some(journal) => journal,
            // Opening takes the lock: a journal that another process still writes must not be removed.
            None if self.length > 0 && scope == Retire::Any => self.open_journal(paths)?,
            None => return Ok(()),
        };
        *self = Self::default();
        // Calls with unknown results must survive until a later run resolves them.
        if journal.has_calls_in_flight() {
            let end = journal.start_run(header)?;
            journal.trim();
            let tail = if journal.is_sealed() { Tail::Sealed } else { Tail::Clear };
            let in_flight = journal.in_flight();
            *self = Self { length: end, end, is_folded: true, in_flight, tail, damage: None };
            return Ok(());
        }
        let path = paths.journal();
        match fs::remove_file(&path) {
            // A journal that is already missing needs no removal.
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(StateError::io("remove", &path, &error)),
            _ => {
                journal.removed();
                Ok(())
            }
        }
    }
}

/// The journals that are retired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Retire {
    /// Only the journal of this run, because another run may be using the existing one.
    Own,
    /// Also one that an earlier run left.
    Any,
}

/// Reads the journal, if there is one. Nothing in its first `known` bytes matters any more.
pub(super) fn read_journal(paths: &StatePaths, known: u64) -> Result<(Left, Option<Recovered>), StateError> {
    let path = paths.journal();
    match read_if_there(&path)? {
        Some(bytes) => read_bytes(&bytes, known, &path, paths),
        None => Ok((Left::default(), None)),
    }
}

/// Reads a journal with these bytes, named `path` in messages.
pub(super) fn read_bytes(
    bytes: &[u8],
    known: u64,
    path: &Path,
    paths: &StatePaths,
) -> Result<(Left, Option<Recovered>), StateError> {
    let clear = |bytes| unseal(bytes, paths.encryption.as_deref()).map_err(|error| error.in_file(path));
    let unsealed = clear(bytes)?;
    // A machine that lost its power may have lost records that it had sent.
    let known = usize::try_from(known).unwrap_or(usize::MAX).min(bytes.len());
    // Records have another length in the file if they are sealed.
    let known = if known == 0 { 0 } else { clear(&bytes[..known])?.bytes.len() };
    let mut recovered = recover_after(&unsealed.bytes, known).map_err(|error| error.in_file(path))?;
    if let (Some(recovered), Some(end)) = (&mut recovered, unsealed.end) {
        recovered.end = end;
    }
    let damage = recovered.as_mut().map(|recovered| std::mem::take(&mut recovered.damage));
    let damage = match damage.filter(|damage| !damage.is_none()) {
        // Lost results could make the run create objects twice, so the user has to accept the loss first.
        Some(damage) if paths.damaged_journal == DamagedJournal::Refuse => return Err(damaged(path, &damage)),
        Some(damage) => Some(AcceptedDamage { damage, kept: unused_name(path) }),
        None => None,
    };
    let left = Left {
        damage,
        length: bytes.len() as u64,
        end: recovered.as_ref().map_or(0, |recovered| recovered.end),
        is_folded: recovered.as_ref().is_none_or(Recovered::is_folded),
        in_flight: recovered.as_ref().map_or_else(Vec::new, Recovered::in_flight),
        tail: unsealed.tail,
    };
    Ok((left, recovered))
}

fn unused_name(path: &Path) -> PathBuf {
    // The random part keeps the copies of repeated damage apart.
    suffixed(path, &format!(".{:08x}.damaged", random_bits() >> 32))
}

impl AcceptedDamage {
    /// Tells the user what was taken over and what was not.
    pub fn warning(&self) -> Diagnostic {
        let detail = format!(
            "The journal of an interrupted run is damaged: {}. Everything else in it was taken over. The damaged journal is kept as \
             {} once the state is written.\n\nThe interrupted run may have created objects that the state does not have. Look \
             for them before you apply: import them, or delete them by hand.",
            described(&self.damage),
            self.kept.display()
        );
        Diagnostic::warning("Damaged journal recovered in part", detail)
    }
}

fn damaged(path: &Path, damage: &Damage) -> StateError {
    StateError::new(
        StateErrorKind::Malformed,
        "Damaged journal",
        format!(
            "{} is the journal of an interrupted run, and it is damaged: {}. Results of that run may be lost, so a run that goes on \
             could create objects a second time. Nothing was changed.\n\nIf there is a copy of the journal, put it back. Otherwise run \
             the command once with the environment variable GROMA_DAMAGED_JOURNAL=recover: it takes over everything that can be \
             read, and keeps the damaged journal under another name.",
            path.display(),
            described(damage)
        ),
    )
}

/// Says in numbers what is lost.
fn described(damage: &Damage) -> String {
    // A few ranges locate the damage; a long list would hide the advice after it.
    const RANGES: usize = 5;
    let mut ranges: Vec<String> =
        damage.bytes.iter().take(RANGES).map(|range| format!("{} to {}", range.start, range.end - 1)).collect();
    if damage.bytes.len() > RANGES {
        ranges.push("others".to_owned());
    }
    let mut text = format!("{} bytes of it cannot be read ({})", damage.length(), ranges.join(", "));
    if damage.records > 0 {
        text.push_str(&format!(", and {} records refer to them", damage.records));
    }
    if damage.without_dependencies > 0 {
        text.push_str(&format!(", and {} objects lack their dependencies", damage.without_dependencies));
    }
    text
}

fn journal_in_use() -> StateError {
    StateError::new(
        StateErrorKind::Locked,
        "Error acquiring the state lock",
        "Another run is changing what this state describes, and writes its journal. -lock=false cannot help here: wait \
         until the other run has ended.",
    )
}
