//! Reconciliation of the state file with the journal of an interrupted run.

use std::path::Path;
use std::sync::Arc;

use groma_diagnostics::{Diagnostic, Diagnostics};

use super::fold::{Base, fold};
use crate::content::{Content, is_unfinished};
use crate::error::StateError;
use crate::file;
use crate::journal::{Begin, Journal, Outcome, Recovered, Snapshot};
use crate::model::{InstanceView, State};
use crate::object::{DeposedKey, ObjectRecord};

/// The result of the reconciliation.
#[derive(Debug, Default)]
pub(super) struct Reconciled {
    /// The state; none where nothing was ever applied.
    pub state: Option<State>,
    /// Whether the file's own content is a state.
    pub file_is_state: bool,
    /// The repair that the files need.
    pub repair: Repair,
    /// Calls that were begun and of which the result is not known.
    pub in_flight: Vec<Begin>,
    /// Warnings about the recovery.
    pub warnings: Diagnostics,
}

/// The repair of files that do not match the reconciled state.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) enum Repair {
    /// The files match the reconciled state.
    #[default]
    None,
    /// Write the state as a new one.
    Write,
    /// Put these bytes into the file: it was half written.
    Restore(Vec<u8>),
    /// Put the journal out of the way: it belongs to another state.
    SetAside,
}

/// Compares the content of the file, which is `bytes` in clear, with the journal.
///
/// # Errors
/// When the file is damaged and the journal cannot mend it.
pub(super) fn reconcile(
    path: &Path,
    bytes: &[u8],
    content: Content,
    journal: Option<Recovered>,
) -> Result<Reconciled, StateError> {
    // A blank file is a missing state: Terraform creates one when it takes the lock.
    let found = if file::is_blank(bytes) { Ok(None) } else { file::read(bytes).map(Some) };
    let file_is_state = matches!(found, Ok(Some(_)));
    let Some(mut journal) = journal else {
        let state = found.map_err(|error| error.in_file(path))?;
        return Ok(Reconciled { state, file_is_state, ..Reconciled::default() });
    };
    let in_flight = std::mem::take(&mut journal.in_flight);
    // The file has everything, so only unanswered calls can still matter.
    if journal.is_folded() {
        let mut state = found.map_err(|error| error.in_file(path))?;
        // Calls of another lineage say nothing about the objects of this state.
        if let Some(state) = state.take_if(|state| !in_flight.is_empty() && !belongs_together(state, &journal)) {
            return Ok(Reconciled { file_is_state, ..set_aside(path, state) });
        }
        return Ok(Reconciled { state, file_is_state, in_flight, ..Reconciled::default() });
    }
    let reconciled = match (found, journal.snapshot.take()) {
        (Ok(Some(state)), _) if !belongs_together(&state, &journal) => set_aside(path, state),
        (Ok(Some(state)), Some(snapshot)) if is_folded_in(&state, bytes, &snapshot) => fold_later(state, journal),
        // Somebody has continued from a checkpoint or from the old content, so the snapshot is outdated.
        (Ok(Some(state)), Some(_)) if writer(&state, content, &journal) == Base::Newer => {
            fold_all(state, Base::Newer, journal)
        }
        (Ok(_), Some(snapshot)) => restore(snapshot, journal, Diagnostics::new())?,
        (Ok(Some(state)), None) => {
            let base = writer(&state, content, &journal);
            fold_all(state, base, journal)
        }
        (Ok(None), None) => {
            // The file had content when the run began and is empty now: the interrupted write must be finished.
            let is_emptied = journal.base.is_some();
            let reconciled = fold_all(before(&journal)?, Base::Same, journal);
            if is_emptied { Reconciled { repair: Repair::Write, ..reconciled } } else { reconciled }
        }
        // The journal has the content before the run, or there was none, and all later results.
        (Err(_), None) if is_ours_half_written(bytes, &journal) => {
            let reconciled = fold_all(before(&journal)?, Base::Same, journal);
            let mut warnings = Diagnostics::from(half_written(path));
            warnings.append(reconciled.warnings);
            Reconciled { repair: Repair::Write, warnings, ..reconciled }
        }
        (Err(_), Some(snapshot)) => restore(snapshot, journal, half_written(path).into())?,
        // Neither the file nor the journal has a complete state, and guessing could lose objects.
        (Err(error), None) => return Err(error.in_file(path)),
    };
    // The journal keeps these calls when it is set aside.
    let in_flight = if reconciled.repair == Repair::SetAside { Vec::new() } else { in_flight };
    Ok(Reconciled { in_flight, file_is_state, ..reconciled })
}

/// Whether the journal's run began with a state that this one grew out of. A run that began without any state has made
/// up its lineage, and so has the writer of a first state since.
fn belongs_together(state: &State, journal: &Recovered) -> bool {
    state.lineage == journal.header.lineage || journal.header.from_nothing
}

/// Whether the file has, or had before others changed it, what a snapshot says.
fn is_folded_in(state: &State, bytes: &[u8], snapshot: &Snapshot) -> bool {
    // A later serial of the same lineage grew out of the snapshot, if that had reached the file.
    let is_later = snapshot.is_written && state.lineage == snapshot.lineage && state.serial >= snapshot.serial;
    is_later || snapshot.bytes == bytes
}

/// Whether the interrupted run wrote or found the state in the file, or somebody wrote it since.
fn writer(state: &State, content: Content, journal: &Recovered) -> Base {
    // A checkpoint may have been written after the found state, with its own serial.
    let is_found = state.lineage == journal.header.lineage && state.serial == journal.header.serial;
    if is_found || journal.checkpoints.contains(&content) { Base::Same } else { Base::Newer }
}

/// Whether a file that cannot be read is one that the interrupted run was writing, and the journal can mend it.
fn is_ours_half_written(bytes: &[u8], journal: &Recovered) -> bool {
    let is_known = journal.header.from_nothing || journal.base.is_some();
    is_known && (is_unfinished(bytes) || !journal.checkpoints.is_empty())
}

/// Returns the state as the interrupted run found it, where the file does not have it.
fn before(journal: &Recovered) -> Result<State, StateError> {
    if let Some(base) = &journal.base {
        return file::read(base);
    }
    let mut state = State::default();
    state.lineage.clone_from(&journal.header.lineage);
    // The next write continues from the serial that the run found.
    state.serial = journal.header.serial;
    Ok(state)
}

fn fold_later(mut state: State, journal: Recovered) -> Reconciled {
    let folded = fold(&mut state, journal.later, Base::Newer);
    let repair = if folded.changed { Repair::Write } else { Repair::None };
    Reconciled { state: Some(state), repair, warnings: folded.warnings, ..Reconciled::default() }
}

fn fold_all(mut state: State, base: Base, mut journal: Recovered) -> Reconciled {
    if base == Base::Newer && state.lineage == journal.header.lineage {
        // The program that wrote the file since has read its former content.
        journal.events.drain(..journal.resolved);
    }
    let mut warnings = Diagnostics::new();
    let mut changed = false;
    // In the order in which they were recorded, since later results build on earlier ones.
    for events in [journal.events, journal.later] {
        let folded = fold(&mut state, events, base);
        warnings.append(folded.warnings);
        changed |= folded.changed;
    }
    let repair = if changed { Repair::Write } else { Repair::None };
    Reconciled { state: Some(state), repair, warnings, ..Reconciled::default() }
}

fn restore(snapshot: Snapshot, journal: Recovered, mut warnings: Diagnostics) -> Result<Reconciled, StateError> {
    // The snapshot is a complete state that this program wrote, so it is trusted more than a damaged file.
    let mut state = file::read(&snapshot.bytes)?;
    // The snapshot includes all earlier results, so only those after it are missing.
    let folded = fold(&mut state, journal.later, Base::Same);
    warnings.append(folded.warnings);
    // The exact bytes are restored if nothing follows them, so that the serial stays the same.
    let repair = if folded.changed { Repair::Write } else { Repair::Restore(snapshot.bytes) };
    Ok(Reconciled { state: Some(state), repair, warnings, ..Reconciled::default() })
}

fn half_written(path: &Path) -> Diagnostic {
    Diagnostic::warning(
        "State file completed from the journal",
        format!(
            "{} was half written when the last run was stopped. What it should have held is in the journal next to it; \
             nothing is lost.",
            path.display()
        ),
    )
}

fn set_aside(path: &Path, state: State) -> Reconciled {
    let warning = Diagnostic::warning(
        "Journal of another state set aside",
        format!(
            "Beside {} lies the journal of an interrupted run, but that run worked on a state of another lineage: the \
             state file has been replaced since. The journal is kept under another name and not used. If the other \
             state is the right one, put it back, rename the journal back, and run the command again.",
            path.display()
        ),
    );
    Reconciled { state: Some(state), repair: Repair::SetAside, warnings: warning.into(), ..Reconciled::default() }
}

/// Records the changes from `old` to `new`.
pub(super) fn note_difference(old: &State, new: &State, journal: &Journal) -> Result<(), StateError> {
    for view in old.iter() {
        let address = view.address();
        for (deposed, object) in objects(&view) {
            // Without this record, recovery would bring the removed object back.
            if new.object(&address, deposed).is_none() {
                journal.finished(&address, deposed, view.manager(object), Some(object), Outcome::Gone)?;
            }
        }
    }
    for view in new.iter() {
        let address = view.address();
        for (deposed, object) in objects(&view) {
            let before = old.object(&address, deposed);
            // Unchanged objects need no record, since recovery starts from the file.
            if before != Some(object) {
                let outcome = Outcome::Present(object.clone());
                journal.finished(&address, deposed, view.manager(object), before.map(|before| &**before), outcome)?;
            }
        }
    }
    Ok(())
}

fn objects<'a>(view: &InstanceView<'a>) -> impl Iterator<Item = (Option<&'a DeposedKey>, &'a Arc<ObjectRecord>)> {
    let current = view.record.current.iter().map(|object| (None, object));
    current.chain(view.record.deposed.iter().map(|(key, object)| (Some(key), object)))
}
