//! Conversion of function signatures and errors.

use groma_provider::{FunctionError, FunctionSignature, Parameter};

use super::WireError;
use super::diagnostics::{call_fate, call_fate_message};
use super::schema::{description, json, kind, type_of};
use crate::proto::v6;

/// Decodes a function signature.
///
/// # Errors
///
/// A type cannot be decoded, or the return type is missing.
pub fn function(message: &v6::Function) -> Result<FunctionSignature, WireError> {
    let returned = message.r#return.as_ref().ok_or_else(|| WireError::new("the function has no return type"))?;
    Ok(FunctionSignature {
        parameters: message.parameters.iter().map(parameter).collect::<Result<_, _>>()?,
        variadic: message.variadic_parameter.as_ref().map(parameter).transpose()?,
        return_type: type_of(&returned.r#type)?,
        summary: message.summary.clone(),
        description: description(&message.description, message.description_kind),
        deprecation: message.deprecation_message.clone(),
    })
}

fn parameter(message: &v6::function::Parameter) -> Result<Parameter, WireError> {
    Ok(Parameter {
        name: message.name.as_str().into(),
        ty: type_of(&message.r#type).map_err(|error| error.within(&message.name))?,
        allow_null: message.allow_null_value,
        allow_unknown: message.allow_unknown_values,
        description: description(&message.description, message.description_kind),
    })
}

/// Encodes a function signature.
pub fn function_message(signature: &FunctionSignature) -> v6::Function {
    v6::Function {
        parameters: signature.parameters.iter().map(parameter_message).collect(),
        variadic_parameter: signature.variadic.as_ref().map(parameter_message),
        r#return: Some(v6::function::Return { r#type: json(&signature.return_type) }),
        summary: signature.summary.clone(),
        description: signature.description.text.clone(),
        description_kind: kind(&signature.description),
        deprecation_message: signature.deprecation.clone(),
    }
}

fn parameter_message(parameter: &Parameter) -> v6::function::Parameter {
    v6::function::Parameter {
        name: parameter.name.to_string(),
        r#type: json(&parameter.ty),
        allow_null_value: parameter.allow_null,
        allow_unknown_values: parameter.allow_unknown,
        description: parameter.description.text.clone(),
        description_kind: kind(&parameter.description),
    }
}

/// Decodes a function error.
pub fn function_error(message: v6::FunctionError) -> FunctionError {
    FunctionError {
        fate: call_fate(message.groma_call_fate()),
        // A negative position is invalid; the error then concerns the call as a whole.
        argument: message.function_argument.and_then(|position| usize::try_from(position).ok()),
        text: message.text,
    }
}

/// Encodes a function error.
pub fn function_error_message(error: &FunctionError) -> v6::FunctionError {
    v6::FunctionError {
        text: error.text.clone(),
        function_argument: error.argument.and_then(|position| i64::try_from(position).ok()),
        groma_call_fate: call_fate_message(error.fate).into(),
    }
}
