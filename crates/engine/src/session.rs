//! The environment of a run, provided by the caller.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use groma_address::Name;
use groma_config::Configuration;
use groma_diagnostics::{Diagnostics, Severity, Sources};
use groma_lang::{FunctionContext, Purity};
use indexmap::IndexMap;

use crate::cancel::Cancellation;
use crate::checks::Checks;
use crate::evaluation::Evaluation;
use crate::hooks::Hooks;
use crate::options::Input;
use crate::providers::ProviderSource;

/// The environment of a run: the configuration, the providers, the hooks and the limits. It is immutable for the whole run, is shared by
/// planning and applying, and is the engine's only access to the outside.
#[derive(Clone)]
pub struct Session {
    /// The loaded configuration.
    pub configuration: Arc<Configuration>,
    /// The texts it was read from.
    pub sources: Arc<Sources>,
    /// The source of providers.
    pub providers: Arc<dyn ProviderSource>,
    /// The receiver of progress reports.
    pub hooks: Arc<dyn Hooks>,
    /// The cancellation token of the run.
    pub cancellation: Cancellation,
    /// The maximal number of concurrent provider calls; at least one.
    pub parallelism: usize,
    /// The name of the workspace.
    pub workspace: String,
    /// The working directory, absolute.
    pub working_directory: PathBuf,
    /// The root module's directory, as people see it: `.` unless it is elsewhere.
    pub root_directory: PathBuf,
    /// The directory that `~` stands for in `pathexpand`.
    pub home_directory: Option<PathBuf>,
    /// Now, RFC 3339 in UTC.
    pub timestamp: String,
    /// The Terraform version whose language and formats are implemented, as reported to providers.
    pub terraform_version: String,
    /// The runtime on which the run waits. It outlives plan and apply, because connections of in-process providers do.
    pub runtime: Arc<tokio::runtime::Runtime>,
    /// Returns the runtime for provider calls that have to wait.
    pub conversations: fn() -> tokio::runtime::Handle,
}

impl Session {
    /// An evaluation as during apply: functions give their own results.
    pub(crate) fn applying_evaluation(&self, inputs: IndexMap<Name, Input>, plan_timestamp: &str) -> Evaluation {
        let mut evaluation = self.evaluation(inputs);
        let functions = FunctionContext {
            purity: Purity::Immediate,
            plan_timestamp: Some(plan_timestamp.to_owned()),
            ..(*evaluation.functions).clone()
        };
        evaluation.functions = Arc::new(functions);
        evaluation
    }

    /// An evaluation as during planning: functions with a result of their own give an unknown value.
    pub(crate) fn evaluation(&self, inputs: IndexMap<Name, Input>) -> Evaluation {
        let functions = FunctionContext {
            working_directory: self.working_directory.clone(),
            home_directory: self.home_directory.clone(),
            plan_timestamp: Some(self.timestamp.clone()),
            ..FunctionContext::new(&self.root_directory, Arc::clone(&self.sources))
        };
        Evaluation {
            functions: Arc::new(functions),
            inputs,
            checks: Checks::new(),
            unmet: Severity::Error,
            diagnostics: Diagnostics::new(),
            unread: HashMap::new(),
        }
    }
}
