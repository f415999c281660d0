//! Reading and replacing the stored document of a shared state.

use bytes::Bytes;

use super::contention::{Attempt, until_done};
use super::document::SharingDocument;
use super::errors::unreadable_document;
use super::object::{SharedObject, Versioned};
use crate::error::{StateError, StateErrorKind};

/// A stored document that is not one of this version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unreadable {
    /// It is an error.
    Refuse,
    /// It counts as the document of a state that is not shared, and is replaced.
    Replace,
}

/// Reads the document; `None` without one.
///
/// # Errors
/// The store fails, or the document is not one of this version.
pub(super) fn read(object: &dyn SharedObject) -> Result<Option<SharingDocument>, StateError> {
    Ok(read_versioned(object, Unreadable::Refuse)?.map(|(document, _)| document))
}

fn read_versioned(
    object: &dyn SharedObject,
    unreadable: Unreadable,
) -> Result<Option<(SharingDocument, Versioned)>, StateError> {
    let Some(found) = object.read_document()? else { return Ok(None) };
    match (SharingDocument::parse(&found.bytes), unreadable) {
        (Some(document), _) => Ok(Some((document, found))),
        (None, Unreadable::Replace) => Ok(Some((SharingDocument::default(), found))),
        (None, Unreadable::Refuse) => Err(unreadable_document(&object.location())),
    }
}

/// Replaces the document by what `change` makes of it.
///
/// # Errors
/// As for [`replace`], or the document is not one of this version.
pub(super) fn update<T>(
    object: &dyn SharedObject,
    change: impl Fn(&mut SharingDocument) -> Result<T, StateError>,
) -> Result<T, StateError> {
    replace(object, Unreadable::Refuse, change)
}

/// Replaces the document by what `change` makes of it; without one, of that of a state that is not shared.
///
/// # Errors
/// `change` fails, or the store does, or other runs replace the document each time.
pub(super) fn replace<T>(
    object: &dyn SharedObject,
    unreadable: Unreadable,
    change: impl Fn(&mut SharingDocument) -> Result<T, StateError>,
) -> Result<T, StateError> {
    until_done(object, "the sharing document", || {
        let (mut document, found) = read_versioned(object, unreadable)?.unzip();
        let document = document.get_or_insert_default();
        let result = change(document)?;
        let bytes = document.bytes();
        let is_stored = match &found {
            Some(found) => found.bytes == bytes,
            None => *document == SharingDocument::default(),
        };
        if is_stored {
            return Ok(Attempt::Done(result));
        }
        match object.write_document(&Bytes::from(bytes), found.as_ref().map(|found| &*found.version)) {
            Ok(()) => Ok(Attempt::Done(result)),
            Err(problem) if problem.kind == StateErrorKind::Changed => Ok(Attempt::Overtaken),
            Err(problem) => Err(problem),
        }
    })
}
