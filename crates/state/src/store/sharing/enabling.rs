//! Beginning and ending the sharing of a state.

use super::document::SharingDocument;
use super::membership::{read, update};
use super::object::SharedObject;
use crate::error::{StateError, StateErrorKind};

/// Makes a state shared. The caller holds its ordinary lock alone, and has written a state.
///
/// # Errors
/// The store fails, or does not accept the document.
pub fn enable_sharing(object: &dyn SharedObject) -> Result<(), StateError> {
    update(object, |document| {
        document.enabled = true;
        Ok(())
    })
}

/// Ends the sharing of a state. The caller holds its ordinary lock alone.
///
/// # Errors
/// Runs have left results that the state does not have, or the store fails.
pub fn disable_sharing(object: &dyn SharedObject) -> Result<(), StateError> {
    update(object, |document| match document.runs.is_empty() {
        true => {
            *document = SharingDocument { enabled: false, ..SharingDocument::enabled() };
            Ok(())
        }
        false => Err(StateError::new(
            StateErrorKind::Changed,
            "The shared state has unfinished runs",
            format!(
                "Runs of {} were killed, and the state may lack their results. Run apply once, which recovers them, then disable sharing.",
                object.location()
            ),
        )),
    })
}

/// Returns the sharing document of a state; `None` without one.
///
/// # Errors
/// The store fails, or the document cannot be read.
pub fn sharing_document(object: &dyn SharedObject) -> Result<Option<SharingDocument>, StateError> {
    Ok(read(object)?.map(|(document, _)| document))
}
