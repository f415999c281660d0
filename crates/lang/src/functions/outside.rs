//! Signatures of built-in functions, for documentation, completion and explanation.

use groma_value::Type;

use super::{Function, find};
use crate::provider_functions::{ProviderParameter, ProviderSignature};

/// Returns the signature of a built-in function; `None` for an unknown one. A type that depends on the arguments, or is not a
/// value type, is [`Type::Dynamic`] in that part.
pub fn signature(name: &str) -> Option<ProviderSignature> {
    let Some(function) = find(name) else { return special(name) };
    let mut signature = Function::signature(function);
    if let Some(result) = declared(name) {
        signature.result = result;
    }
    Some(signature)
}

/// Returns the result type that Terraform declares where the function itself is more or less specific: the collection kind is known even
/// if its
/// elements depend on the arguments.
fn declared(name: &str) -> Option<Type> {
    Some(match name {
        "chunklist" => Type::list(Type::list(Type::Dynamic)),
        "distinct" | "matchkeys" | "regexall" | "tolist" => Type::list(Type::Dynamic),
        "setintersection" | "setsubtract" | "setunion" | "toset" => Type::set(Type::Dynamic),
        "tomap" => Type::map(Type::Dynamic),
        "tostring" | "templatestring" => Type::String,
        "tonumber" => Type::Number,
        "tobool" => Type::Bool,
        "contains" | "index" | "sum" => Type::Dynamic,
        _ => return None,
    })
}

/// The functions whose arguments are expressions.
fn special(name: &str) -> Option<ProviderSignature> {
    let parameter = |name: &str, nullable| ProviderParameter {
        name: name.to_owned(),
        ty: Type::Dynamic,
        nullable,
        allows_unknown: true,
    };
    let (parameters, variadic, result) = match name {
        "can" => (vec![parameter("expression", false)], None, Type::Bool),
        "try" => (Vec::new(), Some(parameter("expressions", false)), Type::Dynamic),
        "convert" => (vec![parameter("value", true), parameter("type", false)], None, Type::Dynamic),
        _ => return None,
    };
    Some(ProviderSignature { parameters, variadic, result })
}
