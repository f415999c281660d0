//! The one resource there is: plan, create, read, update, delete and import of any type (CC-40 to CC-47).

use std::sync::Arc;
use std::time::Duration;

use groma_provider::{
    ApplyRequest, ApplyResponse, ImportRequest, ImportResponse, ImportTarget, ImportedResource, PlanRequest,
    PlanResponse, ProviderDiagnostic, ProviderDiagnostics, ReadRequest, ReadResponse, UpgradeRequest, UpgradeResponse,
};
use groma_value::{Path, Value};
use serde_json::{Map, Value as Json};

use super::configured::{Configured, Private};
use super::connection::{Connection, Failure, pause};
use super::fields::Fields;
use super::interpreted::Interpreted;
use super::patch::{desired_state, patch};
use super::plan::plan;
use super::state::{fill_object, read_object};
use super::stored;
use super::token::new_token;
use crate::api::{HandlerErrorCode, ResourceDescription};

/// A new object is looked for this often before it counts as lost: services are consistent in the end only.
const LOOKS: u32 = 5;

/// Plans a change. No call is made.
pub fn plan_change(interpreted: &Interpreted, request: PlanRequest) -> PlanResponse {
    if request.proposed_new_state.is_null() {
        return PlanResponse::new(request.proposed_new_state, request.prior_private);
    }
    let kept = Private::read(&request.prior_private);
    let fields = &interpreted.fields;
    let mut planned = plan(fields, &request.config, &request.prior_state, kept.configured.as_ref());
    let changes = planned.state != request.prior_state;
    if changes && !request.prior_state.is_null() && interpreted.schema.handlers.update.is_none() {
        // What cannot be updated is replaced.
        planned.replace = changed_attributes(fields, &request.prior_state, &planned.state);
    }
    let token = changes.then(new_token);
    let configured = Some(Configured::of(fields, &request.config));
    let private = if changes || kept.configured != configured {
        Private { token, configured }.bytes()
    } else {
        request.prior_private
    };
    PlanResponse { requires_replace: planned.replace, ..PlanResponse::new(planned.state, private) }
}

fn changed_attributes(fields: &Fields, prior: &Value, planned: &Value) -> Vec<Path> {
    let (Some(prior), Some(planned)) = (prior.as_object(), planned.as_object()) else { return Vec::new() };
    let pairs = fields.list.iter().zip(prior.values().iter().zip(planned.values()));
    pairs
        .filter(|(field, (prior, planned))| !field.read_only() && prior != planned)
        .map(|(field, _)| Path::root().attribute(field.attribute.clone()))
        .collect()
}

/// Makes a change.
pub async fn apply_change(connection: &Connection, interpreted: &Interpreted, request: ApplyRequest) -> ApplyResponse {
    match (request.prior_state.is_null(), request.planned_state.is_null()) {
        (_, true) => delete(connection, interpreted, request).await,
        (true, false) => create(connection, interpreted, request).await,
        (false, false) => update(connection, interpreted, request).await,
    }
}

async fn create(connection: &Connection, interpreted: &Interpreted, request: ApplyRequest) -> ApplyResponse {
    let (schema, fields) = (&*interpreted.schema, &interpreted.fields);
    let planned = request.planned_state;
    let token = Private::read(&request.planned_private).token.unwrap_or_else(new_token);
    let private = Private { token: None, configured: Some(Configured::of(fields, &request.config)) }.bytes();
    let document = Json::Object(desired_state(fields, &planned)).to_string();
    match connection.create(schema, document, &token).await {
        Ok(identifier) => match look(connection, interpreted, &identifier).await {
            Ok(Some(found)) => match properties(&found) {
                Ok(properties) => ApplyResponse::new(
                    with_id(fields, &fill_object(fields, &planned, &properties), &identifier),
                    private,
                ),
                Err(problem) => unfinished(fields, &planned, &identifier, private, problem),
            },
            Ok(None) => unfinished(fields, &planned, &identifier, private, lost(interpreted, &identifier)),
            Err(failure) => unfinished(fields, &planned, &identifier, private, diagnostic(interpreted, &failure)),
        },
        Err(failure) => not_created(connection, interpreted, &planned, private, &failure).await,
    }
}

/// A creation that failed may have left an object behind: it is kept, tainted, and never orphaned (CC-47). An object that
/// was there before is somebody else's.
async fn not_created(
    connection: &Connection,
    interpreted: &Interpreted,
    planned: &Value,
    private: Arc<[u8]>,
    failure: &Failure,
) -> ApplyResponse {
    let fields = &interpreted.fields;
    let problem = diagnostic(interpreted, failure);
    let left_behind = match &failure.identifier {
        Some(identifier) if failure.code != Some(HandlerErrorCode::AlreadyExists) => Some(identifier),
        _ => None,
    };
    if let Some(identifier) = left_behind {
        match connection.get(&interpreted.schema, identifier).await {
            Ok(None) => {}
            // Whether it is there cannot be said: better a record of nothing than an object nobody knows of.
            Ok(Some(_)) | Err(_) => return unfinished(fields, planned, identifier, private, problem),
        }
    }
    let nothing = Value::null(fields.block.implied_type().clone());
    ApplyResponse { diagnostics: problem.into(), ..ApplyResponse::new(nothing, private) }
}

fn unfinished(
    fields: &Fields,
    planned: &Value,
    identifier: &str,
    private: Arc<[u8]>,
    problem: ProviderDiagnostic,
) -> ApplyResponse {
    let state = with_id(fields, &planned.unknown_as_null(), identifier);
    ApplyResponse { diagnostics: problem.into(), ..ApplyResponse::new(state, private) }
}

/// Reads an object that must be there.
async fn look(
    connection: &Connection,
    interpreted: &Interpreted,
    identifier: &str,
) -> Result<Option<ResourceDescription>, Failure> {
    if interpreted.schema.handlers.read.is_none() {
        // The service does not offer to read the type: what was planned is all that is known.
        return Ok(Some(ResourceDescription { identifier: identifier.to_owned(), properties: "{}".to_owned() }));
    }
    let mut delay = Duration::from_millis(100);
    for _ in 1..LOOKS {
        if let Some(found) = connection.get(&interpreted.schema, identifier).await? {
            return Ok(Some(found));
        }
        pause(delay).await;
        delay *= 2;
    }
    connection.get(&interpreted.schema, identifier).await
}

async fn update(connection: &Connection, interpreted: &Interpreted, request: ApplyRequest) -> ApplyResponse {
    let (schema, fields) = (&*interpreted.schema, &interpreted.fields);
    let prior = request.prior_state;
    let planned = request.planned_state;
    let kept = Private { token: None, configured: Private::read(&request.planned_private).configured };
    let unchanged = |problem: ProviderDiagnostic, prior: Value| ApplyResponse {
        diagnostics: problem.into(),
        ..ApplyResponse::new(prior, request.planned_private.clone())
    };
    let Some(identifier) = identifier_of(&prior) else { return unchanged(no_identifier(interpreted), prior) };
    let token = Private::read(&request.planned_private).token.unwrap_or_else(new_token);
    let operations = patch(fields, &prior, &planned);
    let removed = removed_properties(&operations);
    if !operations.is_empty()
        && let Err(failure) = connection.update(schema, &identifier, Json::Array(operations).to_string(), &token).await
    {
        let mut problem = diagnostic(interpreted, &failure);
        if !removed.is_empty() {
            problem.detail.push_str(&format!(
                "\n\nThe change takes away {}, which the configuration no longer sets. If the service does not allow that, set \
                 the wanted value instead.",
                removed.join(", ")
            ));
        }
        // A request that was refused changed nothing; one that failed may have changed a part, which the next read shows.
        return unchanged(problem, prior);
    }
    if planned.is_wholly_known() {
        return ApplyResponse::new(planned, kept.bytes());
    }
    match look(connection, interpreted, &identifier).await {
        Ok(Some(found)) => match properties(&found) {
            Ok(properties) => {
                let state = with_id(fields, &fill_object(fields, &planned, &properties), &identifier);
                ApplyResponse::new(state, kept.bytes())
            }
            Err(problem) => unfinished(fields, &planned, &identifier, kept.bytes(), problem),
        },
        Ok(None) => unfinished(fields, &planned, &identifier, kept.bytes(), lost(interpreted, &identifier)),
        Err(failure) => unfinished(fields, &planned, &identifier, kept.bytes(), diagnostic(interpreted, &failure)),
    }
}

/// The properties that a patch takes away (CC-35).
fn removed_properties(operations: &[Json]) -> Vec<String> {
    let removals = operations.iter().filter(|operation| operation["op"] == "remove");
    removals.filter_map(|operation| Some(operation["path"].as_str()?.trim_start_matches('/').to_owned())).collect()
}

async fn delete(connection: &Connection, interpreted: &Interpreted, request: ApplyRequest) -> ApplyResponse {
    let Some(identifier) = identifier_of(&request.prior_state) else {
        let response = ApplyResponse::new(request.prior_state, request.planned_private);
        return ApplyResponse { diagnostics: no_identifier(interpreted).into(), ..response };
    };
    match connection.delete(&interpreted.schema, &identifier).await {
        Ok(()) => ApplyResponse::new(request.planned_state, Arc::default()),
        Err(failure) => {
            let response = ApplyResponse::new(request.prior_state, request.planned_private);
            ApplyResponse { diagnostics: diagnostic(interpreted, &failure).into(), ..response }
        }
    }
}

/// Reads the present state of an object (CC-41).
pub async fn read(connection: &Connection, interpreted: &Interpreted, request: ReadRequest) -> ReadResponse {
    let fields = &interpreted.fields;
    let state = match present_state(connection, interpreted, &request.current_state).await {
        Ok(Some(state)) => Ok(state),
        Ok(None) => Ok(Value::null(fields.block.implied_type().clone())),
        Err(problem) => Err(problem),
    };
    let (new_state, diagnostics) = match state {
        Ok(state) => (state, ProviderDiagnostics::new()),
        Err(problem) => (request.current_state, problem.into()),
    };
    ReadResponse {
        new_state,
        private: request.private,
        deferred: None,
        new_identity: request.current_identity,
        diagnostics,
    }
}

/// The object as it is now, in the form of `prior`; none if it is gone.
pub async fn present_state(
    connection: &Connection,
    interpreted: &Interpreted,
    prior: &Value,
) -> Result<Option<Value>, ProviderDiagnostic> {
    let fields = &interpreted.fields;
    let identifier = identifier_of(prior).ok_or_else(|| no_identifier(interpreted))?;
    if interpreted.schema.handlers.read.is_none() {
        return Ok(Some(prior.clone()));
    }
    let found =
        connection.get(&interpreted.schema, &identifier).await.map_err(|failure| diagnostic(interpreted, &failure))?;
    found.map(|found| Ok(with_id(fields, &read_object(fields, &properties(&found)?, prior), &identifier))).transpose()
}

/// Takes an existing object over by its identifier (CC-45).
pub fn import(interpreted: &Interpreted, request: &ImportRequest) -> ImportResponse {
    let schema = &interpreted.schema;
    let refused = |detail: String| ImportResponse {
        diagnostics: ProviderDiagnostic::error("Invalid Import Identifier", detail).into(),
        ..ImportResponse::default()
    };
    let ImportTarget::Id(identifier) = &request.target else {
        return refused(format!("{} is imported by its identifier.", request.type_name));
    };
    let parts: Vec<&str> = schema.primary_identifier.iter().map(|pointer| pointer.last_name()).collect();
    let given = identifier.split('|').count();
    let empty = identifier.split('|').any(str::is_empty);
    if empty || given < parts.len() {
        return refused(format!(
            "The identifier of {} is {}; {identifier:?} has {given} of {} parts{}.",
            request.type_name,
            parts.join("|"),
            parts.len(),
            if empty { ", or an empty one" } else { "" },
        ));
    }
    let fields = &interpreted.fields;
    ImportResponse {
        imported: vec![ImportedResource {
            type_name: request.type_name.clone(),
            state: with_id(fields, fields.block.empty_value(), identifier),
            private: Arc::default(),
            identity: None,
        }],
        ..ImportResponse::default()
    }
}

/// Brings a stored object into the present shape.
pub fn upgrade(interpreted: &Interpreted, request: &UpgradeRequest) -> UpgradeResponse {
    let fields = &interpreted.fields;
    match stored::decode(fields, &request.raw_state) {
        Ok(upgraded_state) => UpgradeResponse { upgraded_state, diagnostics: ProviderDiagnostics::new() },
        Err(error) => UpgradeResponse {
            upgraded_state: Value::null(fields.block.implied_type().clone()),
            diagnostics: ProviderDiagnostic::error(
                "Stored Object Unreadable",
                format!("The stored object of {} is no JSON: {error}.", request.type_name),
            )
            .into(),
        },
    }
}

fn properties(found: &ResourceDescription) -> Result<Map<String, Json>, ProviderDiagnostic> {
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
    let Some(view) = object.as_object() else { return object.clone() };
    let values = fields
        .list
        .iter()
        .zip(view.values())
        .map(|(field, value)| if field.property.is_none() { Value::string(identifier) } else { value.clone() });
    fields.block.object(values.collect())
}

fn identifier_of(object: &Value) -> Option<String> {
    let view = object.as_object()?;
    view.get("id").and_then(Value::as_str).filter(|identifier| !identifier.is_empty()).map(str::to_owned)
}

fn no_identifier(interpreted: &Interpreted) -> ProviderDiagnostic {
    ProviderDiagnostic::error(
        "Resource Identifier Not Found",
        format!(
            "The stored object of {} has no id, so the object it stands for cannot be named.",
            interpreted.schema.type_name
        ),
    )
}

fn lost(interpreted: &Interpreted, identifier: &str) -> ProviderDiagnostic {
    ProviderDiagnostic::error(
        "AWS Resource Not Found After Creation or Update",
        format!(
            "{} {identifier:?} cannot be read back after the service said that it is done.",
            interpreted.schema.type_name
        ),
    )
}

/// The failure as people read it, with a word on what to do where there is one.
pub fn diagnostic(interpreted: &Interpreted, failure: &Failure) -> ProviderDiagnostic {
    let advice = match failure.code {
        Some(HandlerErrorCode::AlreadyExists) => {
            "\n\nAn object of this name exists already and is managed elsewhere or by hand. Choose another name, or import it."
        }
        Some(HandlerErrorCode::NotUpdatable) => "\n\nThe service refuses this change of an existing object.",
        _ => "",
    };
    let detail = format!("{}: {}{advice}", interpreted.schema.type_name, failure.detail);
    ProviderDiagnostic::error(failure.summary.clone(), detail)
}
