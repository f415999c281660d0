//! Functions that take elements out of lists.

use std::collections::HashSet;

use groma_value::{Type, Value, convert};

use super::mapping::count;
use super::sequence::{first, sequence, slice_of};
use super::signature::{Accepts, Arguments, Function, FunctionError, Outcome, Parameter, whole};

pub(super) fn functions() -> Vec<Function> {
    let list = || Type::list(Type::Dynamic);
    let strings = || Type::list(Type::String);
    vec![
        Function::inferred("element", element_type, element)
            .takes(Parameter::any("list").accepting(Accepts::MARKED))
            .takes(Parameter::number("index"))
            .nullable(),
        Function::inferred("slice", slice_type, slice)
            .takes(Parameter::any("list").accepting(Accepts::MARKED))
            .takes(Parameter::number("start_index"))
            .takes(Parameter::number("end_index")),
        Function::inferred("distinct", same_type, distinct).takes(Parameter::new("list", list())),
        Function::fixed("compact", strings(), compact).takes(Parameter::new("list", strings())),
        Function::inferred("coalescelist", coalescelist_type, coalescelist)
            .takes_more(Parameter::any("vals").accepting(Accepts::ANY_UNMARKED)),
        Function::inferred("matchkeys", matchkeys_type, matchkeys)
            .takes(Parameter::new("values", list()))
            .takes(Parameter::new("keys", list()))
            .takes(Parameter::new("searchset", list())),
    ]
}

fn position(number: &Value, length: usize) -> Result<usize, FunctionError> {
    let index = number
        .as_number()
        .map_or(Ok(0), whole)
        .map_err(|problem| FunctionError::new(format!("invalid index: {problem}")))?;
    let length = i64::try_from(length).unwrap_or(i64::MAX);
    if length == 0 {
        return Err(FunctionError::new("element() finds nothing in an empty list"));
    }
    // element() wraps around at both ends.
    Ok(usize::try_from(index.rem_euclid(length)).unwrap_or(0))
}

fn element_type(arguments: &[Value]) -> Result<Type, FunctionError> {
    let [list, index] = arguments else { return Ok(Type::Dynamic) };
    match list.ty() {
        Type::List(element) => Ok((*element).clone()),
        // Elements of a tuple have types of their own, so the index decides the type of the result.
        Type::Tuple(types) if index.is_known() => {
            let position = position(index, types.len())?;
            Ok(types.get(position).cloned().unwrap_or(Type::Dynamic))
        }
        Type::Tuple(_) => Ok(Type::Dynamic),
        ty => Err(FunctionError::new(format!("cannot read elements from {}", ty.friendly_name()))),
    }
}

fn element(arguments: &Arguments<'_>) -> Outcome {
    let list = arguments.value(0);
    let elements = slice_of(&list);
    let found = elements.get(position(&arguments.value(1), elements.len())?);
    Ok(found.cloned().unwrap_or_else(|| Value::unknown(arguments.result.clone())).with_marks(list.marks()))
}

/// Start and end of a slice, as far as they are known; wrong ones are errors even if the list is unknown.
fn slice_bounds(arguments: &[Value]) -> Result<Option<(usize, usize)>, FunctionError> {
    let [list, start, end] = arguments else { return Ok(None) };
    let length = count(list);
    let bound = |value: &Value, argument: usize, what: &str| -> Result<Option<usize>, FunctionError> {
        let Some(number) = value.as_number() else { return Ok(None) };
        let problem = |text: String| Err(FunctionError::argument(argument, text));
        let index = match whole(number) {
            Ok(index) => index,
            Err(text) => return problem(format!("invalid {what} index: {text}")),
        };
        let Ok(index) = usize::try_from(index) else {
            return problem(format!("{what} index must not be less than zero"));
        };
        if length.is_some_and(|length| index > length) {
            return problem(format!("the {what} index lies behind the end of the list"));
        }
        Ok(Some(index))
    };
    match (bound(start, 1, "start")?, bound(end, 2, "end")?) {
        (Some(start), Some(end)) if start > end => {
            Err(FunctionError::argument(1, "the start index lies behind the end index"))
        }
        (Some(start), Some(end)) => Ok(Some((start, end))),
        _ => Ok(None),
    }
}

fn slice_type(arguments: &[Value]) -> Result<Type, FunctionError> {
    match first(arguments).ty() {
        Type::Set(_) => Err(FunctionError::argument(
            0,
            "a set has no order from which to take a part; convert it to a list if any order will do",
        )),
        Type::List(element) => slice_bounds(arguments).map(|_| Type::List(element)),
        Type::Tuple(types) => Ok(match slice_bounds(arguments)? {
            Some((start, end)) => Type::tuple(types.get(start..end).unwrap_or_default().to_vec()),
            None => Type::Dynamic,
        }),
        _ => Err(FunctionError::argument(0, "must be a list or tuple value")),
    }
}

fn slice(arguments: &Arguments<'_>) -> Outcome {
    let list = arguments.value(0);
    let Some((start, end)) = slice_bounds(arguments.values)? else {
        return Ok(Value::unknown(arguments.result.clone()).with_marks(list.marks()));
    };
    let elements = slice_of(&list).get(start..end).unwrap_or_default().to_vec();
    Ok(sequence(arguments.result, elements).with_marks(list.marks()))
}

fn same_type(arguments: &[Value]) -> Result<Type, FunctionError> {
    Ok(first(arguments).ty())
}

fn distinct(arguments: &Arguments<'_>) -> Outcome {
    let list = arguments.value(0);
    // An unknown element may turn out to be equal to another.
    if !list.is_wholly_known() {
        return Ok(Value::unknown(arguments.result.clone()));
    }
    let mut seen = HashSet::new();
    let kept = slice_of(&list).iter().filter(|value| seen.insert(*value)).cloned().collect();
    Ok(sequence(arguments.result, kept))
}

fn compact(arguments: &Arguments<'_>) -> Outcome {
    let list = arguments.value(0);
    // An unknown element may turn out to be empty.
    if !list.is_wholly_known() {
        return Ok(Value::unknown(arguments.result.clone()));
    }
    let kept =
        slice_of(&list).iter().filter(|value| value.as_str().is_some_and(|text| !text.is_empty())).cloned().collect();
    Ok(sequence(arguments.result, kept))
}

fn coalescelist_type(arguments: &[Value]) -> Result<Type, FunctionError> {
    if arguments.is_empty() {
        return Err(FunctionError::new("at least one argument is required"));
    }
    for argument in arguments {
        // An unknown argument may turn out to be empty, so the choice and its type are open.
        if !argument.is_known() {
            return Ok(Type::Dynamic);
        }
        if !matches!(argument.ty(), Type::List(_) | Type::Tuple(_)) {
            return Err(FunctionError::new("coalescelist() chooses among lists and tuples only"));
        }
    }
    let ty = first(arguments).ty();
    Ok(if arguments.iter().all(|argument| argument.ty() == ty) { ty } else { Type::Dynamic })
}

fn coalescelist(arguments: &Arguments<'_>) -> Outcome {
    for argument in arguments.values {
        if !argument.is_known() {
            return Ok(Value::unknown(arguments.result.clone()));
        }
        if !argument.is_null() && !argument.is_empty() {
            return Ok(argument.clone());
        }
    }
    Err(FunctionError::new("no non-null arguments"))
}

fn matchkeys_type(arguments: &[Value]) -> Result<Type, FunctionError> {
    let [values, keys, searched] = arguments else { return Ok(Type::Dynamic) };
    match convert::unify(&[keys.ty(), searched.ty()]) {
        Some(_) => Ok(values.ty()),
        None => Err(FunctionError::new("the keys and the keys to search for differ in type")),
    }
}

fn matchkeys(arguments: &Arguments<'_>) -> Outcome {
    let (values, keys, searched) = (arguments.value(0), arguments.value(1), arguments.value(2));
    if slice_of(&values).len() != slice_of(&keys).len() {
        return Err(FunctionError::new("there must be as many keys as values"));
    }
    // With nothing to search for, the result is empty even if the values are unknown.
    if searched.is_empty() {
        return Ok(sequence(arguments.result, Vec::new()));
    }
    if !values.is_wholly_known() || !keys.is_wholly_known() || !searched.is_wholly_known() {
        return Ok(Value::unknown(arguments.result.clone()));
    }
    let Some(common) = convert::unify(&[keys.ty(), searched.ty()]) else {
        return Err(FunctionError::new("the keys and the keys to search for differ in type"));
    };
    let failed = |problem: convert::ConversionError| FunctionError::new(problem.to_string());
    let keys = convert::convert(&keys, &common).map_err(failed)?;
    let searched = convert::convert(&searched, &common).map_err(failed)?;
    let wanted: HashSet<&Value> = slice_of(&searched).iter().collect();
    let pairs = slice_of(&values).iter().zip(slice_of(&keys));
    let found = pairs.filter(|(_, key)| wanted.contains(key)).map(|(value, _)| value.clone()).collect();
    Ok(sequence(arguments.result, found))
}
