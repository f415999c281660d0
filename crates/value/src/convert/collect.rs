//! Building collections from converted elements.

use super::ConversionError;
use super::find::{Conversion, Safety};
use super::unify::unify_as;
use crate::Name;
use crate::path::{Path, PathStep};
use crate::types::Type;
use crate::value::Value;
use std::sync::Arc;

/// Returns a list of converted elements; an empty one has the element type `want`.
pub(super) fn list(want: &Arc<Type>, values: Vec<Value>, path: &Path) -> Result<Value, ConversionError> {
    match element_type(want, &values) {
        Some(element) => Ok(Value::list_of(element, values)),
        None => Err(ConversionError::new(path.clone(), "all list elements must have the same type")),
    }
}

/// Returns a set of converted elements; an empty one has the element type `want`.
pub(super) fn set(want: &Arc<Type>, values: Vec<Value>, path: &Path) -> Result<Value, ConversionError> {
    match element_type(want, &values) {
        Some(element) => Ok(Value::set_of(element, values)),
        None => Err(ConversionError::new(path.clone(), "all set elements must have the same type")),
    }
}

/// Returns a list whose elements are unified where `want` has dynamic parts.
pub(super) fn list_of_unified(
    want: &Arc<Type>,
    values: Vec<Value>,
    safety: Safety,
    path: &mut Path,
) -> Result<Value, ConversionError> {
    let values = unified(values, safety, path, |at| PathStep::Index(Value::number(at)))?;
    list(want, values, path)
}

/// Returns a map whose elements are unified where `want` has dynamic parts. An empty map has the element type
/// `empty`.
pub(super) fn map(
    want: &Arc<Type>,
    empty: &Arc<Type>,
    entries: Vec<(Name, Value)>,
    safety: Safety,
    path: &mut Path,
) -> Result<Value, ConversionError> {
    if entries.is_empty() {
        return Ok(Value::map_of(empty.without_optional_attributes().shared(), entries));
    }
    let (names, mut values): (Vec<Name>, Vec<Value>) = entries.into_iter().unzip();
    if want.is_collection() || matches!(**want, Type::Object(_)) {
        let step = |at: usize| PathStep::Index(names.get(at).cloned().map_or(Value::NULL, Value::from));
        values = unified(values, safety, path, step)?;
    }
    match element_type(want, &values) {
        Some(element) => Ok(Value::map_of(element, names.into_iter().zip(values))),
        None => Err(ConversionError::new(path.clone(), "all map elements must have the same type")),
    }
}

/// Converts all values to the one type that all of them can be converted to.
fn unified(
    mut values: Vec<Value>,
    safety: Safety,
    path: &mut Path,
    step: impl Fn(usize) -> PathStep,
) -> Result<Vec<Value>, ConversionError> {
    if same_type(&values) {
        return Ok(values);
    }
    let types: Vec<Type> = values.iter().map(Value::ty).collect();
    let Some(common) = unify_as(types.iter(), safety) else {
        return Err(ConversionError::new(path.clone(), "the elements have no common type"));
    };
    for (at, value) in values.iter_mut().enumerate() {
        if value.has_type(&common) {
            continue;
        }
        if let Some(conversion) = Conversion::find(&value.ty(), &common, safety) {
            path.push(step(at));
            *value = conversion.apply_at(value, path)?;
            path.pop();
        }
    }
    Ok(values)
}

fn same_type(values: &[Value]) -> bool {
    let Some((first, rest)) = values.split_first() else { return true };
    let ty = first.ty();
    rest.iter().all(|value| value.has_type(&ty))
}

/// Returns the element type of a decoded collection: `want`, or the common type of the elements if `want` has dynamic
/// parts. Returns `None` if the elements have different types.
pub(crate) fn read_element_type(want: &Arc<Type>, values: &[Value]) -> Option<Arc<Type>> {
    if values.is_empty() || !want.has_dynamic() { Some(want.clone()) } else { element_type(want, values) }
}

/// Returns the common type of all values except untyped ones, or `want` if there are no values.
fn element_type(want: &Arc<Type>, values: &[Value]) -> Option<Arc<Type>> {
    if values.is_empty() {
        return Some(if want.has_optional_attributes() {
            want.without_optional_attributes().shared()
        } else {
            want.clone()
        });
    }
    if values.iter().all(|value| value.has_type(want)) {
        return Some(want.clone());
    }
    let typed = |value: &&Value| !value.has_type(&Type::Dynamic);
    let Some(first) = values.iter().find(typed) else { return Some(Type::Dynamic.shared()) };
    let element = first.ty();
    values.iter().filter(typed).all(|value| value.has_type(&element)).then(|| element.shared())
}
