//! The operations on objects: requests started under a client token, repeated where that is safe (CC-46, CC-49).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use groma_cloud::retry::Backoff;
use groma_framework::ProviderDiagnostic;

use super::failure::Failure;
use super::in_flight::InFlight;
use super::pace::Pace;
use super::polling::{Durations, Finish};
use super::tags::TagSettings;
use crate::api::{
    Answer, CloudControl, CreateResource, DeleteResource, Fault, GetResource, ListResources, Operation, ProgressEvent,
    ResourceDescription, UpdateResource,
};
pub(super) use crate::pause::pause;
use crate::schema::{Handler, TypeSchema};

/// The longest delay between two attempts of a call, and between two polls of a request.
pub(super) const LONGEST_DELAY: Duration = Duration::from_secs(10);
/// An internal failure of a handler rarely passes, so such a call is made at most three times.
const HANDLER_FAILURE_RETRIES: u64 = 2;

/// The errors after which a call is repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Retries {
    /// Those that pass, until the user wants to stop: the call would begin something, or nothing depends on it.
    UntilStop,
    /// Those that pass, even after an interrupt: the call follows a request that has begun, whose result would be lost.
    Always,
    /// Those of a cancellation: a request that can no longer be cancelled never can be.
    Cancellation,
}

impl Retries {
    fn repeats_after(self, fault: Fault, is_stopping: bool) -> bool {
        fault.is_worth_retrying()
            && match self {
                Self::UntilStop => !is_stopping,
                Self::Always => true,
                Self::Cancellation => fault != Fault::ConcurrentModification,
            }
    }
}

/// The service as a configured provider uses it.
pub struct Connection {
    /// The operations of the API.
    pub api: Arc<dyn CloudControl>,
    /// The region of all objects that set none.
    pub region: String,
    /// The account, where it is known.
    pub account: Option<String>,
    /// The service in other regions, if it can be reached there.
    pub other_regions: Option<OtherRegions>,
    /// The role the service acts with.
    pub role_arn: Option<String>,
    /// Maximal number of retries of a call that was throttled or conflicted with another one.
    pub max_retries: u64,
    /// The first retry delay, from which the delay grows.
    pub first_delay: Duration,
    /// The tags of all objects, and the tags to ignore.
    pub tags: TagSettings,
    /// The timeouts of the provider block.
    pub timeouts: Timeouts,
    /// The rate budget of the account and region.
    pub pace: Arc<Pace>,
    /// The requests in flight, where one call asks after many of them.
    pub in_flight: Option<InFlight>,
    /// The durations of requests that have ended.
    pub durations: Durations,
    /// Set when the user wants to stop.
    pub stopping: Arc<AtomicBool>,
}

/// Opens the service in a region.
pub type OtherRegions =
    Arc<dyn Fn(&str) -> Result<(Arc<dyn CloudControl>, Arc<Pace>), ProviderDiagnostic> + Send + Sync>;

/// The timeouts of requests, where they differ from those of the types.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Timeouts {
    /// The timeout of creations.
    pub create: Option<Duration>,
    /// The timeout of updates.
    pub update: Option<Duration>,
    /// The timeout of deletions.
    pub delete: Option<Duration>,
}

impl Connection {
    /// Creates an object and returns its identifier.
    pub async fn create(&self, schema: &TypeSchema, desired_state: String, token: &str) -> Result<String, Failure> {
        const OPERATION: &str = "CreateResource";
        let mut attempt = 0;
        loop {
            let request = CreateResource {
                type_name: schema.type_name.to_string(),
                desired_state: desired_state.clone(),
                client_token: Some(token_of_attempt(token, attempt)),
                role_arn: self.role_arn.clone(),
            };
            let handler = schema.handlers.create.as_ref();
            let call = || self.api.create_resource(request.clone());
            match self.request(OPERATION, call, Operation::Create, schema, handler).await {
                Ok(ended) => {
                    return ended
                        .identifier
                        .clone()
                        .ok_or_else(|| Failure::ended(OPERATION, "no identifier of the new object", &ended));
                }
                Err(mut failure) => {
                    let given = identifier_given(schema, &desired_state);
                    // An identifier that the service has chosen belongs to this request.
                    failure.may_be_foreign &= failure.identifier == given;
                    if !self.may_start_again(&failure, attempt) {
                        return Err(failure);
                    }
                    // Another attempt would create a second object.
                    if let Some(failure) = self.left_behind(schema, given, failure).await {
                        return Err(failure);
                    }
                    attempt += 1;
                    self.wait(attempt).await;
                }
            }
        }
    }

    /// Updates an object by a patch.
    pub async fn update(
        &self,
        schema: &TypeSchema,
        identifier: &str,
        patch: String,
        token: &str,
    ) -> Result<(), Failure> {
        let mut attempt = 0;
        loop {
            let request = UpdateResource {
                type_name: schema.type_name.to_string(),
                identifier: identifier.to_owned(),
                patch_document: patch.clone(),
                client_token: Some(token_of_attempt(token, attempt)),
                role_arn: self.role_arn.clone(),
            };
            let handler = schema.handlers.update.as_ref();
            let call = || self.api.update_resource(request.clone());
            match self.request("UpdateResource", call, Operation::Update, schema, handler).await {
                Err(failure) if self.may_start_again(&failure, attempt) => {
                    attempt += 1;
                    self.wait(attempt).await;
                }
                other => return other.map(drop),
            }
        }
    }

    /// Deletes an object; one that is gone already is deleted.
    pub async fn delete(&self, schema: &TypeSchema, identifier: &str, token: &str) -> Result<(), Failure> {
        let mut attempt = 0;
        loop {
            let request = DeleteResource {
                type_name: schema.type_name.to_string(),
                identifier: identifier.to_owned(),
                client_token: Some(token_of_attempt(token, attempt)),
                role_arn: self.role_arn.clone(),
            };
            let handler = schema.handlers.delete.as_ref();
            let call = || self.api.delete_resource(request.clone());
            match self.request("DeleteResource", call, Operation::Delete, schema, handler).await {
                Err(failure) if failure.is_not_found() => return Ok(()),
                Err(failure) if self.may_start_again(&failure, attempt) => {
                    attempt += 1;
                    self.wait(attempt).await;
                }
                other => return other.map(drop),
            }
        }
    }

    /// Reads an object; none if it is gone.
    pub async fn get(&self, schema: &TypeSchema, identifier: &str) -> Result<Option<ResourceDescription>, Failure> {
        self.get_with(schema, identifier, Retries::UntilStop).await
    }

    /// Reads the object of a request that has ended; `None` without one. The call is repeated even after an interrupt.
    pub(super) async fn get_result(
        &self,
        schema: &TypeSchema,
        identifier: &str,
    ) -> Result<Option<ResourceDescription>, Failure> {
        self.get_with(schema, identifier, Retries::Always).await
    }

    async fn get_with(
        &self,
        schema: &TypeSchema,
        identifier: &str,
        retries: Retries,
    ) -> Result<Option<ResourceDescription>, Failure> {
        let request = GetResource {
            type_name: schema.type_name.to_string(),
            identifier: identifier.to_owned(),
            role_arn: self.role_arn.clone(),
        };
        match self.patiently("GetResource", retries, || self.api.get_resource(request.clone())).await {
            Ok(description) => Ok(Some(description)),
            Err(failure) if failure.is_not_found() => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    /// Returns the connection to another region.
    pub fn in_region(&self, region: &str) -> Result<Self, ProviderDiagnostic> {
        let Some(other_regions) = &self.other_regions else {
            let detail = format!("The service cannot be reached in the region {region:?}, only in {:?}.", self.region);
            return Err(ProviderDiagnostic::error("Region Not Available", detail));
        };
        let (api, pace) = other_regions(region)?;
        Ok(Self {
            api,
            region: region.to_owned(),
            account: self.account.clone(),
            other_regions: self.other_regions.clone(),
            role_arn: self.role_arn.clone(),
            max_retries: self.max_retries,
            first_delay: self.first_delay,
            tags: self.tags.clone(),
            timeouts: self.timeouts,
            pace,
            // Requests in flight and their durations belong to a region.
            in_flight: self.in_flight.as_ref().map(|_| InFlight::default()),
            durations: Durations::default(),
            stopping: self.stopping.clone(),
        })
    }

    /// The identifiers of all objects of a type, page by page (CC-44). Some types need properties of the objects: JSON text.
    pub async fn list(&self, type_name: &str, resource_model: Option<String>) -> Result<Vec<String>, Failure> {
        let mut identifiers = Vec::new();
        let mut next_token = None;
        loop {
            let request = ListResources {
                type_name: type_name.to_owned(),
                next_token,
                resource_model: resource_model.clone(),
                role_arn: self.role_arn.clone(),
                ..ListResources::default()
            };
            let page = self
                .patiently("ListResources", Retries::UntilStop, || self.api.list_resources(request.clone()))
                .await?;
            identifiers.extend(page.resource_descriptions.into_iter().map(|description| description.identifier));
            next_token = page.next_token;
            if next_token.is_none() {
                return Ok(identifiers);
            }
        }
    }

    /// Starts a request and follows it to its end.
    async fn request<'a>(
        &'a self,
        operation: &'static str,
        call: impl Fn() -> Answer<'a, ProgressEvent>,
        kind: Operation,
        schema: &TypeSchema,
        handler: Option<&Handler>,
    ) -> Result<ProgressEvent, Failure> {
        let started = self.start(operation, call).await?;
        let timeout = match kind {
            Operation::Create => self.timeouts.create,
            Operation::Update => self.timeouts.update,
            Operation::Delete => self.timeouts.delete,
        };
        Finish { connection: self, operation, kind, schema, handler, timeout }.finish(started).await
    }

    /// Makes a call that starts a request. If an attempt may have reached the service and all failed, the request is unanswered.
    async fn start<'a>(
        &'a self,
        operation: &str,
        call: impl Fn() -> Answer<'a, ProgressEvent>,
    ) -> Result<ProgressEvent, Failure> {
        // Only the last error is returned, but an earlier attempt may have started the request.
        let may_have_begun = AtomicBool::new(false);
        let noted = || -> Answer<'_, ProgressEvent> {
            let (attempt, noted) = (call(), &may_have_begun);
            Box::pin(async move {
                let answer = attempt.await;
                if answer.as_ref().is_err_and(|error| error.fault.may_have_begun()) {
                    noted.store(true, Ordering::Relaxed);
                }
                answer
            })
        };
        let started = self.patiently(operation, Retries::UntilStop, noted).await;
        started.map_err(|failure| if may_have_begun.load(Ordering::Relaxed) { failure.unanswered() } else { failure })
    }

    /// Makes a call within the rate budget, and repeats the very same one if it was throttled or met another one.
    pub(super) async fn patiently<'a, T>(
        &self,
        operation: &str,
        retries: Retries,
        call: impl Fn() -> Answer<'a, T>,
    ) -> Result<T, Failure> {
        let mut repeated = 0;
        loop {
            self.turn().await;
            let sent = Instant::now();
            let error = match call().await {
                Ok(answer) => {
                    self.pace.accepted(Instant::now());
                    return Ok(answer);
                }
                Err(error) => error,
            };
            match error.fault {
                Fault::Throttling => self.pace.throttled(sent, Instant::now()),
                // Without an answer, nothing is known about the rate.
                Fault::Unreachable | Fault::NotSent => {}
                _ => self.pace.accepted(Instant::now()),
            }
            let limit = match error.fault {
                Fault::HandlerInternalFailure => self.max_retries.min(HANDLER_FAILURE_RETRIES),
                _ => self.max_retries,
            };
            if repeated >= limit || !retries.repeats_after(error.fault, self.is_stopping()) {
                return Err(Failure::refused(operation, &error));
            }
            repeated += 1;
            self.wait(u32::try_from(repeated).unwrap_or(u32::MAX)).await;
        }
    }

    /// Waits for a free slot in the rate budget.
    async fn turn(&self) {
        loop {
            let slot = self.pace.reserve(Instant::now());
            if !slot.wait.is_zero() {
                pause(slot.wait).await;
            }
            // Throttling during the wait changes the rate, and with it the slot.
            if self.pace.is_valid(slot) {
                return;
            }
        }
    }

    /// Waits before attempt number `attempt` (from 1), with jitter.
    async fn wait(&self, attempt: u32) {
        let backoff = Backoff { first: self.first_delay * 2, longest: LONGEST_DELAY };
        pause(backoff.delay(attempt.saturating_sub(1))).await;
    }

    fn may_start_again(&self, failure: &Failure, attempt: u32) -> bool {
        failure.again.is_some_and(|reason| attempt < reason.limit()) && !self.is_stopping()
    }

    /// Returns the failure of a creation that left an object behind, with its identifier; none if there is no object. `given`
    /// is the identifier that the desired state gives.
    async fn left_behind(&self, schema: &TypeSchema, given: Option<String>, failure: Failure) -> Option<Failure> {
        // Without a handler to read it nobody can tell.
        if schema.handlers.read.is_none() {
            return failure.identifier.is_some().then_some(failure);
        }
        let is_named = failure.identifier.is_some();
        let identifier = failure.identifier.clone().or(given)?;
        let found = self.get_result(schema, &identifier).await;
        let failure = Failure { identifier: Some(identifier), may_be_foreign: !is_named, ..failure };
        match found {
            Ok(found) => found.map(|_| failure),
            // If the service named it, it counts as one.
            Err(_) if is_named => Some(failure),
            // The next run asks for the same request and looks again.
            Err(_) => Some(failure.unanswered()),
        }
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }
}

/// Returns the identifier of the object that a desired state describes, if it gives one.
fn identifier_given(schema: &TypeSchema, desired_state: &str) -> Option<String> {
    schema.identifier_of(&serde_json::from_str(desired_state).ok()?)
}

/// Returns the client token of an attempt. Later ones follow from the planned token, so that a run which continues
/// after a crash finds the request of each attempt instead of starting another one.
fn token_of_attempt(token: &str, attempt: u32) -> String {
    if attempt == 0 { token.to_owned() } else { format!("{token}-{attempt}") }
}
