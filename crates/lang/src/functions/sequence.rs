//! Functions that make lists, of other lists or of numbers.

use groma_value::{Marks, Number, Type, Value, convert};

use super::mapping::count;
use super::signature::{Accepts, Arguments, Function, FunctionError, Outcome, Parameter};

pub(super) fn functions() -> Vec<Function> {
    let list = || Type::list(Type::Dynamic);
    let strings = || Type::list(Type::String);
    vec![
        Function::inferred("concat", concat_type, concat).takes_more(Parameter::any("seqs").accepting(Accepts::MARKED)),
        Function::inferred("reverse", reverse_type, reverse).takes(Parameter::any("list").accepting(Accepts::MARKED)),
        Function::inferred("chunklist", chunklist_type, chunklist)
            .takes(Parameter::new("list", list()).accepting(Accepts::MARKED))
            .takes(Parameter::number("size").accepting(Accepts::MARKED)),
        Function::inferred("flatten", flatten_type, flatten).takes(Parameter::any("list").accepting(Accepts::MARKED)),
        Function::fixed("sort", strings(), sort).takes(Parameter::new("list", strings()).accepting(Accepts::UNKNOWN)),
        Function::fixed("range", Type::list(Type::Number), range).takes_more(Parameter::number("params")),
    ]
}

pub(super) fn first(arguments: &[Value]) -> Value {
    arguments.first().cloned().unwrap_or(Value::DYNAMIC)
}

/// A list or a tuple, as the type says.
pub(super) fn sequence(ty: &Type, values: Vec<Value>) -> Value {
    match ty {
        Type::List(element) => Value::list_of(element.clone(), values),
        Type::Set(element) => Value::set_of(element.clone(), values),
        _ => Value::tuple(values),
    }
}

pub(super) fn slice_of(value: &Value) -> &[Value] {
    value.as_slice().unwrap_or_default()
}

fn concat_type(arguments: &[Value]) -> Result<Type, FunctionError> {
    if arguments.is_empty() {
        return Err(FunctionError::new("at least one argument is required"));
    }
    if arguments.iter().all(|argument| matches!(argument.ty(), Type::List(_))) {
        let types: Vec<Type> = arguments.iter().map(Value::ty).collect();
        if let Some(common) = convert::unify(&types) {
            return Ok(common);
        }
    }
    let mut types = Vec::new();
    for (index, argument) in arguments.iter().enumerate() {
        match argument.ty() {
            Type::Tuple(elements) => types.extend(elements.iter().cloned()),
            // The type of a tuple says how many elements it has, and the length of an unknown list is open.
            Type::List(element) => match count(argument) {
                Some(count) => types.extend(std::iter::repeat_n((*element).clone(), count)),
                None => return Ok(Type::Dynamic),
            },
            ty => {
                let got = ty.friendly_name();
                return Err(FunctionError::argument(
                    index,
                    format!("only lists and tuples can be joined, and this is {got}"),
                ));
            }
        }
    }
    Ok(Type::tuple(types))
}

fn concat(arguments: &Arguments<'_>) -> Outcome {
    let mut marks = Marks::NONE;
    let mut elements = Vec::new();
    for (index, argument) in arguments.values.iter().enumerate() {
        marks = marks.union(argument.marks());
        let converted;
        let argument = if matches!(arguments.result, Type::List(_)) && argument.ty() != *arguments.result {
            converted = convert::convert(argument, arguments.result)
                .map_err(|problem| FunctionError::argument(index, problem.to_string()))?;
            &converted
        } else {
            argument
        };
        elements.extend_from_slice(slice_of(argument));
    }
    Ok(sequence(arguments.result, elements).with_marks(&marks))
}

fn reverse_type(arguments: &[Value]) -> Result<Type, FunctionError> {
    match first(arguments).ty() {
        Type::Tuple(types) => Ok(Type::tuple(types.iter().rev().cloned().collect::<Vec<_>>())),
        Type::List(element) | Type::Set(element) => Ok(Type::List(element)),
        ty => {
            let got = ty.friendly_name();
            Err(FunctionError::argument(0, format!("reverse() takes a list or a tuple, and this is {got}")))
        }
    }
}

fn reverse(arguments: &Arguments<'_>) -> Outcome {
    let list = arguments.value(0);
    let reversed = slice_of(&list).iter().rev().cloned().collect();
    Ok(sequence(arguments.result, reversed).with_marks(list.marks()))
}

fn chunklist_type(arguments: &[Value]) -> Result<Type, FunctionError> {
    Ok(Type::list(first(arguments).ty()))
}

fn chunklist(arguments: &Arguments<'_>) -> Outcome {
    let list = arguments.value(0);
    let size =
        arguments.integer(1).map_err(|problem| FunctionError::new(format!("invalid size: {}", problem.message)))?;
    let marks = list.marks().union(arguments.value(1).marks());
    let ty = list.ty();
    let elements = slice_of(&list);
    let chunks = match usize::try_from(size) {
        Err(_) => return Err(FunctionError::new("the size argument must be positive")),
        Ok(_) if elements.is_empty() => Vec::new(),
        // With a size of 0, Terraform returns the whole list as one chunk.
        Ok(0) => vec![list.unmark().0],
        Ok(size) => elements.chunks(size).map(|chunk| sequence(&ty, chunk.to_vec())).collect(),
    };
    Ok(Value::list(ty, chunks).with_marks(&marks))
}

/// The elements of nested sequences in one, and the marks of the sequences.
#[derive(Default)]
struct Flat {
    elements: Vec<Value>,
    marks: Marks,
    unknown: bool,
}

fn flatten_into(value: &Value, flat: &mut Flat) {
    flat.marks = flat.marks.union(value.marks());
    if count(value).is_none() {
        flat.unknown = true;
        return;
    }
    for element in slice_of(value) {
        match element.ty() {
            Type::Dynamic if !element.is_known() => flat.unknown = true,
            Type::List(_) | Type::Set(_) | Type::Tuple(_) if !element.is_known() => {
                flat.unknown = true;
                flat.marks = flat.marks.union(element.marks());
            }
            Type::List(_) | Type::Set(_) | Type::Tuple(_) if !element.is_null() => flatten_into(element, flat),
            _ => flat.elements.push(element.clone()),
        }
    }
}

fn flattened(value: &Value) -> Flat {
    let mut flat = Flat::default();
    flatten_into(value, &mut flat);
    flat
}

fn flatten_type(arguments: &[Value]) -> Result<Type, FunctionError> {
    match first(arguments).ty() {
        // The types of the elements show only in the result itself.
        Type::List(_) | Type::Set(_) | Type::Tuple(_) => Ok(Type::Dynamic),
        _ => Err(FunctionError::new("can only flatten lists, sets and tuples")),
    }
}

fn flatten(arguments: &Arguments<'_>) -> Outcome {
    let flat = flattened(&arguments.value(0));
    let result = if flat.unknown { Value::unknown(arguments.result.clone()) } else { Value::tuple(flat.elements) };
    Ok(result.with_marks(&flat.marks))
}

fn sort(arguments: &Arguments<'_>) -> Outcome {
    let list = arguments.value(0);
    if !list.is_wholly_known() {
        return Ok(crate::ranges::as_long_as(&list, arguments.result.clone()));
    }
    let mut elements = slice_of(&list).to_vec();
    if let Some(null) = elements.iter().position(Value::is_null) {
        return Err(FunctionError::new(format!(
            "the element at index {null} is null, which has no place in the order"
        )));
    }
    elements.sort_by(|one, other| one.as_str().cmp(&other.as_str()));
    Ok(sequence(arguments.result, elements))
}

fn range(arguments: &Arguments<'_>) -> Outcome {
    const MOST: usize = 1_024;
    let numbers: Vec<Number> = (0..arguments.values.len()).map(|index| arguments.number(index)).collect();
    let step_towards = |start: &Number, end: &Number| Number::from(if end < start { -1_i64 } else { 1 });
    let (start, end, step) = match numbers.as_slice() {
        [end] => (Number::ZERO, end.clone(), step_towards(&Number::ZERO, end)),
        [start, end] => (start.clone(), end.clone(), step_towards(start, end)),
        [start, end, step] => (start.clone(), end.clone(), step.clone()),
        _ => return Err(FunctionError::new("must have one, two, or three arguments")),
    };
    let down = step.is_negative();
    if down && end > start {
        return Err(FunctionError::argument(1, "with a negative step, the end must lie below the start"));
    }
    if !down && end < start {
        return Err(FunctionError::argument(1, "with a positive step, the end must lie above the start"));
    }
    if step.is_zero() && end > start {
        return Err(FunctionError::new("a step of zero never reaches the end"));
    }
    let mut values = Vec::new();
    let mut number = start;
    while if down { number > end } else { number < end } {
        if values.len() >= MOST {
            return Err(FunctionError::new(format!(
                "a range holds {MOST} numbers at most; take a larger step, or bring start and end closer together"
            )));
        }
        values.push(Value::number(number.clone()));
        let Some(next) = number.add(&step) else { break };
        number = next;
    }
    Ok(Value::list(Type::Number, values))
}
