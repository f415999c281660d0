//! Merging the journal of an interrupted run into the state file.
//!
//! If the file is as the run found it, all journal records are replayed on it. Otherwise Terraform or another run changed it in the
//! meantime. Each record therefore holds the previous record of its object: if the file still contains that, the record is applied.
//! Otherwise the file is newer and has precedence, and an object missing from the file is added as a deposed object, so that no
//! existing object is ever forgotten.

use std::sync::Arc;

use groma_diagnostics::{Diagnostic, Diagnostics};

use crate::journal::{Event, Finished, Outcome};
use crate::model::State;
use crate::object::{DeposedKey, Fingerprint, ObjectRecord};

/// The result of folding.
#[derive(Debug, Default)]
pub(super) struct Folded {
    /// Whether the state is another one now.
    pub changed: bool,
    /// Warnings about the recovery.
    pub warnings: Diagnostics,
}

/// Whether the file is as the run found it, which decides about what has no place of its own: the outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Base {
    /// As the interrupted run found it.
    Same,
    /// Somebody wrote it since.
    Newer,
}

/// Folds `events` into `state` in their order.
pub(super) fn fold(state: &mut State, events: Vec<Event>, base: Base) -> Folded {
    let mut folded = Folded::default();
    let mut deposed = Vec::new();
    for event in events {
        match event {
            // Nothing else changed the file, so the records apply without comparison.
            Event::Finished(finished) if base == Base::Same => folded.changed |= repeat(state, &finished),
            Event::Finished(finished) => {
                fold_object(state, &finished, &mut folded);
                deposed.extend(Some(finished.object_address).filter(|(_, key)| key.is_some()));
            }
            Event::Outputs(outputs, check_results) if base == Base::Same => {
                folded.changed |= state.outputs != outputs || state.check_results != check_results;
                state.outputs = outputs;
                state.check_results = check_results;
            }
            // Outputs have no identity to compare by, so those of the newer file win.
            Event::Outputs(..) => {}
        }
    }
    // Only now: a record that deposes an object comes before the one that ends the current object.
    for (address, key) in deposed {
        let current = state.object(&address, None).map(|object| object.fingerprint());
        let kept = state.object(&address, key.as_ref()).map(|object| object.fingerprint());
        // Another run that asked for the same object found its place free.
        if kept.is_some() && kept == current {
            state.remove(&address, key.as_ref());
        }
    }
    folded
}

/// Does again what the run did, on the state that the run had.
fn repeat(state: &mut State, finished: &Finished) -> bool {
    let (address, deposed) = (&finished.object_address.0, finished.object_address.1.as_ref());
    match &finished.outcome {
        Outcome::Present(object) => {
            state.insert(address, deposed, &finished.provider, object.clone()).as_ref() != Some(object)
        }
        Outcome::Gone => state.remove(address, deposed).is_some(),
    }
}

fn fold_object(state: &mut State, finished: &Finished, folded: &mut Folded) {
    let (address, deposed) = (&finished.object_address.0, finished.object_address.1.as_ref());
    let found = state.object(address, deposed).cloned();
    // Two runs that asked for the same object found its place taken, and each chose a key of its own. The key of this one counts, because
    // its later records name it: the end of the object there, or that it has ended the other key.
    if let (Outcome::Present(object), Some(key)) = (&finished.outcome, deposed)
        && found.is_none()
        && let Some(kept) = kept_before(state, finished, object).filter(|kept| kept != key)
    {
        state.remove(address, Some(&kept));
        state.insert(address, Some(key), &finished.provider, object.clone());
        folded.changed = true;
        return;
    }
    // If the file still has the object that the run found, nobody else has changed it since.
    let expected: Option<Fingerprint> = finished.prior.as_ref().map(|prior| prior.fingerprint);
    let is_as_before = found.as_ref().map(|object| object.fingerprint()) == expected;
    match &finished.outcome {
        // The file has this result already.
        Outcome::Present(object) if found.as_ref() == Some(object) => {}
        Outcome::Present(object) if is_as_before => {
            insert(state, finished, object);
            folded.changed = true;
        }
        Outcome::Gone if is_as_before => folded.changed |= state.remove(address, deposed).is_some(),
        // What the file says about the place is newer than the deletion; the next refresh finds out.
        Outcome::Gone => {}
        Outcome::Present(object) => match found {
            // Written by the other tool after it read the object: newer than what is in the journal.
            Some(found) if found.is_same_object(object) => {}
            Some(_) if let Some(key) = kept_before(state, finished, object) => {
                state.insert(address, Some(&key), &finished.provider, object.clone());
                folded.changed = true;
            }
            Some(_) => {
                // Two objects exist for one address, and neither may be forgotten.
                let key = free_key(state, finished);
                state.insert(address, Some(&key), &finished.provider, object.clone());
                folded.changed = true;
                folded.warnings.push(kept_as_deposed(finished, &key, object));
            }
            // A removal since then, as by state rm, was deliberate and is not undone.
            None if is_the_removed_one(finished, object) => folded.warnings.push(removed_since(finished)),
            None => {
                insert(state, finished, object);
                folded.changed = true;
            }
        },
    }
}

/// Puts an object into its place. Another run may have kept it as a deposed one, because the place was taken then.
fn insert(state: &mut State, finished: &Finished, object: &Arc<ObjectRecord>) {
    let (address, deposed) = (&finished.object_address.0, finished.object_address.1.as_ref());
    let kept = if deposed.is_none() { kept_before(state, finished, object) } else { None };
    state.insert(address, deposed, &finished.provider, object.clone());
    if let Some(kept) = kept {
        state.remove(address, Some(&kept));
    }
}

/// Whether the object is the one that was there before the interrupted run, changed by it, and taken out since.
fn is_the_removed_one(finished: &Finished, object: &ObjectRecord) -> bool {
    // Without an id, nothing shows that it is the same object, so it is kept.
    let before = finished.prior.as_ref().and_then(|prior| prior.id.clone());
    before.is_some() && before == object.id_json()
}

/// The key under which an earlier record of the same object is kept as a deposed one.
fn kept_before(state: &State, finished: &Finished, object: &ObjectRecord) -> Option<DeposedKey> {
    let record = state.get(&finished.object_address.0)?;
    let mut deposed = record.deposed.iter();
    deposed.find(|(_, kept)| kept.is_same_object(object)).map(|(key, _)| key.clone())
}

fn free_key(state: &State, finished: &Finished) -> DeposedKey {
    loop {
        let key = DeposedKey::generate();
        // A random key may collide with an existing one, whose object would be lost.
        if state.object(&finished.object_address.0, Some(&key)).is_none() {
            return key;
        }
    }
}

fn kept_as_deposed(finished: &Finished, key: &DeposedKey, object: &ObjectRecord) -> Diagnostic {
    let address = &finished.object_address.0;
    let id = match object.id_json() {
        Some(id) => format!(" with the id {id}"),
        None => String::new(),
    };
    Diagnostic::warning(
        "Object of an interrupted run recovered",
        format!(
            "An interrupted run made an object{id} for {address}. Since then another run has put another object there. \
             Both exist. The one of the interrupted run is kept in the state as the deposed object {key}, and will be \
             destroyed by the next apply. If you want to keep it, take it out of the state first."
        ),
    )
    .about(address)
}

fn removed_since(finished: &Finished) -> Diagnostic {
    let address = &finished.object_address.0;
    Diagnostic::warning(
        "Object of an interrupted run no longer in the state",
        format!(
            "An interrupted run changed the object of {address}. Since then another run has taken it out of the state, \
             so it stays out. If it still exists, it is no longer managed; import it to manage it again."
        ),
    )
    .about(address)
}
