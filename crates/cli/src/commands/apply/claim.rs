//! Claims the records of a plan in a shared state, before it is carried out.

use groma_diagnostics::Diagnostics;
use groma_state::OutdatedRecord;

use super::ready::Ready;
use crate::commands::backend::StateHandle;
use crate::commands::context::Context;
use crate::commands::outcome::fail;

/// The largest number of plans that one apply makes because other runs change what it uses.
pub(super) const MAX_PLANS: u32 = 5;

/// Claims the records that the plan changes, and waits for runs that change them. Returns those that have changed since planning:
/// none for a state that is not shared, which the run has locked since before the plan.
///
/// # Errors
/// Other runs still change these records in the end, another program holds the lock of the state, or the store fails.
pub(super) fn claimed(context: &mut Context, ready: &mut Ready) -> Result<Vec<OutdatedRecord>, Diagnostics> {
    let (StateHandle::Shared(shared), Some(versions)) = (&mut ready.store, &ready.versions) else {
        return Ok(Vec::new());
    };
    let cancellation = context.interrupts()?.cancellation().clone();
    let claimed = shared.claim(context, &cancellation, versions, &mut ready.plan.prior_state);
    claimed.map_err(|problem| problem.diagnostic().into())
}

/// Returns the error about a saved plan whose records have changed.
pub(super) fn stale(outdated: &[OutdatedRecord]) -> Diagnostics {
    fail(
        "Saved plan is stale",
        format!(
            "Records that the plan uses were changed after it was created:\n{}\n\nThe plan may no longer do what was reviewed. Nothing \
             was changed. Create a new plan.",
            OutdatedRecord::lines(outdated)
        ),
    )
}

/// Reports that the plan is made again.
pub(super) fn report_new_plan(context: &Context, outdated: &[OutdatedRecord]) {
    context.report(&format!(
        "\nOther runs have changed records that this plan uses. Planning again:\n{}\n\n",
        OutdatedRecord::lines(outdated)
    ));
}

/// Returns the error about records that change faster than plans are made.
pub(super) fn overtaken(outdated: &[OutdatedRecord]) -> Diagnostics {
    fail(
        "Records change during planning",
        format!(
            "In each of {MAX_PLANS} attempts to plan, other runs changed records that the plan uses:\n{}\n\nNothing was changed. Run \
             the command again when these runs have finished.",
            OutdatedRecord::lines(outdated)
        ),
    )
}
