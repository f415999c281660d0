//! Functions that make one value of a whole list.

use groma_value::{Kind, Length, Number, Type, Value, convert};

use super::sequence::{first, slice_of};
use super::signature::{Accepts, Arguments, Function, FunctionError, Outcome, Parameter};

pub(super) fn functions() -> Vec<Function> {
    vec![
        Function::fixed("length", Type::Number, length)
            .takes(Parameter::any("value").accepting(Accepts::DYNAMIC | Accepts::UNKNOWN | Accepts::MARKED)),
        Function::fixed("contains", Type::Bool, contains).takes(Parameter::any("list")).takes(Parameter::any("value")),
        Function::fixed("index", Type::Number, index).takes(Parameter::any("list")).takes(Parameter::any("value")),
        Function::inferred("one", one_type, one).takes(Parameter::any("list")).nullable(),
        Function::fixed("alltrue", Type::Bool, alltrue).takes(Parameter::new("list", Type::list(Type::Bool))),
        Function::fixed("anytrue", Type::Bool, anytrue).takes(Parameter::new("list", Type::list(Type::Bool))),
        Function::fixed("sum", Type::Number, sum).takes(Parameter::any("list")),
    ]
}

fn length(arguments: &Arguments<'_>) -> Outcome {
    let value = arguments.value(0);
    match value.ty() {
        Type::String => Ok(super::string::length_of(&value)),
        // An unknown type may still turn out to be one that has a length.
        Type::Dynamic => Ok(Value::unknown(Type::Number).with_marks(value.marks())),
        _ => value
            .len()
            .ok_or_else(|| FunctionError::new("only strings, lists, sets, maps, tuples and objects have a length")),
    }
}

fn contains(arguments: &Arguments<'_>) -> Outcome {
    let (list, wanted) = (arguments.value(0), arguments.value(1));
    if !matches!(list.ty(), Type::List(_) | Type::Tuple(_) | Type::Set(_)) {
        return Err(FunctionError::new("argument must be list, tuple, or set"));
    }
    let mut unknown = false;
    for element in slice_of(&list) {
        match wanted.equals(element).as_bool() {
            Some(true) => return Ok(Value::bool(true)),
            Some(false) => {}
            // A later element may be equal, which decides the result whatever this one becomes.
            None => unknown = true,
        }
    }
    Ok(if unknown { Value::unknown(Type::Bool) } else { Value::bool(false) })
}

fn index(arguments: &Arguments<'_>) -> Outcome {
    let (list, wanted) = (arguments.value(0), arguments.value(1));
    if !matches!(list.ty(), Type::List(_) | Type::Tuple(_)) {
        return Err(FunctionError::new("argument must be a list or tuple"));
    }
    if list.is_empty() {
        return Err(FunctionError::new("cannot search an empty list"));
    }
    for (position, element) in slice_of(&list).iter().enumerate() {
        match element.equals(&wanted).as_bool() {
            Some(true) => return Ok(Value::number(position)),
            Some(false) => {}
            // An unknown element may be the first match, so no later match can be trusted.
            None => return Ok(Value::unknown(Type::Number)),
        }
    }
    Err(FunctionError::new("item not found"))
}

const ONE: &str = "one() takes a list, a set or a tuple of at most one element";

fn one_type(arguments: &[Value]) -> Result<Type, FunctionError> {
    match first(arguments).ty() {
        Type::List(element) | Type::Set(element) => Ok((*element).clone()),
        Type::Tuple(types) => match &*types {
            [] => Ok(Type::Dynamic),
            [only] => Ok(only.clone()),
            _ => Err(FunctionError::argument(0, ONE)),
        },
        _ => Err(FunctionError::argument(0, ONE)),
    }
}

fn one(arguments: &Arguments<'_>) -> Outcome {
    let list = arguments.value(0);
    if matches!(list.length(), Some(Length::Unknown(_))) {
        return Ok(Value::unknown(arguments.result.clone()));
    }
    match slice_of(&list) {
        [] => Ok(Value::null(arguments.result.clone())),
        [only] => Ok(only.clone()),
        _ => Err(FunctionError::argument(0, ONE)),
    }
}

fn alltrue(arguments: &Arguments<'_>) -> Outcome {
    let list = arguments.value(0);
    for element in slice_of(&list) {
        match element.kind() {
            Kind::Bool(true) => {}
            // Terraform's alltrue stops at the first unknown element, even if a later one is false.
            Kind::Unknown(_) => return Ok(Value::unknown(Type::Bool)),
            // Null counts as false, as in Terraform.
            _ => return Ok(Value::bool(false)),
        }
    }
    Ok(Value::bool(true))
}

fn anytrue(arguments: &Arguments<'_>) -> Outcome {
    let list = arguments.value(0);
    let mut unknown = false;
    for element in slice_of(&list) {
        match element.kind() {
            Kind::Bool(true) => return Ok(Value::bool(true)),
            Kind::Unknown(_) => unknown = true,
            _ => {}
        }
    }
    Ok(if unknown { Value::unknown(Type::Bool) } else { Value::bool(false) })
}

fn sum(arguments: &Arguments<'_>) -> Outcome {
    let list = arguments.value(0);
    let wrong = |text: String| Err(FunctionError::argument(0, text));
    match list.ty() {
        Type::List(_) | Type::Set(_) | Type::Tuple(_) => {}
        Type::Map(_) | Type::Object(_) => {
            return wrong(format!(
                "only a list, a set or a tuple can be summed up, and this is {}",
                list.ty().friendly_name()
            ));
        }
        _ => return wrong("cannot sum noniterable".to_owned()),
    }
    if list.is_empty() {
        return wrong("cannot sum an empty list".to_owned());
    }
    if !list.is_wholly_known() {
        return Ok(Value::unknown(Type::Number));
    }
    let mut total: Option<Number> = None;
    for element in slice_of(&list) {
        let number = convert::convert(element, &Type::Number).ok().filter(|number| !number.is_null());
        let Some(number) = number.as_ref().and_then(Value::as_number) else {
            return wrong("every element must be a number, and none null".to_owned());
        };
        total = Some(match total {
            None => number.clone(),
            Some(total) => {
                total.add(number).ok_or_else(|| FunctionError::new("can't compute sum of opposing infinities"))?
            }
        });
    }
    Ok(Value::number(total.unwrap_or(Number::ZERO)))
}
