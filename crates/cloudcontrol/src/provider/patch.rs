//! The JSON Patch from a prior to a planned object (CC-33, CC-42).

use groma_value::{Kind, Value};
use serde_json::{Map, Value as Json, json};

use super::document::{Part, of_object, of_value, same_meaning};
use super::fields::{Change, Field, Fields, Shape};

/// The operations that turn what can be read of the prior object into the planned one; none when nothing changed.
///
/// A changed array is replaced as a whole. Write-only properties cannot be read, so they are added, and all of them
/// go along with any change: what is not in the request would be missing from it. Properties that are fixed at creation
/// are left out: only a replacement changes them, and the service refuses them even where they stay as they are.
pub fn patch(fields: &Fields, prior: &Value, planned: &Value) -> Vec<Json> {
    let mut whole = Vec::new();
    difference(fields, prior, planned, "", Part::Given, &mut whole);
    if whole.is_empty() {
        return whole;
    }
    let mut operations = Vec::new();
    difference(fields, prior, planned, "", Part::Readable, &mut operations);
    operations
}

/// With [`Part::Given`] two whole objects are compared; with [`Part::Readable`] what can be read of the prior one with the
/// whole planned one.
fn difference(fields: &Fields, prior: &Value, planned: &Value, path: &str, part: Part, into: &mut Vec<Json>) {
    let (Some(before), Some(after)) = (prior.as_object(), planned.as_object()) else { return };
    for (field, (before, after)) in fields.list.iter().zip(before.values().iter().zip(after.values())) {
        let sendable = !field.read_only() && field.change == Change::InPlace;
        let Some(property) = field.property.as_ref().filter(|_| sendable) else { continue };
        let here = format!("{path}/{}", escaped(property));
        if field.write_only {
            hidden(field, before, after, &here, part, into);
        } else {
            visible(&field.shape, before, after, &here, part, into);
        }
    }
}

fn hidden(field: &Field, before: &Value, after: &Value, path: &str, part: Part, into: &mut Vec<Json>) {
    if part == Part::Given && before == after {
        return;
    }
    if let Some(value) = of_value(&field.shape, after, Part::Changeable) {
        into.push(json!({"op": "add", "path": path, "value": value}));
    }
}

fn visible(shape: &Shape, before: &Value, after: &Value, path: &str, part: Part, into: &mut Vec<Json>) {
    match (shape, before.kind(), after.kind()) {
        (Shape::Object(fields), Kind::Object(_), Kind::Object(_)) if !is_hidden(fields, before, part) => {
            difference(fields, before, after, path, part, into);
        }
        (Shape::Map(element), Kind::Map(old), Kind::Map(new)) if !old.is_empty() && !new.is_empty() => {
            for (key, value) in old.iter() {
                let here = format!("{path}/{}", escaped(key));
                match new.get(key) {
                    Some(after) => visible(element, value, after, &here, part, into),
                    None => into.push(json!({"op": "remove", "path": here})),
                }
            }
            for (key, value) in new.iter().filter(|(key, _)| old.get(key).is_none()) {
                if let Some(json) = of_value(element, value, Part::Given) {
                    into.push(json!({"op": "add", "path": format!("{path}/{}", escaped(key)), "value": json}));
                }
            }
        }
        _ => whole(shape, before, after, path, part, into),
    }
}

fn whole(shape: &Shape, before: &Value, after: &Value, path: &str, part: Part, into: &mut Vec<Json>) {
    let old = of_value(shape, before, part);
    let old = old.filter(|_| !matches!(shape, Shape::Object(fields) if is_hidden(fields, before, part)));
    let new = of_value(shape, after, Part::Given);
    match (old, new) {
        (None, None) => {}
        (None, Some(value)) => into.push(json!({"op": "add", "path": path, "value": value})),
        (Some(_), None) => into.push(json!({"op": "remove", "path": path})),
        (Some(old), Some(new)) if same_meaning(&old, &new) => {}
        (Some(_), Some(value)) => into.push(json!({"op": "replace", "path": path, "value": value})),
    }
}

/// Whether an object has write-only properties alone: the service does not return it at all.
fn is_hidden(fields: &Fields, object: &Value, part: Part) -> bool {
    part == Part::Readable
        && of_object(fields, object, Part::Readable).is_empty()
        && !of_object(fields, object, Part::Given).is_empty()
}

fn escaped(name: &str) -> String {
    // The tilde first, because the escape of the slash contains one (RFC 6901).
    name.replace('~', "~0").replace('/', "~1")
}

/// The document of a creation (CC-40).
pub fn desired_state(fields: &Fields, planned: &Value) -> Map<String, Json> {
    of_object(fields, planned, Part::Given)
}
