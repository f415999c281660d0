//! The start of a request that changes something.

use sha2::{Digest, Sha256};

use super::{Outcome, invalid, refuse_concurrent};
use crate::api::{ApiError, Fault, HandlerErrorCode, Operation, ProgressEvent};
use crate::emulator::faults::HookResult;
use crate::emulator::index::{Effect, Kind, Record, Request};
use crate::emulator::store::{Store, Turn};

impl Store {
    /// Writes the start of a request down. Its answer says that it is under way, however quickly it ends.
    pub(super) fn begin(&self, turn: &mut Turn<'_>, mut start: Start, client: Client<'_>) -> Outcome<ProgressEvent> {
        let hooks = self.damage_cases.hooks().to_vec();
        let stopping: Vec<&str> =
            hooks.iter().filter(|hook| hook.result == HookResult::Fail).map(|hook| &*hook.name).collect();
        if !stopping.is_empty() {
            let message = format!("The following hook(s) failed: [{}]", stopping.join(", "));
            start.failure = Some((HandlerErrorCode::GeneralServiceException, message));
        } else if let Some(failure) = self.damage_cases.failure(&start.kind.type_name) {
            start.failure = Some(failure);
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
            // The first part of the time a request waits for its turn, as in a busy account.
            active: turn.now.saturating_add(delay / 8),
            hooks: hooks.into_iter().map(|hook| (hook.name, hook.result)).collect(),
            ready: turn.now.saturating_add(delay),
            effect: if start.failure.is_some() { Effect::Nothing } else { start.effect },
            failure: start.failure,
            cancelled: None,
        };
        // Even without a delay the first answer is not final, so that clients have to poll.
        let mut answer = request.progress(request.started.saturating_sub(1));
        answer.event_time = request.started as f64 / 1_000.0;
        turn.record(Record::Request(Box::new(request)))?;
        Ok(answer)
    }
}

/// A request about to be written down.
pub(super) struct Start {
    operation: Operation,
    kind: Kind,
    identifier: Option<String>,
    pub(super) failure: Option<(HandlerErrorCode, String)>,
    pub(super) effect: Effect,
}

impl Start {
    pub(super) fn new(operation: Operation, kind: &Kind, identifier: Option<String>) -> Self {
        Self { operation, kind: kind.clone(), identifier, failure: None, effect: Effect::Nothing }
    }

    /// A creation fails where there is an object already, and is refused where one is on its way.
    pub(super) fn exists(&mut self, turn: &Turn<'_>, kind: &Kind, identifier: &str) -> Outcome<()> {
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
pub(super) struct Client<'a> {
    token: Option<&'a str>,
    fingerprint: String,
}

impl<'a> Client<'a> {
    pub(super) fn new(token: Option<&'a str>, parts: &[&str]) -> Outcome<Self> {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-+/=".contains(&byte);
        if let Some(text) = token
            && (text.is_empty() || text.len() > 128 || !text.bytes().all(allowed))
        {
            return Err(invalid("ClientToken must be 1 to 128 characters of [-A-Za-z0-9+/=]"));
        }
        let mut hash = Sha256::new();
        for part in parts {
            // The lengths distinguish parts whose concatenation is the same.
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
        let fingerprint = hash.finalize().iter().take(12).map(|byte| format!("{byte:02x}")).collect();
        Ok(Self { token, fingerprint })
    }

    /// Returns the existing request with this client token.
    pub(super) fn known(&self, turn: &Turn<'_>) -> Outcome<Option<ProgressEvent>> {
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
