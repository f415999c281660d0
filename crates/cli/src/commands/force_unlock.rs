//! `force-unlock`.

use super::context::Context;
use super::outcome::{Outcome, fail};
use crate::arguments::{Flag, ForceUnlock};

/// Always fails: the lock of a local state ends with the process that holds it, so it is never stale.
pub(super) fn run(context: &mut Context, arguments: &ForceUnlock) -> Outcome {
    context.configure_view(&arguments.view);
    context.configure_json(&arguments.json)?;
    if arguments.rest.len() != 1 {
        return Err(fail("Expected a single argument: LOCK_ID", "The error message about the lock contains its ID."));
    }
    let detail = "The lock of a local state is held by the operating system, which releases it when the process ends, so it cannot be \
                  stale. Wait for the other process, or stop it.";
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
