//! A project in memory: configuration text, a state, and steps of plan and apply as a user takes them.
#![allow(dead_code, clippy::unwrap_used, reason = "each test file uses a part of it; a test that fails may panic")]

pub mod labelled;
mod served;

use std::sync::Arc;

use groma_address::ProviderAddress;
use groma_builtin::Terraform;
use groma_config::{Configuration, LoadOptions, MemoryFiles, Queries};
use groma_diagnostics::{Diagnostic, Diagnostics, Sources};
use groma_engine::hooks::{Hooks, Silent};
use groma_engine::{
    AppliedRun, Cancellation, Input, Plan, PlanOptions, ProviderSource, Recorder, Run, SavedPlan, Searched, Session,
    Unrecorded,
};
use groma_plugin::Protocol;
use groma_provider::{Attribute, Block, NestedBlock, Provider, Schema};
use groma_scripted::Scripted;
use groma_state::State;
use groma_value::Type;

/// How the scripted provider is reached: the tests of `over_protocol_5` and `over_protocol_6` are those of the other
/// files once more.
const SPOKEN: Option<Protocol> = match env!("CARGO_CRATE_NAME").as_bytes() {
    b"over_protocol_5" => Some(Protocol::V5),
    b"over_protocol_6" => Some(Protocol::V6),
    _ => None,
};

/// Whether the scripted provider is reached through the plugin protocol.
pub const fn is_over_the_protocol() -> bool {
    SPOKEN.is_some()
}

/// The providers of a test: the built-in one, and a scripted one at `test/test`.
#[derive(Default)]
pub struct TestProviders {
    pub scripted: Option<Arc<Scripted>>,
    /// Makes one for each configuration, where tests tell them apart.
    pub each: Option<Box<dyn Fn() -> Scripted + Send + Sync>>,
    /// Further providers by type; each configuration gets one of its own.
    pub more: Vec<(&'static str, Box<MakeProvider>)>,
}

type MakeProvider = dyn Fn() -> Arc<dyn Provider> + Send + Sync;

impl ProviderSource for TestProviders {
    fn start(&self, address: &ProviderAddress) -> Result<Arc<dyn Provider>, Diagnostic> {
        if let Some((_, make)) = self.more.iter().find(|(name, _)| *name == &*address.type_name) {
            return Ok(make());
        }
        let one = self.each.as_ref().map(|make| Arc::new(make())).or_else(|| self.scripted.clone());
        match (&*address.type_name, one) {
            ("terraform", _) => Ok(Arc::new(Terraform::default())),
            ("test", Some(scripted)) => {
                let scripted = scripted as Arc<dyn Provider>;
                Ok(match SPOKEN {
                    None => scripted,
                    Some(protocol) => served::over(protocol, address, scripted),
                })
            }
            _ => Err(Diagnostic::error("Provider not available", format!("There is no {address} in this test."))),
        }
    }
}

const PROVIDERS: &str = r#"
    terraform {
      required_providers { test = { source = "test/test" } }
    }
"#;

/// A schema of `test_object` with one attribute that only some tests want.
pub fn object_with(name: &str, attribute: Attribute) -> Schema {
    Schema::new(Block::new(
        [
            ("id", Attribute::computed(Type::String)),
            ("name", Attribute::required(Type::String)),
            ("size", Attribute::optional(Type::Number)),
            (name, attribute),
        ],
        Vec::<(&str, NestedBlock)>::new(),
    ))
}

/// The schema of the data source `test_found`.
pub fn found() -> Schema {
    Schema::new(Block::new(
        [("name", Attribute::required(Type::String)), ("found", Attribute::computed(Type::String))],
        Vec::<(&str, NestedBlock)>::new(),
    ))
}

/// A configuration with its state.
pub struct Project {
    /// What the main file begins with.
    head: &'static str,
    files: MemoryFiles,
    providers: Arc<TestProviders>,
    pub state: State,
    pub options: PlanOptions,
    pub cancellation: Cancellation,
    pub parallelism: usize,
    pub hooks: Arc<dyn Hooks>,
}

/// A plan with what was said about it.
pub struct Planned {
    pub plan: Option<Plan>,
    pub diagnostics: Diagnostics,
    run: Run,
}

impl Project {
    /// A project of one file.
    pub fn new(main: &str) -> Self {
        Self {
            head: "",
            files: MemoryFiles::new().with("main.tf", main),
            providers: Arc::default(),
            state: State::new("1.15.5"),
            options: PlanOptions::default(),
            cancellation: Cancellation::new(),
            parallelism: 10,
            hooks: Arc::new(Silent),
        }
    }

    /// A project of one file, below a block that requires the scripted provider as `test`.
    pub fn with_test(main: &str, provider: Scripted) -> Self {
        let mut project = Self { head: PROVIDERS, ..Self::new("") }.scripted(provider);
        project.rewrite(main);
        project
    }

    /// The same with a scripted provider at `test/test`.
    pub fn scripted(mut self, provider: Scripted) -> Self {
        self.providers = Arc::new(TestProviders { scripted: Some(Arc::new(provider)), ..TestProviders::default() });
        self
    }

    /// The same with a scripted provider of its own for each configuration of `test/test`.
    pub fn scripted_each(mut self, make: impl Fn() -> Scripted + Send + Sync + 'static) -> Self {
        self.providers = Arc::new(TestProviders { each: Some(Box::new(make)), ..TestProviders::default() });
        self
    }

    /// Adds the provider `example/<name>`, a new one for each configuration.
    pub fn providing(
        mut self,
        name: &'static str,
        make: impl Fn() -> Arc<dyn Provider> + Send + Sync + 'static,
    ) -> Self {
        Arc::get_mut(&mut self.providers).unwrap().more.push((name, Box::new(make)));
        self
    }

    /// The same with a state.
    pub fn holding(mut self, state: State) -> Self {
        self.state = state;
        self
    }

    /// The scripted provider.
    pub fn provider(&self) -> &Scripted {
        self.providers.scripted.as_ref().expect("the project has a scripted provider")
    }

    /// The same with another file.
    pub fn with(mut self, path: &str, text: &str) -> Self {
        self.files.insert(path, text);
        self
    }

    /// Writes the main file anew.
    pub fn rewrite(&mut self, main: &str) {
        self.files.insert("main.tf", format!("{}{main}", self.head));
    }

    /// Writes a file anew.
    pub fn write(&mut self, path: &str, text: &str) {
        self.files.insert(path, text);
    }

    fn load(&self) -> (Option<Configuration>, Arc<Sources>, Diagnostics) {
        let sources = Arc::new(Sources::new());
        let (configuration, diagnostics) = groma_config::load(&LoadOptions::default(), &sources, &self.files);
        (configuration, sources, diagnostics)
    }

    fn session(&self, configuration: Configuration, sources: Arc<Sources>) -> Session {
        Session {
            configuration: Arc::new(configuration),
            sources,
            providers: Arc::clone(&self.providers) as Arc<dyn ProviderSource>,
            hooks: Arc::clone(&self.hooks),
            cancellation: self.cancellation.clone(),
            parallelism: self.parallelism,
            workspace: "default".to_owned(),
            working_directory: "/project".into(),
            root_directory: ".".into(),
            home_directory: None,
            timestamp: "2026-01-02T03:04:05Z".to_owned(),
            terraform_version: "1.15.5".to_owned(),
            runtime: Arc::new(
                tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap(),
            ),
            call_runtime: Arc::new(|| served::host().call_runtime()),
        }
    }

    /// What checking says.
    pub fn validate(&self) -> Diagnostics {
        let (configuration, sources, mut diagnostics) = self.load();
        if let Some(configuration) = configuration.filter(|_| !diagnostics.has_errors()) {
            diagnostics.append(Run::new(self.session(configuration, sources)).validate());
        }
        diagnostics
    }

    /// Searches with the list blocks of `queries.tfquery.hcl`.
    pub fn query(&self) -> (Vec<Searched>, Diagnostics) {
        let sources = Arc::new(Sources::new());
        let options = LoadOptions { queries: Queries::Included, ..LoadOptions::default() };
        let (configuration, diagnostics) = groma_config::load(&options, &sources, &self.files);
        let Some(configuration) = configuration.filter(|_| !diagnostics.has_errors()) else {
            return (Vec::new(), diagnostics);
        };
        let state = groma_state::file::read(&groma_state::file::write(&self.state)).unwrap();
        Run::new(self.session(configuration, sources)).query(state, self.options.clone())
    }

    /// Plans; the state is taken into the plan.
    pub fn plan(&mut self) -> Planned {
        let (configuration, sources, diagnostics) = self.load();
        let configuration = match configuration.filter(|_| !diagnostics.has_errors()) {
            Some(configuration) => configuration,
            None => panic!("the configuration does not load: {diagnostics:#?}"),
        };
        let mut run = Run::new(self.session(configuration, sources));
        // The state is written and read as between two runs of a program.
        let state = groma_state::file::read(&groma_state::file::write(&self.state)).unwrap();
        let (plan, diagnostics) = run.plan(state, &self.options);
        Planned { plan, diagnostics, run }
    }

    /// Applies a plan, and keeps the state.
    pub fn apply_plan(&mut self, planned: Planned) -> Diagnostics {
        self.apply_recorded(planned, Arc::new(Unrecorded))
    }

    /// Applies a plan with a recorder, and keeps the state.
    pub fn apply_recorded(&mut self, planned: Planned, recorder: Arc<dyn Recorder>) -> Diagnostics {
        let Planned { plan, mut run, .. } = planned;
        let AppliedRun { state, diagnostics, .. } = run.apply(plan.unwrap(), self.options.inputs.clone(), recorder);
        self.state = state;
        diagnostics
    }

    /// Plans and applies; both must go well. Returns the actions.
    pub fn apply(&mut self) -> Vec<String> {
        let planned = self.plan();
        assert!(!planned.diagnostics.has_errors(), "{:#?}", planned.diagnostics);
        let actions = planned.actions();
        let diagnostics = self.apply_plan(planned);
        assert!(!diagnostics.has_errors(), "{diagnostics:#?}");
        actions
    }

    /// What the state has, with the values of an attribute.
    pub fn recorded(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for view in self.state.iter() {
            if let Some(object) = &view.record.current {
                let tainted = if object.status == groma_state::ObjectStatus::Tainted { " tainted" } else { "" };
                lines.push(format!("{}{tainted}", view.address()));
            }
            lines.extend(view.record.deposed.keys().map(|_| format!("{} deposed", view.address())));
        }
        lines
    }
}

impl Planned {
    /// The actions that are not nothing, with their reasons.
    pub fn actions(&self) -> Vec<String> {
        let plan = self.plan.as_ref().unwrap();
        let changes = plan.changes.iter().filter(|change| change.action != groma_engine::Action::NoOp);
        changes
            .map(|change| {
                let reason = change.reason.map(|reason| format!(" ({})", reason.name())).unwrap_or_default();
                let deposed = if change.deposed.is_some() { " deposed" } else { "" };
                format!("{}{deposed}: {}{reason}", change.address, change.action.names().join(" then "))
            })
            .collect()
    }

    /// The run that has planned.
    pub fn run(&mut self) -> &mut Run {
        &mut self.run
    }

    /// The same, saved and loaded again.
    pub fn saved(mut self) -> Self {
        let plan = self.plan.take().unwrap();
        let bytes = self.run.save(&plan).unwrap();
        let state = groma_state::file::read(&groma_state::file::write(&plan.prior_state)).unwrap();
        self.plan = Some(self.run.load_to_apply(SavedPlan::read(&bytes).unwrap(), state).unwrap());
        self
    }

    /// The same, saved and loaded by a run of its own, with providers that know nothing yet.
    pub fn for_another_run(self, project: &Project) -> Self {
        let bytes = self.run.save(self.plan.as_ref().unwrap()).unwrap();
        let (configuration, sources, diagnostics) = project.load();
        let mut run = Run::new(project.session(configuration.unwrap(), sources));
        let state = groma_state::file::read(&groma_state::file::write(&project.state)).unwrap();
        let plan = run.load_to_apply(SavedPlan::read(&bytes).unwrap(), state).unwrap();
        Self { plan: Some(plan), diagnostics, run }
    }

    /// The uses of what is deprecated, a line each: where, who uses it, and what it is.
    pub fn uses(&self) -> Vec<String> {
        let sources = &self.run.session().sources;
        let one = |problem: &Diagnostic| {
            let location = sources.locate(problem.subject?)?;
            let user = problem.address.as_ref().map(|address| format!(" {address}")).unwrap_or_default();
            Some(format!("{}:{}{user} {}", location.file.name(), location.start.line, problem.origin.as_ref()?))
        };
        self.diagnostics.iter().filter_map(one).collect()
    }

    /// What was said, a line each: whom it is about, where, and the summary.
    pub fn said(&self) -> Vec<String> {
        let sources = &self.run.session().sources;
        let one = |problem: &Diagnostic| {
            let location = problem.subject.and_then(|subject| sources.locate(subject));
            let location = location
                .map(|location| format!("{}:{}", location.file.name(), location.start.line))
                .unwrap_or_default();
            let address = problem.address.as_ref().map(ToString::to_string).unwrap_or_default();
            format!("{address} {location} {}", problem.summary)
        };
        self.diagnostics.iter().map(one).collect()
    }

    /// The errors, a line each.
    pub fn errors(&self) -> Vec<String> {
        errors(&self.diagnostics)
    }
}

/// The errors, a line each.
pub fn errors(diagnostics: &Diagnostics) -> Vec<String> {
    diagnostics.iter().filter(|problem| problem.is_error()).map(|problem| problem.summary.clone()).collect()
}

/// Values of variables as a caller gives them.
pub fn input(text: &str) -> Input {
    Input { value: groma_value::Value::string(text), span: groma_diagnostics::Span::NONE, origin: None }
}
