//! Functions of maps and objects.

use std::collections::BTreeMap;

use groma_diagnostics::quoted;
use groma_value::{Kind, Length, Marks, Name, Redacted, Type, Value, convert};

use super::signature::{Accepts, Arguments, Function, FunctionError, Outcome, Parameter};

pub(super) fn functions() -> Vec<Function> {
    let lists_of_strings = Type::map(Type::list(Type::String));
    vec![
        Function::inferred("keys", keys_type, keys)
            .takes(Parameter::any("inputMap").accepting(Accepts::UNKNOWN | Accepts::MARKED)),
        Function::inferred("values", values_type, values).takes(Parameter::any("mapping").accepting(Accepts::MARKED)),
        Function::inferred("lookup", lookup_type, lookup)
            .takes(Parameter::any("inputMap").accepting(Accepts::MARKED))
            .takes(Parameter::text("key").accepting(Accepts::MARKED))
            .takes_more(Parameter::any("default").accepting(Accepts::EVERYTHING))
            .nullable(),
        Function::inferred("merge", merge_type, merge)
            .takes_more(Parameter::any("maps").accepting(Accepts::DYNAMIC | Accepts::NULL | Accepts::MARKED)),
        Function::inferred("zipmap", zipmap_type, zipmap)
            .takes(Parameter::new("keys", Type::list(Type::String)).accepting(Accepts::MARKED))
            .takes(Parameter::any("values").accepting(Accepts::MARKED)),
        Function::fixed("transpose", lists_of_strings.clone(), transpose)
            .takes(Parameter::new("values", lists_of_strings)),
    ]
}

fn first(arguments: &[Value]) -> Value {
    arguments.first().cloned().unwrap_or(Value::DYNAMIC)
}

/// The names and values of a known map or object.
pub(super) fn entries(value: &Value) -> Vec<(Name, Value)> {
    match value.kind() {
        Kind::Map(map) => map.iter().map(|(key, value)| (key.clone(), value.clone())).collect(),
        Kind::Object(object) => object.iter().map(|(key, value)| (key.clone(), value.clone())).collect(),
        _ => Vec::new(),
    }
}

fn keys_type(arguments: &[Value]) -> Result<Type, FunctionError> {
    match first(arguments).ty() {
        Type::Map(_) => Ok(Type::list(Type::String)),
        Type::Object(object) => Ok(Type::tuple(vec![Type::String; object.len()])),
        _ => Err(FunctionError::argument(0, "must have map or object type")),
    }
}

fn keys(arguments: &Arguments<'_>) -> Outcome {
    let map = arguments.value(0);
    let names = |names: &mut dyn Iterator<Item = &Name>| names.map(Value::string).collect::<Vec<_>>();
    let result = match (map.ty(), map.kind()) {
        // The names of an object are part of its type, so that not even its marks matter for them: only the value's.
        (Type::Object(object), _) => Value::tuple(names(&mut object.iter().map(|(name, _)| name))),
        (_, Kind::Map(map)) => Value::list(Type::String, names(&mut map.keys().iter())),
        _ => Value::unknown(arguments.result.clone()),
    };
    Ok(result.with_marks(map.marks()))
}

fn values_type(arguments: &[Value]) -> Result<Type, FunctionError> {
    match first(arguments).ty() {
        Type::Map(element) => Ok(Type::List(element)),
        Type::Object(object) => Ok(Type::tuple(object.types().to_vec())),
        _ => Err(FunctionError::new("the argument of values() must be a map or an object")),
    }
}

fn values(arguments: &Arguments<'_>) -> Outcome {
    let map = arguments.value(0);
    let result = match map.kind() {
        Kind::Map(view) => Value::list_of(view.element_type().clone(), view.values().to_vec()),
        Kind::Object(object) => Value::tuple(object.values().to_vec()),
        _ => Value::unknown(arguments.result.clone()),
    };
    Ok(result.with_marks(map.marks()))
}

fn lookup_type(arguments: &[Value]) -> Result<Type, FunctionError> {
    let (map, key, default) = match arguments {
        [map, key] => (map, key, None),
        [map, key, default] => (map, key, Some(default)),
        _ => {
            return Err(FunctionError::new(format!(
                "lookup() takes a map, a key and perhaps a default, but there are {} arguments",
                arguments.len()
            )));
        }
    };
    match map.ty() {
        Type::Object(object) => {
            // Attributes have types of their own, so an unknown key leaves the type of the result open.
            let Some(name) = key.as_str() else { return Ok(Type::Dynamic) };
            match (object.attribute(name), default) {
                (Some(ty), _) => Ok(ty.clone()),
                (None, Some(default)) => Ok(default.ty()),
                (None, None) => {
                    Err(FunctionError::argument(0, format!("the given object has no attribute {}", shown(key))))
                }
            }
        }
        Type::Map(element) => {
            if default.is_some_and(|default| convert::convert(default, &element).is_err()) {
                return Err(FunctionError::argument(
                    2,
                    "the default does not have the type of the elements of the map",
                ));
            }
            Ok((*element).clone())
        }
        _ => Err(FunctionError::argument(0, "the first argument of lookup() must be a map or an object")),
    }
}

fn missing_key(key: &Value) -> FunctionError {
    let shown = shown(key);
    FunctionError::new(format!("lookup failed to find key {shown}"))
}

/// A string argument for a message: quoted, or a word if it must not be seen.
pub(super) fn shown(value: &Value) -> String {
    if let Some(redacted) = Redacted::in_message(&value.deep_marks()) {
        return redacted.to_string();
    }
    match value.kind() {
        Kind::String(text) => quoted(text),
        Kind::Number(number) => number.to_string(),
        _ => "(value)".to_owned(),
    }
}

fn lookup(arguments: &Arguments<'_>) -> Outcome {
    let (map, key) = (arguments.value(0), arguments.value(1));
    let marks = map.marks().union(key.marks());
    let name = key.as_str().unwrap_or_default();
    let found = match map.kind() {
        Kind::Map(view) => view.get(name),
        Kind::Object(view) => view.get(name),
        _ => return Ok(Value::unknown(arguments.result.clone()).with_marks(&marks)),
    };
    if let Some(found) = found {
        return Ok(found.clone().with_marks(&marks));
    }
    let Some(default) = arguments.values.get(2) else { return Err(missing_key(&key)) };
    let default = convert::convert(default, arguments.result)
        .map_err(|problem| FunctionError::argument(2, problem.to_string()))?;
    Ok(default.with_marks(&marks))
}

fn merge_type(arguments: &[Value]) -> Result<Type, FunctionError> {
    let nothing = || Type::object(std::iter::empty::<(Name, Type)>());
    let effective = |value: &Value| match value.ty() {
        // A null argument contributes nothing, as in Terraform.
        Type::Object(_) if value.is_null() => nothing(),
        ty => ty,
    };
    let Some(first) = arguments.first().map(effective) else { return Ok(nothing()) };
    let mut alike = true;
    for argument in arguments {
        match effective(argument) {
            Type::Dynamic => return Ok(Type::Dynamic),
            ty => {
                check_mergeable(&ty)?;
                alike = alike && ty == first;
            }
        }
    }
    if alike {
        return Ok(first);
    }
    if arguments.iter().all(Value::is_known) {
        // The result shows the attributes itself.
        return Ok(Type::Dynamic);
    }
    Ok(merged_attributes(arguments).map_or(Type::Dynamic, Type::object))
}

fn check_mergeable(ty: &Type) -> Result<(), FunctionError> {
    match ty {
        Type::Object(_) | Type::Map(_) => Ok(()),
        ty => {
            let name = ty.friendly_name();
            Err(FunctionError::new(format!("only maps and objects can be merged, and this is {name}")))
        }
    }
}

/// The attributes of a merged object of which some values are not known; nothing if even their names are not.
fn merged_attributes(arguments: &[Value]) -> Option<BTreeMap<Name, Type>> {
    let mut attributes: BTreeMap<Name, Type> = BTreeMap::new();
    for argument in arguments.iter().filter(|argument| !argument.is_null()) {
        match (argument.ty(), argument.kind()) {
            (Type::Object(object), _) => attributes.extend(object.iter().map(|(name, ty)| (name.clone(), ty.clone()))),
            (Type::Map(element), Kind::Map(map)) => {
                attributes.extend(map.keys().iter().map(|key| (key.clone(), (*element).clone())));
            }
            _ => return None,
        }
    }
    Some(attributes)
}

fn merge(arguments: &Arguments<'_>) -> Outcome {
    let mut merged: BTreeMap<Name, Value> = BTreeMap::new();
    let mut marks = Marks::NONE;
    // A null is passed over, whatever is said about it.
    for argument in arguments.values.iter().filter(|argument| !argument.is_null()) {
        // Next to a bare null, the types have not been checked.
        check_mergeable(&argument.ty())?;
        marks = marks.union(argument.marks());
        merged.extend(entries(argument));
    }
    let result = match arguments.result {
        Type::Map(element) => Value::map_of(element.clone(), merged),
        _ => Value::object(merged),
    };
    Ok(result.with_marks(&marks))
}

fn mismatched(keys: usize, values: usize) -> FunctionError {
    FunctionError::new(format!("there are {keys} keys for {values} values; the lists must be of the same length"))
}

fn zipmap_type(arguments: &[Value]) -> Result<Type, FunctionError> {
    let [keys, values] = arguments else { return Ok(Type::Dynamic) };
    match values.ty() {
        Type::List(element) => Ok(Type::Map(element)),
        Type::Tuple(types) => {
            // The keys are the attribute names of the result, so unknown ones leave its type open.
            let Some(keys) = keys.as_slice().filter(|_| keys.is_wholly_known()) else { return Ok(Type::Dynamic) };
            if keys.len() != types.len() {
                return Err(mismatched(keys.len(), types.len()));
            }
            let mut attributes = BTreeMap::new();
            for (index, (key, ty)) in keys.iter().zip(types.iter()).enumerate() {
                let Some(key) = key.as_name() else {
                    return Err(FunctionError::new(format!("the key at index {index} is null")));
                };
                attributes.insert(key.clone(), ty.clone());
            }
            Ok(Type::object(attributes))
        }
        _ => Err(FunctionError::new("the values must be given as a list or a tuple")),
    }
}

fn zipmap(arguments: &Arguments<'_>) -> Outcome {
    let (keys, values) = (arguments.value(0), arguments.value(1));
    let mut marks = keys.marks().union(values.marks());
    let (Some(names), Some(elements)) = (keys.as_slice().filter(|_| keys.is_wholly_known()), values.as_slice()) else {
        return Ok(Value::unknown(arguments.result.clone()).with_marks(&marks));
    };
    if names.len() != elements.len() {
        return Err(mismatched(names.len(), elements.len()));
    }
    let mut entries: BTreeMap<Name, Value> = BTreeMap::new();
    for (index, (key, value)) in names.iter().zip(elements).enumerate() {
        // A key cannot carry marks in the result, so the whole map takes them on.
        marks = marks.union(key.marks());
        let Some(name) = key.as_name() else {
            return Err(FunctionError::new(format!("the key at index {index} is null")));
        };
        entries.insert(name.clone(), value.clone());
    }
    let result = match arguments.result {
        Type::Map(element) => Value::map_of(element.clone(), entries),
        _ => Value::object(entries),
    };
    Ok(result.with_marks(&marks))
}

fn transpose(arguments: &Arguments<'_>) -> Outcome {
    let map = arguments.value(0);
    if !map.is_wholly_known() {
        return Ok(Value::unknown(arguments.result.clone()));
    }
    let mut transposed: BTreeMap<Name, Vec<Name>> = BTreeMap::new();
    for (key, list) in entries(&map) {
        let Some(elements) = list.as_slice() else {
            return Err(FunctionError::new(format!("the list of {} is null", quoted(&key))));
        };
        for (index, element) in elements.iter().enumerate() {
            let Some(text) = element.as_name() else {
                let key = quoted(&key);
                return Err(FunctionError::new(format!("the element [{key}][{index}] is null")));
            };
            transposed.entry(text.clone()).or_default().push(key.clone());
        }
    }
    let lists = transposed.into_iter().map(|(key, mut names)| {
        names.sort();
        (key, Value::list(Type::String, names.into_iter().map(Value::string).collect()))
    });
    Ok(Value::map(Type::list(Type::String), lists))
}

/// Returns the number of elements of a collection; `None` if it is unknown.
pub(super) fn count(value: &Value) -> Option<usize> {
    match value.length() {
        Some(Length::Known(count)) => Some(count),
        _ => None,
    }
}
