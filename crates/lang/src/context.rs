//! The context of function calls: directories, the clock, and functions of providers.

use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use groma_diagnostics::{Diagnostics, Sources};
use groma_hcl::{Expression, parse_template};

use crate::provider_functions::ProviderFunctions;

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
        // Shared, because a scope returns a reference and this context never differs.
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

/// Templates that have been parsed, by name and text: a template that a thousand instances use is parsed once.
#[derive(Clone, Default)]
pub struct TemplateCache {
    parsed: Arc<Mutex<HashMap<NameAndText, Parsed>>>,
}

type NameAndText = (String, Arc<str>);
/// A template, and what is wrong with it.
pub(crate) type Parsed = Arc<(Expression, Diagnostics)>;

impl fmt::Debug for TemplateCache {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("TemplateCache")
    }
}

impl TemplateCache {
    /// The template of that name and text; nothing where there is no room for another text.
    pub(crate) fn parse(&self, name: &str, text: String, sources: &Sources) -> Option<Parsed> {
        let key = (name.to_owned(), Arc::<str>::from(text));
        // A panic under the lock leaves the map whole, so a poisoned lock is still usable.
        let mut parsed = self.parsed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = parsed.get(&key) {
            return Some(Arc::clone(known));
        }
        // Registered under the lock: two threads with the same template must not register its text twice.
        let file = sources.add(name, Arc::clone(&key.1))?;
        let template = Arc::new(parse_template(&file));
        parsed.insert(key, Arc::clone(&template));
        Some(template)
    }
}
