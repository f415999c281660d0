//! What the state is, given the file and the journal that an interrupted run may have left.

use std::path::Path;

use groma_diagnostics::{Diagnostic, Diagnostics};

use super::fold::{Base, fold};
use crate::content::is_unfinished;
use crate::error::StateError;
use crate::file;
use crate::journal::{Begin, Recovered, Snapshot};
use crate::model::State;

/// What is known after looking at both.
#[derive(Debug, Default)]
pub(super) struct Reconciled {
    /// The state; none where nothing was ever applied.
    pub state: Option<State>,
    /// Whether the file's own content is a state.
    pub file_is_state: bool,
    /// What the files need.
    pub repair: Repair,
    /// Calls that were begun and of which the result is not known.
    pub in_flight: Vec<Begin>,
    /// What a person has to know.
    pub warnings: Diagnostics,
}

/// What has to be done to the files so that they say what is known.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) enum Repair {
    /// Nothing.
    #[default]
    None,
    /// Write the state as a new one.
    Write,
    /// Put these bytes into the file: it was half written.
    Restore(Vec<u8>),
    /// Put the journal out of the way: it belongs to another state.
    SetAside,
}

/// Looks at the file's content and the journal's.
///
/// # Errors
/// When the file is damaged and the journal cannot mend it.
pub(super) fn reconcile(path: &Path, bytes: &[u8], journal: Option<Recovered>) -> Result<Reconciled, StateError> {
    let found = if file::is_blank(bytes) { Ok(None) } else { file::read(bytes).map(Some) };
    let file_is_state = matches!(found, Ok(Some(_)));
    let Some(mut journal) = journal else {
        let state = found.map_err(|error| error.in_file(path))?;
        return Ok(Reconciled { state, file_is_state, ..Reconciled::default() });
    };
    let in_flight = std::mem::take(&mut journal.in_flight);
    if journal.is_folded() {
        let mut state = found.map_err(|error| error.in_file(path))?;
        if let Some(state) = state.take_if(|state| !in_flight.is_empty() && !belongs_together(state, &journal)) {
            return Ok(Reconciled { file_is_state, ..set_aside(path, state) });
        }
        return Ok(Reconciled { state, file_is_state, in_flight, ..Reconciled::default() });
    }
    let reconciled = match (found, journal.snapshot.take()) {
        (Ok(Some(state)), _) if !belongs_together(&state, &journal) => set_aside(path, state),
        (Ok(Some(state)), Some(snapshot)) if is_folded_in(&state, &snapshot) => fold_later(state, journal),
        (Ok(Some(state)), Some(_)) if state.serial != journal.header.serial => fold_all(Some(state), journal)?,
        (Ok(_), Some(snapshot)) => restore(snapshot, journal, Diagnostics::new())?,
        (Ok(state), None) => fold_all(state, journal)?,
        // The first state of all is in the journal object by object.
        (Err(_), None) if journal.header.from_nothing && is_unfinished(bytes) => {
            let reconciled = fold_all(None, journal)?;
            let mut warnings = Diagnostics::from(half_written(path));
            warnings.append(reconciled.warnings);
            Reconciled { repair: Repair::Write, warnings, ..reconciled }
        }
        (Err(_), Some(snapshot)) => restore(snapshot, journal, half_written(path).into())?,
        (Err(error), None) => return Err(error.in_file(path)),
    };
    let in_flight = if reconciled.repair == Repair::SetAside { Vec::new() } else { in_flight };
    Ok(Reconciled { in_flight, file_is_state, ..reconciled })
}

/// Whether the journal's run began with a state that this one grew out of. A run that began without any state has made
/// up its lineage, and so has whoever wrote a first state since.
fn belongs_together(state: &State, journal: &Recovered) -> bool {
    state.lineage == journal.header.lineage || journal.header.from_nothing
}

/// The file begins with its first byte again only when all of it has been written, so its serial can be trusted.
fn is_folded_in(state: &State, snapshot: &Snapshot) -> bool {
    state.lineage == snapshot.lineage && state.serial >= snapshot.serial
}

fn fold_later(mut state: State, journal: Recovered) -> Reconciled {
    let folded = fold(&mut state, journal.later, Base::Newer);
    let repair = if folded.changed { Repair::Write } else { Repair::None };
    Reconciled { state: Some(state), repair, warnings: folded.warnings, ..Reconciled::default() }
}

fn fold_all(state: Option<State>, journal: Recovered) -> Result<Reconciled, StateError> {
    let (mut state, base) = match state {
        Some(state) => {
            let same = state.lineage == journal.header.lineage && state.serial == journal.header.serial;
            (state, if same { Base::Same } else { Base::Newer })
        }
        None => {
            let mut state = State::default();
            state.lineage.clone_from(&journal.header.lineage);
            state.serial = journal.header.serial;
            (state, Base::Same)
        }
    };
    let mut warnings = Diagnostics::new();
    let mut changed = false;
    for events in [journal.events, journal.later] {
        let folded = fold(&mut state, events, base);
        warnings.append(folded.warnings);
        changed |= folded.changed;
    }
    let repair = if changed { Repair::Write } else { Repair::None };
    Ok(Reconciled { state: Some(state), repair, warnings, ..Reconciled::default() })
}

fn restore(snapshot: Snapshot, journal: Recovered, mut warnings: Diagnostics) -> Result<Reconciled, StateError> {
    let mut state = file::read(&snapshot.bytes)?;
    let folded = fold(&mut state, journal.later, Base::Same);
    warnings.append(folded.warnings);
    let repair = if folded.changed { Repair::Write } else { Repair::Restore(snapshot.bytes) };
    Ok(Reconciled { state: Some(state), repair, warnings, ..Reconciled::default() })
}

fn half_written(path: &Path) -> Diagnostic {
    Diagnostic::warning(
        "State file completed from the journal",
        format!(
            "{} was half written when the last run was stopped. What it should have held is in the journal beside it; \
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
