//! Functions that a provider brings into the language.

use std::collections::BTreeMap;
use std::sync::Arc;

use groma_value::{Type, Value};

use crate::{CallFate, Description, Name, ProviderDiagnostics};

/// What a function accepts and returns.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionSignature {
    /// The parameters by position.
    pub parameters: Vec<Parameter>,
    /// What takes any number of further arguments.
    pub variadic: Option<Parameter>,
    /// The type of the result.
    pub return_type: Type,
    /// One line about it.
    pub summary: String,
    /// More about it.
    pub description: Description,
    /// What to use instead, when it should no longer be used; empty otherwise.
    pub deprecation: String,
}

/// One parameter of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its name.
    pub name: Name,
    /// The type that arguments are converted to.
    pub ty: Type,
    /// Whether null may be passed.
    pub allow_null: bool,
    /// Whether unknown values may be passed; otherwise the call's result is unknown without a call.
    pub allow_unknown: bool,
    /// More about it.
    pub description: Description,
}

/// Functions by their names.
pub type Functions = BTreeMap<Name, Arc<FunctionSignature>>;

/// A function call.
#[derive(Clone, Debug)]
pub struct CallFunctionRequest {
    /// The function.
    pub name: Name,
    /// What the provider said that it takes and returns.
    pub signature: Arc<FunctionSignature>,
    /// One value for each argument, of the parameters' types.
    pub arguments: Vec<Value>,
}

/// Why a function has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionError {
    /// What is wrong.
    pub text: String,
    /// The position of the argument at fault, counted from 0.
    pub argument: Option<usize>,
    /// The fate of the call.
    pub fate: CallFate,
}

impl FunctionError {
    /// An error that the function answered with.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), argument: None, fate: CallFate::Answered }
    }

    /// The same, about the argument at `position`, counted from 0.
    #[must_use]
    pub fn at(self, position: usize) -> Self {
        Self { argument: Some(position), ..self }
    }

    /// The error of a call that ended with `problems` in place of an answer.
    pub fn of_call(problems: &ProviderDiagnostics) -> Self {
        let text = problems.iter().map(|problem| problem.detail.as_str()).collect::<Vec<_>>().join("\n");
        Self { text, argument: None, fate: problems.fate() }
    }
}
