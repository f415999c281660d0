//! Responses for managed resources with the scripted faults.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use groma_provider::{Answer, Name, ProviderDiagnostics};

use super::Scripted;
use crate::call::Operation;
use crate::fault::Fault;
use crate::script::ResourceScript;

/// The operation and object of a call, which select the faults.
pub(super) struct CallInfo {
    pub(super) operation: Operation,
    pub(super) type_name: Name,
    pub(super) object: String,
}

/// The effect of faults on the responses of an operation.
pub(super) struct FaultEffects<Request, Response> {
    /// Creates the response that consists of diagnostics alone.
    pub(super) reject: fn(&Request, ProviderDiagnostics) -> Response,
    /// Modifies a response according to a fault.
    pub(super) distort_response: fn(&Fault, &mut Response),
}

impl Scripted {
    /// Returns the response of `respond` with the scripted delay and faults.
    pub(super) fn respond_with_faults<'a, Request: Send + 'a, Response: Send + 'a>(
        &'a self,
        call: &CallInfo,
        request: Request,
        effects: FaultEffects<Request, Response>,
        respond: impl FnOnce(&'a ResourceScript, &Request) -> Response + Send + 'a,
    ) -> Answer<'a, Response> {
        let script = match self.script(&call.type_name) {
            Ok(script) => script,
            Err(problems) => return Answer::ready((effects.reject)(&request, problems)),
        };
        let fault = script.fault_of(call.operation, &call.object).cloned();
        // The fault happens after the delay, as a real failure would.
        delayed(script.delay_of(call.operation), move || {
            if let Some(problems) = fault.as_ref().and_then(Fault::before) {
                return (effects.reject)(&request, problems);
            }
            let mut response = respond(script, &request);
            if let Some(fault) = &fault {
                (effects.distort_response)(fault, &mut response);
            }
            response
        })
    }
}

/// Calls `respond`, after `delay` if there is one.
pub(super) fn delayed<'a, T: Send + 'a>(
    delay: Option<Duration>,
    respond: impl FnOnce() -> T + Send + 'a,
) -> Answer<'a, T> {
    match delay {
        None => Answer::ready(respond()),
        Some(duration) => Answer::pending(async move {
            Delay::new(duration).await;
            respond()
        }),
    }
}

/// Completes after a duration. A thread of its own does the waiting, so any executor can await it.
pub(crate) struct Delay {
    shared: Arc<Mutex<Shared>>,
    duration: Duration,
    started: bool,
}

#[derive(Default)]
struct Shared {
    over: bool,
    waker: Option<Waker>,
}

impl Delay {
    pub(crate) fn new(duration: Duration) -> Self {
        Self { shared: Arc::default(), duration, started: false }
    }
}

impl Future for Delay {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        {
            let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
            if shared.over {
                return Poll::Ready(());
            }
            shared.waker = Some(context.waker().clone());
        }
        // Started on the first poll, because only then a waker exists.
        if !self.started {
            self.started = true;
            let (shared, duration) = (Arc::clone(&self.shared), self.duration);
            std::thread::spawn(move || {
                std::thread::sleep(duration);
                let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
                shared.over = true;
                if let Some(waker) = shared.waker.take() {
                    waker.wake();
                }
            });
        }
        Poll::Pending
    }
}
