//! Current objects as the service returns them.

use std::time::Duration;

use groma_framework::{ObjectResponse, ProviderDiagnostic, ReadRequest};
use groma_value::Value;
use serde_json::{Map, Value as Json};

use super::connection::{Connection, pause};
use super::failure::Failure;
use super::failures::{diagnostic, no_identifier};
use super::fields::Fields;
use super::interpreted::Interpreted;
use super::private_state::PrivateState;
use super::same::is_empty;
use super::state::read_object;
use crate::api::ResourceDescription;

/// The number of reads of a new object before it counts as lost. Services are eventually consistent.
const READ_ATTEMPTS: u32 = 5;

/// Reads the present state of an object (CC-41).
pub(super) async fn read(connection: &Connection, interpreted: &Interpreted, request: ReadRequest) -> ObjectResponse {
    let private = PrivateState::decode(&request.private);
    match present_state(connection, interpreted, &request.state).await {
        Ok(Some(state)) => {
            let state = with_unreturned(&interpreted.fields, &state, &request.state, &private.unreturned);
            ObjectResponse::found(state, request.private)
        }
        Ok(None) => ObjectResponse::gone(),
        Err(problem) => ObjectResponse::failed(problem),
    }
}

/// The object with the prior values of attributes that the service did not return when they were set.
pub(super) fn with_unreturned(fields: &Fields, object: &Value, prior: &Value, unreturned: &[String]) -> Value {
    let (Some(view), Some(before)) = (object.as_object(), prior.as_object()) else { return object.clone() };
    if unreturned.is_empty() {
        return object.clone();
    }
    let pairs = view.values().iter().zip(before.values());
    let values = fields.list.iter().zip(pairs).map(|(field, (value, before))| {
        let is_kept = value.is_null() && unreturned.iter().any(|name| **name == *field.attribute);
        if is_kept { before.clone() } else { value.clone() }
    });
    fields.block.object(values.collect())
}

/// Returns the attributes with a known value that the service does not return, although it may return others of their kind.
pub(super) fn unreturned(fields: &Fields, planned: &Value, properties: &Map<String, Json>) -> Vec<String> {
    let Some(view) = planned.as_object() else { return Vec::new() };
    let pairs = fields.list.iter().zip(view.values());
    let missing = pairs.filter(|(field, value)| {
        let Some(property) = field.property.as_ref().filter(|_| !field.write_only) else { return false };
        let is_set = value.is_known() && !is_empty(&field.shape, value);
        is_set && properties.get(&**property).is_none_or(Json::is_null)
    });
    missing.map(|(field, _)| field.attribute.to_string()).collect()
}

/// What a read has found of an object that exists.
pub(super) enum Found {
    /// The type cannot be read: the prior values are all there is.
    Unreadable,
    /// The object with its properties.
    Object { identifier: String, document: Map<String, Json> },
}

/// Reads the properties of an object; `None` if it is gone.
pub(super) async fn find(
    connection: &Connection,
    interpreted: &Interpreted,
    prior: &Value,
) -> Result<Option<Found>, ProviderDiagnostic> {
    let identifier = identifier_of(prior).ok_or_else(|| no_identifier(interpreted))?;
    if interpreted.schema.handlers.read.is_none() {
        return Ok(Some(Found::Unreadable));
    }
    let found = connection.get(&interpreted.schema, &identifier).await;
    let found = found.map_err(|failure| diagnostic(interpreted, &failure))?;
    found.map(|found| Ok(Found::Object { identifier, document: properties(&found)? })).transpose()
}

/// Returns a found object in the form of `prior`.
pub(super) fn read_found(connection: &Connection, interpreted: &Interpreted, prior: &Value, found: &Found) -> Value {
    match found {
        Found::Unreadable => prior.clone(),
        Found::Object { identifier, document } => {
            let object = read_present(connection, interpreted, prior, document.clone());
            with_id(&interpreted.fields, &object, identifier)
        }
    }
}

/// The object as it is now, in the form of `prior`; none if it is gone.
pub async fn present_state(
    connection: &Connection,
    interpreted: &Interpreted,
    prior: &Value,
) -> Result<Option<Value>, ProviderDiagnostic> {
    let found = find(connection, interpreted, prior).await?;
    Ok(found.map(|found| read_found(connection, interpreted, prior, &found)))
}

fn read_present(
    connection: &Connection,
    interpreted: &Interpreted,
    prior: &Value,
    mut document: Map<String, Json>,
) -> Value {
    let fields = &interpreted.fields;
    let Some(place) = &interpreted.tags else { return read_object(fields, &document, prior) };
    let reported = place.in_document(&document);
    place.hide(&connection.tags, prior, &mut document);
    let object = read_object(fields, &document, prior);
    place.with_all_tags(&connection.tags, fields, prior, &object, &reported)
}

/// Reads an object that was just changed, until the service returns it.
pub(super) async fn read_after_change(
    connection: &Connection,
    interpreted: &Interpreted,
    identifier: &str,
) -> Result<Option<ResourceDescription>, Failure> {
    if interpreted.schema.handlers.read.is_none() {
        // The type has no read handler: only the planned values are known.
        return Ok(Some(ResourceDescription { identifier: identifier.to_owned(), properties: "{}".to_owned() }));
    }
    let mut delay = Duration::from_millis(100);
    for _ in 1..READ_ATTEMPTS {
        if let Some(found) = connection.get_result(&interpreted.schema, identifier).await? {
            return Ok(Some(found));
        }
        pause(delay).await;
        delay *= 2;
    }
    connection.get_result(&interpreted.schema, identifier).await
}

pub(super) fn properties(found: &ResourceDescription) -> Result<Map<String, Json>, ProviderDiagnostic> {
    match serde_json::from_str(&found.properties) {
        Ok(Json::Object(properties)) => Ok(properties),
        _ => Err(ProviderDiagnostic::error(
            "AWS Cloud Control Answer Unreadable",
            format!("The properties of {:?} are not a JSON object.", found.identifier),
        )),
    }
}

/// The object with its identifier (CC-05).
pub fn with_id(fields: &Fields, object: &Value, identifier: &str) -> Value {
    fields.with(object, "id", &Value::string(identifier))
}

pub(super) fn identifier_of(object: &Value) -> Option<String> {
    let view = object.as_object()?;
    view.get("id").and_then(Value::as_str).filter(|identifier| !identifier.is_empty()).map(str::to_owned)
}
