//! Saved plans: the plan, the state it was made from and the configuration, in one file.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::panic::resume_unwind;
use std::path::Path;
use std::thread::{self, JoinHandle};

use groma_address::Name;
use groma_config::{Configuration, MemoryFiles, Module};
use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_encryption::Encryption;
use groma_engine::{Input, Plan, Run, planned_variables};
use groma_state::{State, file, plan_file};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::backend::Local;
use super::configuration::load_planned;
use super::context::Context;
use super::outcome::{fail, no_thread};
use crate::settings::VERSION;

const PLAN: &str = "plan";
const STATE: &str = "state";
const MADE: &str = "made";
const CONFIGURATION: &str = "configuration/";

/// The values that variables of the root module are given, by name.
pub(super) type Given = IndexMap<Name, Input>;

/// The settings of a plan that must be the same when it is applied.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Made {
    /// The location of the state.
    pub backend: Local,
    /// The workspace in it.
    pub workspace: String,
    /// The ephemeral variables that had a value, which is not kept.
    ephemeral: BTreeSet<String>,
}

impl Made {
    /// With the variables `given`.
    pub fn with(backend: Local, workspace: &str, root: &Module, given: &Given) -> Self {
        let set = ephemeral(root, given).filter(|(_, input)| !input.value.is_null());
        let ephemeral = set.map(|(name, _)| name.to_string()).collect();
        Self { backend, workspace: workspace.to_owned(), ephemeral }
    }

    /// The problem of applying a plan in another workspace, where its changes do not belong.
    pub fn check_workspace(&self, current: &str, command: &str) -> Result<(), Diagnostics> {
        let planned = &self.workspace;
        if planned == current {
            return Ok(());
        }
        Err(fail(
            &format!(
                "The plan file describes changes to the {planned:?} workspace, but the {current:?} workspace is currently in use."
            ),
            format!(
                "The changes belong to objects of another state. Nothing was done; go back with {command} workspace select \
                 {planned}, or make a new plan here."
            ),
        ))
    }

    /// The problems of what is `given` again: ephemeral variables have a value in both runs or in none.
    pub fn check_ephemeral(&self, root: &Module, given: &Given) -> Diagnostics {
        let missing = self.ephemeral.iter().filter(|name| !given.contains_key(name.as_str())).map(|name| {
            let detail = format!(
                "The ephemeral variable {name:?} had a value when this plan was made. Values of ephemeral variables are not \
                 kept in plans: give it again, with -var for example."
            );
            Diagnostic::error("No value for required variable", detail)
        });
        let surplus = ephemeral(root, given).filter(|(name, _)| !self.ephemeral.contains(&name[..]));
        let surplus = surplus.map(|(name, input)| {
            let detail = format!(
                "The ephemeral variable {:?} had no value when this plan was made, so it can have none now. Leave it out, or \
                 make a new plan with it.",
                name.to_string()
            );
            Diagnostic::error("Ephemeral variable was not set during planning", detail).at(input.span)
        });
        missing.chain(surplus).collect()
    }
}

/// Iterates over the values of ephemeral root variables.
pub(super) fn ephemeral<'g>(root: &Module, given: &'g Given) -> impl Iterator<Item = (&'g Name, &'g Input)> {
    given.iter().filter(|(name, _)| root.variables.get(*name).is_some_and(|variable| variable.ephemeral))
}

/// Saves `plan` with everything that applying it needs.
pub(super) fn write(
    path: &Path,
    run: &Run,
    plan: &Plan,
    made: &Made,
    encryption: Option<&Encryption>,
) -> Result<(), Diagnostics> {
    let mut parts = plan_file::Parts::new();
    parts.insert(PLAN.to_owned(), run.save(plan)?);
    parts.insert(STATE.to_owned(), file::write(&plan.prior_state));
    parts.insert(
        MADE.to_owned(),
        serde_json::to_vec(made).map_err(|problem| not_saved("part about how it was made", &problem))?,
    );
    for loaded in run.session().configuration.files() {
        let name = format!("{CONFIGURATION}{}", entry_name(&loaded.path));
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

/// The name of a file in a plan. Bytes of a path that are not UTF-8 are escaped, so that different paths have different
/// names.
fn entry_name(path: &Path) -> String {
    let mut name = String::new();
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        name.push_str(chunk.valid());
        name.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
    }
    name
}

fn not_saved(what: &str, problem: &dyn Display) -> Diagnostics {
    fail("Plan not saved", format!("The {what} cannot be written: {problem}."))
}

/// The content of a saved plan.
pub(super) struct Saved {
    /// The plan, for [`Run::load`].
    pub plan: Vec<u8>,
    /// The state it was made from.
    pub state: PriorState,
    /// The settings that must be the same.
    pub made: Made,
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
        started.map(Self).map_err(|error| no_thread(&error))
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
    let made = parts.remove(MADE).and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let (Some(plan), Some(state), Some(made)) = (plan, state, made) else {
        return Err(fail("Invalid plan file", format!("{} lacks a part of a plan. Make a new plan.", path.display())));
    };
    let state = PriorState::read(state, path)?;
    let mut files = MemoryFiles::new();
    for (name, bytes) in parts {
        if let Some(name) = name.strip_prefix(CONFIGURATION) {
            files.insert(Path::new(name), bytes);
        }
    }
    Ok(Saved { plan, state, made, files })
}
