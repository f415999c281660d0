//! The walk that plans: visits nodes, starts conversations, takes their results in.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet, VecDeque};
use std::future::Future;
use std::sync::Arc;

use groma_address::{InstanceKey, ProviderConfig, ResourceInstance};
use groma_diagnostics::Diagnostic;
use groma_state::State;

use super::destroying::{Remains, is_ephemeral};
use super::event::{Event, Instance, Task};
use super::later::{LaterImports, Waiting};
use super::places::Places;
use super::targets::Included;
use super::wanted::{self, Wanted};
use crate::action_blocks::ActionBlocks;
use crate::config_graph::{ConfigGraph, ModuleIndex, NodeIndex, NodeKind};
use crate::conversations::{Conversations, Sequel};
use crate::deferral::DeferredInvocation;
use crate::ephemeral::OpenEphemerals;
use crate::evaluation::Evaluation;
use crate::invocation::Invocation;
use crate::moves::Moves;
use crate::options::PlanOptions;
use crate::plan::{DeferredChange, Generated, Mode, ResourceChange};
use crate::provider_setup::{configure_empty, implied, switched_off};
use crate::providers::Providers;
use crate::search::Searched;
use crate::session::Session;
use crate::templates::{Template, Templates};
use crate::walk::{Outcome, Visit, Walk, plays_no_part_in_destroying};
use crate::world::{ModuleId, World};

/// The instances of a resource that are still to be planned.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) left: usize,
    pub(super) outcome: Outcome,
}

/// Everything that planning knows.
pub(super) struct Planner<'a> {
    pub(super) session: &'a Session,
    pub(super) options: &'a PlanOptions,
    pub(super) graph: Arc<ConfigGraph>,
    pub(super) templates: &'a Templates,
    pub(super) providers: &'a mut Providers,
    pub(super) world: World,
    pub(super) walk: Walk,
    pub(super) state: State,
    pub(super) moves: Moves,
    /// The part of the configuration that a destroy plan evaluates; `None` in other modes.
    pub(super) remains: Option<Remains>,
    pub(super) evaluation: Evaluation,
    pub(super) included: Option<Included>,
    pub(super) forced_create_before_destroy: Vec<Vec<bool>>,
    /// The provider configurations that something may be done with.
    pub(super) used: HashSet<ProviderConfig>,
    pub(super) changes: Vec<ResourceChange>,
    pub(super) change_of: HashMap<Instance, usize>,
    pub(super) drift: Vec<ResourceChange>,
    /// Deferred changes, with their reasons.
    pub(super) deferred: Vec<DeferredChange>,
    /// The templates of resources whose instances choose an instance of their provider block, by its key.
    pub(super) chosen: HashMap<(ModuleIndex, u32, InstanceKey), Arc<Template>>,
    /// Templates of data source and ephemeral instances with a selected provider configuration.
    pub(super) managers: HashMap<Instance, Arc<Template>>,
    /// Providers through which nothing can be done in this run.
    pub(super) waiting: Waiting,
    /// Ephemeral resources that are open.
    pub(super) ephemerals: OpenEphemerals,
    /// The targets of import blocks.
    pub(super) imports: HashMap<ResourceInstance, Wanted>,
    /// Imports of which only a later run will know what they mean.
    pub(super) later_imports: LaterImports,
    /// Resources that have no block of their own, because one is written.
    pub(super) written: HashSet<ResourceInstance>,
    /// Blocks written for imports.
    pub(super) generated: Vec<Generated>,
    /// Objects that list blocks found.
    pub(super) searched: Vec<Searched>,
    /// Actions to be invoked.
    pub(super) invocations: Vec<Invocation>,
    /// Whether there is the action block that a person asks for.
    pub(super) is_request_met: bool,
    /// Actions that are left to a later run.
    pub(super) deferred_invocations: Vec<DeferredInvocation>,
    /// The positions in `deferred` of instances whose change is deferred.
    pub(super) left_of: HashMap<Instance, usize>,
    /// Instances in `left_of` whose actions before the change are reported already.
    pub(super) told_before: HashSet<Instance>,
    /// Action blocks evaluated so far.
    pub(super) actions: ActionBlocks,
    /// Orphans that are refreshed before their resource is done, with that resource.
    pub(super) lost: HashMap<ResourceInstance, (ModuleId, u32)>,
    /// Unchanged instances with conditions that are still unknown.
    pub(super) undecided: Vec<ResourceInstance>,
    /// Whether any instance of a resource is updated or replaced, for those that are replaced for its sake: once it was visited it stays so.
    pub(super) acts: HashMap<(ModuleId, u32), bool>,
    /// Whether a change is planned behind a value or a called module, for the data that wait for it; the same.
    pub(super) pending_behind: HashMap<(ModuleId, NodeIndex), bool>,
    /// Index of the addresses in the state, built on first use.
    pub(super) recorded_places: OnceCell<Places>,
    /// Whether the configuration could not be planned as a whole, when what is to go was looked for.
    pub(super) is_beside_error: bool,
    tasks: VecDeque<Task>,
    pub(super) open: HashMap<(ModuleId, u32), Open>,
    conversations: Conversations<Event>,
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

/// The provider configurations that something may be done with.
fn used(parts: &Parts<'_>, graph: &ConfigGraph) -> HashSet<ProviderConfig> {
    let in_flight: Vec<_> = parts.options.recovery.iter().flat_map(|recovery| &recovery.in_flight).collect();
    if parts.options.mode == Mode::Destroy && parts.state.is_empty() && in_flight.is_empty() {
        // Without objects to destroy, a provider that cannot be configured is no problem.
        return HashSet::new();
    }
    let mut used: HashSet<ProviderConfig> =
        parts.templates.resource_blocks().map(|template| (*template.provider).clone()).collect();
    used.extend(parts.templates.action_blocks().map(|template| (*template.provider).clone()));
    used.extend(parts.state.resources().map(|(_, entry)| (*entry.provider).clone()));
    used.extend(parts.state.provider_instances().map(ProviderConfig::block));
    used.extend(wanted::providers(parts.session, parts.options));
    used.extend(graph.function_providers().iter().cloned());
    used.extend(in_flight.into_iter().map(|begin| begin.provider.block()));
    used
}

impl<'a> Planner<'a> {
    pub(super) fn new(parts: Parts<'a>) -> Self {
        let graph = Arc::clone(parts.world.graph());
        let used = used(&parts, &graph);
        let included = Included::new(&graph, parts.options, &parts.state);
        let remains =
            (parts.options.mode == Mode::Destroy).then(|| Remains::of(&graph, &parts.state, included.as_ref()));
        let forced_create_before_destroy = crate::config_graph::forced_create_before_destroy(&graph);
        Self {
            walk: Walk::new(&parts.world),
            remains,
            included,
            forced_create_before_destroy,
            graph,
            used,
            session: parts.session,
            options: parts.options,
            templates: parts.templates,
            providers: parts.providers,
            world: parts.world,
            state: parts.state,
            moves: parts.moves,
            evaluation: parts.evaluation,
            changes: Vec::new(),
            change_of: HashMap::new(),
            drift: Vec::new(),
            deferred: Vec::new(),
            chosen: HashMap::new(),
            managers: HashMap::new(),
            waiting: Waiting::default(),
            ephemerals: OpenEphemerals::default(),
            imports: Wanted::of_options(parts.options),
            later_imports: LaterImports::default(),
            written: HashSet::new(),
            generated: Vec::new(),
            searched: Vec::new(),
            invocations: Vec::new(),
            is_request_met: false,
            deferred_invocations: Vec::new(),
            left_of: HashMap::new(),
            told_before: HashSet::new(),
            lost: HashMap::new(),
            actions: ActionBlocks::with(parts.options.deferral),
            undecided: Vec::new(),
            acts: HashMap::new(),
            pending_behind: HashMap::new(),
            recorded_places: OnceCell::new(),
            is_beside_error: false,
            tasks: VecDeque::new(),
            open: HashMap::new(),
            conversations: Conversations::new(parts.session),
        }
    }

    /// Configures what only objects of the state are managed by.
    async fn configure_switched_off(&mut self) {
        let wanted = switched_off(self.templates, &self.world, self.state.provider_instances());
        let recovery = self.options.recovery.as_deref();
        let (recovered, problems) = configure_empty(self.session, self.providers, wanted, recovery).await;
        self.recover(recovered);
        self.evaluation.diagnostics.append(problems);
    }

    /// Walks until all nodes are done, or until the run is cancelled.
    pub(super) async fn run(&mut self) {
        let recovery = self.options.recovery.as_deref();
        let implied = implied(self.templates, &self.used);
        let (recovered, problems) = configure_empty(self.session, self.providers, implied, recovery).await;
        self.recover(recovered);
        self.evaluation.diagnostics.append(problems);
        self.drain().await;
        if !self.conversations.is_stopping() && !self.evaluation.diagnostics.has_errors() {
            self.generate_missing().await;
            self.drain().await;
            self.report_unmet_imports();
            self.report_unmet_request();
        }
        // Beside an error, too: people see what else is going to happen.
        if !self.conversations.is_stopping() {
            self.is_beside_error = self.evaluation.diagnostics.has_errors();
            self.configure_switched_off().await;
            self.collect_orphans();
            self.drain().await;
        }
        let hooks = Arc::clone(&self.session.hooks);
        let problems = self.ephemerals.close(&*hooks).await;
        self.evaluation.diagnostics.append(problems);
        if self.conversations.is_stopping() {
            let detail =
                "The plan was interrupted before it was complete, so nothing can be applied. Nothing was changed.";
            self.evaluation.diagnostics.push(Diagnostic::error("execution halted", detail));
        }
    }

    async fn drain(&mut self) {
        loop {
            while self.conversations.has_room() {
                if let Some(task) = self.tasks.pop_front() {
                    self.start(task).await;
                } else if let Some((visit, outcome)) = self.walk.next() {
                    self.visit(visit, outcome).await;
                } else {
                    break;
                }
            }
            let Some(event) = self.conversations.next(self.providers).await else { return };
            self.take(event);
        }
    }

    /// Starts a provider call.
    pub(super) async fn talk(&mut self, talk: impl Future<Output = Event> + Send + 'static) {
        if let Some(event) = self.conversations.start(talk, Sequel::Nothing).await {
            self.take(event);
        }
    }

    fn take(&mut self, event: Event) {
        match event {
            Event::Managed(event) => self.conversed(event),
            Event::Before(event, planned) => self.before_planned(event, *planned),
            Event::Data(instance, read) => self.data_read(instance, *read),
            Event::List(instance, listed) => self.listed(instance, *listed),
            Event::Invocations(visit, planned) => self.invocations_planned(visit, *planned),
            Event::Providers(visit, configured) => self.providers_configured(visit, configured),
        }
    }

    async fn start(&mut self, task: Task) {
        match task {
            Task::Instance(instance) => self.start_instance(instance).await,
            Task::Orphan(address, deposed) => self.start_orphan(address, deposed).await,
            Task::Before(event, drafts) => self.ask_before(event, drafts).await,
        }
    }

    pub(super) fn queue(&mut self, task: Task) {
        self.tasks.push_back(task);
    }

    async fn visit(&mut self, visit: Visit, outcome: Outcome) {
        let index = self.world.module(visit.module).of;
        let kind = self.graph.module(index).kind(visit.node);
        let included = self.included.as_ref();
        let left_out = included.is_some_and(|included| !included.node(&self.graph, index, visit.node));
        if outcome == Outcome::Failed || left_out {
            return self.end(visit, outcome);
        }
        let id = visit.module;
        if self.options.mode == Mode::Destroy && plays_no_part_in_destroying(kind, id) {
            return self.end(visit, Outcome::Done);
        }
        let uses_providers = matches!(kind, NodeKind::Provider(_) | NodeKind::Resource(_));
        if self.options.mode == Mode::Destroy && uses_providers && self.used.is_empty() {
            return self.end(visit, Outcome::Done);
        }
        let needed = self.remains.as_ref().is_none_or(|remains| remains.needs(index, visit.node));
        if !needed && is_ephemeral(self.world.static_module(id), kind) {
            return self.end(visit, Outcome::Done);
        }
        let outcome = match kind {
            NodeKind::Variable(_) | NodeKind::Local(_) | NodeKind::Output(_) if !needed => self.unneeded(kind, id),
            NodeKind::Variable(at) => self.evaluation.variable(&mut self.world, id, at),
            NodeKind::Validation(at) => self.evaluation.validation(&self.world, id, at),
            NodeKind::Local(at) => self.evaluation.local(&mut self.world, id, at),
            NodeKind::Output(at) => self.evaluation.output(&mut self.world, id, at),
            NodeKind::Check(at) => self.evaluation.check(&self.world, id, at),
            NodeKind::Import(at) if self.options.mode == Mode::Normal => self.import(id, at),
            NodeKind::Import(_) => Outcome::Done,
            NodeKind::Action(at) => return self.requested_invocations(visit, at).await,
            NodeKind::Trigger(at) => return self.triggered_invocations(visit, at).await,
            NodeKind::CallOutput { .. } | NodeKind::CallEnd(_) => Outcome::Done,
            NodeKind::Call(at) => return self.expand_call(visit, at),
            NodeKind::Provider(at) => return self.configure_block(visit, at).await,
            NodeKind::Resource(at) => return self.expand_resource(visit, at),
        };
        self.end(visit, outcome);
    }

    /// Evaluates a node that no destruction needs. Its value is unknown if that fails.
    fn unneeded(&mut self, kind: NodeKind, id: ModuleId) -> Outcome {
        let mut told = std::mem::take(&mut self.evaluation.diagnostics);
        match kind {
            NodeKind::Variable(at) => self.evaluation.variable(&mut self.world, id, at),
            NodeKind::Local(at) => self.evaluation.local(&mut self.world, id, at),
            NodeKind::Output(at) => self.evaluation.output(&mut self.world, id, at),
            _ => Outcome::Done,
        };
        let problems = std::mem::take(&mut self.evaluation.diagnostics);
        if !problems.has_errors() {
            told.append(problems);
        }
        self.evaluation.diagnostics = told;
        Outcome::Done
    }

    pub(super) fn end(&mut self, visit: Visit, outcome: Outcome) {
        self.walk.end(&self.world, visit, outcome);
    }

    pub(super) fn resource_visit(&self, module: ModuleId, resource: u32) -> Visit {
        Visit { module, node: self.world.static_module(module).resource(resource as usize) }
    }

    pub(super) fn template(&self, module: ModuleId, resource: u32) -> Option<Arc<Template>> {
        self.templates.resource(self.world.module(module).of, resource).cloned()
    }
}
