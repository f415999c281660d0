//! A test project, which goes through the commands of users.

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
    /// Creates an empty configuration for the provider `address`, such as `example/files`. `make` returns an
    /// unconfigured provider.
    ///
    /// # Errors
    ///
    /// Fails if the address is invalid, or if the operating system provides no thread or directory.
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
    /// Fails if Groma or the provider reports errors.
    pub fn validate(&self) -> Result<Vec<String>, Problems> {
        let (mut run, mut diagnostics) = self.run()?;
        diagnostics.append(run.validate());
        good(diagnostics)
    }

    /// Plans with the current configuration and state.
    ///
    /// # Errors
    ///
    /// Fails if planning reports errors.
    pub fn plan(&self) -> Result<Planned, Problems> {
        self.plan_with(&PlanOptions::default())
    }

    /// Plans like `-allow-deferral`: the provider may defer changes to a later run.
    ///
    /// # Errors
    ///
    /// Fails if planning reports errors.
    pub fn plan_in_part(&self) -> Result<Planned, Problems> {
        self.plan_with(&PlanOptions { deferral: Deferral::Allowed, ..PlanOptions::default() })
    }

    /// Plans with other options: another mode, targets, replacements.
    ///
    /// # Errors
    ///
    /// Fails if planning reports errors.
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

    /// Plans and applies, and returns the actions. The state is kept, also after errors.
    ///
    /// # Errors
    ///
    /// Fails if planning or a change fails.
    pub fn apply(&mut self) -> Result<Vec<String>, Problems> {
        let planned = self.plan()?;
        self.apply_plan(planned)
    }

    /// Applies a plan, and returns the actions. The state is kept, also after errors.
    ///
    /// # Errors
    ///
    /// Fails if a change fails.
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
    /// Fails if an object cannot be deleted.
    pub fn destroy(&mut self) -> Result<Vec<String>, Problems> {
        let options = PlanOptions { mode: Mode::Destroy, ..PlanOptions::default() };
        let planned = self.plan_with(&options)?;
        self.apply_plan(planned)
    }

    /// Imports the object `id` to `address`, for which the configuration has a resource.
    ///
    /// # Errors
    ///
    /// Fails if the object does not exist, the provider reports an error, or the address has an object already.
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

    /// Returns the addresses of all managed instances in the state.
    pub fn addresses(&self) -> Vec<String> {
        let addresses = self.state.iter().map(|view| view.address());
        addresses.filter(|one| one.resource.mode == groma_address::Mode::Managed).map(|one| one.to_string()).collect()
    }

    /// Removes an object from the state without deleting it.
    ///
    /// # Errors
    ///
    /// Fails if `address` is not the address of a resource instance.
    pub fn forget(&mut self, address: &str) -> Result<(), Problems> {
        self.state.remove_instance(&instance(address)?);
        Ok(())
    }

    /// Returns the attribute `name` of the stored object at `address`, with the type of its JSON.
    pub fn attribute(&self, address: &str, name: &str) -> Option<Value> {
        self.object(address)?.attribute(name)
    }

    /// Returns the stored object at `address`, with the type of its JSON.
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
    /// Returns the actions other than no-ops: `files_file.a: delete then create`.
    pub fn actions(&self) -> Vec<String> {
        let changes = self.plan.changes.iter().filter(|change| change.action != Action::NoOp);
        changes.map(|change| format!("{}: {}", change.address, change.action.names().join(" then "))).collect()
    }

    /// Returns the deferred changes with their reasons: `files_file.a: absent_prereq`.
    pub fn deferred(&self) -> Vec<String> {
        self.plan.deferred.iter().map(|change| format!("{}: {}", change.address(), change.reason.name())).collect()
    }

    /// Returns the planned object at `address`: with unknown values, and null for a deletion.
    pub fn planned(&self, address: &str) -> Option<Value> {
        Some(self.change(address)?.after.unmark_deep().0)
    }

    /// Returns the object at `address` before the planned change: null for a creation.
    pub fn prior(&self, address: &str) -> Option<Value> {
        Some(self.change(address)?.before.unmark_deep().0)
    }

    /// Returns the attributes that require the replacement of the object at `address`.
    pub fn replaced_because_of(&self, address: &str) -> Vec<String> {
        let change = self.change(address);
        change.map(|change| change.replace_paths.iter().map(ToString::to_string).collect()).unwrap_or_default()
    }

    fn change(&self, address: &str) -> Option<&ResourceChange> {
        let address = instance(address).ok()?;
        // Deposed objects have a change of their own under the same address.
        self.plan.changes.iter().find(|change| change.address == address && change.deposed.is_none())
    }

    /// Returns the warnings, a line each.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }
}

impl Problems {
    fn of(diagnostics: &Diagnostics) -> Self {
        Self(diagnostics.iter().filter(|problem| problem.is_error()).map(text).collect())
    }

    /// Returns the errors, each with its summary and detail.
    pub fn errors(&self) -> &[String] {
        &self.0
    }

    /// Whether one of the errors contains `words`.
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

/// Returns the warnings if there are no errors.
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
