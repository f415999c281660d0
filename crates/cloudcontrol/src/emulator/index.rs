//! In-memory index of the log: objects by type and identifier, requests by token.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::faults::HookResult;
use crate::Name;
use crate::api::{FailureMode, HandlerErrorCode, HookEvent, HookStatus, Operation, OperationStatus, ProgressEvent};

/// A client token is remembered this long: 36 hours, in milliseconds.
const CLIENT_TOKEN_LIFE: u64 = 36 * 60 * 60 * 1_000;

/// A resource type in a region.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Kind {
    /// The region; objects of another region are other objects.
    pub region: Name,
    /// `AWS::EC2::VPC`
    pub type_name: Name,
}

/// One change of the emulator, as the log keeps it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Record {
    /// The first record of the log.
    Header {
        /// The version of this format.
        format: u32,
        /// The seed of generated values.
        seed: u64,
    },
    /// A request with what it will have done when it ends.
    Request(Box<Request>),
    /// A request that was cancelled.
    Cancel {
        /// The token of the request.
        token: String,
        /// The time in milliseconds since 1970.
        at: u64,
    },
    /// An object changed outside of any request.
    Put {
        /// The region of the object.
        region: String,
        /// The resource type.
        type_name: String,
        /// The primary identifier.
        identifier: String,
        /// All properties of the object.
        model: Box<RawValue>,
        /// The time in milliseconds since 1970; requests that ended before are applied first.
        #[serde(default)]
        at: u64,
    },
    /// An object removed outside of any request.
    Remove {
        /// The region of the object.
        region: String,
        /// The resource type.
        type_name: String,
        /// The primary identifier.
        identifier: String,
        /// The time in milliseconds since 1970.
        #[serde(default)]
        at: u64,
    },
}

/// A request in the log.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Request {
    /// The token of the request.
    pub token: String,
    /// The caller's name for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_token: Option<String>,
    /// The hash of the input, which detects a client token that is reused with other input.
    pub fingerprint: String,
    /// The region it acts in.
    pub region: String,
    /// The type it acts on.
    pub type_name: String,
    /// The operation of the request.
    pub operation: Operation,
    /// The identifier of the object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identifier: Option<String>,
    /// The start time in milliseconds since 1970.
    pub started: u64,
    /// The time at which work on it begins, in milliseconds since 1970.
    #[serde(default)]
    pub active: u64,
    /// The hooks that run before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hooks: Vec<(String, HookResult)>,
    /// The end time in milliseconds since 1970.
    pub ready: u64,
    /// The reason of its failure, if it fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<(HandlerErrorCode, String)>,
    /// The effect at its end.
    pub effect: Effect,
    /// The time of its cancellation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancelled: Option<u64>,
}

/// The effect of a request at its end.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// No effect on any object.
    Nothing,
    /// The object has these properties.
    Put(Box<RawValue>),
    /// The object is gone.
    Remove,
}

impl Request {
    fn kind(&self) -> Kind {
        Kind { region: self.region.as_str().into(), type_name: self.type_name.as_str().into() }
    }

    /// Returns the progress of the request at a time.
    pub fn progress(&self, now: u64) -> ProgressEvent {
        let (operation_status, at) = match (self.cancelled, &self.failure) {
            (Some(at), _) => (OperationStatus::CancelComplete, at),
            (None, _) if now < self.active && self.started < self.active => (OperationStatus::Pending, self.started),
            (None, _) if now < self.ready => (OperationStatus::InProgress, self.started),
            (None, Some(_)) => (OperationStatus::Failed, self.ready),
            (None, None) => (OperationStatus::Success, self.ready),
        };
        let failure = self.failure.as_ref().filter(|_| operation_status == OperationStatus::Failed);
        ProgressEvent {
            type_name: self.type_name.clone(),
            identifier: self.identifier.clone(),
            request_token: self.token.clone(),
            operation: self.operation,
            operation_status,
            event_time: seconds(at),
            resource_model: None,
            status_message: failure.map(|(_, message)| message.clone()),
            error_code: failure.map(|(code, _)| *code),
            retry_after: (!operation_status.is_final()).then(|| seconds(self.ready)),
            hooks_request_token: (!self.hooks.is_empty()).then(|| self.token.clone()),
            hooks: self.hooks.iter().map(|(name, result)| self.hook_event(name, *result, now)).collect(),
        }
    }

    fn hook_event(&self, name: &str, result: HookResult, now: u64) -> HookEvent {
        let ended = now >= self.active;
        let hook_status = match result {
            _ if !ended => HookStatus::HookInProgress,
            HookResult::Pass => HookStatus::HookCompleteSucceeded,
            HookResult::Warn | HookResult::Fail => HookStatus::HookCompleteFailed,
        };
        let operation = match self.operation {
            Operation::Create => "CREATE",
            Operation::Update => "UPDATE",
            Operation::Delete => "DELETE",
        };
        let failed = hook_status == HookStatus::HookCompleteFailed;
        HookEvent {
            hook_type_name: name.to_owned(),
            invocation_point: format!("{operation}_PRE_PROVISION"),
            hook_status,
            hook_event_time: seconds(if ended { self.active } else { self.started }),
            hook_status_message: failed.then(|| "The hook failed, as asked for".to_owned()),
            failure_mode: if result == HookResult::Fail { FailureMode::Fail } else { FailureMode::Warn },
        }
    }
}

fn seconds(milliseconds: u64) -> f64 {
    milliseconds as f64 / 1_000.0
}

/// Everything, as of the last record read.
#[derive(Debug, Default)]
pub struct Index {
    seed: Option<u64>,
    counter: u64,
    latest: u64,
    objects: HashMap<Kind, BTreeMap<Name, Arc<str>>>,
    requests: HashMap<Name, Request>,
    order: Vec<Name>,
    client_tokens: HashMap<String, Name>,
    pending: BTreeMap<(u64, u64), Name>,
    busy: HashMap<(Kind, Name), Name>,
    /// The time for which a new object cannot be read, in milliseconds.
    consistency: u64,
    /// The creation times of objects that cannot be read yet.
    young: HashMap<(Kind, Name), u64>,
}

impl Index {
    /// Nothing yet; new objects cannot be read for so many milliseconds.
    pub fn new(consistency: u64) -> Self {
        Self { consistency, ..Self::default() }
    }

    /// The seed; none before the header was read.
    pub fn seed(&self) -> Option<u64> {
        self.seed
    }

    /// Returns the number of records, which makes generated values differ.
    pub fn counter(&self) -> u64 {
        self.counter
    }

    /// A time that never goes back, from the clock's.
    pub fn no_earlier_than_seen(&self, clock: u64) -> u64 {
        clock.max(self.latest)
    }

    /// Takes in one record.
    pub fn apply(&mut self, record: Record) -> Result<(), String> {
        match record {
            Record::Header { format: 1, seed } => self.seed = Some(seed),
            Record::Header { format, .. } => {
                return Err(format!("has the format {format}, which a newer program wrote"));
            }
            Record::Request(request) => self.add_request(*request),
            Record::Cancel { token, at } => self.cancel(&token, at),
            Record::Put { region, type_name, identifier, model, at } => {
                self.settle(at);
                self.latest = self.latest.max(at);
                let kind = Kind { region: region.into(), type_name: type_name.into() };
                self.objects.entry(kind).or_default().insert(identifier.into(), model.get().into());
            }
            Record::Remove { region, type_name, identifier, at } => {
                self.settle(at);
                self.latest = self.latest.max(at);
                self.remove(&Kind { region: region.into(), type_name: type_name.into() }, &identifier);
            }
        }
        self.counter += 1;
        Ok(())
    }

    fn add_request(&mut self, request: Request) {
        let token: Name = request.token.as_str().into();
        self.settle(request.started);
        self.latest = self.latest.max(request.started);
        if let Some(client_token) = &request.client_token {
            self.client_tokens.insert(client_token.clone(), token.clone());
        }
        self.pending.insert((request.ready, self.counter), token.clone());
        if let Some(identifier) = &request.identifier {
            self.busy.insert((request.kind(), identifier.as_str().into()), token.clone());
        }
        self.order.push(token.clone());
        self.requests.insert(token, request);
    }

    fn cancel(&mut self, token: &str, at: u64) {
        self.settle(at);
        self.latest = self.latest.max(at);
        let Some(request) = self.requests.get_mut(token) else { return };
        request.cancelled = Some(at);
        request.effect = Effect::Nothing;
        let ready = request.ready;
        self.pending.retain(|(when, _), name| *when != ready || &**name != token);
        self.free(token);
    }

    /// Lets the requests end whose time has come.
    pub fn settle(&mut self, now: u64) {
        while let Some(entry) = self.pending.first_entry() {
            if entry.key().0 > now {
                return;
            }
            let token = entry.remove();
            self.finish(&token, now);
        }
    }

    fn finish(&mut self, token: &Name, now: u64) {
        let Some(request) = self.requests.get_mut(token) else { return };
        let effect = std::mem::replace(&mut request.effect, Effect::Nothing);
        let kind = request.kind();
        let identifier = request.identifier.clone().unwrap_or_default();
        let readable = request.ready.saturating_add(self.consistency);
        if request.operation == Operation::Create && now < readable {
            self.young.insert((kind.clone(), identifier.as_str().into()), readable);
        }
        match effect {
            Effect::Nothing => {}
            Effect::Put(model) => {
                self.objects.entry(kind).or_default().insert(identifier.into(), model.get().into());
            }
            Effect::Remove => self.remove(&kind, &identifier),
        }
        self.free(token);
    }

    fn free(&mut self, token: &str) {
        let Some(request) = self.requests.get(token) else { return };
        if let Some(identifier) = &request.identifier {
            let key = (request.kind(), Name::from(identifier.as_str()));
            if self.busy.get(&key).is_some_and(|holder| &**holder == token) {
                self.busy.remove(&key);
            }
        }
    }

    fn remove(&mut self, kind: &Kind, identifier: &str) {
        if let Some(objects) = self.objects.get_mut(kind) {
            objects.remove(identifier);
        }
    }

    /// The properties of an object.
    pub fn object(&self, kind: &Kind, identifier: &str) -> Option<&Arc<str>> {
        self.objects.get(kind)?.get(identifier)
    }

    /// The objects of a type behind an identifier, in the order of identifiers.
    pub fn objects_after<'a>(
        &'a self,
        kind: &Kind,
        after: Option<&str>,
    ) -> impl Iterator<Item = (&'a Name, &'a Arc<str>)> + use<'a> {
        use std::ops::Bound;
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        self.objects.get(kind).map(|objects| objects.range::<str, _>((from, Bound::Unbounded))).into_iter().flatten()
    }

    /// Whether an object is there and cannot be read yet.
    pub fn is_young(&self, kind: &Kind, identifier: &str, now: u64) -> bool {
        // The key is only made where there is something to look for.
        !self.young.is_empty()
            && self.young.get(&(kind.clone(), identifier.into())).is_some_and(|readable| now < *readable)
    }

    /// Returns the types with objects, sorted.
    pub fn kinds(&self) -> Vec<&Kind> {
        let mut kinds: Vec<&Kind> =
            self.objects.iter().filter(|(_, objects)| !objects.is_empty()).map(|(kind, _)| kind).collect();
        kinds.sort_unstable();
        kinds
    }

    /// The request at work on an object.
    pub fn at_work(&self, kind: &Kind, identifier: &str) -> Option<&Request> {
        self.requests.get(self.busy.get(&(kind.clone(), identifier.into()))?)
    }

    /// A request by its token.
    pub fn request(&self, token: &str) -> Option<&Request> {
        self.requests.get(token)
    }

    /// Returns the request with a client token, while it is remembered.
    pub fn request_of_client(&self, client_token: &str, now: u64) -> Option<&Request> {
        let request = self.requests.get(self.client_tokens.get(client_token)?)?;
        (now.saturating_sub(request.started) < CLIENT_TOKEN_LIFE).then_some(request)
    }

    /// All requests with their numbers, the newest first.
    pub fn requests_newest_first(&self) -> impl Iterator<Item = (usize, &Request)> {
        self.order.iter().enumerate().rev().filter_map(|(number, token)| Some((number, self.requests.get(token)?)))
    }
}
