//! Defaults of optional attributes.

use std::collections::BTreeMap;

use groma_hcl::Name;
use groma_value::{Type, Value, convert};

/// The defaults within one type.
#[derive(Clone, Debug, PartialEq)]
pub enum Defaults {
    /// The defaults in the elements of a list, set or map.
    Elements(Box<Defaults>),
    /// The defaults in the elements of a tuple, by position.
    Tuple(BTreeMap<usize, Defaults>),
    /// The defaults in an object.
    Object {
        /// The values of attributes that are missing or null.
        values: BTreeMap<Name, Value>,
        /// The defaults within attributes.
        children: BTreeMap<Name, Defaults>,
    },
}

pub(crate) fn of_elements(element: Option<Defaults>) -> Option<Defaults> {
    element.map(|element| Defaults::Elements(Box::new(element)))
}

pub(crate) fn of_tuple(children: BTreeMap<usize, Defaults>) -> Option<Defaults> {
    (!children.is_empty()).then_some(Defaults::Tuple(children))
}

pub(crate) fn of_object(values: BTreeMap<Name, Value>, children: BTreeMap<Name, Defaults>) -> Option<Defaults> {
    (!values.is_empty() || !children.is_empty()).then_some(Defaults::Object { values, children })
}

impl Defaults {
    /// The value with defaults for what is missing or null. It is not converted: that follows, to the whole type.
    ///
    /// A value of another form than the type is left alone; the conversion will say what is wrong with it.
    pub fn apply(&self, value: &Value) -> Value {
        // Null stays null, and an unknown value has nothing to fill yet.
        if value.is_null() || !value.is_known() {
            return value.clone();
        }
        let (plain, marks) = value.unmark();
        let filled = match self {
            Self::Object { values, children } => object(&plain, values, children),
            Self::Elements(child) => elements(&plain, |_| Some(child)),
            Self::Tuple(children) => elements(&plain, |index| children.get(&index)),
        };
        filled.with_marks(&marks)
    }
}

fn object(value: &Value, values: &BTreeMap<Name, Value>, children: &BTreeMap<Name, Defaults>) -> Value {
    let Some(entries) = entries(value) else { return value.clone() };
    let mut filled: BTreeMap<Name, Value> = entries
        .into_iter()
        .map(|(name, value)| {
            let value = children.get(&name).map_or_else(|| value.clone(), |child| child.apply(&value));
            (name, value)
        })
        .collect();
    for (name, default) in values {
        let present = filled.get(name).filter(|value| !value.is_null());
        let value = match present {
            // A default may itself omit attributes that have defaults.
            None => children.get(name).map_or_else(|| default.clone(), |child| child.apply(default)),
            // What is not known yet will not be null either: the default would take the place of null.
            Some(value) if !value.is_known() && default.is_definitely_not_null() && value.ty() != Type::Dynamic => {
                value.not_null()
            }
            Some(value) => value.clone(),
        };
        filled.insert(name.clone(), value);
    }
    mapping(value, filled)
}

fn entries(value: &Value) -> Option<Vec<(Name, Value)>> {
    if let Some(map) = value.as_map() {
        return Some(map.iter().map(|(name, value)| (name.clone(), value.clone())).collect());
    }
    let object = value.as_object()?;
    Some(object.iter().map(|(name, value)| (name.clone(), value.clone())).collect())
}

fn elements<'a>(value: &Value, child: impl Fn(usize) -> Option<&'a Defaults>) -> Value {
    let apply =
        |(index, value): (usize, &Value)| child(index).map_or_else(|| value.clone(), |child| child.apply(value));
    if let Some(values) = value.as_slice() {
        let values = values.iter().enumerate().map(apply).collect();
        return sequence(value, values);
    }
    let Some(entries) = entries(value) else { return value.clone() };
    let filled = entries.into_iter().enumerate().map(|(index, (name, value))| (name, apply((index, &value)))).collect();
    mapping(value, filled)
}

/// A collection like `original`; a tuple if the elements have no common type any more.
fn sequence(original: &Value, values: Vec<Value>) -> Value {
    let unified = |values: &[Value]| {
        let types: Vec<Type> = values.iter().map(Value::ty).collect();
        let ty = convert::unify(&types)?;
        let values: Option<Vec<Value>> = values.iter().map(|value| convert::convert(value, &ty).ok()).collect();
        Some((ty, values?))
    };
    match original.ty() {
        // Without elements there are no types to unify, so the original element type is kept.
        Type::List(element) if values.is_empty() => Value::list((*element).clone(), values),
        Type::Set(element) if values.is_empty() => Value::set((*element).clone(), values),
        Type::List(_) => unified(&values).map_or_else(|| Value::tuple(values), |(ty, values)| Value::list(ty, values)),
        Type::Set(_) => unified(&values).map_or_else(|| Value::tuple(values), |(ty, values)| Value::set(ty, values)),
        _ => Value::tuple(values),
    }
}

/// A map or object like `original`; an object if the elements have no common type any more.
fn mapping(original: &Value, entries: BTreeMap<Name, Value>) -> Value {
    let Type::Map(element) = original.ty() else { return Value::object(entries) };
    if entries.is_empty() {
        return Value::map((*element).clone(), entries);
    }
    let types: Vec<Type> = entries.values().map(Value::ty).collect();
    let Some(ty) = convert::unify(&types) else { return Value::object(entries) };
    let converted: Option<Vec<(Name, Value)>> =
        entries.iter().map(|(name, value)| Some((name.clone(), convert::convert(value, &ty).ok()?))).collect();
    match converted {
        Some(converted) => Value::map(ty, converted),
        None => Value::object(entries),
    }
}
