//! Saved plans: the plan, the state it was made from and the configuration, in one file.

use std::fmt::Display;
use std::panic::resume_unwind;
use std::path::Path;
use std::thread::{self, JoinHandle};

use groma_address::Name;
use groma_config::{Configuration, MemoryFiles};
use groma_diagnostics::Diagnostics;
use groma_encryption::Encryption;
use groma_engine::{Plan, Run};
use groma_state::{State, file, plan_file};
use groma_value::{Type, Value, json};
use indexmap::IndexMap;

use super::backend::Local;
use super::configuration::load_planned;
use super::context::Context;
use super::outcome::fail;
use crate::settings::VERSION;

const PLAN: &str = "plan";
const STATE: &str = "state";
const VARIABLES: &str = "variables";
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
    parts.insert(VARIABLES.to_owned(), variables(plan)?);
    parts.insert(BACKEND.to_owned(), serde_json::to_vec(backend).map_err(|problem| not_saved("backend", &problem))?);
    for loaded in run.session().configuration.files() {
        let name = format!("{CONFIGURATION}{}", loaded.path.to_string_lossy());
        parts.insert(name, loaded.text.as_bytes().to_vec());
    }
    plan_file::write(path, VERSION, &parts, encryption).map_err(|problem| problem.diagnostic().into())
}

/// The values of the root module's variables, each as it is converted: module sources may depend on them.
fn variables(plan: &Plan) -> Result<Vec<u8>, Diagnostics> {
    let values = Value::object(plan.variables.iter().map(|variable| (variable.name.clone(), variable.value.clone())));
    json::to_json(&values.unmark_deep().0, &Type::Dynamic).map_err(|problem| not_saved("values of variables", &problem))
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
    /// The values of the root module's variables.
    variables: IndexMap<Name, Value>,
    /// Where that state is.
    pub backend: Local,
    /// The configuration it was made from.
    files: MemoryFiles,
}

impl Saved {
    /// The configuration.
    ///
    /// # Errors
    /// It is wrong, or a module of it is not installed.
    pub fn configuration(&self, context: &Context) -> Result<(Configuration, Diagnostics), Diagnostics> {
        load_planned(context, &self.files, &self.variables)
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
    let variables = parts.remove(VARIABLES).and_then(|bytes| json::from_json(&bytes, &Type::Dynamic).ok());
    let backend = parts.remove(BACKEND).and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let (Some(plan), Some(state), Some(variables), Some(backend)) = (plan, state, variables, backend) else {
        return Err(fail("Invalid plan file", format!("{} lacks a part of a plan. Make a new plan.", path.display())));
    };
    let state = PriorState::read(state, path)?;
    let mut files = MemoryFiles::new();
    for (name, bytes) in parts {
        if let Some(name) = name.strip_prefix(CONFIGURATION) {
            files.insert(Path::new(name), bytes);
        }
    }
    let variables = variables.as_object().into_iter().flat_map(|object| object.iter());
    let variables = variables.map(|(name, value)| (name.clone(), value.clone())).collect();
    Ok(Saved { plan, state, variables, backend, files })
}
