//! The provider-defined functions `provider::terraform::…`.

use std::fmt::Write;
use std::sync::{Arc, LazyLock};

use groma_diagnostics::{Diagnostic, Diagnostics, Sources};
use groma_hcl::{is_identifier, write_literal};
use groma_lang::evaluate_constant;
use groma_provider::{CallFunctionRequest, Description, FunctionError, FunctionSignature, Name, Parameter};
use groma_value::{Kind, Type, Value};
use thiserror::Error;

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
                call: decode_tfvars,
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
                call: |value| Ok(Value::string(expression(value))),
            },
            Function {
                name: "encode_tfvars",
                signature: signature(
                    ("value", Type::Dynamic),
                    Type::String,
                    "Encodes an object in the syntax of a `.tfvars` file",
                    "Encodes an object in the syntax of a `.tfvars` file, with a variable for each attribute.",
                ),
                call: encode_tfvars,
            },
        ]
    });
    &*ALL
}

fn signature(parameter: (&str, Type), result: Type, summary: &str, description: &str) -> Arc<FunctionSignature> {
    let parameter = Parameter {
        name: parameter.0.into(),
        ty: parameter.1,
        // The evaluator rejects null before the call, as in Terraform.
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
    // The evaluator resolves names first, so this error shows only for calls over a plugin.
    let Some(function) = all().iter().find(|function| *function.name == *request.name) else {
        return failed(format!("no function named {:?}", request.name), None);
    };
    let Some(argument) = request.arguments.first() else {
        return failed("one argument is required".into(), None);
    };
    // Terraform attributes the error to the call, not to its single argument.
    (function.call)(argument).or_else(|error| failed(error.to_string(), None))
}

/// The pseudo file name in diagnostics.
const PSEUDO_FILE: &str = "<decode_tfvars argument>";

/// Decodes the variable assignments in a string into an object.
fn decode_tfvars(text: &Value) -> Result<Value, CallError> {
    let sources = Sources::new();
    let Some(file) = sources.add(PSEUDO_FILE, text.as_str().unwrap_or_default()) else {
        return Err(CallError::TooLong);
    };
    let (parsed, problems) = groma_hcl::parse_file(&file);
    // Stage by stage, so that the error names the first thing that is wrong: syntax, then blocks, then values.
    check(&problems, &sources, CallError::Syntax)?;
    let (attributes, problems) = parsed.body.attributes();
    check(&problems, &sources, CallError::NoAssignment)?;
    let mut values = Vec::with_capacity(attributes.len());
    for attribute in attributes {
        let mut problems = Diagnostics::new();
        let value = evaluate_constant(&attribute.expression, &mut problems);
        let not_constant = |reason| CallError::NotConstant { variable: attribute.name.name.to_string(), reason };
        check(&problems, &sources, not_constant)?;
        values.push((attribute.name.name, value));
    }
    Ok(Value::object(values))
}

/// Formats the first error on one line: context, location, and reason.
fn check(problems: &Diagnostics, sources: &Sources, error: impl FnOnce(String) -> CallError) -> Result<(), CallError> {
    // Warnings, such as those about deprecated syntax, do not prevent a result.
    let Some(problem) = problems.iter().find(|problem| problem.is_error()) else { return Ok(()) };
    let position = location(problem, sources);
    Err(error(format!("{position}{}: {}", problem.summary, problem.detail.trim_end_matches('.'))))
}

fn location(problem: &Diagnostic, sources: &Sources) -> String {
    match problem.subject.and_then(|span| sources.locate(span)) {
        Some(location) => format!("line {}, column {}: ", location.start.line, location.start.column),
        None => String::new(),
    }
}

/// The maximum nesting depth, a guard for the stack; values of the language never reach it.
const MAX_DEPTH: usize = 512;

/// Encodes `value` as a formatted expression.
fn expression(value: &Value) -> String {
    // The formatter accepts only complete files, so the expression is formatted as an argument.
    const NAME: &str = "x = ";
    let mut text = NAME.to_owned();
    write_value(value, &mut text, 0);
    text.push('\n');
    let formatted = groma_hcl::format(&text);
    let expression = formatted.strip_prefix(NAME).unwrap_or(&formatted);
    expression.strip_suffix('\n').unwrap_or(expression).to_owned()
}

/// Encodes an object or map as variable assignments.
fn encode_tfvars(value: &Value) -> Result<Value, CallError> {
    let pairs: Vec<(&Name, &Value)> = match value.kind() {
        Kind::Object(object) => object.iter().collect(),
        Kind::Map(map) => map.iter().collect(),
        _ => {
            let found = value.ty().friendly_name();
            return Err(CallError::NoObject(found));
        }
    };
    let mut text = String::new();
    for (name, value) in pairs {
        // Refused instead of quoted: in a variables file only identifiers can be names.
        if !is_identifier(name) {
            return Err(CallError::VariableName(name.to_string()));
        }
        // Writing to a string cannot fail.
        let _ = write!(text, "{name} = ");
        write_value(value, &mut text, 0);
        text.push('\n');
    }
    Ok(Value::string(groma_hcl::format(&text)))
}

fn write_value(value: &Value, text: &mut String, depth: usize) {
    if depth > MAX_DEPTH {
        // The depth is never reached by real values, so a wrong result here is better than an overflow of the stack.
        return text.push_str("null");
    }
    match value.kind() {
        // Unknown values cannot occur: calls with unknown arguments are not made.
        Kind::Null | Kind::Unknown(_) => text.push_str("null"),
        Kind::Bool(flag) => text.push_str(if flag { "true" } else { "false" }),
        Kind::Number(number) => {
            let _ = write!(text, "{number}");
        }
        Kind::String(string) => write_literal(string, text),
        Kind::List(values) | Kind::Set(values) | Kind::Tuple(values) => {
            text.push('[');
            for (position, value) in values.iter().enumerate() {
                text.push_str(if position > 0 { ", " } else { "" });
                write_value(value, text, depth + 1);
            }
            text.push(']');
        }
        Kind::Object(object) => write_pairs(object.iter(), text, depth),
        Kind::Map(map) => write_pairs(map.iter(), text, depth),
    }
}

fn write_pairs<'a>(pairs: impl ExactSizeIterator<Item = (&'a Name, &'a Value)>, text: &mut String, depth: usize) {
    if pairs.len() == 0 {
        // On one line, as the formatter leaves it and Terraform writes it.
        return text.push_str("{}");
    }
    text.push_str("{\n");
    for (key, value) in pairs {
        // Keywords such as `for` and `null` are valid keys without quotes.
        if is_identifier(key) {
            text.push_str(key);
        } else {
            write_literal(key, text);
        }
        text.push_str(" = ");
        write_value(value, text, depth + 1);
        text.push('\n');
    }
    text.push('}');
}

/// The reason why a function has no result for its argument.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
enum CallError {
    #[error("an object with a value for each variable is required, not {0}")]
    NoObject(String),
    #[error(
        "{0:?} is not a valid variable name: a name must start with a letter or underscore and may contain only letters, digits, \
         underscores and dashes"
    )]
    VariableName(String),
    #[error("the string is too long")]
    TooLong,
    /// The string is not a variables file; holds the position and the text of the first diagnostic.
    #[error("invalid syntax: {0}")]
    Syntax(String),
    #[error("only variable assignments are allowed: {0}")]
    NoAssignment(String),
    #[error("the value of {variable:?} is not a constant: {reason}")]
    NotConstant { variable: String, reason: String },
}
