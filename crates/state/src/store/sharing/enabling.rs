//! Beginning and ending the sharing of a state.

use super::document::SharingDocument;
use super::object::SharedObject;
use super::stored_document::{Unreadable, read, replace};
use crate::error::{StateError, StateErrorKind};

/// The effect of enabling or disabling the sharing of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharingChange {
    /// The state is shared now, or no longer.
    Made,
    /// It was so before.
    Unneeded,
}

/// Makes a state shared. The caller holds its ordinary lock alone, and has written a state. A document that cannot be read is replaced.
///
/// # Errors
/// Runs on this system cannot share the state, the store fails, or it does not accept the document.
pub fn enable_sharing(object: &dyn SharedObject) -> Result<SharingChange, StateError> {
    object.check_support()?;
    replace(object, Unreadable::Replace, |document| match std::mem::replace(&mut document.enabled, true) {
        false => Ok(SharingChange::Made),
        true => Ok(SharingChange::Unneeded),
    })
}

/// Ends the sharing of a state. The caller holds its ordinary lock alone. A document that cannot be read is replaced.
///
/// # Errors
/// Runs have left results that the state does not have, or the store fails.
pub fn disable_sharing(object: &dyn SharedObject) -> Result<SharingChange, StateError> {
    replace(object, Unreadable::Replace, |document| {
        if !document.runs.is_empty() {
            return Err(unfinished_runs(&object.location()));
        }
        match std::mem::take(document).enabled {
            true => Ok(SharingChange::Made),
            false => Ok(SharingChange::Unneeded),
        }
    })
}

fn unfinished_runs(location: &str) -> StateError {
    StateError::new(
        StateErrorKind::Changed,
        "The shared state has unfinished runs",
        format!(
            "Runs of {location} were killed, and the state may lack their results. Run apply to recover them, then disable \
             sharing."
        ),
    )
}

/// Returns the sharing document of a state; `None` without one.
///
/// # Errors
/// The store fails, or the document cannot be read.
pub fn sharing_document(object: &dyn SharedObject) -> Result<Option<SharingDocument>, StateError> {
    read(object)
}
