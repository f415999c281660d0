//! Journal records for the differences between a run's first state and the file.

use crate::error::StateError;
use crate::journal::{Journal, Outcome};
use crate::model::{InstanceView, State};
use crate::object::{DeposedKey, ObjectRecord};
use std::sync::Arc;

/// Records the changes from `old` to `new`.
pub(super) fn note_difference(old: &State, new: &State, journal: &Journal) -> Result<(), StateError> {
    for view in old.iter() {
        let address = view.address();
        for (deposed, object) in objects(&view) {
            if new.object(&address, deposed).is_none() {
                journal.finished(&address, deposed, view.manager(object), Some(object), Outcome::Gone)?;
            }
        }
    }
    for view in new.iter() {
        let address = view.address();
        for (deposed, object) in objects(&view) {
            let before = old.object(&address, deposed);
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
