//! Answers about managed resources, with the faults that the script has for them.

use std::time::Duration;

use groma_provider::{Answer, Name, ProviderDiagnostics};

use super::Scripted;
use crate::call::Operation;
use crate::delay::Delay;
use crate::fault::Fault;
use crate::script::ResourceScript;

/// What a call is about.
pub(super) struct Asked {
    pub(super) operation: Operation,
    pub(super) type_name: Name,
    pub(super) object: String,
}

/// How the answers of an operation go wrong.
pub(super) struct Wrong<Request, Response> {
    /// The answer that tells nothing but problems.
    pub(super) refused: fn(&Request, ProviderDiagnostics) -> Response,
    /// What a fault makes of an answer.
    pub(super) spoil: fn(&Fault, &mut Response),
}

impl Scripted {
    /// What `respond` answers, after a while if the script says so, unless a fault comes before.
    pub(super) fn faulty<'a, Request: Send + 'a, Response: Send + 'a>(
        &'a self,
        asked: &Asked,
        request: Request,
        wrong: Wrong<Request, Response>,
        respond: impl FnOnce(&'a ResourceScript, &Request) -> Response + Send + 'a,
    ) -> Answer<'a, Response> {
        let script = match self.script(&asked.type_name) {
            Ok(script) => script,
            Err(problems) => return Answer::ready((wrong.refused)(&request, problems)),
        };
        let fault = script.fault_of(asked.operation, &asked.object).cloned();
        delayed(script.delay_of(asked.operation), move || {
            if let Some(problems) = fault.as_ref().and_then(Fault::before) {
                return (wrong.refused)(&request, problems);
            }
            let mut response = respond(script, &request);
            if let Some(fault) = &fault {
                (wrong.spoil)(fault, &mut response);
            }
            response
        })
    }
}

/// `respond`, after a while if the script says so.
pub(super) fn delayed<'a, T: Send + 'a>(
    delay: Option<Duration>,
    respond: impl FnOnce() -> T + Send + 'a,
) -> Answer<'a, T> {
    match delay {
        None => Answer::ready(respond()),
        Some(duration) => Answer::later(async move {
            Delay::new(duration).await;
            respond()
        }),
    }
}
