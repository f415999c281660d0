//! Saved plans: the plan, the state it was made from and the configuration, in one file.

use std::fmt::Display;
use std::panic::resume_unwind;
use std::path::Path;
use std::thread::{self, JoinHandle};

use groma_config::{Configuration, MemoryFiles};
use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_encryption::Encryption;
use groma_engine::{Plan, Run, planned_variables};
use groma_state::{State, file, plan_file};

use super::backend::Local;
use super::configuration::load_planned;
use super::context::Context;
use super::outcome::fail;
use crate::settings::VERSION;

const PLAN: &str = "plan";
const STATE: &str = "state";
const BACKEND: &str = "backend";
const CONFIGURATION: &str = "configuration/";

/// Saves `plan`, of a state in `backend`, with everything that applying it needs.
pub(super) fn write(
    path: &Path,
    run: &Run,
    plan: &Plan,
    backend: &Local,
    encryption: Option<&Encryption>,
) -> Result<(), Diagnostics> {
    let mut parts = plan_file::Parts::new();
    parts.insert(PLAN.to_owned(), run.save(plan)?);
    parts.insert(STATE.to_owned(), file::write(&plan.prior_state));
    parts.insert(BACKEND.to_owned(), serde_json::to_vec(backend).map_err(|problem| not_saved("backend", &problem))?);
    for loaded in run.session().configuration.files() {
        let name = format!("{CONFIGURATION}{}", loaded.path.to_string_lossy());
        parts.insert(name, loaded.text.as_bytes().to_vec());
    }
    plan_file::write(path, VERSION, &parts, encryption).map_err(|problem| {
        let problem = problem.diagnostic();
        // What people search for.
        let summary = "Failed to write plan file".to_owned();
        let detail = format!("The plan was not saved in {}. {}", path.display(), problem.detail);
        Diagnostic { summary, detail, ..problem }.into()
    })
}

fn not_saved(what: &str, problem: &dyn Display) -> Diagnostics {
    fail("Plan not saved", format!("The {what} cannot be written: {problem}."))
}

/// What a saved plan holds.
pub(super) struct Saved {
    /// The plan, for [`Run::load`].
    pub plan: Vec<u8>,
    /// The state it was made from.
    pub state: PriorState,
    /// Where that state is.
    pub backend: Local,
    /// The configuration it was made from.
    files: MemoryFiles,
}

impl Saved {
    /// The configuration. Its module sources may depend on the values of variables.
    ///
    /// # Errors
    /// The plan cannot be read; the configuration is wrong, or a module of it is not installed.
    pub fn configuration(&self, context: &Context) -> Result<(Configuration, Diagnostics), Diagnostics> {
        let variables = planned_variables(&self.plan)?.into_iter();
        let variables = variables.map(|variable| (variable.name, variable.value.unmark_deep().0)).collect();
        load_planned(context, &self.files, &variables)
    }
}

/// The state of a saved plan. It may be large: a thread of its own reads it, while the configuration is loaded and the state of today
/// is opened.
pub(super) struct PriorState(JoinHandle<Result<State, Diagnostics>>);

impl PriorState {
    fn read(bytes: Vec<u8>, path: &Path) -> Result<Self, Diagnostics> {
        let path = path.to_owned();
        let read = move || file::read(&bytes).map_err(|problem| problem.in_file(&path).diagnostic().into());
        let started = thread::Builder::new().name("prior state".to_owned()).spawn(read);
        started.map(Self).map_err(|problem| fail("Cannot start", format!("A thread does not start: {problem}.")))
    }

    /// Waits until it is there.
    ///
    /// # Errors
    /// It is damaged.
    pub fn wait(self) -> Result<State, Diagnostics> {
        self.0.join().unwrap_or_else(|panic| resume_unwind(panic))
    }
}

/// Reads a saved plan.
pub(super) fn read(path: &Path, encryption: Option<&Encryption>) -> Result<Saved, Diagnostics> {
    let mut parts =
        plan_file::read(path, VERSION, encryption).map_err(|problem| Diagnostics::from(problem.diagnostic()))?;
    let plan = parts.remove(PLAN);
    let state = parts.remove(STATE);
    let backend = parts.remove(BACKEND).and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let (Some(plan), Some(state), Some(backend)) = (plan, state, backend) else {
        return Err(fail("Invalid plan file", format!("{} lacks a part of a plan. Make a new plan.", path.display())));
    };
    let state = PriorState::read(state, path)?;
    let mut files = MemoryFiles::new();
    for (name, bytes) in parts {
        if let Some(name) = name.strip_prefix(CONFIGURATION) {
            files.insert(Path::new(name), bytes);
        }
    }
    Ok(Saved { plan, state, backend, files })
}
