//! Writes that other runs can be faster with: they are repeated with what is stored then.

use std::time::Duration;

use super::errors::contended;
use super::object::SharedObject;
use crate::error::StateError;

/// The number of attempts to replace something that other runs replace at the same time: about a minute.
const ATTEMPTS: u32 = 400;

/// The result of one conditional write.
pub(super) enum Attempt<T> {
    Done(T),
    /// Another run has written since this one read.
    Overtaken,
}

/// Repeats a conditional write until no other run is faster. Each attempt reads again what it replaces; `target` names that in the
/// error: `the state`.
///
/// # Errors
/// An attempt fails, or other runs are faster each time.
pub(super) fn until_done<T>(
    object: &dyn SharedObject,
    target: &str,
    mut attempt: impl FnMut() -> Result<Attempt<T>, StateError>,
) -> Result<T, StateError> {
    for number in 0..ATTEMPTS {
        if let Attempt::Done(result) = attempt()? {
            return Ok(result);
        }
        object.sleep(contention_pause(object, number));
    }
    Err(contended(&object.location(), target, ATTEMPTS))
}

/// Returns a random pause, so that runs that have met once do not meet again.
fn contention_pause(object: &dyn SharedObject, attempt: u32) -> Duration {
    Duration::from_millis(5 + object.random() % (20 << attempt.min(4)))
}
