//! Import of existing objects, with values from the configuration where the service returns none (CC-45).

use groma_framework::{ImportRequest, ImportTarget, ObjectResponse, ProviderDiagnostic, ReadRequest};
use groma_value::{Path, Value};

use super::check::shown;
use super::connection::Connection;
use super::fields::{Change, Field, Fields, Shape};
use super::interpreted::Interpreted;
use super::present::{Found, find, read_found, with_id};
use super::private_state::PrivateState;

/// Returns the stub of an existing object with this identifier (CC-45).
///
/// It has the values of the configuration, if the host sends one: the read that follows keeps those that the service never returns, which
/// are write-only properties and create-only ones that it omits. All others become what the service returns.
pub(super) fn imported_stub(
    interpreted: &Interpreted,
    type_name: &str,
    home: Option<&str>,
    request: &ImportRequest,
) -> ObjectResponse {
    let schema = &interpreted.schema;
    let refused =
        |detail: String| ObjectResponse::failed(ProviderDiagnostic::error("Invalid Import Identifier", detail));
    let (identifier, region) = match &request.target {
        ImportTarget::Id(identifier) => (identifier.clone(), None),
        ImportTarget::Identity(identity) => match interpreted.identity.identifier(identity) {
            Some(identifier) => (identifier, interpreted.identity.region(identity)),
            None => return refused(format!("The identity of {type_name} lacks a part of the primary identifier.")),
        },
    };
    let identifier = &identifier;
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
    let configured = request.config.as_ref().map(Value::unknown_as_null);
    let object = with_id(fields, configured.as_ref().unwrap_or(fields.block.empty_value()), identifier);
    ObjectResponse::found(
        interpreted.with_region(&object, region.as_deref().filter(|region| home != Some(*region))),
        PrivateState { is_imported: configured.is_some(), ..PrivateState::default() }.encode(),
    )
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
    let unconfigured = match &found {
        Found::Unreadable => with_id(fields, fields.block.empty_value(), ""),
        Found::Object { .. } => read_found(connection, interpreted, fields.block.empty_value(), &found),
    };
    let mut assumed = Vec::new();
    add_assumed(fields, &state, &unconfigured, &Path::root(), &mut assumed);
    let private = PrivateState { is_imported: false, ..PrivateState::decode(&request.private) };
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
    ProviderDiagnostic::warning("Imported Value Not Verified", detail)
}
