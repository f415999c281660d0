//! Functions that make lists of lists, and that take elements out of them.

use std::collections::HashSet;

use groma_value::{Marks, Number, Type, Value, convert};

use super::mapping::count;
use super::signature::{Accepts, Arguments, Function, FunctionError, Outcome, Parameter, whole};

pub(super) fn functions() -> Vec<Function> {
    let list = || Type::list(Type::Dynamic);
    let strings = || Type::list(Type::String);
    vec![
        Function::inferred("element", element_type, element)
            .takes(Parameter::any("list").accepting(Accepts::MARKED))
            .takes(Parameter::number("index"))
            .nullable(),
        Function::inferred("concat", concat_type, concat).takes_more(Parameter::any("seqs").accepting(Accepts::MARKED)),
        Function::inferred("slice", slice_type, slice)
            .takes(Parameter::any("list").accepting(Accepts::MARKED))
            .takes(Parameter::number("start_index"))
            .takes(Parameter::number("end_index")),
        Function::inferred("reverse", reverse_type, reverse).takes(Parameter::any("list").accepting(Accepts::MARKED)),
        Function::inferred("chunklist", chunklist_type, chunklist)
            .takes(Parameter::new("list", list()).accepting(Accepts::MARKED))
            .takes(Parameter::number("size").accepting(Accepts::MARKED)),
        Function::inferred("flatten", flatten_type, flatten).takes(Parameter::any("list").accepting(Accepts::MARKED)),
        Function::inferred("distinct", same_type, distinct).takes(Parameter::new("list", list())),
        Function::fixed("compact", strings(), compact).takes(Parameter::new("list", strings())),
        Function::fixed("sort", strings(), sort).takes(Parameter::new("list", strings()).accepting(Accepts::UNKNOWN)),
        Function::fixed("range", Type::list(Type::Number), range).takes_more(Parameter::number("params")),
        Function::inferred("coalescelist", coalescelist_type, coalescelist)
            .takes_more(Parameter::any("vals").accepting(Accepts::ANY_UNMARKED)),
        Function::inferred("matchkeys", matchkeys_type, matchkeys)
            .takes(Parameter::new("values", list()))
            .takes(Parameter::new("keys", list()))
            .takes(Parameter::new("searchset", list())),
    ]
}

pub(super) fn first(arguments: &[Value]) -> Value {
    arguments.first().cloned().unwrap_or(Value::DYNAMIC)
}

/// A list or a tuple, as the type says.
fn sequence(ty: &Type, values: Vec<Value>) -> Value {
    match ty {
        Type::List(element) => Value::list_of(element.clone(), values),
        Type::Set(element) => Value::set_of(element.clone(), values),
        _ => Value::tuple(values),
    }
}

pub(super) fn slice_of(value: &Value) -> &[Value] {
    value.as_slice().unwrap_or_default()
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
    Ok(usize::try_from(index.rem_euclid(length)).unwrap_or(0))
}

fn element_type(arguments: &[Value]) -> Result<Type, FunctionError> {
    let [list, index] = arguments else { return Ok(Type::Dynamic) };
    match list.ty() {
        Type::List(element) => Ok((*element).clone()),
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

fn same_type(arguments: &[Value]) -> Result<Type, FunctionError> {
    Ok(first(arguments).ty())
}

fn distinct(arguments: &Arguments<'_>) -> Outcome {
    let list = arguments.value(0);
    if !list.is_wholly_known() {
        return Ok(Value::unknown(arguments.result.clone()));
    }
    let mut seen = HashSet::new();
    let kept = slice_of(&list).iter().filter(|value| seen.insert(*value)).cloned().collect();
    Ok(sequence(arguments.result, kept))
}

fn compact(arguments: &Arguments<'_>) -> Outcome {
    let list = arguments.value(0);
    if !list.is_wholly_known() {
        return Ok(Value::unknown(arguments.result.clone()));
    }
    let kept =
        slice_of(&list).iter().filter(|value| value.as_str().is_some_and(|text| !text.is_empty())).cloned().collect();
    Ok(sequence(arguments.result, kept))
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

fn coalescelist_type(arguments: &[Value]) -> Result<Type, FunctionError> {
    if arguments.is_empty() {
        return Err(FunctionError::new("at least one argument is required"));
    }
    for argument in arguments {
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
