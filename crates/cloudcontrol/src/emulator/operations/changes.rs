//! Creating, updating and deleting objects.

use serde_json::Value as Json;

use super::document::{LONGEST_DOCUMENT, document, resolve};
use super::start::{Client, Start};
use super::{Outcome, invalid, refuse, refuse_concurrent, unsupported};
use crate::api::{
    ApiError, CreateResource, DeleteResource, Fault, HandlerErrorCode, Operation, ProgressEvent, UpdateResource,
};
use crate::emulator::computed::{self, Context};
use crate::emulator::index::Effect;
use crate::emulator::store::{Store, kind, not_found, parse, raw};
use crate::emulator::view;
use crate::schema::validate;
use crate::schema::{Pointer, TypeSchema};

impl Store {
    /// `CreateResource`
    pub fn create_resource(&self, region: &str, request: &CreateResource) -> Outcome<ProgressEvent> {
        self.damage_cases.refuse()?;
        let schema = self.schema(&request.type_name)?;
        let client = Client::new(
            request.client_token.as_deref(),
            &["create", region, &request.type_name, &request.desired_state, request.role_arn.as_deref().unwrap_or("")],
        )?;
        let desired = document(&request.desired_state, "DesiredState")?;
        let problems = validate::desired_state(&schema, &desired);
        self.work(|turn| {
            // Before the validation: the object of a repeated request may exist by now.
            if let Some(known) = client.known(turn)? {
                return Ok(known);
            }
            refuse(&problems)?;
            let source = turn.source();
            let mut model = desired;
            let context = Context { region, account: &self.settings.account, source: &source };
            computed::complete(&schema, &mut model, &context);
            let identifier = schema.identifier_of(&model);
            let kind = kind(region, &request.type_name);
            let mut start = Start::new(Operation::Create, &kind, identifier.clone());
            match identifier {
                None => {
                    let message = missing_identifier(&schema, &model);
                    start.failure = Some((HandlerErrorCode::InvalidRequest, message));
                }
                Some(identifier) => {
                    start.exists(turn, &kind, &identifier)?;
                    start.effect = Effect::Put(raw(&model)?);
                }
            }
            self.begin(turn, start, client)
        })
    }

    /// `UpdateResource`
    pub fn update_resource(&self, region: &str, request: &UpdateResource) -> Outcome<ProgressEvent> {
        self.damage_cases.refuse()?;
        let schema = self.schema(&request.type_name)?;
        if schema.handlers.update.is_none() {
            return Err(unsupported(&request.type_name, "UPDATE"));
        }
        let role = request.role_arn.as_deref().unwrap_or("");
        let client = Client::new(
            request.client_token.as_deref(),
            &["update", region, &request.type_name, &request.identifier, &request.patch_document, role],
        )?;
        if request.patch_document.len() > LONGEST_DOCUMENT {
            return Err(invalid("PatchDocument is longer than 262144 characters"));
        }
        let patch: json_patch::Patch = serde_json::from_str(&request.patch_document)
            .map_err(|error| invalid(format!("PatchDocument is not a JSON Patch (RFC 6902): {error}")))?;
        let kind = kind(region, &request.type_name);
        self.work(|turn| {
            if let Some(known) = client.known(turn)? {
                return Ok(known);
            }
            let identifier = resolve(&schema, turn, &kind, &request.identifier)?;
            refuse_concurrent(turn, &kind, &identifier)?;
            let stored = turn.index.object(&kind, &identifier).cloned();
            let stored = parse(&stored.ok_or_else(|| not_found(&request.type_name, &identifier))?)?;
            let mut model = patched(&schema, &stored, &patch)?;
            let source = turn.source();
            let context = Context { region, account: &self.settings.account, source: &source };
            computed::follow(&schema, &mut model, &context);
            let mut start = Start::new(Operation::Update, &kind, Some(identifier));
            start.effect = Effect::Put(raw(&model)?);
            self.begin(turn, start, client)
        })
    }

    /// `DeleteResource`
    pub fn delete_resource(&self, region: &str, request: &DeleteResource) -> Outcome<ProgressEvent> {
        self.damage_cases.refuse()?;
        let schema = self.schema(&request.type_name)?;
        let role = request.role_arn.as_deref().unwrap_or("");
        let client = Client::new(
            request.client_token.as_deref(),
            &["delete", region, &request.type_name, &request.identifier, role],
        )?;
        let kind = kind(region, &request.type_name);
        self.work(|turn| {
            if let Some(known) = client.known(turn)? {
                return Ok(known);
            }
            let identifier = resolve(&schema, turn, &kind, &request.identifier)?;
            refuse_concurrent(turn, &kind, &identifier)?;
            let mut start = Start::new(Operation::Delete, &kind, Some(identifier.clone()));
            if turn.index.object(&kind, &identifier).is_some() {
                start.effect = Effect::Remove;
            } else {
                // AWS accepts the request, and its handler then finds no object.
                start.failure = Some((HandlerErrorCode::NotFound, not_found(&request.type_name, &identifier).message));
            }
            self.begin(turn, start, client)
        })
    }
}

/// Names the parts of the identifier without which an object cannot be created.
fn missing_identifier(schema: &TypeSchema, model: &Json) -> String {
    let is_missing =
        |pointer: &&Pointer| pointer.find(model).is_none_or(|value| value.as_str().is_some_and(str::is_empty));
    let names: Vec<&str> = schema.primary_identifier.iter().filter(is_missing).map(Pointer::last_name).collect();
    format!(
        "The primary identifier has no value for {}: give it, or the properties that it follows from.",
        names.join(", ")
    )
}

/// The whole model after a patch on what can be read of it.
fn patched(schema: &TypeSchema, stored: &Json, patch: &json_patch::Patch) -> Outcome<Json> {
    let mut before = stored.clone();
    // A patch cannot refer to values that the service does not return.
    view::strip(&schema.write_only, &mut before);
    let mut model = before.clone();
    json_patch::patch(&mut model, patch).map_err(|error| invalid(format!("Invalid patch update: {error}")))?;
    let list =
        |pointers: Vec<&Pointer>| pointers.iter().map(|pointer| pointer.to_string()).collect::<Vec<_>>().join(", ");
    let made = view::changed_results(&schema.read_only_list, &before, &model);
    if !made.is_empty() {
        return Err(invalid(format!("Invalid patch update: readOnlyProperties [{}] cannot be updated", list(made))));
    }
    // The service compares with what it can read, so a value inside of a write-only property counts as changed.
    let fixed = view::changed(&schema.create_only_list, &before, &model);
    if !fixed.is_empty() {
        let message = format!("Invalid patch update: createOnlyProperties [{}] cannot be updated", list(fixed));
        return Err(ApiError::new(Fault::NotUpdatable, message));
    }
    view::keep(&schema.create_only, stored, &mut model);
    // The caller answers for the patch, and not for values that the service has chosen itself.
    let known = validate::model(schema, stored);
    let problems: Vec<String> =
        validate::model(schema, &model).into_iter().filter(|problem| !known.contains(problem)).collect();
    refuse(&problems)?;
    // Write-only values that the patch lacks stay in the object.
    view::keep(&schema.write_only, stored, &mut model);
    Ok(model)
}
