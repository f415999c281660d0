//! Data that all module instances share.

use std::path::PathBuf;
use std::sync::Arc;

use crate::session::Session;
use crate::templates::Templates;

/// The data of a run that all module instances share.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// `terraform.workspace`
    pub workspace: String,
    /// `path.cwd`
    pub working_directory: PathBuf,
    /// `path.root`, as people see it: `.` unless the configuration is elsewhere.
    pub root_directory: PathBuf,
    /// `terraform.applying`
    pub applying: bool,
    /// The prepared blocks, bound to their schemas.
    pub(super) templates: Arc<Templates>,
}

impl Surroundings {
    /// Creates the shared data of a walk that does not apply.
    pub(crate) fn new(session: &Session, templates: &Arc<Templates>) -> Self {
        Self {
            workspace: session.workspace.clone(),
            working_directory: session.working_directory.clone(),
            root_directory: session.root_directory.clone(),
            applying: false,
            templates: Arc::clone(templates),
        }
    }

    /// Creates the shared data of the walk that applies.
    pub(crate) fn applying(session: &Session, templates: &Arc<Templates>) -> Self {
        Self { applying: true, ..Self::new(session, templates) }
    }
}
