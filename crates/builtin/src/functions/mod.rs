//! The provider-defined functions `provider::terraform::…`.

mod decode;
mod encode;
mod error;

use std::sync::{Arc, LazyLock};

use groma_provider::{CallFunctionRequest, Description, FunctionError, FunctionSignature, Name, Parameter};
use groma_value::{Type, Value};

use error::CallError;

/// A function with its implementation.
struct Function {
    name: &'static str,
    signature: Arc<FunctionSignature>,
    call: fn(&Value) -> Result<Value, CallError>,
}

/// Returns all functions, sorted by name.
fn all() -> &'static [Function] {
    static ALL: LazyLock<[Function; 3]> = LazyLock::new(|| {
        [
            Function {
                name: "decode_tfvars",
                signature: signature(
                    ("src", Type::String),
                    Type::Dynamic,
                    "Decodes a string in the syntax of a `.tfvars` file",
                    "Parses a string in the syntax of a `.tfvars` file, and returns an object with an attribute for each \
                     variable. Values must be constants, without references or function calls.",
                ),
                call: decode::tfvars,
            },
            Function {
                name: "encode_expr",
                signature: signature(
                    ("value", Type::Dynamic),
                    Type::String,
                    "Encodes a value as an expression",
                    "Encodes a value as an expression in configuration syntax. The expression evaluates to a value that can \
                     be converted to the type of the original; lists and sets become tuples, maps become objects.",
                ),
                call: |value| Ok(Value::string(encode::expression(value))),
            },
            Function {
                name: "encode_tfvars",
                signature: signature(
                    ("value", Type::Dynamic),
                    Type::String,
                    "Encodes an object in the syntax of a `.tfvars` file",
                    "Encodes an object in the syntax of a `.tfvars` file, with a variable for each attribute.",
                ),
                call: encode::tfvars,
            },
        ]
    });
    &*ALL
}

fn signature(parameter: (&str, Type), result: Type, summary: &str, description: &str) -> Arc<FunctionSignature> {
    let parameter = Parameter {
        name: parameter.0.into(),
        ty: parameter.1,
        allow_null: false,
        // The evaluator then returns unknown without a call.
        allow_unknown: false,
        description: Description::default(),
    };
    Arc::new(FunctionSignature {
        parameters: vec![parameter],
        variadic: None,
        return_type: result,
        summary: summary.to_owned(),
        description: Description::plain(description),
        deprecation: String::new(),
    })
}

/// Returns the names of all functions.
pub(crate) fn names() -> Vec<Name> {
    all().iter().map(|function| function.name.into()).collect()
}

/// Looks up the signature of a function.
pub(crate) fn find(name: &str) -> Option<Arc<FunctionSignature>> {
    all().iter().find(|function| function.name == name).map(|function| Arc::clone(&function.signature))
}

pub(crate) fn call(request: &CallFunctionRequest) -> Result<Value, FunctionError> {
    let failed = |text: String, argument| Err(FunctionError { argument, ..FunctionError::new(text) });
    let Some(function) = all().iter().find(|function| *function.name == *request.name) else {
        return failed(format!("no function named {:?}", request.name), None);
    };
    let Some(argument) = request.arguments.first() else {
        return failed("one argument is required".into(), None);
    };
    // Terraform attributes the error to the call, not to its single argument.
    (function.call)(argument).or_else(|error| failed(error.to_string(), None))
}
