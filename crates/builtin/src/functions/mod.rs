//! The functions `provider::terraform::…`.

mod decode;
mod encode;

use std::sync::{Arc, LazyLock};

use groma_provider::{CallFunctionRequest, Description, FunctionError, FunctionSignature, Name, Parameter};
use groma_value::{Type, Value};

/// One function.
struct Function {
    name: &'static str,
    signature: Arc<FunctionSignature>,
    call: fn(&Value) -> Result<Value, String>,
}

/// All of them, sorted by name.
fn all() -> &'static [Function] {
    static ALL: LazyLock<[Function; 3]> = LazyLock::new(|| {
        [
            Function {
                name: "decode_tfvars",
                signature: signature(
                    ("src", Type::String),
                    Type::Dynamic,
                    "The values of a text in the syntax of a `.tfvars` file",
                    "Reads a text in the syntax of a `.tfvars` file, and returns an object with an attribute for each \
                     variable in it. Only constants can stand there, no references and no function calls.",
                ),
                call: decode::tfvars,
            },
            Function {
                name: "encode_expr",
                signature: signature(
                    ("value", Type::Dynamic),
                    Type::String,
                    "A value as an expression of the language",
                    "Writes a value as an expression of the language. Reading it again gives a value that can be converted \
                     to the type of the original; lists and sets come back as tuples, maps as objects.",
                ),
                call: |value| Ok(Value::string(encode::expression(value))),
            },
            Function {
                name: "encode_tfvars",
                signature: signature(
                    ("value", Type::Dynamic),
                    Type::String,
                    "An object as a `.tfvars` file",
                    "Writes an object in the syntax of a `.tfvars` file: one variable for each attribute.",
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

/// The names of all functions.
pub(crate) fn names() -> Vec<Name> {
    all().iter().map(|function| function.name.into()).collect()
}

/// The signature of a function.
pub(crate) fn find(name: &str) -> Option<Arc<FunctionSignature>> {
    all().iter().find(|function| function.name == name).map(|function| Arc::clone(&function.signature))
}

pub(crate) fn call(request: &CallFunctionRequest) -> Result<Value, FunctionError> {
    let failed = |text: String, argument| Err(FunctionError { argument, ..FunctionError::new(text) });
    let Some(function) = all().iter().find(|function| *function.name == *request.name) else {
        return failed(format!("there is no function named {:?}", request.name), None);
    };
    let Some(argument) = request.arguments.first() else {
        return failed("one argument is needed".into(), None);
    };
    // Terraform blames the call, not its one argument.
    (function.call)(argument).or_else(|text| failed(text, None))
}
