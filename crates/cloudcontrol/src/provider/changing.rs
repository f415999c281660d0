//! Creating, changing and deleting objects (CC-42 to CC-47).

use std::collections::BTreeMap;

use groma_framework::{CallFate, CreateRequest, ObjectResponse, ProviderDiagnostic, UpdateRequest};
use groma_value::Value;
use serde_json::{Map, Value as Json};

use super::connection::Connection;
use super::failures::{RecordAfterFailure, diagnostic, failed_change, missing_identifier, no_identifier};
use super::fields::Fields;
use super::interpreted::Interpreted;
use super::left_behind::{not_created, unfinished};
use super::patch::{desired_state, patch};
use super::present::{identifier_of, properties, read_after_change, unreturned, with_id};
use super::private_state::{Configured, PrivateState, new_client_token};
use super::secrets::with_ephemeral;
use super::state::fill_object;

pub(super) async fn create(
    connection: &Connection,
    interpreted: &Interpreted,
    request: CreateRequest,
) -> ObjectResponse {
    let (schema, fields) = (&*interpreted.schema, &interpreted.fields);
    let planned = request.plan;
    // The planned token: an apply that is repeated finds the request of the first one (CC-40).
    let planned_token = PrivateState::decode(&request.private).token;
    let token = planned_token.clone().unwrap_or_else(new_client_token);
    let private = PrivateState { configured: Some(Configured::of(fields, &request.config)), ..PrivateState::default() };
    let desired = match &interpreted.tags {
        Some(place) => place.desired(&connection.tags, fields, &planned, &BTreeMap::new()),
        None => planned.clone(),
    };
    let sent = with_ephemeral(fields, &desired, &request.config);
    // The journal keeps no write-only arguments, so the next run could not send the same request.
    let is_repeatable = planned_token.is_some() && sent == desired;
    let document = Json::Object(desired_state(fields, &sent)).to_string();
    match connection.create(schema, document, &token).await {
        Ok(identifier) => read_back(connection, interpreted, &planned, &identifier, private).await,
        // The request goes on, and the object may become complete: a record of it would be tainted and have it replaced.
        Err(failure) if is_repeatable && failure.fate == CallFate::NoResponse => {
            ObjectResponse::failed(failed_change(interpreted, &failure, None, RecordAfterFailure::Absent))
        }
        Err(failure) => not_created(connection, interpreted, &planned, private.encode(), &failure).await,
    }
}

/// Returns the planned object after its change, with the values that the service has chosen.
async fn read_back(
    connection: &Connection,
    interpreted: &Interpreted,
    planned: &Value,
    identifier: &str,
    private: PrivateState,
) -> ObjectResponse {
    let fields = &interpreted.fields;
    let found = match read_after_change(connection, interpreted, identifier).await {
        Ok(Some(found)) => properties(&found),
        Ok(None) => Err(missing_identifier(interpreted, identifier)),
        Err(failure) => Err(diagnostic(interpreted, &failure)),
    };
    match found {
        Ok(properties) => {
            let private = PrivateState { unreturned: unreturned(fields, planned, &properties), ..private };
            let state = with_id(fields, &filled(connection, interpreted, planned, properties), identifier);
            ObjectResponse::found(state, private.encode())
        }
        Err(problem) => unfinished(fields, planned, identifier, private.encode(), problem),
    }
}

pub(super) async fn update(
    connection: &Connection,
    interpreted: &Interpreted,
    request: UpdateRequest,
) -> ObjectResponse {
    let planned = request.plan;
    let Some(identifier) = identifier_of(&request.state) else {
        return ObjectResponse::failed(no_identifier(interpreted));
    };
    let planned_with = PrivateState::decode(&request.private);
    let token = planned_with.token.clone().unwrap_or_else(new_client_token);
    // A token names one request, so the next change needs a new one.
    let private = PrivateState { token: None, ..planned_with };
    let is_updatable = interpreted.schema.handlers.update.is_some();
    let operations = match operations(
        connection,
        interpreted,
        &identifier,
        &request.state,
        &with_ephemeral(&interpreted.fields, &planned, &request.config),
    )
    .await
    {
        Ok(operations) => operations,
        Err(problem) => return ObjectResponse::failed(problem),
    };
    let removed = removed_properties(&operations);
    // The object of a type without updates is replaced for a change; here it only gets values that were not known before.
    if is_updatable
        && !operations.is_empty()
        && let Err(failure) =
            connection.update(&interpreted.schema, &identifier, Json::Array(operations).to_string(), &token).await
    {
        let mut problem = failed_change(interpreted, &failure, Some(&identifier), RecordAfterFailure::BeforeUpdate);
        if !removed.is_empty() {
            problem.detail.push_str(&format!(
                "\n\nThe change takes away {}, which the configuration no longer sets. If the service does not allow that, set \
                 the wanted value instead.",
                removed.join(", ")
            ));
        }
        // A request that was refused changed nothing; one that failed may have changed a part, which the next read shows.
        return ObjectResponse::failed(problem);
    }
    // The service has nothing to fill in, so the result is known.
    if planned.is_wholly_known() {
        let added = newly_set(&interpreted.fields, &request.state, &planned, &private);
        let private = with_unreturned_of(connection, interpreted, &identifier, &planned, &added, private).await;
        return ObjectResponse::found(planned, private.encode());
    }
    read_back(connection, interpreted, &planned, &identifier, private).await
}

/// Returns the attributes that an update sets first.
fn newly_set(fields: &Fields, prior: &Value, planned: &Value, private: &PrivateState) -> Vec<String> {
    let mut set = unreturned(fields, planned, &Map::new());
    set.retain(|name| prior.attribute(name).is_some_and(|value| value.is_null()) && !private.unreturned.contains(name));
    set
}

/// Records which of these attributes the service does not return, as a creation does. Their absence would otherwise count as drift, and
/// every plan would set them again.
async fn with_unreturned_of(
    connection: &Connection,
    interpreted: &Interpreted,
    identifier: &str,
    planned: &Value,
    added: &[String],
    mut private: PrivateState,
) -> PrivateState {
    // Most updates change values that were there before, and need no read.
    if added.is_empty() || interpreted.schema.handlers.read.is_none() {
        return private;
    }
    // The update has succeeded in any case; without the read, the next plan may repeat it.
    let Ok(Some(found)) = read_after_change(connection, interpreted, identifier).await else {
        return private;
    };
    if let Ok(properties) = properties(&found) {
        let missing = unreturned(&interpreted.fields, planned, &properties);
        private.unreturned.extend(missing.into_iter().filter(|name| added.contains(name)));
    }
    private
}

/// Returns the patch from the object to the planned one, its default tags included. Tags of others are read first if
/// there are any that are left alone: an array is sent as a whole.
async fn operations(
    connection: &Connection,
    interpreted: &Interpreted,
    identifier: &str,
    prior: &Value,
    planned: &Value,
) -> Result<Vec<Json>, ProviderDiagnostic> {
    let (fields, settings) = (&interpreted.fields, &connection.tags);
    let Some(place) = &interpreted.tags else { return Ok(patch(fields, prior, planned)) };
    let mut present = BTreeMap::new();
    if settings.ignores_any() && interpreted.schema.handlers.read.is_some() {
        let failed = |failure| diagnostic(interpreted, &failure);
        if let Some(found) = connection.get(&interpreted.schema, identifier).await.map_err(failed)? {
            present = place.in_document(&properties(&found)?);
        }
    }
    let current = place.current(settings, fields, prior, &present);
    let desired = place.desired(settings, fields, planned, &present);
    Ok(patch(fields, &current, &desired))
}

/// The planned object with what the service has filled in.
fn filled(
    connection: &Connection,
    interpreted: &Interpreted,
    planned: &Value,
    mut document: Map<String, Json>,
) -> Value {
    let fields = &interpreted.fields;
    let Some(place) = &interpreted.tags else { return fill_object(fields, planned, &document) };
    let reported = place.in_document(&document);
    // Default tags and tags of others would otherwise be part of the resource's own tags.
    place.hide(&connection.tags, planned, &mut document);
    let filled = fill_object(fields, planned, &document);
    match planned.attribute("tags_all") {
        Some(all) if !all.is_wholly_known() => {
            place.with_all_tags(&connection.tags, fields, planned, &filled, &reported)
        }
        _ => filled,
    }
}

/// The properties that a patch takes away (CC-35).
fn removed_properties(operations: &[Json]) -> Vec<String> {
    let removals = operations.iter().filter(|operation| operation["op"] == "remove");
    removals.filter_map(|operation| Some(operation["path"].as_str()?.trim_start_matches('/').to_owned())).collect()
}

pub(super) async fn delete(
    connection: &Connection,
    interpreted: &Interpreted,
    state: &Value,
) -> Result<(), ProviderDiagnostic> {
    let identifier = identifier_of(state).ok_or_else(|| no_identifier(interpreted))?;
    // A second deletion finds nothing, so the token need not outlive a crash.
    connection
        .delete(&interpreted.schema, &identifier, &new_client_token())
        .await
        .map_err(|failure| failed_change(interpreted, &failure, Some(&identifier), RecordAfterFailure::BeforeDelete))
}
