//! Import of existing objects, with values from the configuration where the service returns none (CC-45).

use groma_framework::{ImportRequest, ImportTarget, ObjectResponse, ProviderDiagnostic, ReadRequest};
use groma_value::{Kind, Path, Value};

use super::check::shown;
use super::connection::Connection;
use super::fields::{Change, Field, Fields, Shape};
use super::interpreted::Interpreted;
use super::present::{Found, find, read_found, unreturned, with_id, with_unreturned};
use super::private_state::{Configured, Import, PrivateState};
use super::region::REGION;

/// The summary of warnings about values of imported objects.
const NOT_VERIFIED: &str = "Imported Value Not Verified";

/// Returns the stub of an existing object with this identifier (CC-45).
///
/// It has the values of the configuration, if the host sends one: the read that follows keeps those that the service never returns, which
/// are write-only properties and create-only ones that it omits. All others become what the service returns.
pub(super) fn imported_stub(
    interpreted: &Interpreted,
    type_name: &str,
    connection: &Connection,
    request: &ImportRequest,
) -> ObjectResponse {
    let schema = &interpreted.schema;
    let refused =
        |detail: String| ObjectResponse::failed(ProviderDiagnostic::error("Invalid Import Identifier", detail));
    let (identifier, region) = match &request.target {
        ImportTarget::Id(identifier) => (identifier.clone(), None),
        ImportTarget::Identity(identity) => {
            if let Some(problem) = identity_conflict(interpreted, connection, identity, request.config.as_ref()) {
                return refused(problem);
            }
            match interpreted.identity.identifier(identity) {
                Some(identifier) => (identifier, interpreted.identity.region(identity)),
                None => return refused(format!("The identity of {type_name} lacks a part of the primary identifier.")),
            }
        }
    };
    let parts: Vec<&str> = schema.primary_identifier.iter().map(|pointer| pointer.last_name()).collect();
    let given = identifier.split('|').count();
    let empty = identifier.split('|').any(str::is_empty);
    if empty || given < parts.len() {
        return refused(format!(
            "The identifier of {type_name} is {}; {identifier:?} has {given} of {} parts{}.",
            parts.join("|"),
            parts.len(),
            if empty { ", or an empty one" } else { "" },
        ));
    }
    let fields = &interpreted.fields;
    let other_region = region.as_deref().filter(|region| *connection.region != **region);
    let stub = |object: &Value| interpreted.with_region(&with_id(fields, object, &identifier), other_region);
    let Some(config) = request.config.as_ref().map(Value::unknown_as_null) else {
        let private = PrivateState { import: Some(Import::Unconfigured), ..PrivateState::default() };
        return ObjectResponse::found(stub(fields.block.empty_value()), private.encode());
    };
    let configured = Some(Configured::of(fields, &config));
    let private = PrivateState { import: Some(Import::Stub), configured, ..PrivateState::default() };
    let response = ObjectResponse::found(stub(&config), private.encode());
    unsent_secrets(fields, &config).into_iter().fold(response, ObjectResponse::with)
}

/// Returns the conflict of an identity with the account of the provider or with the region of the resource.
fn identity_conflict(
    interpreted: &Interpreted,
    connection: &Connection,
    identity: &Value,
    config: Option<&Value>,
) -> Option<String> {
    let account = interpreted.identity.account(identity);
    if let Some((named, own)) = account.zip(connection.account.as_ref()).filter(|(named, own)| named != *own) {
        return Some(format!("The identity is of the account {named}, but the provider works in the account {own}."));
    }
    let region = interpreted.identity.region(identity)?;
    let config = config?;
    if config.attribute(REGION).is_some_and(|region| !region.is_known()) {
        return None;
    }
    let own = interpreted.region(config).unwrap_or_else(|| connection.region.clone());
    (region != own).then(|| {
        format!(
            "The identity is of the region {region}, but the resource is in the region {own}. Set region = {region:?} in its block, or use a \
             provider of that region."
        )
    })
}

/// Returns warnings about write-only arguments, which an import does not send.
fn unsent_secrets(fields: &Fields, config: &Value) -> Vec<ProviderDiagnostic> {
    let values = config.as_object().map(|view| view.values()).unwrap_or_default();
    let given =
        fields.list.iter().zip(values).filter(|(field, value)| field.ephemeral_of.is_some() && !value.is_null());
    let warning = |(field, _): (&Field, &Value)| {
        let name = &field.attribute;
        let detail = format!(
            "An import does not send {name}, and AWS does not return the value that the object has. To send it, change {name}_version."
        );
        ProviderDiagnostic::warning(NOT_VERIFIED, detail).at(Path::root().attribute(name.clone()))
    };
    given.map(warning).collect()
}

/// Reads an imported object whose stub has the configured values. A warning names those that the service does not return.
pub(super) async fn read_imported(
    connection: &Connection,
    interpreted: &Interpreted,
    request: ReadRequest,
) -> ObjectResponse {
    let found = match find(connection, interpreted, &request.state).await {
        Ok(Some(found)) => found,
        Ok(None) => return ObjectResponse::gone(),
        Err(problem) => return ObjectResponse::failed(problem),
    };
    let fields = &interpreted.fields;
    let state = read_found(connection, interpreted, &request.state, &found);
    let unconfigured = read_found(connection, interpreted, fields.block.empty_value(), &found);
    let mut assumed = Vec::new();
    add_assumed(fields, &state, &unconfigured, &Path::root(), &mut assumed);
    // Of a type without updates, a value that is not returned cannot be corrected either.
    let unreturned = match (&found, &interpreted.schema.handlers.update) {
        (Found::Object { document, .. }, None) => unreturned(fields, &request.state, document),
        _ => Vec::new(),
    };
    assumed.extend(unreturned.iter().map(|name| Path::root().attribute(&**name)));
    let state = with_unreturned(fields, &state, &request.state, &unreturned);
    let private =
        PrivateState { import: Some(Import::Configured), unreturned, ..PrivateState::decode(&request.private) };
    let response = ObjectResponse::found(state, private.encode());
    match assumed.first() {
        Some(first) => response.with(assumed_values(&assumed).at(first.clone())),
        None => response,
    }
}

/// Adds the paths of values that only the configuration has.
fn add_assumed(fields: &Fields, state: &Value, unconfigured: &Value, path: &Path, assumed: &mut Vec<Path>) {
    let Some(view) = state.as_object() else { return };
    let nulls = Value::NULL;
    for (index, (field, value)) in fields.list.iter().zip(view.values()).enumerate() {
        let without = unconfigured.as_object().and_then(|view| view.values().get(index)).unwrap_or(&nulls);
        let path = path.clone().attribute(field.attribute.clone());
        match (is_assumable(field) && without.is_null(), &field.shape) {
            (true, _) if !value.is_null() => assumed.push(path),
            (_, Shape::Object(inner)) => add_assumed(inner, value, without, &path, assumed),
            (_, Shape::Set(element) | Shape::Map(element)) => {
                // Elements have no position that a message could name.
                let Shape::Object(inner) = &**element else { continue };
                if elements(value).iter().any(|element| has_write_only(inner, element)) {
                    assumed.push(path);
                }
            }
            (_, Shape::List(element, _)) => {
                let Shape::Object(inner) = &**element else { continue };
                let (values, without) = (value.as_slice().unwrap_or_default(), without.as_slice().unwrap_or_default());
                for (position, value) in values.iter().enumerate() {
                    let without = without.get(position).unwrap_or(&nulls);
                    add_assumed(inner, value, without, &path.clone().position(position), assumed);
                }
            }
            _ => {}
        }
    }
}

/// Returns the values of a set or map.
fn elements(value: &Value) -> Vec<Value> {
    match value.kind() {
        Kind::Set(values) => values.to_vec(),
        Kind::Map(view) => view.iter().map(|(_, value)| value.clone()).collect(),
        _ => Vec::new(),
    }
}

/// Whether an object has a value that the service never returns.
fn has_write_only(fields: &Fields, object: &Value) -> bool {
    let values = object.as_object().map(|view| view.values()).unwrap_or_default();
    fields.list.iter().zip(values).any(|(field, value)| match &field.shape {
        _ if field.write_only => !value.is_null(),
        Shape::Object(inner) => has_write_only(inner, value),
        _ => false,
    })
}

/// Whether a value may come from the configuration, because the service need not return it.
fn is_assumable(field: &Field) -> bool {
    field.property.is_some() && (field.write_only || field.change != Change::InPlace)
}

/// Returns the warning about configured values that could not be compared with the imported object.
fn assumed_values(paths: &[Path]) -> ProviderDiagnostic {
    let names: Vec<String> = paths.iter().map(shown).collect();
    let (value, is) = if names.len() == 1 { ("value", "is") } else { ("values", "are") };
    let detail = format!(
        "AWS does not return {}. The configured {value} could not be compared with the imported object and {is} assumed to be right. Check \
         that the object has the {value}.",
        names.join(", ")
    );
    ProviderDiagnostic::warning(NOT_VERIFIED, detail)
}
