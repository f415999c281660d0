//! Saved plans: the plan, the state it was made from and the configuration, in one file.

use std::path::Path;

use groma_config::MemoryFiles;
use groma_diagnostics::Diagnostics;
use groma_encryption::Encryption;
use groma_engine::{Plan, Run};
use groma_state::{State, file, plan_file};

use super::outcome::fail;
use crate::settings::VERSION;

const PLAN: &str = "plan";
const STATE: &str = "state";
const CONFIGURATION: &str = "configuration/";

/// Saves `plan` with everything that applying it needs.
pub(super) fn write(path: &Path, run: &Run, plan: &Plan, encryption: Option<&Encryption>) -> Result<(), Diagnostics> {
    let mut parts = plan_file::Parts::new();
    parts.insert(PLAN.to_owned(), run.save(plan)?);
    parts.insert(STATE.to_owned(), file::write(&plan.prior_state));
    for loaded in run.session().configuration.files() {
        let name = format!("{CONFIGURATION}{}", loaded.path.to_string_lossy());
        parts.insert(name, loaded.text.as_bytes().to_vec());
    }
    plan_file::write(path, VERSION, &parts, encryption).map_err(|problem| problem.diagnostic().into())
}

/// What a saved plan holds.
pub(super) struct Saved {
    /// The plan, for [`Run::load`].
    pub plan: Vec<u8>,
    /// The state it was made from.
    pub state: State,
    /// The configuration it was made from.
    pub files: MemoryFiles,
}

/// Reads a saved plan.
pub(super) fn read(path: &Path, encryption: Option<&Encryption>) -> Result<Saved, Diagnostics> {
    let mut parts =
        plan_file::read(path, VERSION, encryption).map_err(|problem| Diagnostics::from(problem.diagnostic()))?;
    let plan = parts.remove(PLAN);
    let state = parts.remove(STATE).map(|bytes| file::read(&bytes));
    let (Some(plan), Some(state)) = (plan, state) else {
        return Err(fail("Invalid plan file", format!("{} lacks a part of a plan. Make a new plan.", path.display())));
    };
    let state = state.map_err(|problem| Diagnostics::from(problem.in_file(path).diagnostic()))?;
    let mut files = MemoryFiles::new();
    for (name, bytes) in parts {
        if let Some(name) = name.strip_prefix(CONFIGURATION) {
            files.insert(Path::new(name), bytes);
        }
    }
    Ok(Saved { plan, state, files })
}
