//! The context of function calls: directories, the clock, and functions of providers.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use groma_diagnostics::Sources;

use crate::provider_functions::ProviderFunctions;
use crate::template_cache::TemplateCache;

/// Whether functions with a result that differs from call to call give it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purity {
    /// Impure functions return unknown values: during planning, because apply would see other ones.
    Unknown,
    /// Impure functions return their results.
    Immediate,
}

/// Functions that are only available in some contexts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Availability {
    /// No function at all may be called.
    None,
    /// The built-in functions and those of providers.
    All,
    /// The console, which has the function `type` in addition.
    Console,
}

/// The source of the current time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// The clock of the machine.
    System,
    /// Always the same moment, in seconds since 1970: for tests.
    Fixed(i64),
}

/// The context of function calls, besides their arguments.
#[derive(Clone)]
pub struct FunctionContext {
    /// The folder that relative paths of `file` and the like start from: the root module's.
    pub base_directory: PathBuf,
    /// The folder that `abspath` starts from: the working directory.
    pub working_directory: PathBuf,
    /// The directory for `~` in paths; without one such paths are errors.
    pub home_directory: Option<PathBuf>,
    /// Whether `timestamp`, `uuid` and `bcrypt` give a result.
    pub purity: Purity,
    /// The available functions.
    pub availability: Availability,
    /// The clock of `timestamp`.
    pub clock: Clock,
    /// The moment of planning in RFC 3339, for `plantimestamp`; unknown without one.
    pub plan_timestamp: Option<String>,
    /// The registry for texts of templates, so that errors in them can be shown.
    pub sources: Arc<Sources>,
    /// Templates that have been parsed; contexts of one run share it.
    pub templates: TemplateCache,
    /// The functions `provider::local_name::function` of this module.
    pub provider_functions: Option<Arc<dyn ProviderFunctions>>,
}

impl FunctionContext {
    /// All functions of configurations, with results as during planning, and relative paths from `base_directory`.
    pub fn new(base_directory: impl Into<PathBuf>, sources: Arc<Sources>) -> Self {
        let base_directory = base_directory.into();
        Self {
            working_directory: base_directory.clone(),
            base_directory,
            home_directory: None,
            purity: Purity::Unknown,
            availability: Availability::All,
            clock: Clock::System,
            plan_timestamp: None,
            sources,
            templates: TemplateCache::default(),
            provider_functions: None,
        }
    }

    /// No function may be called.
    pub fn none() -> &'static Self {
        static NONE: OnceLock<FunctionContext> = OnceLock::new();
        NONE.get_or_init(|| Self { availability: Availability::None, ..Self::new(PathBuf::new(), Arc::default()) })
    }
}

impl fmt::Debug for FunctionContext {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("FunctionContext")
            .field("base_directory", &self.base_directory)
            .field("purity", &self.purity)
            .field("availability", &self.availability)
            .finish_non_exhaustive()
    }
}
