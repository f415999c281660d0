//! The one resource there is: plan, create, read, update, delete and import of any type (CC-40 to CC-47).

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use groma_framework::{
    Answer, CreateRequest, DeleteRequest, ImportRequest, ImportTarget, ModifyPlanRequest, ModifyPlanResponse,
    ObjectResponse, PrivateData, ProviderDiagnostic, ProviderDiagnostics, ReadRequest, Resource, ResourceSchema,
    UpdateRequest, UpgradeRequest, ValidateRequest,
};
use groma_value::{Path, Value};
use serde_json::{Map, Value as Json};

use super::access::Access;
use super::check::check;
use super::configured::{Configured, Kept};
use super::connection::{Connection, Failure, pause};
use super::fields::Fields;
use super::interpreted::Interpreted;
use super::patch::{desired_state, patch};
use super::plan::{Sources, plan};
use super::state::{fill_object, read_object};
use super::stored;
use super::tags::TagSettings;
use super::token::new_token;
use crate::Name;
use crate::api::{HandlerErrorCode, ResourceDescription};

/// A new object is looked for this often before it counts as lost: services are consistent in the end only.
const LOOKS: u32 = 5;

/// A resource of any type.
pub struct CloudResource {
    type_name: Name,
    interpreted: Arc<Interpreted>,
    access: Access,
}

impl CloudResource {
    /// The resource `type_name`, reached through `access`.
    pub fn new(type_name: Name, interpreted: Arc<Interpreted>, access: Access) -> Self {
        Self { type_name, interpreted, access }
    }
}

impl Resource for CloudResource {
    fn schema(&self) -> &ResourceSchema {
        &self.interpreted.resource
    }

    fn validate(&self, request: ValidateRequest) -> Answer<'_, ProviderDiagnostics> {
        Answer::ready(check(&self.interpreted.schema, &self.interpreted.fields, &request.config))
    }

    fn modify_plan(&self, request: ModifyPlanRequest) -> Answer<'_, ModifyPlanResponse> {
        Answer::ready(match self.access.connection() {
            Ok(connection) => plan_change(&self.interpreted, &connection.tags, request),
            Err(_) => plan_change(&self.interpreted, &TagSettings::default(), request),
        })
    }

    fn create(&self, request: CreateRequest) -> Answer<'_, ObjectResponse> {
        Answer::later(async move {
            match self.access.connection() {
                Ok(connection) => create(&connection, &self.interpreted, request).await,
                Err(problem) => ObjectResponse::failed(problem),
            }
        })
    }

    fn read(&self, request: ReadRequest) -> Answer<'_, ObjectResponse> {
        Answer::later(async move {
            match self.access.connection() {
                Ok(connection) => read(&connection, &self.interpreted, request).await,
                Err(problem) => ObjectResponse::failed(problem),
            }
        })
    }

    fn update(&self, request: UpdateRequest) -> Answer<'_, ObjectResponse> {
        Answer::later(async move {
            match self.access.connection() {
                Ok(connection) => update(&connection, &self.interpreted, request).await,
                Err(problem) => ObjectResponse::failed(problem),
            }
        })
    }

    fn delete(&self, request: DeleteRequest) -> Answer<'_, ProviderDiagnostics> {
        Answer::later(async move {
            let deleted = match self.access.connection() {
                Ok(connection) => delete(&connection, &self.interpreted, &request.state).await,
                Err(problem) => Err(problem),
            };
            deleted.map_or_else(ProviderDiagnostics::from, |()| ProviderDiagnostics::new())
        })
    }

    fn import(&self, request: ImportRequest) -> Answer<'_, ObjectResponse> {
        Answer::ready(import(&self.interpreted, &self.type_name, &request.target))
    }

    fn upgrade(&self, request: UpgradeRequest) -> Result<Value, ProviderDiagnostic> {
        stored::decode(&self.interpreted.fields, &request.raw_state).map_err(|error| {
            ProviderDiagnostic::error(
                "Stored Object Unreadable",
                format!("The stored object of {} is no JSON: {error}.", self.type_name),
            )
        })
    }
}

/// Plans a change: what the framework does not know of these objects. No call is made.
fn plan_change(interpreted: &Interpreted, tags: &TagSettings, request: ModifyPlanRequest) -> ModifyPlanResponse {
    if request.plan.is_null() {
        return request.unchanged();
    }
    let kept = Kept::read(&request.private);
    let fields = &interpreted.fields;
    let sources = Sources {
        config: &request.config,
        prior: &request.state,
        framework: &request.plan,
        configured: kept.configured.as_ref(),
    };
    let mut planned = plan(fields, sources);
    if let Some(place) = &interpreted.tags {
        planned.state = place.plan(tags, fields, &request.state, &planned.state);
    }
    let changes = planned.state != request.state;
    let requires_replace = if changes && !request.state.is_null() && interpreted.schema.handlers.update.is_none() {
        // What cannot be updated is replaced.
        changed_attributes(fields, &request.state, &planned.state)
    } else {
        [request.requires_replace, planned.replace].concat()
    };
    let token = changes.then(new_token);
    let configured = Some(Configured::of(fields, &request.config));
    let private =
        if changes || kept.configured != configured { Kept { token, configured }.data() } else { request.private };
    ModifyPlanResponse {
        plan: planned.state,
        private,
        requires_replace,
        not_yet: None,
        diagnostics: ProviderDiagnostics::new(),
    }
}

fn changed_attributes(fields: &Fields, prior: &Value, planned: &Value) -> Vec<Path> {
    let (Some(prior), Some(planned)) = (prior.as_object(), planned.as_object()) else { return Vec::new() };
    let pairs = fields.list.iter().zip(prior.values().iter().zip(planned.values()));
    pairs
        .filter(|(field, (prior, planned))| !field.read_only() && prior != planned)
        .map(|(field, _)| Path::root().attribute(field.attribute.clone()))
        .collect()
}

async fn create(connection: &Connection, interpreted: &Interpreted, request: CreateRequest) -> ObjectResponse {
    let (schema, fields) = (&*interpreted.schema, &interpreted.fields);
    let planned = request.plan;
    let token = Kept::read(&request.private).token.unwrap_or_else(new_token);
    let private = Kept { token: None, configured: Some(Configured::of(fields, &request.config)) }.data();
    let sent = match &interpreted.tags {
        Some(place) => place.sent(&connection.tags, fields, &planned, &BTreeMap::new()),
        None => planned.clone(),
    };
    let document = Json::Object(desired_state(fields, &sent)).to_string();
    match connection.create(schema, document, &token).await {
        Ok(identifier) => match look(connection, interpreted, &identifier).await {
            Ok(Some(found)) => match properties(&found) {
                Ok(properties) => ObjectResponse::found(
                    with_id(fields, &filled(connection, interpreted, &planned, properties), &identifier),
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
    private: PrivateData,
    failure: &Failure,
) -> ObjectResponse {
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
    ObjectResponse::failed(problem)
}

fn unfinished(
    fields: &Fields,
    planned: &Value,
    identifier: &str,
    private: PrivateData,
    problem: ProviderDiagnostic,
) -> ObjectResponse {
    let state = with_id(fields, &planned.unknown_as_null(), identifier);
    ObjectResponse::failed_with(state, private, problem)
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

async fn update(connection: &Connection, interpreted: &Interpreted, request: UpdateRequest) -> ObjectResponse {
    let (schema, fields) = (&*interpreted.schema, &interpreted.fields);
    let planned = request.plan;
    let Some(identifier) = identifier_of(&request.state) else {
        return ObjectResponse::failed(no_identifier(interpreted));
    };
    let planned_with = Kept::read(&request.private);
    let kept = Kept { token: None, configured: planned_with.configured }.data();
    let token = planned_with.token.unwrap_or_else(new_token);
    let operations = match operations(connection, interpreted, &identifier, &request.state, &planned).await {
        Ok(operations) => operations,
        Err(problem) => return ObjectResponse::failed(problem),
    };
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
        return ObjectResponse::failed(problem);
    }
    if planned.is_wholly_known() {
        return ObjectResponse::found(planned, kept);
    }
    match look(connection, interpreted, &identifier).await {
        Ok(Some(found)) => match properties(&found) {
            Ok(properties) => {
                let state = with_id(fields, &filled(connection, interpreted, &planned, properties), &identifier);
                ObjectResponse::found(state, kept)
            }
            Err(problem) => unfinished(fields, &planned, &identifier, kept, problem),
        },
        Ok(None) => unfinished(fields, &planned, &identifier, kept, lost(interpreted, &identifier)),
        Err(failure) => unfinished(fields, &planned, &identifier, kept, diagnostic(interpreted, &failure)),
    }
}

/// What turns the object into the planned one, its default tags included. The tags of others are looked up first where
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
    if place.must_look(settings) && interpreted.schema.handlers.read.is_some() {
        let failed = |failure| diagnostic(interpreted, &failure);
        if let Some(found) = connection.get(&interpreted.schema, identifier).await.map_err(failed)? {
            present = place.in_document(&properties(&found)?);
        }
    }
    let had = place.had(settings, fields, prior, &present);
    let sent = place.sent(settings, fields, planned, &present);
    Ok(patch(fields, &had, &sent))
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
    let told = place.in_document(&document);
    place.hide(&connection.tags, planned, &mut document);
    let filled = fill_object(fields, planned, &document);
    match planned.attribute("tags_all") {
        Some(all) if !all.is_wholly_known() => place.found(&connection.tags, fields, planned, &filled, &told),
        _ => filled,
    }
}

/// The properties that a patch takes away (CC-35).
fn removed_properties(operations: &[Json]) -> Vec<String> {
    let removals = operations.iter().filter(|operation| operation["op"] == "remove");
    removals.filter_map(|operation| Some(operation["path"].as_str()?.trim_start_matches('/').to_owned())).collect()
}

async fn delete(connection: &Connection, interpreted: &Interpreted, state: &Value) -> Result<(), ProviderDiagnostic> {
    let identifier = identifier_of(state).ok_or_else(|| no_identifier(interpreted))?;
    connection.delete(&interpreted.schema, &identifier).await.map_err(|failure| diagnostic(interpreted, &failure))
}

/// Reads the present state of an object (CC-41).
async fn read(connection: &Connection, interpreted: &Interpreted, request: ReadRequest) -> ObjectResponse {
    match present_state(connection, interpreted, &request.state).await {
        Ok(Some(state)) => ObjectResponse::found(state, request.private),
        Ok(None) => ObjectResponse::gone(),
        Err(problem) => ObjectResponse::failed(problem),
    }
}

/// The object as it is now, in the form of `prior`; none if it is gone.
pub async fn present_state(
    connection: &Connection,
    interpreted: &Interpreted,
    prior: &Value,
) -> Result<Option<Value>, ProviderDiagnostic> {
    let identifier = identifier_of(prior).ok_or_else(|| no_identifier(interpreted))?;
    if interpreted.schema.handlers.read.is_none() {
        return Ok(Some(prior.clone()));
    }
    let found =
        connection.get(&interpreted.schema, &identifier).await.map_err(|failure| diagnostic(interpreted, &failure))?;
    let Some(found) = found else { return Ok(None) };
    let object = read_present(connection, interpreted, prior, properties(&found)?);
    Ok(Some(with_id(&interpreted.fields, &object, &identifier)))
}

fn read_present(
    connection: &Connection,
    interpreted: &Interpreted,
    prior: &Value,
    mut document: Map<String, Json>,
) -> Value {
    let fields = &interpreted.fields;
    let Some(place) = &interpreted.tags else { return read_object(fields, &document, prior) };
    let told = place.in_document(&document);
    place.hide(&connection.tags, prior, &mut document);
    let object = read_object(fields, &document, prior);
    place.found(&connection.tags, fields, prior, &object, &told)
}

/// Takes an existing object over by its identifier (CC-45).
fn import(interpreted: &Interpreted, type_name: &str, target: &ImportTarget) -> ObjectResponse {
    let schema = &interpreted.schema;
    let refused =
        |detail: String| ObjectResponse::failed(ProviderDiagnostic::error("Invalid Import Identifier", detail));
    let ImportTarget::Id(identifier) = target else {
        return refused(format!("{type_name} is imported by its identifier."));
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
    ObjectResponse::found(with_id(fields, fields.block.empty_value(), identifier), PrivateData::new())
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
        .map(|(field, value)| if &*field.attribute == "id" { Value::string(identifier) } else { value.clone() });
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
fn diagnostic(interpreted: &Interpreted, failure: &Failure) -> ProviderDiagnostic {
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
