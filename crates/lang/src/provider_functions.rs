//! The functions of providers, as expressions find and call them.

use std::borrow::Cow;

use groma_diagnostics::Diagnostics;
use groma_value::{Marks, Type, Value};

/// A parameter of a provider's function.
#[derive(Clone, Debug, PartialEq)]
pub struct ProviderParameter {
    /// Its name, for messages.
    pub name: String,
    /// The type to which arguments are converted.
    pub ty: Type,
    /// Whether null is an argument; otherwise it is an error.
    pub nullable: bool,
    /// Whether unknown values are arguments; otherwise the result is unknown without a call.
    pub allows_unknown: bool,
}

/// The signature of a provider-defined function.
#[derive(Clone, Debug, PartialEq)]
pub struct ProviderSignature {
    /// The parameters, in order.
    pub parameters: Vec<ProviderParameter>,
    /// The parameter that takes all further arguments.
    pub variadic: Option<ProviderParameter>,
    /// The type of its result.
    pub result: Type,
}

/// The reason why a function does not exist.
#[derive(Clone, Debug)]
pub enum NoFunction {
    /// The provider or function is unknown. The message lists the known ones.
    Unknown(String),
    /// The provider could not say which functions it has.
    Failed(Diagnostics),
}

impl From<String> for NoFunction {
    fn from(text: String) -> Self {
        Self::Unknown(text)
    }
}

/// The name of a provider's function: `provider::PROVIDER::FUNCTION`, or `provider::PROVIDER::ALIAS::FUNCTION` as in OpenTofu.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProviderFunctionName<'a> {
    /// The module's local name for the provider.
    pub provider: &'a str,
    /// The alias of the provider configuration; `None` for the default one.
    pub alias: Option<&'a str>,
    /// The name of the function.
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
    /// The function of this name.
    ///
    /// # Errors
    ///
    /// There is no such provider or function, or the provider does not say.
    fn find(&self, name: &ProviderFunctionName<'_>) -> Result<ProviderFunction, NoFunction>;
}

/// A function of a provider.
pub struct ProviderFunction {
    /// The signature of the function.
    pub signature: ProviderSignature,
    call: Box<Call>,
}

type Call = dyn Fn(&[Value]) -> Result<Value, FunctionError>;

impl ProviderFunction {
    /// A function with this signature. The arguments of `call` are converted, checked for null and unknown by the signature, and carry
    /// no marks; it says what is wrong, and with which argument.
    pub fn new(
        signature: ProviderSignature,
        call: impl Fn(&[Value]) -> Result<Value, FunctionError> + 'static,
    ) -> Self {
        Self { signature, call: Box::new(call) }
    }

    pub(crate) fn call(&self, arguments: &[Value]) -> Result<Value, FunctionError> {
        (self.call)(arguments)
    }
}

/// The error of a function call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionError {
    /// The argument at fault, counted from 0; none if the call as a whole is.
    pub argument: Option<usize>,
    /// The message without a full stop. A borrowed message contains nothing of the arguments.
    pub message: Cow<'static, str>,
}

impl FunctionError {
    /// The call as a whole is at fault.
    pub fn new(message: impl Into<Cow<'static, str>>) -> Self {
        Self { argument: None, message: message.into() }
    }

    /// The call as a whole is at fault, for the reason that `error` gives.
    pub(crate) fn of(error: impl std::error::Error) -> Self {
        Self::new(error.to_string())
    }

    /// The argument at `index` is at fault.
    pub fn argument(index: usize, message: impl Into<Cow<'static, str>>) -> Self {
        Self { argument: Some(index), message: message.into() }
    }

    /// Removes the message if it may reveal an argument with one of `marks`, which were removed before
    /// the call.
    pub(crate) fn concealing(mut self, marks: &[(usize, Marks)]) -> Self {
        // An error of the call as a whole may quote any argument.
        let hidden = |index: usize, marks: &Marks| {
            self.argument.is_none_or(|argument| argument == index) && (marks.is_sensitive() || marks.is_ephemeral())
        };
        if matches!(self.message, Cow::Owned(_)) && marks.iter().any(|(index, marks)| hidden(*index, marks)) {
            self.message =
                "the reason cannot be shown, because it may hold a part of a value that must stay hidden".into();
        }
        self
    }
}
