//! The engine's interface: validate, plan, save and load a plan, apply, search, evaluate.

use std::sync::Arc;

use groma_address::Name;
use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_plan::{Plan, SavedPlan};
use groma_state::{PlanRecords, State};
use indexmap::IndexMap;

use crate::applying::{self, AppliedRun, Done};
use crate::config_graph::{ConfigGraph, KnownFunctions};
use crate::hooks::Searched;
use crate::inspect::{Inspection, Objects};
use crate::options::{Input, PlanOptions};
use crate::plan_records::plan_records;
use crate::planning::{self, Spent};
use crate::prepared::{self, Prepared};
use crate::providers::Providers;
use crate::recorder::Recorder;
use crate::schema_binding::{Bodies, report_once};
use crate::session::Session;
use crate::validate::{self, DeclaredSecrets};

/// A run of the engine over one configuration. Providers that one step starts serve the next one too.
pub struct Run {
    session: Session,
    providers: Providers,
    prepared: Option<Arc<Prepared>>,
    /// Memory of earlier steps, kept until the run ends.
    spent: Vec<Spent>,
}

/// Number of changes from which on a thread is worthwhile.
const MANY: usize = 200;

impl Run {
    /// Nothing is started yet.
    pub fn new(session: Session) -> Self {
        let providers = Providers::new(Arc::clone(&session.providers));
        Self { session, providers, prepared: None, spent: Vec::new() }
    }

    /// Stops the providers that the run has started.
    pub fn stop_providers(&mut self) {
        self.providers = Providers::new(Arc::clone(&self.session.providers));
    }

    /// Returns the session of the run.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// The providers that the run has started so far.
    pub fn providers(&mut self) -> &mut Providers {
        &mut self.providers
    }

    fn prepare(&mut self) -> (Option<Arc<Prepared>>, Diagnostics) {
        if let Some(prepared) = &self.prepared {
            return (Some(Arc::clone(prepared)), Diagnostics::new());
        }
        let (prepared, diagnostics) = self.prepare_again(Bodies::Checked);
        self.prepared.clone_from(&prepared);
        (prepared, diagnostics)
    }

    fn graph(&self) -> Arc<ConfigGraph> {
        let started = Arc::clone(self.providers.on_demand());
        let known = KnownFunctions::new(move |address, function| started.has_function(address, function));
        Arc::new(ConfigGraph::new(&self.session.configuration).with_functions(known))
    }

    fn prepare_again(&mut self, bodies: Bodies) -> (Option<Arc<Prepared>>, Diagnostics) {
        let graph = self.graph();
        let cycle_mode = graph.check();
        self.prepare_over(graph, cycle_mode, bodies)
    }

    fn prepare_over(
        &mut self,
        graph: Arc<ConfigGraph>,
        cycle_mode: Diagnostics,
        bodies: Bodies,
    ) -> (Option<Arc<Prepared>>, Diagnostics) {
        let has_cycles = cycle_mode.has_errors();
        let (prepared, problems) = prepared::prepare(&self.session, &mut self.providers, graph, bodies);
        let mut diagnostics = cycle_mode;
        diagnostics.append(problems);
        if diagnostics.has_errors() {
            // An error in one block must not hide those in others.
            if !has_cycles {
                diagnostics = self.checked(&prepared, diagnostics);
            }
            return (None, diagnostics);
        }
        (Some(Arc::new(prepared)), diagnostics)
    }

    /// Checks the configuration without state and values.
    pub fn validate(&mut self) -> Diagnostics {
        let (prepared, diagnostics) = self.prepare();
        match prepared {
            Some(prepared) => self.checked(&prepared, diagnostics),
            None => diagnostics,
        }
    }

    /// Returns `told` with the problems of a complete check, without those that follow from others.
    fn checked(&mut self, prepared: &Prepared, told: Diagnostics) -> Diagnostics {
        let runtime = Arc::clone(&self.session.runtime);
        let Prepared { graph, templates, .. } = prepared;
        let secrets = DeclaredSecrets::Followed;
        let checks = validate::validate(&self.session, graph, templates, &mut self.providers, secrets);
        let mut all = told;
        report_once(&mut all, runtime.block_on(checks));
        all.without_cascades()
    }

    /// The values of the configuration over a state, for looking at: blocks that do not fit their schemas are no reason to see nothing.
    ///
    /// # Errors
    ///
    /// The configuration is wrong.
    pub fn inspect(&mut self, state: &State, inputs: IndexMap<Name, Input>) -> Result<Inspection, Diagnostics> {
        let (prepared, diagnostics) = self.prepare_again(Bodies::Unchecked);
        let prepared = prepared.ok_or(diagnostics)?;
        Ok(Inspection::new(&self.session, &prepared, Objects::State(state), inputs))
    }

    /// The values of the configuration as they will be when a plan has been carried out, as far as they are known.
    ///
    /// # Errors
    ///
    /// The configuration is wrong.
    pub fn inspect_plan(&mut self, plan: &Plan, inputs: IndexMap<Name, Input>) -> Result<Inspection, Diagnostics> {
        let (prepared, diagnostics) = self.prepare();
        let prepared = prepared.ok_or(diagnostics)?;
        Ok(Inspection::new(&self.session, &prepared, Objects::of_plan(plan), inputs))
    }

    /// Plans. There is no plan when the configuration is wrong; there is one marked as errored when something else is.
    pub fn plan(&mut self, state: State, options: &PlanOptions) -> (Option<Plan>, Diagnostics) {
        let (prepared, mut diagnostics) = match options.import {
            Some(_) => self.prepare_again(Bodies::Unchecked),
            None => self.prepare(),
        };
        let Some(prepared) = prepared else { return (None, diagnostics) };
        let runtime = Arc::clone(&self.session.runtime);
        let (plan, problems, spent) =
            runtime.block_on(planning::plan(&self.session, &mut self.providers, &prepared, state, options));
        self.spent.extend(spent);
        diagnostics.append(problems);
        (plan, diagnostics)
    }

    /// Searches with the list blocks of the root module. What they refer to is planned for its values, and objects of the state are
    /// taken as they are recorded.
    pub fn query(&mut self, state: State, options: PlanOptions) -> (Vec<Searched>, Diagnostics) {
        let (prepared, mut diagnostics) = self.prepare();
        let Some(prepared) = prepared else { return (Vec::new(), diagnostics) };
        let runtime = Arc::clone(&self.session.runtime);
        let (searched, problems, spent) =
            runtime.block_on(planning::query(&self.session, &mut self.providers, &prepared, state, options));
        self.spent.extend(spent);
        diagnostics.append(problems);
        (searched, diagnostics)
    }

    /// Returns the records of the state that carrying a plan out changes and depends on: none if the configuration cannot be prepared,
    /// which applying the plan reports.
    pub fn records_of(&mut self, plan: &Plan) -> PlanRecords {
        let (prepared, _) = self.prepare();
        prepared.map(|prepared| plan_records(&prepared.graph, plan)).unwrap_or_default()
    }

    /// Serializes a plan. The state is a separate member of the plan file.
    ///
    /// # Errors
    ///
    /// A value cannot be written.
    pub fn save(&self, plan: &Plan) -> Result<Vec<u8>, Diagnostic> {
        groma_plan::encode(plan)
    }

    /// Deserializes the plan that [`Run::save`] wrote, with the state from the same plan file.
    ///
    /// # Errors
    ///
    /// The plan is damaged, or a provider lacks a type of it.
    pub fn load(&mut self, saved: SavedPlan<'_>, prior_state: State) -> Result<Plan, Diagnostics> {
        saved.plan(prior_state, &mut self.providers)
    }

    /// Deserializes a plan for [`Run::apply`], and prepares the configuration for it at the same time.
    ///
    /// # Errors
    ///
    /// Those of [`Run::load`].
    pub fn load_to_apply(&mut self, saved: SavedPlan<'_>, prior_state: State) -> Result<Plan, Diagnostics> {
        if self.prepared.is_some() || saved.changes() < MANY {
            return self.load(saved, prior_state);
        }
        // It has been planned over, so it has no cycles.
        let graph = self.graph();
        // Results are recorded with dependencies, which have to be known when the first result arrives.
        graph.compute_ancestors_ahead();
        let plan = self.load(saved, prior_state)?;
        // Should it fail, it is apply that tells.
        self.prepared = self.prepare_over(graph, Diagnostics::new(), Bodies::Checked).0;
        Ok(plan)
    }

    /// Carries a plan out. `inputs` are the variables that the plan was made with, and ephemeral ones given again.
    pub fn apply(&mut self, plan: Plan, inputs: IndexMap<Name, Input>, recorder: Arc<dyn Recorder>) -> AppliedRun {
        let (prepared, diagnostics) = self.prepare();
        let Some(prepared) = prepared else {
            let mut diagnostics = diagnostics;
            let detail = "The configuration that was saved with the plan can no longer be loaded. Create a new plan.";
            diagnostics.push(Diagnostic::error("Invalid plan", detail));
            return AppliedRun { state: plan.prior_state, done: Done::default(), diagnostics, spent: None };
        };
        let runtime = Arc::clone(&self.session.runtime);
        let run = applying::apply(&self.session, &mut self.providers, &prepared, plan, inputs, recorder);
        runtime.block_on(run)
    }
}
