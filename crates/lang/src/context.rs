//! What functions need besides their arguments: folders, the clock, the functions of providers.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use groma_diagnostics::{Diagnostics, Sources};
use groma_value::{Type, Value};

use crate::function_error::FunctionError;
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

/// A parameter of a provider's function.
#[derive(Clone, Debug, PartialEq)]
pub struct ProviderParameter {
    /// Its name, for messages.
    pub name: String,
    /// What arguments are converted to.
    pub ty: Type,
    /// Whether null is an argument; otherwise it is an error.
    pub nullable: bool,
    /// Whether unknown values are arguments; otherwise the result is unknown without a call.
    pub allows_unknown: bool,
}

/// What a provider's function takes and gives.
#[derive(Clone, Debug, PartialEq)]
pub struct ProviderSignature {
    /// Its parameters.
    pub parameters: Vec<ProviderParameter>,
    /// The parameter that takes all further arguments.
    pub variadic: Option<ProviderParameter>,
    /// The type of its result.
    pub result: Type,
}

/// Why there is no signature.
#[derive(Clone, Debug)]
pub enum NoSignature {
    /// There is no such provider or function: the text says so and what there is instead.
    Unknown(String),
    /// The provider could not say which functions it has.
    Failed(Diagnostics),
}

impl From<String> for NoSignature {
    fn from(text: String) -> Self {
        Self::Unknown(text)
    }
}

/// The name of a provider's function: `provider::PROVIDER::FUNCTION`, or `provider::PROVIDER::ALIAS::FUNCTION` as in OpenTofu.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProviderFunctionName<'a> {
    /// The module's local name for the provider.
    pub provider: &'a str,
    /// Which of its configurations is meant: the one without alias where none is written.
    pub alias: Option<&'a str>,
    /// The function.
    pub function: &'a str,
}

impl<'a> ProviderFunctionName<'a> {
    /// The parts of the name of a function; none where it is not one of a provider.
    pub fn parse(name: &'a str) -> Option<Self> {
        let mut parts = name.strip_prefix("provider::")?.split("::");
        let (provider, second, third) = (parts.next()?, parts.next()?, parts.next());
        let (alias, function) = match third {
            Some(function) => (Some(second), function),
            None => (None, second),
        };
        parts.next().is_none().then_some(Self { provider, alias, function })
    }
}

/// The functions that the providers of a module offer.
pub trait ProviderFunctions: Send + Sync {
    /// The signature of a function.
    ///
    /// # Errors
    ///
    /// There is no such provider or function, or the provider does not say.
    fn signature(&self, name: &ProviderFunctionName<'_>) -> Result<ProviderSignature, NoSignature>;

    /// Calls it. The arguments are converted, checked for null and unknown by the signature, and carry no marks.
    ///
    /// # Errors
    ///
    /// The function says what is wrong, and with which argument.
    fn call(&self, name: &ProviderFunctionName<'_>, arguments: &[Value]) -> Result<Value, FunctionError>;
}
