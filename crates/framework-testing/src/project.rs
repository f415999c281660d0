//! Steps as users take them.

use std::fmt;
use std::sync::Arc;

use groma_address::{ResourceInstance, parse_resource_instance};
use groma_config::{Configuration, LoadOptions, MemoryFiles};
use groma_diagnostics::{Diagnostic, Diagnostics, Sources};
use groma_engine::hooks::Silent;
use groma_engine::{
    Action, Cancellation, Deferral, Mode, Plan, PlanOptions, ProviderSource, ResourceChange, Run, Session, Unrecorded,
};
use groma_provider::{Provider, TERRAFORM_VERSION};
use groma_state::State;
use groma_value::{Value, json};

use crate::transport::{Transport, UnderTest};

/// A configuration with its state, and the provider that it needs.
pub struct Project {
    provider: Arc<UnderTest>,
    text: String,
    state: State,
}

/// The problems of a failed step: errors with their summaries and details, and other messages.
pub struct Problems(pub(crate) Vec<String>);

/// A plan with its messages.
pub struct Planned {
    plan: Plan,
    run: Run,
    warnings: Vec<String>,
}

impl Project {
    /// An empty configuration for the provider known as `address`, such as `example/files`. `make` makes a provider
    /// that has not been configured.
    ///
    /// # Errors
    ///
    /// The address is none, or the operating system gives no threads or no folder.
    pub fn new(
        address: &str,
        make: impl Fn() -> Arc<dyn Provider> + Send + Sync + 'static,
        transport: Transport,
    ) -> Result<Self, Problems> {
        let provider = UnderTest::new(address, Box::new(make), transport).map_err(|problem| Problems(vec![problem]))?;
        Ok(Self { provider: Arc::new(provider), text: String::new(), state: State::new(TERRAFORM_VERSION) })
    }

    /// Replaces the configuration: provider blocks, resources, anything a module can contain. Provider requirements are
    /// added.
    pub fn configure(&mut self, body: &str) {
        let address = &self.provider.address;
        self.text = format!(
            "terraform {{\n  required_providers {{\n    {} = {{ source = \"{address}\" }}\n  }}\n}}\n{body}\n",
            address.type_name
        );
    }

    /// Validates the configuration, and returns the messages.
    ///
    /// # Errors
    ///
    /// The configuration, or the provider's opinion of it, has errors.
    pub fn validate(&self) -> Result<Vec<String>, Problems> {
        let (mut run, mut diagnostics) = self.run()?;
        diagnostics.append(run.validate());
        good(diagnostics)
    }

    /// Plans with the present configuration and state.
    ///
    /// # Errors
    ///
    /// There is no plan.
    pub fn plan(&self) -> Result<Planned, Problems> {
        self.plan_with(&PlanOptions::default())
    }

    /// Plans as `-allow-deferral` does: the provider may leave what it cannot say yet to a later run.
    ///
    /// # Errors
    ///
    /// There is no plan.
    pub fn plan_in_part(&self) -> Result<Planned, Problems> {
        self.plan_with(&PlanOptions { deferral: Deferral::Allowed, ..PlanOptions::default() })
    }

    /// Plans with other options: another mode, targets, replacements.
    ///
    /// # Errors
    ///
    /// There is no plan.
    pub fn plan_with(&self, options: &PlanOptions) -> Result<Planned, Problems> {
        let (mut run, mut diagnostics) = self.run()?;
        // The state is written and read as between two runs of a program.
        let state = groma_state::file::read(&groma_state::file::write(&self.state))
            .map_err(|problem| Problems(vec![problem.to_string()]))?;
        let (plan, further) = run.plan(state, options);
        diagnostics.append(further);
        let warnings = good(diagnostics)?;
        // The engine reports a reason for every missing plan; this guards the tests against its absence.
        let plan = plan.ok_or_else(|| Problems(vec!["There is no plan, and nobody says why.".to_owned()]))?;
        Ok(Planned { plan, run, warnings })
    }

    /// Plans and applies; the actions taken. The state is kept, also after errors.
    ///
    /// # Errors
    ///
    /// There is no plan, or a step of it failed.
    pub fn apply(&mut self) -> Result<Vec<String>, Problems> {
        let planned = self.plan()?;
        self.apply_plan(planned)
    }

    /// Applies a plan; the actions taken. The state is kept, also after errors.
    ///
    /// # Errors
    ///
    /// A step failed.
    pub fn apply_plan(&mut self, planned: Planned) -> Result<Vec<String>, Problems> {
        let actions = planned.actions();
        let Planned { plan, mut run, .. } = planned;
        // Nothing is recorded in a journal: a test that dies has no state to recover.
        let applied = run.apply(plan, PlanOptions::default().inputs, Arc::new(Unrecorded));
        // Before the errors are returned, because a failed apply changes the state, too.
        self.state = applied.state;
        good(applied.diagnostics)?;
        Ok(actions)
    }

    /// Plans and applies the destruction of all objects.
    ///
    /// # Errors
    ///
    /// One could not be deleted.
    pub fn destroy(&mut self) -> Result<Vec<String>, Problems> {
        let options = PlanOptions { mode: Mode::Destroy, ..PlanOptions::default() };
        let planned = self.plan_with(&options)?;
        self.apply_plan(planned)
    }

    /// Takes over the object `id` as `address`, for which the configuration has a resource.
    ///
    /// # Errors
    ///
    /// There is no such object, the provider refuses, or the address has an object already.
    pub fn import(&mut self, address: &str, id: &str) -> Result<(), Problems> {
        let to = instance(address)?;
        if self.state.object(&to, None).is_some() {
            return Err(Problems(vec![format!("{address} has an object already: forget it first.")]));
        }
        let import = Some((to, id.to_owned()));
        let planned = self.plan_with(&PlanOptions { import, ..PlanOptions::default() })?;
        // An import is complete when the object is read; applying would also change it.
        self.state = planned.plan.prior_state;
        Ok(())
    }

    /// Takes an object out of the state, as if it had never been made.
    ///
    /// # Errors
    ///
    /// `address` is no address of a resource instance.
    pub fn forget(&mut self, address: &str) -> Result<(), Problems> {
        self.state.remove_instance(&instance(address)?);
        Ok(())
    }

    /// The attribute `name` of the object at `address` as it is stored, of the type that its JSON has.
    pub fn attribute(&self, address: &str, name: &str) -> Option<Value> {
        self.object(address)?.attribute(name)
    }

    /// The object at `address` as it is stored, of the type that its JSON has.
    pub fn object(&self, address: &str) -> Option<Value> {
        let record = self.state.object(&instance(address).ok()?, None)?;
        json::decode(record.attributes.as_bytes()).ok()
    }

    fn run(&self) -> Result<(Run, Diagnostics), Problems> {
        let sources = Arc::new(Sources::new());
        let files = MemoryFiles::new().with("main.tf", &*self.text);
        let (configuration, diagnostics) = groma_config::load(&LoadOptions::default(), &sources, &files);
        match configuration {
            Some(configuration) if !diagnostics.has_errors() => {
                Ok((Run::new(self.session(configuration, sources)), diagnostics))
            }
            _ => Err(Problems::of(&diagnostics)),
        }
    }

    fn session(&self, configuration: Configuration, sources: Arc<Sources>) -> Session {
        let host = Arc::clone(&self.provider.host);
        Session {
            configuration: Arc::new(configuration),
            sources,
            providers: Arc::clone(&self.provider) as Arc<dyn ProviderSource>,
            hooks: Arc::new(Silent),
            cancellation: Cancellation::new(),
            parallelism: 10,
            workspace: "default".to_owned(),
            working_directory: self.provider.folder.path().to_owned(),
            root_directory: ".".into(),
            home_directory: None,
            // Fixed, so that configurations with `plantimestamp()` give the same plan in every run.
            timestamp: "2026-01-02T03:04:05Z".to_owned(),
            terraform_version: TERRAFORM_VERSION.to_owned(),
            runtime: Arc::clone(&self.provider.runtime),
            call_runtime: Arc::new(move || host.call_runtime()),
        }
    }
}

impl Planned {
    /// The actions that are not nothing: `files_file.a: delete then create`.
    pub fn actions(&self) -> Vec<String> {
        let changes = self.plan.changes.iter().filter(|change| change.action != Action::NoOp);
        changes.map(|change| format!("{}: {}", change.address, change.action.names().join(" then "))).collect()
    }

    /// Returns the deferred changes with their reasons: `files_file.a: absent_prereq`.
    pub fn deferred(&self) -> Vec<String> {
        self.plan.deferred.iter().map(|change| format!("{}: {}", change.address(), change.reason.name())).collect()
    }

    /// The object at `address` as it is planned: unknown where only apply will know, null when it goes.
    pub fn planned(&self, address: &str) -> Option<Value> {
        Some(self.change(address)?.after.unmark_deep().0)
    }

    /// The attributes that ask for a replacement of the object at `address`.
    pub fn replaced_because_of(&self, address: &str) -> Vec<String> {
        let change = self.change(address);
        change.map(|change| change.replace_paths.iter().map(ToString::to_string).collect()).unwrap_or_default()
    }

    fn change(&self, address: &str) -> Option<&ResourceChange> {
        let address = instance(address).ok()?;
        // Deposed objects have a change of their own under the same address.
        self.plan.changes.iter().find(|change| change.address == address && change.deposed.is_none())
    }

    /// The warnings, a line each.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }
}

impl Problems {
    fn of(diagnostics: &Diagnostics) -> Self {
        Self(diagnostics.iter().filter(|problem| problem.is_error()).map(text).collect())
    }

    /// The errors, each with its summary and detail.
    pub fn errors(&self) -> &[String] {
        &self.0
    }

    /// Whether one of the errors says `words`.
    pub fn say(&self, words: &str) -> bool {
        self.0.iter().any(|problem| problem.contains(words))
    }
}

impl fmt::Debug for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|problem| writeln!(f, "{problem}"))
    }
}

impl std::error::Error for Problems {}

/// The warnings, when there are no errors.
fn good(diagnostics: Diagnostics) -> Result<Vec<String>, Problems> {
    if diagnostics.has_errors() {
        return Err(Problems::of(&diagnostics));
    }
    Ok(diagnostics.iter().map(text).collect())
}

fn text(problem: &Diagnostic) -> String {
    if problem.detail.is_empty() {
        return problem.summary.clone();
    }
    format!("{}: {}", problem.summary, problem.detail)
}

fn instance(address: &str) -> Result<ResourceInstance, Problems> {
    parse_resource_instance(address).map_err(|problem| Problems(vec![format!("{address}: {problem}")]))
}
