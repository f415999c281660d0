//! `force-unlock`.

use super::context::Context;
use super::outcome::{Outcome, fail};
use crate::arguments::{Flag, ForceUnlock};

/// The lock of a local state ends with the process that holds it, so there is never one to take away.
pub(super) fn run(context: &mut Context, arguments: &ForceUnlock) -> Outcome {
    context.view(&arguments.view);
    context.speak(&arguments.json)?;
    if arguments.rest.len() != 1 {
        return Err(fail("Expected a single argument: LOCK_ID", "The message about the lock tells its ID."));
    }
    let detail = "The operating system holds the lock of a local state for the process that works on it, and ends it with that \
                  process: a lock that is left behind does not exist. Wait for the other process, or end it.";
    let is_forced = arguments.force.is_some_and(Flag::is_on);
    Err(fail(
        if is_forced {
            "Failed to unlock state: LocalState not locked"
        } else {
            "Local state cannot be unlocked by another process"
        },
        detail,
    ))
}
