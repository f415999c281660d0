//! Apply: executes a plan.

mod applier;
mod apply_call;
mod changes;
mod ending;
mod ephemeral;
mod event;
mod inputs;
mod invocations;
mod provider_blocks;
mod provisioners;
mod recording;
mod result_writer;
mod results;
mod steps;
mod unanswered_calls;
mod unchanged;
mod values;

use std::sync::Arc;

use groma_plan::Plan;

use crate::prepared::Prepared;
use crate::providers::Providers;
use crate::recorder::Recorder;
use crate::session::Session;
use applier::{Applier, Parts};
pub use ending::{AppliedRun, Done};

/// Applies a plan.
pub(crate) async fn apply(
    session: &Session,
    providers: &mut Providers,
    prepared: &Prepared,
    plan: Plan,
    inputs: indexmap::IndexMap<groma_address::Name, crate::options::Input>,
    recorder: Arc<dyn Recorder>,
) -> AppliedRun {
    if let Some(problem) = plan.refusal() {
        return AppliedRun { state: plan.prior_state, done: Done::default(), diagnostics: problem.into(), spent: None };
    }
    let parts = Parts { session, providers, prepared, plan, inputs, recorder };
    match Applier::new(parts) {
        Ok(mut applier) => {
            applier.run().await;
            ending::finish(applier)
        }
        Err(run) => *run,
    }
}
