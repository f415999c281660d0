//! The walk over the execution graph.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::future::Future;
use std::sync::Arc;

use groma_address::{Name, ProviderConfig, ResourceInstance};
use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_state::{DeposedKey, State};
use groma_value::Value;
use indexmap::IndexMap;

use super::clerk::{Clerk, Equipment};
use super::event::Event;
use super::outcome::{AppliedRun, Done};
use super::unanswered_calls::NotBegun;
use crate::action_blocks::ActionBlocks;
use crate::checks::Checks;
use crate::conversations::{Conversations, Sequel};
use crate::ephemeral::OpenEphemerals;
use crate::evaluation::Evaluation;
use crate::execution::{ExecutionGraph, Step};
use crate::hooks::Operation;
use crate::invocation::Invocation;
use crate::options::Input;
use crate::plan::{Action, Mode, OutputChange, Plan, ResourceChange};
use crate::prepared::Prepared;
use crate::provider_setup::{configure_empty, implied, switched_off};
use crate::providers::Providers;
use crate::recorder::Recorder;
use crate::session::Session;
use crate::walk::Outcome;
use crate::world::{ModuleId, Surroundings, World};

/// The inputs from which an [`Applier`] is built.
pub(super) struct Parts<'a> {
    pub(super) session: &'a Session,
    pub(super) providers: &'a mut Providers,
    pub(super) prepared: &'a Prepared,
    pub(super) plan: Plan,
    pub(super) inputs: IndexMap<Name, Input>,
    pub(super) recorder: Arc<dyn Recorder>,
}

/// Everything that applying knows.
pub(super) struct Applier<'a> {
    pub(super) session: &'a Session,
    pub(super) providers: &'a mut Providers,
    pub(super) prepared: &'a Prepared,
    pub(super) world: World,
    pub(super) state: State,
    pub(super) evaluation: Evaluation,
    pub(super) changes: Vec<ResourceChange>,
    /// The module instance, resource and position of each change's instance; `None` for instances that the configuration no longer has.
    pub(super) places: Vec<Option<(ModuleId, u32, usize)>>,
    pub(super) recorder: Arc<dyn Recorder>,
    pub(super) done: Done,
    /// Operations whose provider had ended before.
    pub(super) not_begun: NotBegun,
    /// Deposed by a replacement that creates first, by change.
    pub(super) deposed: HashMap<u32, DeposedKey>,
    /// The changes of objects that are not to be destroyed one day.
    pub(super) kept: HashSet<u32>,
    /// The ephemeral resources that are open.
    pub(super) ephemerals: OpenEphemerals,
    /// Providers that ephemeral resources need: blocks, with all their instances.
    pub(super) opening: HashSet<ProviderConfig>,
    /// Providers that something is done with.
    pub(super) acting: HashSet<ProviderConfig>,
    /// Actions to be invoked.
    pub(super) invocations: Vec<Arc<Invocation>>,
    /// Action blocks evaluated so far.
    pub(super) actions: ActionBlocks,
    pub(super) mode: Mode,
    /// Data sources that go with what is destroyed.
    pub(super) parting: Vec<ResourceInstance>,
    pub(super) outputs: Vec<OutputChange>,
    pub(super) execution: ExecutionGraph,
    waiting: Vec<u32>,
    failed: Vec<bool>,
    /// The lowest number comes first: steps are numbered as planning went, which is the order in which things lie in memory.
    ready: BinaryHeap<Reverse<u32>>,
    ended: usize,
    conversations: Conversations<(u32, Event)>,
    pub(super) clerk: Clerk,
}

impl<'a> Applier<'a> {
    pub(super) fn new(parts: Parts<'a>) -> Result<Self, Box<AppliedRun>> {
        let Parts { session, providers, prepared, plan, inputs, recorder } = parts;
        let surroundings = Surroundings::applying(session, &prepared.templates);
        let Some(world) = World::restore(Arc::clone(&prepared.graph), surroundings, &plan.expansions) else {
            return Err(Box::new(unfit(plan.prior_state)));
        };
        if !plan.execution.steps().iter().all(|step| world.has_step(step)) {
            return Err(Box::new(unfit(plan.prior_state)));
        }
        let equipment = Equipment {
            recorder: Arc::clone(&recorder),
            hooks: Arc::clone(&session.hooks),
            graph: Arc::clone(&prepared.graph),
        };
        let clerk = Clerk::new(plan.execution.changes(), &equipment);
        let waiting = plan.execution.waiting();
        let ready = (0_u32..).zip(&waiting).filter(|(_, count)| **count == 0).map(|(step, _)| Reverse(step)).collect();
        let mut evaluation = session.applying_evaluation(inputs, &plan.timestamp);
        evaluation.checks = match plan.mode {
            // Nothing is decided by what goes.
            Mode::Destroy => Checks::closed(&plan.checks),
            Mode::Normal | Mode::RefreshOnly => Checks::of(&plan.checks),
        };
        let is_partial = plan.is_partial();
        let mut applier = Self {
            session,
            providers,
            prepared,
            world,
            state: plan.prior_state,
            evaluation,
            changes: plan.changes,
            places: Vec::new(),
            recorder,
            done: Done::default(),
            not_begun: NotBegun::default(),
            deposed: HashMap::new(),
            kept: HashSet::new(),
            ephemerals: OpenEphemerals::default(),
            opening: prepared.ephemeral_providers(),
            acting: HashSet::new(),
            invocations: plan.invocations.into_iter().map(Arc::new).collect(),
            actions: ActionBlocks::default(),
            mode: plan.mode,
            parting: plan.parting,
            outputs: plan.outputs,
            failed: vec![false; waiting.len()],
            ended: 0,
            waiting,
            ready,
            execution: plan.execution,
            conversations: Conversations::new(session),
            clerk,
        };
        if is_partial {
            applier.settle_beside();
        }
        if is_partial || plan.mode == Mode::RefreshOnly {
            applier.show_what_there_is();
        }
        applier.settle_known(&plan.deferred);
        Ok(applier)
    }

    /// The provider configurations that something is done with.
    fn acted_on(&self) -> HashSet<ProviderConfig> {
        let mut acting: Vec<&ProviderConfig> = Vec::new();
        for change in self.changes.iter().filter(|change| change.action != Action::NoOp) {
            // Most changes have the provider of the one before.
            if acting.last().is_none_or(|last| **last != *change.provider) {
                acting.push(&change.provider);
            }
        }
        let invoked = self.invocations.iter().map(|invocation| &invocation.provider);
        acting.into_iter().chain(&self.opening).chain(invoked).cloned().collect()
    }

    pub(super) async fn run(&mut self) {
        self.acting = self.acted_on();
        let templates = &self.prepared.templates;
        let mut unsaid = implied(templates, &self.acting);
        unsaid.extend(switched_off(templates, &self.world, &self.acting));
        let (_, problems) = configure_empty(self.session, self.providers, unsaid, None).await;
        self.evaluation.diagnostics.append(problems);
        if self.evaluation.diagnostics.has_errors() {
            return;
        }
        if !self.take_over() {
            return;
        }
        loop {
            while self.conversations.has_room() {
                let Some(step) = self.next_step() else { break };
                self.start(step).await;
            }
            // While the walk waits, the clerk has all there is.
            self.clerk.hand_over();
            let Some((step, event)) = self.conversations.next(self.providers).await else { break };
            self.take(step, event);
        }
        self.clerk_has_caught_up();
        let hooks = Arc::clone(&self.session.hooks);
        let problems = self.ephemerals.close(&*hooks).await;
        self.evaluation.diagnostics.append(problems);
        let is_complete = self.ended == self.execution.steps().len();
        if !is_complete && !self.conversations.is_stopping() && !self.evaluation.diagnostics.has_errors() {
            let detail = "Some of what was planned was never begun, because its steps wait for each other. What was done is in \
                          the state. This is a mistake of this program, so please report it.";
            self.evaluation.diagnostics.push(Diagnostic::error("Plan not carried out", detail));
        }
        if self.conversations.is_stopping() && !is_complete {
            let detail = "The run was interrupted. What had been started was finished where there was time, and everything that is \
                          known is in the state. Plan again to see what is left to do.";
            self.evaluation.diagnostics.push(Diagnostic::error("execution halted", detail));
        }
    }

    /// Writes objects that were imported while planning to the journal, before anything else happens to them.
    fn take_over(&mut self) -> bool {
        for change in &self.changes {
            let Some(importing) = &change.importing else { continue };
            let Some(record) = self.state.object(&change.address, None) else { continue };
            let outcome = groma_state::Outcome::Present(Arc::clone(record));
            if let Err(problem) = self.recorder.finished(&change.address, None, &change.provider, None, outcome) {
                self.evaluation.diagnostics.push(problem);
                return false;
            }
            self.session.hooks.imported(&change.address, importing);
            self.done.imported += 1;
        }
        true
    }

    /// The next step that can be started.
    fn next_step(&mut self) -> Option<u32> {
        let Reverse(step) = *self.ready.peek()?;
        // Its object becomes a deposed one before the conversation: that must not happen for one that may never begin.
        let waits = matches!(self.execution.steps()[step as usize], Step::Create(change) if self.deposes(change));
        if waits && !self.conversations.has_turn() {
            return None;
        }
        self.ready.pop();
        Some(step)
    }

    /// Starts the only conversation of a step.
    pub(super) async fn talk(&mut self, step: u32, talk: impl Future<Output = Event> + Send + 'static) {
        self.begin_talking(step, talk, Sequel::Nothing).await;
    }

    /// Starts a conversation of a step.
    pub(super) async fn begin_talking(
        &mut self,
        step: u32,
        talk: impl Future<Output = Event> + Send + 'static,
        sequel: Sequel,
    ) {
        if let Some((step, event)) = self.conversations.start(async move { (step, talk.await) }, sequel).await {
            self.take(step, event);
        }
    }

    /// The next conversation of a step that has not come to its end.
    pub(super) fn go_on(&mut self, step: u32, talk: impl Future<Output = Event> + Send + 'static) {
        self.conversations.go_on(async move { (step, talk.await) });
    }

    fn take(&mut self, step: u32, event: Event) {
        let outcome = match event {
            Event::Change(event) => match self.changed(step, *event) {
                Some(outcome) => outcome,
                // The change continues with its provisioners.
                None => return,
            },
            Event::Provisioned(event) => self.provisioned(*event),
            Event::Opened(event) => self.opened(*event),
            Event::Invoked(invocation, problems) => self.invoked(&invocation, problems),
            Event::Data(change, read) => self.data_read(change, *read),
            Event::Providers(configured) => self.configured(configured),
        };
        self.end(step, outcome);
    }

    pub(super) fn end(&mut self, step: u32, outcome: Outcome) {
        self.ended += 1;
        let failed = outcome == Outcome::Failed || self.failed[step as usize];
        for dependent in self.execution.dependents(step as usize) {
            let at = *dependent as usize;
            self.failed[at] |= failed;
            self.waiting[at] -= 1;
            if self.waiting[at] == 0 {
                self.ready.push(Reverse(*dependent));
            }
        }
    }

    async fn start(&mut self, step: u32) {
        let what = self.execution.steps()[step as usize];
        let tells = matches!(what, Step::Read(_) | Step::Invoke(_) | Step::Open(..));
        if self.failed[step as usize] || tells && !self.clerk_has_caught_up() {
            return self.end(step, Outcome::Failed);
        }
        let outcome = match what {
            Step::Join => Outcome::Done,
            Step::Variable(module, at) => self.evaluation.variable(&mut self.world, ModuleId(module), at),
            Step::Validation(module, at) => self.evaluation.validation(&self.world, ModuleId(module), at),
            Step::Local(module, at) => self.evaluation.local(&mut self.world, ModuleId(module), at),
            Step::Output(module, at) => self.evaluation.output(&mut self.world, ModuleId(module), at),
            Step::Check(module, at) => self.evaluation.check(&self.world, ModuleId(module), at),
            Step::ExpandCall(module, at) => self.refill_call(ModuleId(module), at),
            Step::ExpandResource(module, at) => self.refill_resource(ModuleId(module), at),
            Step::Conditions(change) => self.conditions(change),
            Step::Forget(change) => self.forget(change),
            Step::Provider(module, at) => return self.configure(step, ModuleId(module), at).await,
            Step::Create(change) => return self.make(step, change, Operation::Create).await,
            Step::Update(change) => return self.make(step, change, Operation::Update).await,
            Step::Delete(change) => return self.delete(step, change).await,
            Step::Read(change) => return self.read(step, change).await,
            Step::Invoke(invocation) => return self.invoke(step, invocation).await,
            Step::Open(module, at) => return self.open(step, ModuleId(module), at).await,
        };
        self.end(step, outcome);
    }

    /// Waits until every result that was handed to the background writer is recorded and reported. Required before anything is reported
    /// by another thread, and before anything irreversible. Returns whether all results could be recorded.
    pub(super) fn clerk_has_caught_up(&mut self) -> bool {
        let problems = self.clerk.catch_up();
        let is_sound = !problems.has_errors();
        self.evaluation.diagnostics.append(problems);
        is_sound
    }

    /// Returns the module instance, resource and position of a change's instance.
    pub(super) fn place(&self, change: u32) -> Option<(ModuleId, u32, usize)> {
        self.places.get(change as usize).copied().flatten()
    }

    pub(super) fn report(&mut self, problems: Diagnostics) -> Outcome {
        let failed = problems.has_errors();
        self.evaluation.diagnostics.append(problems);
        if failed { Outcome::Failed } else { Outcome::Done }
    }

    pub(super) fn settle(&mut self, change: u32, value: Value) {
        if let Some((module, resource, position)) = self.place(change) {
            self.world.module_mut(module).resources[resource as usize].settle(position, value);
        }
    }
}

/// The end of a run that cannot begin.
fn unfit(state: State) -> AppliedRun {
    let detail = "The plan does not fit the configuration that it was saved with. Make a new one.";
    let diagnostics = Diagnostic::error("Invalid plan", detail).into();
    AppliedRun { state, done: Done::default(), diagnostics, spent: None }
}
