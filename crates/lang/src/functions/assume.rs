//! The functions `assume…`, which promise something about values that are not known yet.

use groma_value::{Marks, Refinement, Type, Value, convert};

use super::signature::{Accepts, Arguments, Function, FunctionError, Outcome, Parameter};

pub(super) fn functions() -> Vec<Function> {
    let value = |ty| Parameter::new("value", ty).accepting(Accepts::ANY_UNMARKED);
    let lengths = |name, ty: Type, bounds: &[&str], body| {
        let function = Function::inferred(name, same_type, body)
            .takes(Parameter::new("value", ty).accepting(Accepts::ANY_UNMARKED));
        bounds.iter().fold(function.nullable(), |function, bound| function.takes(Parameter::number(bound)))
    };
    let mut functions = vec![
        Function::inferred("assumeequal", |given| Ok(given.get(1).map_or(Type::Dynamic, Value::ty)), equal)
            .takes(Parameter::any("actual_value").accepting(Accepts::EVERYTHING))
            .takes(Parameter::any("expected_value").accepting(Accepts::EVERYTHING))
            .nullable(),
        Function::inferred("assumenotnull", same_type, not_null).takes(value(Type::Dynamic)).nullable(),
        Function::fixed("assumestringprefix", Type::String, string_prefix)
            .takes(value(Type::String))
            .takes(Parameter::text("prefix"))
            .nullable(),
    ];
    let kinds = [
        (["assumelistlength", "assumelistlengthmin", "assumelistlengthmax"], Type::list(Type::Dynamic)),
        (["assumesetlength", "assumesetlengthmin", "assumesetlengthmax"], Type::set(Type::Dynamic)),
        (["assumemaplength", "assumemaplengthmin", "assumemaplengthmax"], Type::map(Type::Dynamic)),
    ];
    for ([both, least, most], ty) in kinds {
        functions.push(lengths(both, ty.clone(), &["min_length", "max_length"], |call| {
            let (least, most) = (bound(call, 1)?, bound(call, 2)?);
            promised(call, &Refinement::NONE.minimum_length(least).maximum_length(most))
        }));
        functions.push(lengths(least, ty.clone(), &["min_length"], |call| {
            promised(call, &Refinement::NONE.minimum_length(bound(call, 1)?))
        }));
        functions.push(lengths(most, ty, &["max_length"], |call| {
            promised(call, &Refinement::NONE.maximum_length(bound(call, 1)?))
        }));
    }
    functions
}

fn same_type(arguments: &[Value]) -> Result<Type, FunctionError> {
    Ok(arguments.first().map_or(Type::Dynamic, Value::ty))
}

fn bound(arguments: &Arguments<'_>, index: usize) -> Result<u64, FunctionError> {
    arguments
        .number(index)
        .to_u64()
        .filter(|length| *length < i64::MAX as u64)
        .ok_or_else(|| FunctionError::argument(index, format!("must be a whole number between 0 and {}", i64::MAX)))
}

fn promised(arguments: &Arguments<'_>, promise: &Refinement) -> Outcome {
    let value = arguments.value(0);
    if value.is_null() && promise.is_not_null() {
        return Err(FunctionError::argument(0, "assumption was not upheld: the value is null"));
    }
    value.try_refine(promise).map_err(|_| FunctionError::argument(0, "assumption was not upheld"))
}

fn not_null(arguments: &Arguments<'_>) -> Outcome {
    if arguments.value(0).ty() == Type::Dynamic {
        return Err(FunctionError::argument(
            0,
            "given value must have a known type; the function convert gives it one",
        ));
    }
    promised(arguments, &Refinement::NOT_NULL)
}

fn string_prefix(arguments: &Arguments<'_>) -> Outcome {
    let prefix = arguments.text(1);
    if arguments.value(0).as_str().is_some_and(|text| !text.starts_with(prefix)) {
        return Err(FunctionError::argument(0, "assumption was not upheld"));
    }
    promised(arguments, &Refinement::NONE.prefix(prefix))
}

fn equal(arguments: &Arguments<'_>) -> Outcome {
    let (actual, expected) = (arguments.value(0), arguments.value(1));
    let converted = convert::convert(&actual, &expected.ty()).map_err(|_| {
        let (actual, expected) = (actual.ty().friendly_name(), expected.ty().friendly_name());
        FunctionError::argument(0, format!("actual value type {actual} does not match assumed value type {expected}"))
    })?;
    if converted.equals(&expected).as_bool() == Some(false) {
        return Err(FunctionError::argument(0, "the actual value does not match the assumed value"));
    }
    // An assumption makes public what it says: only other marks of the actual value remain.
    let (_, marks) = converted.unmark_deep();
    let hidden = Marks::SENSITIVE.union(&Marks::EPHEMERAL);
    let kept = marks
        .into_iter()
        .map(|(path, marks)| (path, marks.without(&hidden)))
        .filter(|(_, marks)| !marks.is_empty())
        .collect();
    Ok(expected.mark_paths(&kept))
}
