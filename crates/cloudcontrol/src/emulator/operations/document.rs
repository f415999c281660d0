//! The documents that callers send, and the objects that they mean by them.

use serde_json::Value as Json;

use super::{Outcome, invalid};
use crate::emulator::index::Kind;
use crate::emulator::store::{Turn, not_found, parse};
use crate::schema::{Pointer, TypeSchema};

/// The longest document the service takes, in characters.
pub(super) const LONGEST_DOCUMENT: usize = 262_144;

pub(super) fn document(text: &str, member: &str) -> Outcome<Json> {
    if text.len() > LONGEST_DOCUMENT {
        return Err(invalid(format!("{member} is longer than {LONGEST_DOCUMENT} characters")));
    }
    match serde_json::from_str(text) {
        Ok(document @ Json::Object(_)) => Ok(document),
        Ok(_) => Err(invalid(format!("{member} must be a JSON object"))),
        Err(error) => Err(invalid(format!("{member} is not valid JSON: {error}"))),
    }
}

/// The primary identifier behind what the caller gave: itself, or a JSON object of an identifier's properties.
pub(super) fn resolve(schema: &TypeSchema, turn: &Turn<'_>, kind: &Kind, given: &str) -> Outcome<String> {
    if !given.starts_with('{') {
        let parts = given.split('|').count();
        let expected = schema.primary_identifier.len();
        if parts < expected {
            let names: Vec<&str> = schema.primary_identifier.iter().map(|pointer| pointer.last_name()).collect();
            let message = format!("Identifier {given} is not valid for identifier [{}]", pointer_list(schema));
            return Err(invalid(format!("{message}: expected {}", names.join("|"))));
        }
        return Ok(given.to_owned());
    }
    let wanted = document(given, "Identifier")?;
    if let Some(identifier) = schema.identifier_of(&wanted) {
        return Ok(identifier);
    }
    let named = |pointers: &Vec<Pointer>| pointers.iter().all(|pointer| pointer.find(&wanted).is_some());
    if !schema.additional_identifiers.iter().any(named) {
        return Err(invalid(format!("Identifier {given} is not valid for identifier [{}]", pointer_list(schema))));
    }
    for (identifier, model) in turn.index.objects_after(kind, None) {
        if fits(&wanted, &parse(model)?) {
            return Ok(identifier.to_string());
        }
    }
    Err(not_found(&schema.type_name, given))
}

fn pointer_list(schema: &TypeSchema) -> String {
    schema.primary_identifier.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Whether a model has all the values of a filter.
pub(super) fn fits(filter: &Json, model: &Json) -> bool {
    let Json::Object(wanted) = filter else { return true };
    wanted.iter().all(|(name, value)| model.get(name) == Some(value))
}
