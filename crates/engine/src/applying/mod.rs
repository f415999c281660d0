//! Carrying a plan out.

mod applier;
mod changes;
mod ephemeral;
mod invocations;
mod provisioning;
mod talk;
mod values;

use std::sync::Arc;

use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_state::State;

use crate::plan::Plan;
use crate::planning::Prepared;
use crate::providers::Providers;
use crate::recorder::Recorder;
use crate::session::Session;
use applier::{Applier, Parts};

/// What there is after an apply, also after one that failed.
#[derive(Debug)]
pub struct AppliedRun {
    /// The state now.
    pub state: State,
    /// How many objects were added, changed and destroyed.
    pub done: Done,
    /// What went wrong, and warnings.
    pub diagnostics: Diagnostics,
    /// What the run worked with: released with this, so that a program that ends now may spare itself the time.
    #[expect(dead_code, reason = "kept only to be released")]
    pub(crate) spent: Option<Box<dyn std::any::Any>>,
}

/// Numbers of operations that ended well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// Objects taken over.
    pub imported: usize,
    /// Created objects.
    pub added: usize,
    /// Objects changed in place.
    pub changed: usize,
    /// Deleted objects.
    pub destroyed: usize,
    /// Actions invoked.
    pub invoked: usize,
}

/// Carries a plan out.
pub(crate) async fn apply(
    session: &Session,
    providers: &mut Providers,
    prepared: &Prepared,
    plan: Plan,
    inputs: indexmap::IndexMap<groma_address::Name, crate::options::Input>,
    recorder: Arc<dyn Recorder>,
) -> AppliedRun {
    if plan.errored {
        let detail = "This plan was saved although planning had failed, so that it could be looked at. It cannot be applied: correct \
                      what was wrong and plan again.";
        let problem = Diagnostic::error("Cannot apply incomplete plan", detail);
        return AppliedRun { state: plan.prior_state, done: Done::default(), diagnostics: problem.into(), spent: None };
    }
    let parts = Parts { session, providers, prepared, plan, inputs, recorder };
    match Applier::new(parts) {
        Ok(mut applier) => {
            applier.run().await;
            applier.finish()
        }
        Err(run) => *run,
    }
}
