//! Provider-defined functions, which expressions call as `provider::LOCAL_NAME::FUNCTION`.

use std::collections::BTreeMap;
use std::sync::Arc;

use groma_value::{Type, Value};

use crate::{CallFate, Description, Name, ProviderDiagnostics};

/// The parameters, result type and documentation of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionSignature {
    /// The positional parameters.
    pub parameters: Vec<Parameter>,
    /// The parameter of all further arguments, for variadic functions.
    pub variadic: Option<Parameter>,
    /// The type that results conform to.
    pub return_type: Type,
    /// A one-line description for documentation.
    pub summary: String,
    /// The full description for documentation.
    pub description: Description,
    /// The deprecation message; empty if the function is not deprecated.
    pub deprecation: String,
}

/// A parameter of a provider-defined function.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// The name for messages; arguments are positional.
    pub name: Name,
    /// The type that arguments are converted to.
    pub ty: Type,
    /// Whether null is a valid argument.
    pub allow_null: bool,
    /// Whether unknown arguments reach the provider; otherwise they make the result unknown without a call.
    pub allow_unknown: bool,
    /// The description for documentation.
    pub description: Description,
}

/// Signatures of functions by name.
pub type Functions = BTreeMap<Name, Arc<FunctionSignature>>;

/// A request to call a function.
#[derive(Clone, Debug)]
pub struct CallFunctionRequest {
    /// The function name, without the provider's local name.
    pub name: Name,
    /// The signature that the provider declared.
    pub signature: Arc<FunctionSignature>,
    /// The arguments, converted to the parameter types.
    pub arguments: Vec<Value>,
}

/// The error of a function call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionError {
    /// The message for the author of the configuration.
    pub text: String,
    /// The 0-based position of the invalid argument, if the error concerns one.
    pub argument: Option<usize>,
    /// The fate of the call.
    pub fate: CallFate,
}

impl FunctionError {
    /// An error that the function answered with.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), argument: None, fate: CallFate::Answered }
    }

    /// Assigns the error to the argument at the 0-based `position`.
    #[must_use]
    pub fn at(self, position: usize) -> Self {
        Self { argument: Some(position), ..self }
    }

    /// The error of a call that ended with `problems` instead of an answer.
    pub fn of_call(problems: &ProviderDiagnostics) -> Self {
        let text = problems.iter().map(|problem| problem.detail.as_str()).collect::<Vec<_>>().join("\n");
        Self { text, argument: None, fate: problems.fate() }
    }
}
