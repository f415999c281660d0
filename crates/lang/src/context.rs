//! What functions need besides their arguments: folders, the clock, the functions of providers.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use groma_diagnostics::Sources;

use crate::provider_functions::ProviderFunctions;
use crate::template_cache::TemplateCache;

/// Whether functions with a result that differs from call to call give it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purity {
    /// They give an unknown value: during planning, because apply would see another one.
    Unknown,
    /// They give their result.
    Immediate,
}

/// Which functions exist besides those that are always there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Availability {
    /// No function at all may be called.
    None,
    /// The built-in functions and those of providers.
    All,
    /// The same for the console, which has the function `type` besides.
    Console,
}

/// The source of the current time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// The machine's.
    System,
    /// Always the same moment, in seconds since 1970: for tests.
    Fixed(i64),
}

/// What functions need besides their arguments.
#[derive(Clone)]
pub struct FunctionContext {
    /// The folder that relative paths of `file` and the like start from: the root module's.
    pub base_directory: PathBuf,
    /// The folder that `abspath` starts from: the working directory.
    pub working_directory: PathBuf,
    /// What `~` stands for; without one such paths are errors.
    pub home_directory: Option<PathBuf>,
    /// Whether `timestamp`, `uuid` and `bcrypt` give a result.
    pub purity: Purity,
    /// Which functions can be called.
    pub availability: Availability,
    /// What `timestamp` reads.
    pub clock: Clock,
    /// The moment of planning in RFC 3339, for `plantimestamp`; unknown without one.
    pub plan_timestamp: Option<String>,
    /// Where texts of templates are registered, so that errors in them can be shown.
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
