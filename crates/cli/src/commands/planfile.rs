//! Saved plans: a file with the plan, its prior state and its configuration.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::panic::resume_unwind;
use std::path::Path;
use std::thread::{self, JoinHandle};

use groma_address::Name;
use groma_config::{Configuration, LoadOptions, MemoryFiles, Module};
use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_encryption::Encryption;
use groma_engine::{Input, Plan, Run, planned_variables};
use groma_state::{PlanVersions, State, file, plan_file};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::backend::{BackendConfig, SerializedBackend};
use super::configuration::{Purpose, load_from, load_options};
use super::context::Context;
use super::outcome::{fail, no_thread};
use crate::settings::VERSION;

const PLAN: &str = "plan";
const STATE: &str = "state";
const MADE: &str = "made";
const VERSIONS: &str = "versions";
const CONFIGURATION: &str = "configuration/";

/// Values of the root module's variables, by name.
pub(super) type Given = IndexMap<Name, Input>;

/// Conditions of a plan that must still hold when it is applied.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Made {
    /// Backend of the state.
    pub backend: SerializedBackend,
    /// Workspace of the state.
    pub workspace: String,
    /// Ephemeral variables that had a value. The values themselves are not stored.
    ephemeral: BTreeSet<String>,
}

impl Made {
    /// Returns the conditions of a plan with the variable values `given`.
    pub fn with(backend: &BackendConfig, workspace: &str, root: &Module, given: &Given) -> Self {
        // A null value counts as not set.
        let set = ephemeral(root, given).filter(|(_, input)| !input.value.is_null());
        let ephemeral = set.map(|(name, _)| name.to_string()).collect();
        Self { backend: backend.serialized(), workspace: workspace.to_owned(), ephemeral }
    }

    /// Checks that the plan is applied in its own workspace.
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
                "Nothing was changed. Switch to the workspace of the plan with \"{command} workspace select {planned}\", or \
                 create a new plan in the current workspace."
            ),
        ))
    }

    /// Checks that ephemeral variables have a value in both runs or in neither.
    pub fn check_ephemeral(&self, root: &Module, given: &Given) -> Diagnostics {
        let missing = self.ephemeral.iter().filter(|name| !given.contains_key(name.as_str())).map(|name| {
            let detail = format!(
                "The ephemeral variable {name:?} was set when this plan was created. Plans do not store values of ephemeral \
                 variables, so set it again, for example with -var."
            );
            Diagnostic::error("No value for required variable", detail)
        });
        // A value that planning did not have could change what was reviewed.
        let surplus = ephemeral(root, given).filter(|(name, _)| !self.ephemeral.contains(&name[..]));
        let surplus = surplus.map(|(name, input)| {
            let detail = format!(
                "The ephemeral variable {:?} was not set when this plan was created, so it cannot be set now. Remove the value, \
                 or create a new plan with it.",
                name.to_string()
            );
            Diagnostic::error("Ephemeral variable was not set during planning", detail).at(input.span)
        });
        missing.chain(surplus).collect()
    }
}

/// Returns the values of ephemeral variables.
pub(super) fn ephemeral<'g>(root: &Module, given: &'g Given) -> impl Iterator<Item = (&'g Name, &'g Input)> {
    given.iter().filter(|(name, _)| root.variables.get(*name).is_some_and(|variable| variable.ephemeral))
}

/// Conditions under which a saved plan may be applied.
#[derive(Clone, Copy)]
pub(super) struct Conditions<'a> {
    pub made: &'a Made,
    /// The versions of the records that a plan of a shared state uses.
    pub versions: Option<&'a PlanVersions>,
}

/// Writes `plan` with everything that applying it requires.
pub(super) fn write(
    path: &Path,
    run: &Run,
    plan: &Plan,
    conditions: Conditions<'_>,
    encryption: Option<&Encryption>,
) -> Result<(), Diagnostics> {
    let mut parts = plan_file::Parts::new();
    parts.insert(PLAN.to_owned(), run.save(plan)?);
    // The prior state is stored even if unchanged: apply compares its lineage and serial with the current state.
    parts.insert(STATE.to_owned(), file::write(&plan.prior_state));
    parts.insert(
        MADE.to_owned(),
        serde_json::to_vec(conditions.made).map_err(|problem| not_saved("metadata of the plan", &problem))?,
    );
    if let Some(versions) = conditions.versions {
        let versions = serde_json::to_vec(versions);
        parts.insert(VERSIONS.to_owned(), versions.map_err(|problem| not_saved("records of the plan", &problem))?);
    }
    // Apply evaluates the configuration as it was planned, even if the files have changed since.
    for loaded in run.session().configuration.files() {
        let name = format!("{CONFIGURATION}{}", entry_name(&loaded.path));
        parts.insert(name, loaded.text.as_bytes().to_vec());
    }
    plan_file::write(path, VERSION, &parts, encryption).map_err(|problem| {
        let problem = problem.diagnostic();
        // People search for this summary, which is Terraform's.
        let summary = "Failed to write plan file".to_owned();
        let detail = format!("The plan was not saved in {}. {}", path.display(), problem.detail);
        Diagnostic { summary, detail, ..problem }.into()
    })
}

/// Returns the name of a configuration file in a plan file. Bytes that are not UTF-8 are escaped, so that different paths have
/// different names.
fn entry_name(path: &Path) -> String {
    let mut name = String::new();
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        name.push_str(chunk.valid());
        name.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
    }
    name
}

fn not_saved(what: &str, problem: &dyn Display) -> Diagnostics {
    fail("Failed to save the plan", format!("The {what} cannot be written: {problem}."))
}

/// Contents of a plan file.
pub(super) struct Saved {
    /// The plan, for [`Run::load`].
    pub plan: Vec<u8>,
    /// Prior state of the plan.
    pub state: PriorState,
    pub made: Made,
    /// Versions of the records that a plan of a shared state uses.
    pub versions: Option<PlanVersions>,
    /// Configuration files of the plan.
    files: MemoryFiles,
}

impl Saved {
    /// Loads the configuration with the plan's variable values, which module sources may depend on.
    ///
    /// # Errors
    /// The plan cannot be read, the configuration is invalid, or a module is not installed.
    pub fn configuration(&self, context: &Context) -> Result<(Configuration, Diagnostics), Diagnostics> {
        let variables = planned_variables(&self.plan)?.into_iter();
        // Marks are removed, because module sources are plain strings.
        let variables = variables.map(|variable| (variable.name, variable.value.unmark_deep().0)).collect();
        let options = LoadOptions { early_variables: variables, ..load_options(context) };
        load_from(context, Purpose::ApplySavedPlan, options, &self.files)
    }
}

/// Prior state of a saved plan, read on its own thread: it may be large, and meanwhile the configuration is loaded and the current
/// state is opened.
pub(super) struct PriorState(JoinHandle<Result<State, Diagnostics>>);

impl PriorState {
    fn read(bytes: Vec<u8>, path: &Path) -> Result<Self, Diagnostics> {
        let path = path.to_owned();
        let read = move || file::read(&bytes).map_err(|problem| problem.in_file(&path).diagnostic().into());
        let started = thread::Builder::new().name("prior state".to_owned()).spawn(read);
        started.map(Self).map_err(|error| no_thread(&error))
    }

    /// Waits for the state.
    ///
    /// # Errors
    /// The state is damaged.
    pub fn wait(self) -> Result<State, Diagnostics> {
        self.0.join().unwrap_or_else(|panic| resume_unwind(panic))
    }
}

/// Reads the plan file at `path`.
pub(super) fn read(path: &Path, encryption: Option<&Encryption>) -> Result<Saved, Diagnostics> {
    let mut parts =
        plan_file::read(path, VERSION, encryption).map_err(|problem| Diagnostics::from(problem.diagnostic()))?;
    let plan = parts.remove(PLAN);
    let state = parts.remove(STATE);
    // Plans of incompatible versions fail the version check, so an unreadable part means damage.
    let made = parts.remove(MADE).and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let (Some(plan), Some(state), Some(made)) = (plan, state, made) else {
        return Err(fail("Invalid plan file", format!("{} is incomplete. Create a new plan.", path.display())));
    };
    let damaged = |_| fail("Invalid plan file", format!("{} is damaged. Create a new plan.", path.display()));
    // Without this part, the plan would count as one of a state that is not shared.
    let versions = parts.remove(VERSIONS).map(|bytes| serde_json::from_slice(&bytes)).transpose().map_err(damaged)?;
    let state = PriorState::read(state, path)?;
    let mut files = MemoryFiles::new();
    for (name, bytes) in parts {
        if let Some(name) = name.strip_prefix(CONFIGURATION) {
            files.insert(Path::new(name), bytes);
        }
    }
    Ok(Saved { plan, state, made, versions, files })
}
