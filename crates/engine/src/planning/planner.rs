//! The planning walk: visits nodes, starts provider calls and processes their results.

use std::future::Future;
use std::sync::Arc;

use groma_diagnostics::Diagnostic;
use groma_plan::Mode;
use groma_state::State;

use super::data;
use super::event::{Event, Task};
use super::expand;
use super::import_blocks;
use super::imports::Imports;
use super::inputs::Inputs;
use super::invocations;
use super::invocations::{ActionRequests, triggered};
use super::lists;
use super::managed;
use super::managers::{self, Managers};
use super::orphans;
use super::pending::PendingChanges;
use super::plan_builder::PlanBuilder;
use super::reach::is_ephemeral;
use super::schedule::Schedule;
use crate::config_graph::NodeKind;
use crate::ephemeral::OpenEphemerals;
use crate::evaluation::Evaluation;
use crate::moves::Moves;
use crate::options::PlanOptions;
use crate::provider_calls::{Continuation, ProviderCalls};
use crate::provider_setup::{configure_empty, implied, switched_off};
use crate::providers::Providers;
use crate::session::Session;
use crate::templates::Templates;
use crate::walk::{Outcome, Visit, plays_no_part_in_destroying};
use crate::world::{ModuleId, World};

/// The working state of planning for one run: the world being evaluated and expanded, the state being refreshed, the plan
/// being made, and the provider calls in flight.
///
/// It owns its parts and connects them; each part keeps its own invariants (see their types). [`Planner::run`] visits the
/// nodes of the graph and the instances of resources in the order of the [`Schedule`]: values are evaluated at once, and
/// what needs a provider becomes a call that owns its inputs. At most as many calls as the session allows are in flight.
/// When a call ends, the planner processes its result. All evaluation and every change of a part happens on the walking
/// thread, so nothing here is shared.
///
/// The other modules of `planning` handle the kinds of nodes, objects and results. Their functions take the planner, or only
/// the parts that they need. Finally `finish` turns the planner into a plan.
pub(super) struct Planner<'a> {
    pub(super) inputs: Inputs<'a>,
    pub(super) providers: &'a mut Providers,
    pub(super) world: World,
    /// The state as moves and refreshing have left it: the prior state of the plan.
    pub(super) state: State,
    pub(super) moves: Moves,
    pub(super) evaluation: Evaluation,
    pub(super) schedule: Schedule,
    pub(super) plan: PlanBuilder,
    pub(super) imports: Imports,
    pub(super) managers: Managers,
    pub(super) actions: ActionRequests,
    pub(super) pending: PendingChanges,
    pub(super) ephemerals: OpenEphemerals,
    calls: ProviderCalls<Event>,
}

/// The inputs from which a [`Planner`] is built.
pub(super) struct Parts<'a> {
    pub(super) session: &'a Session,
    pub(super) options: &'a PlanOptions,
    pub(super) templates: &'a Templates,
    pub(super) providers: &'a mut Providers,
    pub(super) world: World,
    pub(super) state: State,
    pub(super) moves: Moves,
    pub(super) evaluation: Evaluation,
}

impl<'a> Planner<'a> {
    pub(super) fn new(parts: Parts<'a>) -> Self {
        let Parts { session, options, templates, providers, world, state, moves, evaluation } = parts;
        Self {
            inputs: Inputs::new(session, options, templates, world.graph(), &state),
            schedule: Schedule::new(&world),
            plan: PlanBuilder::default(),
            imports: Imports::of_options(options),
            managers: Managers::default(),
            actions: ActionRequests::with(options.deferral),
            pending: PendingChanges::default(),
            ephemerals: OpenEphemerals::default(),
            calls: ProviderCalls::new(session),
            providers,
            world,
            state,
            moves,
            evaluation,
        }
    }

    /// Configures what only objects of the state are managed by.
    async fn configure_switched_off(&mut self) {
        let wanted = switched_off(self.inputs.templates(), &self.world, self.state.provider_instances());
        let recovery = self.inputs.options().recovery.as_deref();
        let (recovered, problems) = configure_empty(self.inputs.session(), self.providers, wanted, recovery).await;
        managers::recover(&self.inputs, &mut self.state, &mut self.evaluation, recovered);
        self.evaluation.diagnostics.append(problems);
    }

    /// Walks until all nodes are done, or until the run is cancelled.
    pub(super) async fn run(&mut self) {
        // Operations in flight of a killed run are requested as soon as their provider is configured, before any
        // planning.
        let recovery = self.inputs.options().recovery.as_deref();
        let implied = implied(self.inputs.templates(), self.inputs.used_providers());
        let (recovered, problems) = configure_empty(self.inputs.session(), self.providers, implied, recovery).await;
        managers::recover(&self.inputs, &mut self.state, &mut self.evaluation, recovered);
        self.evaluation.diagnostics.append(problems);
        self.drain().await;
        // After an error, a missing block may only follow from it.
        if !self.calls.is_stopping() && !self.evaluation.diagnostics.has_errors() {
            import_blocks::generate_missing(self).await;
            // The generated objects may trigger more work, such as drift that has to be recorded.
            self.drain().await;
            import_blocks::report_unmet_imports(self);
            triggered::report_unmet_request(&self.inputs, &mut self.evaluation, &self.actions);
        }
        // Beside an error, too: people see what else is going to happen.
        if !self.calls.is_stopping() {
            // Orphans behind an error are only shown, since the complete configuration is unknown.
            if self.evaluation.diagnostics.has_errors() {
                self.schedule.note_errors_before_orphans();
            }
            // Their blocks exist, but without instances, so no node has configured them.
            self.configure_switched_off().await;
            orphans::collect_orphans(self);
            self.drain().await;
        }
        // Also after errors and interruptions: an opened resource must be closed.
        let hooks = Arc::clone(&self.inputs.session().hooks);
        let problems = self.ephemerals.close(&*hooks).await;
        self.evaluation.diagnostics.append(problems);
        if self.calls.is_stopping() {
            let detail =
                "The plan was interrupted before it was complete, so nothing can be applied. Nothing was changed.";
            self.evaluation.diagnostics.push(Diagnostic::error("execution halted", detail));
        }
    }

    async fn drain(&mut self) {
        loop {
            // Tasks before nodes, so that one resource is finished before the next one begins and memory stays small.
            while self.calls.has_room() {
                if let Some(task) = self.schedule.next_task() {
                    self.start(task).await;
                } else if let Some((visit, outcome)) = self.schedule.next_node() {
                    self.visit(visit, outcome).await;
                } else {
                    break;
                }
            }
            let Some(event) = self.calls.next(self.providers).await else { return };
            self.take(event);
        }
    }

    /// Starts a provider call.
    pub(super) async fn start_call(&mut self, call: impl Future<Output = Event> + Send + 'static) {
        if let Some(event) = self.calls.start(call, Continuation::Nothing).await {
            self.take(event);
        }
    }

    fn take(&mut self, event: Event) {
        match event {
            Event::Managed(event) => triggered::plan_call_ended(self, event),
            Event::Before(event, planned) => triggered::before_planned(self, event, *planned),
            Event::Data(instance, read) => data::data_read(self, instance, *read),
            Event::List(instance, listed) => lists::listed(self, instance, *listed),
            Event::Invocations(visit, planned) => invocations::invocations_planned(self, visit, *planned),
            Event::Providers(visit, configured) => managers::providers_configured(self, visit, configured),
        }
    }

    async fn start(&mut self, task: Task) {
        match task {
            Task::Instance(instance) => managed::start_instance(self, instance).await,
            Task::Orphan(address, deposed) => orphans::start_orphan(self, address, deposed).await,
            Task::Before(event, drafts) => triggered::ask_before(self, event, drafts).await,
        }
    }

    async fn visit(&mut self, visit: Visit, outcome: Outcome) {
        let index = self.world.module(visit.module).of;
        let kind = self.inputs.graph().module(index).kind(visit.node);
        let targets = self.inputs.targets();
        let left_out = targets.is_some_and(|targets| !targets.node(self.inputs.graph(), index, visit.node));
        // A failed requirement fails the node without evaluation, so that its error is reported once.
        if outcome == Outcome::Failed || left_out {
            return self.end(visit, outcome);
        }
        let id = visit.module;
        // Conditions, checks and imports decide nothing about a destruction.
        if self.inputs.mode() == Mode::Destroy && plays_no_part_in_destroying(kind, id) {
            return self.end(visit, Outcome::Done);
        }
        // Without objects no provider has to be configured, which may even be impossible in a destroy plan.
        let uses_providers = matches!(kind, NodeKind::Provider(_) | NodeKind::Resource(_));
        if self.inputs.mode() == Mode::Destroy && uses_providers && self.inputs.used_providers().is_empty() {
            return self.end(visit, Outcome::Done);
        }
        let needed = self.inputs.destroy_needs().is_none_or(|needs| needs.needs(index, visit.node));
        if !needed && is_ephemeral(self.world.static_module(id), kind) {
            return self.end(visit, Outcome::Done);
        }
        let outcome = match kind {
            // Values that no destruction needs may fail, because what they refer to may already be destroyed.
            NodeKind::Variable(_) | NodeKind::Local(_) | NodeKind::Output(_) if !needed => self.unneeded(kind, id),
            NodeKind::Variable(at) => self.evaluation.variable(&mut self.world, id, at),
            NodeKind::Validation(at) => self.evaluation.validation(&self.world, id, at),
            NodeKind::Local(at) => self.evaluation.local(&mut self.world, id, at),
            NodeKind::Output(at) => self.evaluation.output(&mut self.world, id, at),
            NodeKind::Check(at) => self.evaluation.check(&self.world, id, at),
            // Only a normal plan imports objects.
            NodeKind::Import(at) if self.inputs.mode() == Mode::Normal => import_blocks::import(self, id, at),
            NodeKind::Import(_) => Outcome::Done,
            NodeKind::Action(at) => return triggered::requested_invocations(self, visit, at).await,
            NodeKind::Trigger(at) => return triggered::triggered_invocations(self, visit, at).await,
            NodeKind::CallOutput { .. } | NodeKind::CallEnd(_) => Outcome::Done,
            NodeKind::Call(at) => return expand::expand_call(self, visit, at),
            NodeKind::Provider(at) => return managers::configure_block(self, visit, at).await,
            NodeKind::Resource(at) => return expand::expand_resource(self, visit, at),
        };
        self.end(visit, outcome);
    }

    /// Evaluates a node that no destruction needs. Its value is unknown if that fails.
    fn unneeded(&mut self, kind: NodeKind, id: ModuleId) -> Outcome {
        // Set aside, so that the problems of this node can be distinguished from earlier ones.
        let mut earlier = std::mem::take(&mut self.evaluation.diagnostics);
        match kind {
            NodeKind::Variable(at) => self.evaluation.variable(&mut self.world, id, at),
            NodeKind::Local(at) => self.evaluation.local(&mut self.world, id, at),
            NodeKind::Output(at) => self.evaluation.output(&mut self.world, id, at),
            _ => Outcome::Done,
        };
        let problems = std::mem::take(&mut self.evaluation.diagnostics);
        // Warnings of a successful evaluation are kept; errors only make the value unknown.
        if !problems.has_errors() {
            earlier.append(problems);
        }
        self.evaluation.diagnostics = earlier;
        Outcome::Done
    }

    pub(super) fn end(&mut self, visit: Visit, outcome: Outcome) {
        self.schedule.end_node(&self.world, visit, outcome);
    }
}
