//! The eight operations of the API on a [`Store`].

use std::borrow::Cow;

use serde_json::{Map, Value as Json};
use sha2::{Digest, Sha256};

use super::index::{Effect, Kind, Record, Request};
use super::invent::{self, Context};
use super::store::{Store, Turn, kind, not_found, parse, raw};
use super::{validate, view};
use crate::api::{
    ApiError, CreateResource, DeleteResource, Fault, GetResource, HandlerErrorCode, ListResourceRequests,
    ListResources, Operation, ProgressEvent, RequestList, ResourceDescription, ResourceList, UpdateResource,
};
use crate::schema::TypeSchema;

/// The longest document the service takes, in characters.
const LONGEST_DOCUMENT: usize = 262_144;
const PAGE: usize = 100;
const REQUEST_PAGE: usize = 20;

type Outcome<T> = Result<T, ApiError>;

fn invalid(message: impl Into<String>) -> ApiError {
    ApiError::new(Fault::Validation, message)
}

impl Store {
    /// `CreateResource`
    pub fn create_resource(&self, region: &str, request: &CreateResource) -> Outcome<ProgressEvent> {
        self.mischief.refuse()?;
        let schema = self.schema(&request.type_name)?;
        let client = Client::new(
            request.client_token.as_deref(),
            &["create", region, &request.type_name, &request.desired_state, request.role_arn.as_deref().unwrap_or("")],
        )?;
        let desired = document(&request.desired_state, "DesiredState")?;
        let problems = validate::desired_state(&schema, &desired);
        self.work(|turn| {
            if let Some(known) = client.known(turn)? {
                return Ok(known);
            }
            refuse(&problems)?;
            let source = turn.source();
            let mut model = desired;
            let context = Context { region, account: &self.settings.account, source: &source };
            invent::complete(&schema, &mut model, &context);
            let identifier = schema.identifier_of(&model);
            let kind = kind(region, &request.type_name);
            let mut start = Start::new(Operation::Create, &kind, identifier.clone());
            match identifier {
                None => {
                    let message = "the primary identifier is not given and cannot be made up".to_owned();
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

    /// `GetResource`
    pub fn get_resource(&self, region: &str, request: &GetResource) -> Outcome<ResourceDescription> {
        self.mischief.refuse()?;
        let schema = self.schema(&request.type_name)?;
        if schema.handlers.read.is_none() {
            return Err(unsupported(&request.type_name, "READ"));
        }
        let kind = kind(region, &request.type_name);
        let (identifier, model) = self.work(|turn| {
            let identifier = resolve(&schema, turn, &kind, &request.identifier)?;
            let model =
                turn.index.object(&kind, &identifier).filter(|_| !turn.index.is_young(&kind, &identifier, turn.now));
            let model = model.cloned().ok_or_else(|| not_found(&request.type_name, &identifier))?;
            Ok((identifier, model))
        })?;
        if schema.write_only.is_empty() {
            return Ok(ResourceDescription { identifier, properties: model.to_string() });
        }
        let mut model = parse(&model)?;
        view::strip(&schema.write_only, &mut model);
        Ok(ResourceDescription { identifier, properties: model.to_string() })
    }

    /// `UpdateResource`
    pub fn update_resource(&self, region: &str, request: &UpdateResource) -> Outcome<ProgressEvent> {
        self.mischief.refuse()?;
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
            invent::follow(&schema, &mut model, &context);
            let mut start = Start::new(Operation::Update, &kind, Some(identifier));
            start.effect = Effect::Put(raw(&model)?);
            self.begin(turn, start, client)
        })
    }

    /// `DeleteResource`
    pub fn delete_resource(&self, region: &str, request: &DeleteResource) -> Outcome<ProgressEvent> {
        self.mischief.refuse()?;
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
                start.failure = Some((HandlerErrorCode::NotFound, not_found(&request.type_name, &identifier).message));
            }
            self.begin(turn, start, client)
        })
    }

    /// `ListResources`
    pub fn list_resources(&self, region: &str, request: &ListResources) -> Outcome<ResourceList> {
        self.mischief.refuse()?;
        let schema = self.schema(&request.type_name)?;
        let Some(handler) = &schema.handlers.list else {
            return Err(unsupported(&request.type_name, "LIST"));
        };
        let filter = match &request.resource_model {
            Some(text) => document(text, "ResourceModel")?,
            None => Json::Object(Map::new()),
        };
        if let Some(missing) = handler.required_inputs.iter().find(|name| filter.get(&***name).is_none()) {
            let message = format!(
                "Missing or invalid ResourceModel property in {} list handler request input. Required property:  (#: required key [{missing}] not found)",
                request.type_name
            );
            return Err(ApiError::new(Fault::InvalidRequest, message));
        }
        let after = request.next_token.as_deref().map(unpack_token).transpose()?;
        let page = request.max_results.map_or(PAGE, |most| (most as usize).clamp(1, PAGE));
        let kind = kind(region, &request.type_name);
        self.work(|turn| {
            let mut descriptions = Vec::new();
            let mut next_token = None;
            for (identifier, model) in turn.index.objects_after(&kind, after.as_deref()) {
                if descriptions.len() == page {
                    next_token = descriptions.last().map(|last: &ResourceDescription| pack_token(&last.identifier));
                    break;
                }
                let model = parse(model)?;
                if fits(&filter, &model) {
                    let properties = view::identifying(&schema, &model).to_string();
                    descriptions.push(ResourceDescription { identifier: identifier.to_string(), properties });
                }
            }
            Ok(ResourceList { type_name: request.type_name.clone(), resource_descriptions: descriptions, next_token })
        })
    }

    /// `GetResourceRequestStatus`
    pub fn get_resource_request_status(&self, token: &str) -> Outcome<ProgressEvent> {
        self.mischief.refuse()?;
        self.work(|turn| {
            turn.index.request(token).map(|request| request.progress(turn.now)).ok_or_else(|| no_request(token))
        })
    }

    /// `ListResourceRequests`
    pub fn list_resource_requests(&self, request: &ListResourceRequests) -> Outcome<RequestList> {
        let filter = request.resource_request_status_filter.clone().unwrap_or_default();
        let page = request.max_results.map_or(REQUEST_PAGE, |most| (most as usize).clamp(1, PAGE));
        let below = match request.next_token.as_deref().map(unpack_token).transpose()? {
            Some(text) => text.parse().map_err(|_| invalid("NextToken is not one of this service"))?,
            None => usize::MAX,
        };
        self.work(|turn| {
            let mut summaries = Vec::new();
            let mut last = 0;
            let mut next_token = None;
            for (number, request) in turn.index.requests_newest_first().filter(|(number, _)| *number < below) {
                let progress = request.progress(turn.now);
                let wanted = (filter.operations.is_empty() || filter.operations.contains(&progress.operation))
                    && (filter.operation_statuses.is_empty()
                        || filter.operation_statuses.contains(&progress.operation_status));
                if !wanted {
                    continue;
                }
                if summaries.len() == page {
                    next_token = Some(pack_token(&last.to_string()));
                    break;
                }
                summaries.push(progress);
                last = number;
            }
            Ok(RequestList { resource_request_status_summaries: summaries, next_token })
        })
    }

    /// `CancelResourceRequest`
    pub fn cancel_resource_request(&self, token: &str) -> Outcome<ProgressEvent> {
        self.work(|turn| {
            let progress = turn.index.request(token).ok_or_else(|| no_request(token))?.progress(turn.now);
            if progress.operation_status.is_final() {
                let message = format!("The request {token} has ended and cannot be cancelled.");
                return Err(ApiError::new(Fault::ConcurrentModification, message));
            }
            let at = turn.now;
            turn.record(Record::Cancel { token: token.to_owned(), at })?;
            turn.index.request(token).map(|request| request.progress(at)).ok_or_else(|| no_request(token))
        })
    }

    /// Writes the start of a request down. Its answer says that it is under way, however quickly it ends.
    fn begin(&self, turn: &mut Turn<'_>, mut start: Start, client: Client<'_>) -> Outcome<ProgressEvent> {
        if self.mischief.fails() {
            start.failure = Some((HandlerErrorCode::GeneralServiceException, "A failure, as asked for".to_owned()));
        }
        let token = turn.source().uuid("request");
        let delay = u64::try_from(self.settings.delay.as_millis()).unwrap_or(u64::MAX);
        let request = Request {
            token: token.clone(),
            client_token: client.token.map(str::to_owned),
            fingerprint: client.fingerprint,
            region: start.kind.region.to_string(),
            type_name: start.kind.type_name.to_string(),
            operation: start.operation,
            identifier: start.identifier,
            started: turn.now,
            ready: turn.now.saturating_add(delay),
            effect: if start.failure.is_some() { Effect::Nothing } else { start.effect },
            failure: start.failure,
            cancelled: None,
        };
        let mut answer = request.progress(request.started.saturating_sub(1));
        answer.event_time = request.started as f64 / 1_000.0;
        turn.record(Record::Request(Box::new(request)))?;
        Ok(answer)
    }
}

/// A request about to be written down.
struct Start {
    operation: Operation,
    kind: Kind,
    identifier: Option<String>,
    failure: Option<(HandlerErrorCode, String)>,
    effect: Effect,
}

impl Start {
    fn new(operation: Operation, kind: &Kind, identifier: Option<String>) -> Self {
        Self { operation, kind: kind.clone(), identifier, failure: None, effect: Effect::Nothing }
    }

    /// A creation fails where there is an object already, and is refused where one is on its way.
    fn exists(&mut self, turn: &Turn<'_>, kind: &Kind, identifier: &str) -> Outcome<()> {
        refuse_concurrent(turn, kind, identifier)?;
        if turn.index.object(kind, identifier).is_some() {
            let type_name = &kind.type_name;
            let message = format!("Resource of type '{type_name}' with identifier '{identifier}' already exists.");
            self.failure = Some((HandlerErrorCode::AlreadyExists, message));
        }
        Ok(())
    }
}

/// The caller's name for a request, and what the request asks.
struct Client<'a> {
    token: Option<&'a str>,
    fingerprint: String,
}

impl<'a> Client<'a> {
    fn new(token: Option<&'a str>, parts: &[&str]) -> Outcome<Self> {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-+/=".contains(&byte);
        if let Some(text) = token
            && (text.is_empty() || text.len() > 128 || !text.bytes().all(allowed))
        {
            return Err(invalid("ClientToken must be 1 to 128 characters of [-A-Za-z0-9+/=]"));
        }
        let mut hash = Sha256::new();
        for part in parts {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
        let fingerprint = hash.finalize().iter().take(12).map(|byte| format!("{byte:02x}")).collect();
        Ok(Self { token, fingerprint })
    }

    /// The request this client token stands for already.
    fn known(&self, turn: &Turn<'_>) -> Outcome<Option<ProgressEvent>> {
        let Some(request) = self.token.and_then(|token| turn.index.request_of_client(token, turn.now)) else {
            return Ok(None);
        };
        if request.fingerprint != self.fingerprint {
            let message = "The specified client token has already been used in another resource request.";
            return Err(ApiError::new(Fault::ClientTokenConflict, message));
        }
        Ok(Some(request.progress(turn.now)))
    }
}

/// The whole model after a patch on what can be read of it.
fn patched(schema: &TypeSchema, stored: &Json, patch: &json_patch::Patch) -> Outcome<Json> {
    let mut before = stored.clone();
    view::strip(&schema.write_only, &mut before);
    let mut model = before.clone();
    json_patch::patch(&mut model, patch).map_err(|error| invalid(format!("Invalid patch update: {error}")))?;
    let list = |pointers: Vec<&crate::schema::Pointer>| {
        pointers.iter().map(|pointer| pointer.to_string()).collect::<Vec<_>>().join(", ")
    };
    let made = view::changed(&schema.read_only_list, &before, &model);
    if !made.is_empty() {
        return Err(invalid(format!("Invalid patch update: readOnlyProperties [{}] cannot be updated", list(made))));
    }
    view::keep(&schema.write_only, stored, &mut model);
    let fixed = view::changed(&schema.create_only_list, stored, &model);
    if !fixed.is_empty() {
        let message = format!("Invalid patch update: createOnlyProperties [{}] cannot be updated", list(fixed));
        return Err(ApiError::new(Fault::NotUpdatable, message));
    }
    refuse(&validate::model(schema, &model))?;
    Ok(model)
}

fn refuse(problems: &[String]) -> Outcome<()> {
    if problems.is_empty() {
        return Ok(());
    }
    Err(invalid(format!("Model validation failed ({})", problems.join("; "))))
}

fn refuse_concurrent(turn: &Turn<'_>, kind: &Kind, identifier: &str) -> Outcome<()> {
    match turn.index.at_work(kind, identifier) {
        None => Ok(()),
        Some(request) => {
            let message = format!(
                "Resource of type '{}' with identifier '{identifier}' is at work on request {}.",
                kind.type_name, request.token
            );
            Err(ApiError::new(Fault::ConcurrentOperation, message))
        }
    }
}

fn document(text: &str, member: &str) -> Outcome<Json> {
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
fn resolve(schema: &TypeSchema, turn: &Turn<'_>, kind: &Kind, given: &str) -> Outcome<String> {
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
    let named = |pointers: &Vec<crate::schema::Pointer>| pointers.iter().all(|pointer| pointer.find(&wanted).is_some());
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
fn fits(filter: &Json, model: &Json) -> bool {
    let Json::Object(wanted) = filter else { return true };
    wanted.iter().all(|(name, value)| model.get(name) == Some(value))
}

fn unsupported(type_name: &str, action: &str) -> ApiError {
    let message = format!("Resource type {type_name} does not support {action} action");
    ApiError::new(Fault::UnsupportedAction, message)
}

fn no_request(token: &str) -> ApiError {
    ApiError::new(Fault::RequestTokenNotFound, format!("Request with token {token} was not found"))
}

fn pack_token(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

fn unpack_token(token: &str) -> Outcome<String> {
    let wrong = || invalid("NextToken is not one of this service");
    if !token.is_ascii() || !token.len().is_multiple_of(2) {
        return Err(wrong());
    }
    let digits: Option<Vec<u8>> =
        (0..token.len() / 2).map(|at| u8::from_str_radix(token.get(at * 2..at * 2 + 2)?, 16).ok()).collect();
    let text: Cow<'_, [u8]> = digits.ok_or_else(wrong)?.into();
    String::from_utf8(text.into_owned()).map_err(|_| wrong())
}
