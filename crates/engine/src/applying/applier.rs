//! The walk over the execution graph.

use std::future::Future;
use std::sync::Arc;

use groma_address::Name;
use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_plan::{Mode, Plan, Step};
use groma_state::State;
use groma_value::Value;
use indexmap::IndexMap;

use super::changes;
use super::ending::{AppliedRun, Done};
use super::ephemeral;
use super::event::Event;
use super::inputs::{Inputs, Planned};
use super::invocations;
use super::provider_blocks;
use super::provisioners;
use super::recording::Recording;
use super::result_writer::{ResultWriter, WriterContext};
use super::results;
use super::steps::Steps;
use super::unchanged;
use super::values;
use crate::action_blocks::ActionBlocks;
use crate::checks::Checks;
use crate::ephemeral::OpenEphemerals;
use crate::evaluation::Evaluation;
use crate::hooks::Operation;
use crate::options::Input;
use crate::prepared::Prepared;
use crate::provider_calls::{Continuation, ProviderCalls};
use crate::provider_setup::{configure_empty, implied, switched_off};
use crate::providers::Providers;
use crate::recorder::Recorder;
use crate::session::Session;
use crate::walk::Outcome;
use crate::world::{ModuleId, SharedContext, World};

/// The inputs from which an [`Applier`] is built.
pub(super) struct Parts<'a> {
    pub(super) session: &'a Session,
    pub(super) providers: &'a mut Providers,
    pub(super) prepared: &'a Prepared,
    pub(super) plan: Plan,
    pub(super) inputs: IndexMap<Name, Input>,
    pub(super) recorder: Arc<dyn Recorder>,
}

/// The working state of an apply: the world with new values, the recording of results, the steps in progress, and the
/// provider calls in flight.
///
/// It owns its parts and connects them; each part keeps its own invariants (see their types). [`Applier::run`] starts the
/// ready steps of the execution graph, in the order of their numbers: values are evaluated at once, and what needs a
/// provider becomes a call that owns its inputs. When a call ends, its result goes to the recording before the step ends,
/// so that no dependent step begins earlier. A failed step fails the steps that depend on it and no others. All evaluation and
/// every change of a part happens on the walking thread.
///
/// The other modules of `applying` handle the kinds of steps and results. Nothing is planned here: the steps, their order and
/// the resulting objects come from the plan (LC-06).
pub(super) struct Applier<'a> {
    pub(super) inputs: Inputs<'a>,
    pub(super) providers: &'a mut Providers,
    pub(super) world: World,
    pub(super) evaluation: Evaluation,
    pub(super) recording: Recording,
    pub(super) actions: ActionBlocks,
    pub(super) ephemerals: OpenEphemerals,
    pub(super) steps: Steps,
    calls: ProviderCalls<(u32, Event)>,
}

impl<'a> Applier<'a> {
    pub(super) fn new(parts: Parts<'a>) -> Result<Self, Box<AppliedRun>> {
        let Parts { session, providers, prepared, plan, inputs, recorder } = parts;
        let shared_context = SharedContext::applying(session, &prepared.templates);
        // A saved plan is a file that may be damaged or belong to another configuration, so nothing in it is trusted.
        let Some(world) = World::restore(Arc::clone(&prepared.graph), shared_context, &plan.expansions) else {
            return Err(Box::new(mismatched_plan(plan.prior_state)));
        };
        if !plan.execution.steps().iter().all(|step| world.has_step(step)) {
            return Err(Box::new(mismatched_plan(plan.prior_state)));
        }
        let context = WriterContext {
            recorder: Arc::clone(&recorder),
            hooks: Arc::clone(&session.hooks),
            graph: Arc::clone(&prepared.graph),
        };
        // The number of changes decides whether a thread for results is worth its cost.
        let writer = ResultWriter::new(plan.execution.changes(), &context);
        let mut evaluation = Evaluation::applying(session, inputs, &plan.timestamp);
        evaluation.checks = match plan.mode {
            // Nothing is decided by what goes.
            Mode::Destroy => Checks::closed(&plan.checks),
            Mode::Normal | Mode::RefreshOnly => Checks::of(&plan.checks),
        };
        let is_partial = plan.is_partial();
        let planned = Planned {
            mode: plan.mode,
            changes: plan.changes,
            invocations: plan.invocations,
            outputs: plan.outputs,
            removed_data: plan.disposal,
        };
        // Inputs locate the instances of changes in the world, so the world is restored before they are built.
        let mut applier = Self {
            inputs: Inputs::new(session, prepared, &world, planned),
            providers,
            world,
            evaluation,
            recording: Recording::new(plan.prior_state, recorder, writer),
            actions: ActionBlocks::default(),
            ephemerals: OpenEphemerals::default(),
            steps: Steps::new(plan.execution),
            calls: ProviderCalls::new(session),
        };
        if is_partial {
            unchanged::set_siblings(&applier.inputs, &mut applier.world, &applier.recording);
        }
        if is_partial || plan.mode == Mode::RefreshOnly {
            unchanged::show_existing_instances(&applier.inputs, &mut applier.world, &applier.recording);
        }
        // After the siblings and existing instances, so that planned values replace recorded ones.
        unchanged::set_known_values(&applier.inputs, &mut applier.world, &applier.recording, &plan.deferred);
        Ok(applier)
    }

    pub(super) async fn run(&mut self) {
        let (templates, acting) = (self.inputs.templates(), self.inputs.acting_providers());
        // Implied provider configurations have no block, hence no step that could configure them.
        let mut unsaid = implied(templates, acting);
        unsaid.extend(switched_off(templates, &self.world, acting));
        let (_, problems) = configure_empty(self.inputs.session(), self.providers, unsaid, None).await;
        self.evaluation.diagnostics.append(problems);
        if self.evaluation.diagnostics.has_errors() {
            return;
        }
        // Imports are in the journal before anything else changes, so that a killed run does not import again.
        if !self.record_imports() {
            return;
        }
        loop {
            // A step starts only if its call has room: its configuration is evaluated when it starts, with results so
            // far.
            while self.calls.has_room() {
                let Some(step) = self.next_step() else { break };
                self.start(step).await;
            }
            // While the walk waits, the result writer has all there is.
            self.recording.hand_over();
            let Some((step, event)) = self.calls.next(self.providers).await else { break };
            self.take(step, event);
        }
        // Ephemeral resources are closed last: provider configurations and running steps may use them until here.
        self.results_are_written();
        let hooks = Arc::clone(&self.inputs.session().hooks);
        let problems = self.ephemerals.close(&*hooks).await;
        self.evaluation.diagnostics.append(problems);
        let is_complete = self.steps.is_complete();
        if !is_complete && !self.calls.is_stopping() && !self.evaluation.diagnostics.has_errors() {
            let detail = "Some planned steps were never started, because they wait for each other. The state \
             contains all completed changes. This is a bug in Groma; please report it.";
            self.evaluation.diagnostics.push(Diagnostic::error("Plan not carried out", detail));
        }
        // A run that was interrupted but had nothing left to do is complete.
        if self.calls.is_stopping() && !is_complete {
            let detail = "The run was interrupted. Running operations were completed if time permitted, and the \
             state contains all known results. Run plan again to see the remaining changes.";
            self.evaluation.diagnostics.push(Diagnostic::error("execution halted", detail));
        }
    }

    /// Writes objects that were imported while planning to the journal, before anything else happens to them.
    fn record_imports(&mut self) -> bool {
        for change in self.inputs.changes() {
            let Some(importing) = &change.importing else { continue };
            match self.recording.record_import(change) {
                Ok(false) => {}
                Ok(true) => self.inputs.session().hooks.imported(&change.address, importing),
                Err(problem) => {
                    self.evaluation.diagnostics.push(problem);
                    return false;
                }
            }
        }
        true
    }

    /// Returns the next step that can be started.
    fn next_step(&mut self) -> Option<u32> {
        // Peeks first, because a step that has to wait must stay the first ready one.
        let step = self.steps.first_ready()?;
        // The old object is deposed before the provider call, so this must wait until the call is sure to start.
        let waits = matches!(self.steps.step(step), Step::Create(change) if changes::deposes(&self.inputs, change));
        if waits && !self.calls.has_turn() {
            return None;
        }
        self.steps.take_ready()
    }

    /// Starts the only provider call of a step.
    pub(super) async fn start_call(&mut self, step: u32, call: impl Future<Output = Event> + Send + 'static) {
        self.begin_call(step, call, Continuation::Nothing).await;
    }

    /// Starts a provider call of a step; `continuation` says whether another one follows.
    pub(super) async fn begin_call(
        &mut self,
        step: u32,
        call: impl Future<Output = Event> + Send + 'static,
        continuation: Continuation,
    ) {
        if let Some((step, event)) = self.calls.start(async move { (step, call.await) }, continuation).await {
            self.take(step, event);
        }
    }

    /// Starts the next call of a step that continues, such as its provisioners.
    pub(super) fn continue_with(&mut self, step: u32, call: impl Future<Output = Event> + Send + 'static) {
        self.calls.continue_with(async move { (step, call.await) });
    }

    fn take(&mut self, step: u32, event: Event) {
        let outcome = match event {
            Event::Change(event) => match results::changed(self, step, *event) {
                Some(outcome) => outcome,
                // The change continues with its provisioners.
                None => return,
            },
            Event::Provisioned(event) => provisioners::provisioned(self, *event),
            Event::Opened(event) => ephemeral::opened(self, *event),
            Event::Invoked(invocation, problems) => invocations::invoked(self, &invocation, problems),
            Event::Data(change, read) => values::data_read(self, change, *read),
            Event::Providers(configured) => provider_blocks::configured(self, configured),
        };
        self.end(step, outcome);
    }

    pub(super) fn end(&mut self, step: u32, outcome: Outcome) {
        self.steps.end(step, outcome);
    }

    async fn start(&mut self, step: u32) {
        let what = self.steps.step(step);
        // These steps are reported at once or have external effects, so earlier results must be recorded before them.
        let needs_written_results = matches!(what, Step::Read(_) | Step::Invoke(_) | Step::Open(..));
        // A step behind a failure only passes the failure on; nothing about it is reported.
        if self.steps.has_failed(step) || needs_written_results && !self.results_are_written() {
            return self.end(step, Outcome::Failed);
        }
        let outcome = match what {
            Step::Join => Outcome::Done,
            Step::Variable(module, at) => self.evaluation.variable(&mut self.world, ModuleId(module), at),
            Step::Validation(module, at) => self.evaluation.validation(&self.world, ModuleId(module), at),
            Step::Local(module, at) => self.evaluation.local(&mut self.world, ModuleId(module), at),
            Step::Output(module, at) => self.evaluation.output(&mut self.world, ModuleId(module), at),
            Step::Check(module, at) => self.evaluation.check(&self.world, ModuleId(module), at),
            Step::ExpandCall(module, at) => {
                values::refill_call(&mut self.world, &mut self.evaluation, ModuleId(module), at)
            }
            Step::ExpandResource(module, at) => {
                values::refill_resource(&mut self.world, &mut self.evaluation, ModuleId(module), at)
            }
            Step::Conditions(change) => values::conditions(&self.inputs, &self.world, &mut self.evaluation, change),
            Step::Forget(change) => changes::forget(&self.inputs, &mut self.evaluation, &mut self.recording, change),
            Step::Provider(module, at) => return provider_blocks::configure(self, step, ModuleId(module), at).await,
            Step::Create(change) => return changes::make(self, step, change, Operation::Create).await,
            Step::Update(change) => return changes::make(self, step, change, Operation::Update).await,
            Step::Delete(change) => return changes::delete(self, step, change).await,
            Step::Read(change) => return values::read(self, step, change).await,
            Step::Invoke(invocation) => return invocations::invoke(self, step, invocation).await,
            Step::Open(module, at) => return ephemeral::open(self, step, ModuleId(module), at).await,
        };
        self.end(step, outcome);
    }

    /// Waits until the result writer has recorded and reported everything handed to it. It must be called before anything that is
    /// reported elsewhere or cannot be undone. Returns whether all results could be recorded.
    pub(super) fn results_are_written(&mut self) -> bool {
        let problems = self.recording.catch_up();
        let is_recorded = !problems.has_errors();
        self.evaluation.diagnostics.append(problems);
        is_recorded
    }

    pub(super) fn report(&mut self, problems: Diagnostics) -> Outcome {
        let failed = problems.has_errors();
        self.evaluation.diagnostics.append(problems);
        if failed { Outcome::Failed } else { Outcome::Done }
    }

    pub(super) fn settle(&mut self, change: u32, value: Value) {
        if let Some((module, resource, position)) = self.inputs.instance(change) {
            self.world.module_mut(module).resources[resource as usize].settle(position, value);
        }
    }
}

/// Returns the result of an apply whose plan does not match the configuration.
fn mismatched_plan(state: State) -> AppliedRun {
    let detail = "The plan does not match the configuration that was saved with it. Create a new plan.";
    let diagnostics = Diagnostic::error("Invalid plan", detail).into();
    AppliedRun { state, done: Done::default(), diagnostics, spent: None }
}
