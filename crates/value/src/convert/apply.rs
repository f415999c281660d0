//! Applying a conversion to a value.

use std::collections::HashMap;
use std::sync::Arc;

use super::find::{Conversion, Element, Part, Safety, Sequence, Source, Strategy};
use super::mismatch::mismatch;
use super::unify::unify_as;
use super::{ConversionError, collect};
use crate::Name;
use crate::number::Number;
use crate::path::{Path, PathStep};
use crate::refinement::Refinement;
use crate::types::{ObjectType, Type};
use crate::value::{Kind, Length, Value};

impl Conversion {
    /// Converts a value whose type is the one that the conversion was found for.
    ///
    /// # Errors
    /// If the conversion is unsafe and the value does not fit.
    pub fn apply(&self, value: &Value) -> Result<Value, ConversionError> {
        self.apply_at(value, &mut Path::root())
    }

    pub(super) fn apply_at(&self, value: &Value, path: &mut Path) -> Result<Value, ConversionError> {
        if self.want == Type::Dynamic {
            return Ok(value.clone());
        }
        let (bare, marks) = value.unmark();
        let converted = match bare.kind() {
            Kind::Null => Value::null(replace_dynamic(&bare.ty(), &self.want.without_optional_attributes())),
            Kind::Unknown(refinement) => {
                let target = replace_dynamic(&bare.ty(), &self.want.without_optional_attributes());
                unknown_result(&bare.ty(), refinement, target)
            }
            _ => self.convert_known(&bare, path)?,
        };
        Ok(converted.with_marks(&marks))
    }

    fn convert_known(&self, value: &Value, path: &mut Path) -> Result<Value, ConversionError> {
        match &self.strategy {
            Strategy::Pass => Ok(value.clone()),
            Strategy::ByActualType => super::convert(value, &self.want)
                .map_err(|error| ConversionError { path: path.clone().join(&error.path), message: error.message }),
            Strategy::Simple => simple(value, &self.want, path),
            Strategy::Object { attributes, result } => object(value, attributes, result, path),
            Strategy::Tuple(parts) => {
                let values = value.as_slice().unwrap_or_default();
                converted(values.iter().zip(parts.iter()), path).map(Value::tuple)
            }
            Strategy::Sequence { into, element, part } => sequence(value, *into, element, part, path),
            Strategy::TupleToSequence { into, element, parts, safety } => {
                let values = value.as_slice().unwrap_or_default();
                let values = converted(values.iter().zip(parts.iter()), path)?;
                match into {
                    Sequence::List => collect::list_of_unified(element, values, *safety, path),
                    Sequence::Set => collect::set(element, values, path),
                }
            }
            Strategy::Map { element, part } => {
                let Some(map) = value.as_map() else { return Ok(value.clone()) };
                let entries = entries(map.iter().map(|(key, value)| (key, value, part)), path)?;
                let empty = if **element == Type::Dynamic { map.element_type() } else { element };
                collect::map(element, empty, entries, Safety::Safe, path)
            }
            Strategy::ObjectToMap { element, parts, safety } => {
                let Some(object) = value.as_object() else { return Ok(value.clone()) };
                const KEEP: &Part = &None;
                let given = object.iter().map(|(name, value)| (name, value, parts.get(name).unwrap_or(KEEP)));
                let entries = entries(given, path)?;
                collect::map(element, element, entries, *safety, path)
            }
            Strategy::MapToObject { object, parts } => map_to_object(value, object, parts, path),
        }
    }
}

/// Converts the elements of a sequence, each with its own conversion.
fn converted<'a>(
    parts: impl ExactSizeIterator<Item = (&'a Value, &'a Part)>,
    path: &mut Path,
) -> Result<Vec<Value>, ConversionError> {
    let mut values = Vec::with_capacity(parts.len());
    for (at, (value, part)) in parts.enumerate() {
        values.push(match part {
            None => value.clone(),
            Some(conversion) => {
                path.push(PathStep::Index(Value::number(at)));
                let value = conversion.apply_at(value, path)?;
                path.pop();
                value
            }
        });
    }
    Ok(values)
}

/// Converts the entries of a map or the attributes of an object.
fn entries<'a>(
    parts: impl ExactSizeIterator<Item = (&'a Name, &'a Value, &'a Part)>,
    path: &mut Path,
) -> Result<Vec<(Name, Value)>, ConversionError> {
    let mut entries = Vec::with_capacity(parts.len());
    for (name, value, part) in parts {
        let value = match part {
            None => value.clone(),
            Some(conversion) => {
                path.push(PathStep::Index(Value::from(name.clone())));
                let value = conversion.apply_at(value, path)?;
                path.pop();
                value
            }
        };
        entries.push((name.clone(), value));
    }
    Ok(entries)
}

fn simple(value: &Value, want: &Type, path: &Path) -> Result<Value, ConversionError> {
    let refuse = |message: &str| Err(ConversionError::new(path.clone(), message));
    match (value.kind(), want) {
        (Kind::Number(number), Type::String) => Ok(Value::string(number.to_string())),
        (Kind::Bool(value), Type::String) => Ok(Value::string(if value { "true" } else { "false" })),
        (Kind::String(text), Type::Number) => match Number::parse(text) {
            Ok(number) => Ok(Value::number(number)),
            Err(_) => refuse("a number is required"),
        },
        (Kind::String(text), Type::Bool) => match &**text {
            "true" | "1" => Ok(Value::TRUE),
            "false" | "0" => Ok(Value::FALSE),
            other if other.eq_ignore_ascii_case("true") => {
                refuse("a bool is required; to convert from a string, use lowercase \"true\"")
            }
            other if other.eq_ignore_ascii_case("false") => {
                refuse("a bool is required; to convert from a string, use lowercase \"false\"")
            }
            _ => refuse("a bool is required"),
        },
        _ => refuse(&mismatch(&value.ty(), want)),
    }
}

fn object(
    value: &Value,
    attributes: &[(Name, Source)],
    result: &Arc<ObjectType>,
    path: &mut Path,
) -> Result<Value, ConversionError> {
    let Some(given) = value.as_object() else { return Ok(value.clone()) };
    let mut values = Vec::with_capacity(attributes.len());
    for (name, source) in attributes {
        values.push(match source {
            Source::Absent(ty) => Value::null(ty.clone()),
            Source::Given(part) => {
                let value = given.get(name).cloned().unwrap_or(Value::NULL);
                match part {
                    None => value,
                    Some(conversion) => {
                        path.push(PathStep::Attribute(name.clone()));
                        let value = conversion.apply_at(&value, path)?;
                        path.pop();
                        value
                    }
                }
            }
        });
    }
    Ok(Value::object_typed(result, values))
}

fn sequence(
    value: &Value,
    into: Sequence,
    element: &Arc<Type>,
    part: &Part,
    path: &mut Path,
) -> Result<Value, ConversionError> {
    let own = value.ty();
    let own = own.element().cloned().unwrap_or(Type::Dynamic);
    if into == Sequence::List && matches!(value.length(), Some(Length::Unknown(_))) {
        // Unknown elements of a set may turn out to be equal, so even the length of the list is unknown.
        let element = replace_dynamic(&own, &element.without_optional_attributes());
        return Ok(Value::unknown(Type::list(element)));
    }
    let values = value.as_slice().unwrap_or_default();
    let values = converted(values.iter().zip(std::iter::repeat_n(part, values.len())), path)?;
    let element = if values.is_empty() && **element == Type::Dynamic { own.shared() } else { element.clone() };
    match into {
        Sequence::List => collect::list(&element, values, path),
        Sequence::Set => collect::set(&element, values, path),
    }
}

fn map_to_object(
    value: &Value,
    object: &ObjectType,
    parts: &HashMap<Name, Element>,
    path: &mut Path,
) -> Result<Value, ConversionError> {
    let Some(map) = value.as_map() else { return Ok(value.clone()) };
    let mut values = Vec::with_capacity(object.len());
    for (name, ty) in object.iter() {
        values.push(match (map.get(name), parts.get(name)) {
            (Some(value), Some(Element::Convertible(Some(conversion)))) => {
                path.push(PathStep::Index(Value::from(name.clone())));
                let value = conversion.apply_at(value, path)?;
                path.pop();
                value
            }
            (Some(value), Some(Element::Inconvertible)) => {
                let reason = mismatch(&value.ty(), ty);
                let message = format!("map element cannot be converted to the type of attribute {name:?}: {reason}");
                return Err(ConversionError::new(path.clone(), message));
            }
            (Some(value), _) => value.clone(),
            (None, _) if object.is_optional(name) => Value::null(ty.without_optional_attributes()),
            (None, _) => {
                let message = format!("map has no element for required attribute {name:?}");
                return Err(ConversionError::new(path.clone(), message));
            }
        });
    }
    Ok(Value::object_shaped(object.shape(), values))
}

/// Returns an unknown value of the target type with the refinements that survive the conversion.
fn unknown_result(given: &Type, refinement: &Refinement, target: Type) -> Value {
    let known = if refinement.is_not_null() { Refinement::NOT_NULL } else { Refinement::NONE };
    let exactly = |length: usize| known.clone().minimum_length(length as u64).maximum_length(length as u64);
    let lengths = match (given, &target) {
        (Type::Object(object), Type::Map(_)) => exactly(object.len()),
        (Type::Tuple(elements), Type::List(_)) => exactly(elements.len()),
        (Type::Tuple(elements), Type::Set(_)) if elements.len() < 2 => exactly(elements.len()),
        (Type::Tuple(elements), Type::Set(_)) => known.minimum_length(1).maximum_length(elements.len() as u64),
        _ if given.is_collection() && target.is_collection() => {
            let least = refinement.least_length();
            let least = if matches!(target, Type::Set(_)) { least.min(1) } else { least };
            known.minimum_length(least).maximum_length(refinement.greatest_length().unwrap_or(u64::MAX))
        }
        _ => known,
    };
    Value::refined(target, lengths)
}

/// Returns `want` with its dynamic parts replaced by the corresponding parts of `given`, which must be convertible to
/// `want`.
pub(super) fn replace_dynamic(given: &Type, want: &Type) -> Type {
    if !want.has_dynamic() {
        return want.clone();
    }
    match (given, want) {
        (Type::Dynamic, _) => want.clone(),
        (_, Type::Dynamic) => given.clone(),
        (Type::Map(given), Type::Map(want)) => Type::map(replace_dynamic(given, want)),
        (Type::Object(given), Type::Map(want)) => Type::map(replace_dynamic(&common(given.types()), want)),
        (Type::List(given) | Type::Set(given), Type::List(want)) => Type::list(replace_dynamic(given, want)),
        (Type::Tuple(given), Type::List(want)) => Type::list(replace_dynamic(&common(given), want)),
        (Type::List(given) | Type::Set(given), Type::Set(want)) => Type::set(replace_dynamic(given, want)),
        (Type::Tuple(given), Type::Set(want)) => Type::set(replace_dynamic(&common(given), want)),
        (Type::Tuple(given), Type::Tuple(want)) if given.len() == want.len() => {
            Type::tuple(given.iter().zip(want.iter()).map(|(given, want)| replace_dynamic(given, want)))
        }
        (Type::Map(given), Type::Object(want)) => attributes(want, |_| Some(given)),
        (Type::Object(given), Type::Object(want)) => attributes(want, |name| given.attribute(name)),
        _ => want.clone(),
    }
}

fn attributes<'a>(want: &ObjectType, given: impl Fn(&str) -> Option<&'a Type>) -> Type {
    let types = want.iter().map(|(name, want)| match given(name) {
        Some(given) => replace_dynamic(given, want),
        None => want.clone(),
    });
    Type::Object(Arc::new(ObjectType::of_shape(want.shape().clone(), types.collect())))
}

fn common(types: &[Type]) -> Type {
    unify_as(types.iter(), Safety::Unsafe).unwrap_or(Type::Dynamic)
}
