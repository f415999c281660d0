//! Functions that convert values, select among them, or change their marks.

use groma_diagnostics::quoted;
use groma_value::{Kind, Marks, Type, Value, convert};

use super::signature::{Accepts, Arguments, Function, FunctionError, Outcome, Parameter};

pub(super) fn functions() -> Vec<Function> {
    let everything = |name: &str| Parameter::any(name).accepting(Accepts::EVERYTHING);
    let converting = |name, infer, body| {
        Function::inferred(name, infer, body)
            .takes(Parameter::any("v").accepting(Accepts::NULL | Accepts::MARKED | Accepts::DYNAMIC))
            .nullable()
    };
    vec![
        converting("tostring", |given| target(given, &Type::String), |call| to(call, &Type::String)),
        converting("tonumber", |given| target(given, &Type::Number), |call| to(call, &Type::Number)),
        converting("tobool", |given| target(given, &Type::Bool), |call| to(call, &Type::Bool)),
        converting(
            "tolist",
            |given| target(given, &Type::list(Type::Dynamic)),
            |call| to(call, &Type::list(Type::Dynamic)),
        ),
        converting(
            "toset",
            |given| target(given, &Type::set(Type::Dynamic)),
            |call| to(call, &Type::set(Type::Dynamic)),
        ),
        converting(
            "tomap",
            |given| target(given, &Type::map(Type::Dynamic)),
            |call| to(call, &Type::map(Type::Dynamic)),
        ),
        Function::inferred("coalesce", coalesce_type, coalesce)
            .takes_more(Parameter::any("vals").accepting(Accepts::ANY_UNMARKED)),
        Function::inferred("sensitive", same_type, |call| Ok(call.value(0).with_marks(&Marks::SENSITIVE)))
            .takes(everything("value"))
            .nullable(),
        Function::inferred("nonsensitive", same_type, nonsensitive).takes(everything("value")).nullable(),
        Function::fixed("issensitive", Type::Bool, issensitive).takes(everything("value")),
        Function::inferred("ephemeralasnull", same_type, ephemeralasnull).takes(everything("value")).nullable(),
        // Functions that Terraform removed keep their names, so that the error can name the replacement.
        removed("list", |_| Err(FunctionError::new(REMOVED_LIST))),
        removed("map", |_| Err(FunctionError::new(REMOVED_MAP))),
    ]
}

const REMOVED_LIST: &str = "the \"list\" function was removed; write tolist([ ... ]) for a list";
const REMOVED_MAP: &str = "the \"map\" function was removed; write tomap({ ... }) for a map";

fn removed(name: &'static str, problem: fn(&[Value]) -> Result<Type, FunctionError>) -> Function {
    Function::inferred(name, problem, |_| Ok(Value::DYNAMIC))
        .takes_more(Parameter::any("vals").accepting(Accepts::ANY_UNMARKED))
}

fn same_type(arguments: &[Value]) -> Result<Type, FunctionError> {
    Ok(arguments.first().map_or(Type::Dynamic, Value::ty))
}

/// The wanted type, if the first argument can be made one. What elements it will have is not said before it is known: so it is in Terraform,
/// and the types of all results must be the same.
fn target(arguments: &[Value], wanted: &Type) -> Result<Type, FunctionError> {
    match arguments.first() {
        Some(given) if convert::convert(&Value::unknown(given.ty()), wanted).is_err() => Err(cannot(given, wanted)),
        _ => Ok(wanted.clone()),
    }
}

fn cannot(given: &Value, wanted: &Type) -> FunctionError {
    let marks = given.deep_marks();
    let what = match (given.ty(), wanted) {
        // A hidden value must not be quoted.
        _ if marks.is_ephemeral() => format!("this ephemeral {}", given.ty().friendly_name()),
        _ if marks.is_sensitive() => format!("this sensitive {}", given.ty().friendly_name()),
        (Type::String, Type::Bool | Type::Number) if given.as_str().is_some() => {
            quoted(given.as_str().unwrap_or_default())
        }
        (ty, _) => ty.friendly_name(),
    };
    let hint = match (given.ty(), wanted) {
        _ if !marks.is_empty() => "",
        (Type::String, Type::Bool) => "; it must be \"true\" or \"false\"",
        (Type::String, Type::Number) => "; it must be a number in decimal notation",
        _ => "",
    };
    FunctionError::argument(0, format!("cannot convert {what} to {}{hint}", wanted.constraint_name()))
}

fn to(arguments: &Arguments<'_>, wanted: &Type) -> Outcome {
    let given = arguments.value(0);
    convert::convert(&given, wanted).map_err(|_| cannot(&given, wanted))
}

fn coalesce_type(arguments: &[Value]) -> Result<Type, FunctionError> {
    let types: Vec<Type> = arguments.iter().map(Value::ty).collect();
    if types.is_empty() {
        return Err(FunctionError::new("at least one argument is required"));
    }
    convert::unify(&types).ok_or_else(|| FunctionError::new("all arguments must have the same type"))
}

fn coalesce(arguments: &Arguments<'_>) -> Outcome {
    for argument in arguments.values {
        // What cannot be made what the others are is passed over, as in Terraform.
        let Ok(argument) = convert::convert(argument, arguments.result) else { continue };
        match argument.kind() {
            Kind::Unknown(_) => return Ok(Value::unknown(arguments.result.clone())),
            Kind::Null => {}
            Kind::String(text) if text.is_empty() => {}
            _ => return Ok(argument),
        }
    }
    Err(FunctionError::new("no non-null, non-empty-string arguments"))
}

fn nonsensitive(arguments: &Arguments<'_>) -> Outcome {
    // Only the mark of the value itself is removed, as in Terraform: marks of elements stay.
    let (value, marks) = arguments.value(0).unmark();
    Ok(value.with_marks(&marks.without(&Marks::SENSITIVE)))
}

fn issensitive(arguments: &Arguments<'_>) -> Outcome {
    let value = arguments.value(0);
    if value.marks().is_sensitive() {
        return Ok(Value::bool(true));
    }
    // What is not known yet may still turn out to be sensitive.
    Ok(if value.is_known() { Value::bool(false) } else { Value::unknown(Type::Bool) })
}

fn ephemeralasnull(arguments: &Arguments<'_>) -> Outcome {
    let value = arguments.value(0);
    if !value.deep_marks().is_ephemeral() && value.is_wholly_known() {
        return Ok(value);
    }
    Ok(value.transform(|_, value| {
        let (plain, marks) = value.unmark();
        let rest = marks.without(&Marks::EPHEMERAL);
        let replaced = if plain.is_null() || marks.is_ephemeral() && plain.is_known() {
            Value::null(plain.ty())
        } else if !plain.is_known() && marks.is_ephemeral() {
            // It may turn out to be null.
            Value::unknown(plain.ty())
        } else {
            plain
        };
        replaced.with_marks(&rest)
    }))
}
