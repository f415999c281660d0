//! Ephemeral resources that are open: kept open for as long as the run goes on, and closed at its end (LC-29).

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use groma_address::ResourceInstance;
use groma_diagnostics::{Diagnostics, Span};
use groma_provider::{BodyDecoder, Checked, Opened, Private, Schema, Subject};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::hooks::{EphemeralPhase, Hooks};

/// Everything that a run has opened.
#[derive(Default)]
pub struct OpenEphemerals {
    open: Vec<OpenEphemeral>,
}

/// The identity of an open ephemeral resource, and its provider.
#[derive(Clone)]
pub struct EphemeralSubject {
    /// The address of the instance.
    pub address: ResourceInstance,
    /// The configured provider that opened it.
    pub provider: Arc<Checked>,
    /// The schema of its type.
    pub schema: Arc<Schema>,
    /// The decoder of its block.
    pub body: Arc<BodyDecoder>,
    /// The header of the resource block.
    pub span: Span,
}

/// An ephemeral resource that is open.
pub struct OpenEphemeral {
    subject: EphemeralSubject,
    kept: Arc<Mutex<Kept>>,
    renewing: Option<Renewing>,
}

/// The task that renews it.
struct Renewing {
    task: JoinHandle<()>,
    /// Dropped when it is to be renewed no more.
    closing: oneshot::Sender<()>,
}

/// The renewable part of an open ephemeral resource.
struct Kept {
    private: Private,
    problems: Diagnostics,
}

impl EphemeralSubject {
    fn subject(&self) -> Subject<'_> {
        Subject { address: &self.address, schema: &self.schema, body: Some(&self.body), span: self.span }
    }
}

impl OpenEphemeral {
    /// Takes care of what was opened. To be called inside the runtime, where it is renewed.
    pub fn new(subject: EphemeralSubject, opened: &Opened, hooks: &Arc<dyn Hooks>) -> Self {
        let kept = Kept { private: Arc::clone(&opened.private), problems: Diagnostics::new() };
        let kept = Arc::new(Mutex::new(kept));
        let renewing = opened.renew_at.map(|renew_at| {
            let (closing, closed) = oneshot::channel();
            let task = tokio::spawn(keep_open(subject.clone(), Arc::clone(&kept), renew_at, closed, Arc::clone(hooks)));
            Renewing { task, closing }
        });
        Self { subject, kept, renewing }
    }

    async fn close(self, hooks: &dyn Hooks) -> Diagnostics {
        let started = Instant::now();
        let address = self.subject.address.clone();
        hooks.ephemeral_start(&address, EphemeralPhase::Close);
        let diagnostics = self.end().await;
        if diagnostics.has_errors() {
            hooks.ephemeral_errored(&address, EphemeralPhase::Close, started.elapsed());
        } else {
            hooks.ephemeral_complete(&address, EphemeralPhase::Close, started.elapsed());
        }
        diagnostics
    }

    async fn end(self) -> Diagnostics {
        if let Some(Renewing { task, closing }) = self.renewing {
            drop(closing);
            // A renewal that is under way is waited for: it is to be closed with what that answers.
            let _ = task.await;
        }
        let (private, mut diagnostics) = {
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            (Arc::clone(&kept.private), std::mem::take(&mut kept.problems))
        };
        diagnostics.append(self.subject.provider.close_ephemeral(&self.subject.subject(), private).await);
        diagnostics
    }
}

/// Renews a resource again and again, until it is closed or needs no renewal any more.
async fn keep_open(
    subject: EphemeralSubject,
    kept: Arc<Mutex<Kept>>,
    mut renew_at: SystemTime,
    mut closed: oneshot::Receiver<()>,
    hooks: Arc<dyn Hooks>,
) {
    while tokio::time::timeout(until(renew_at), &mut closed).await.is_err() {
        let private = Arc::clone(&kept.lock().unwrap_or_else(PoisonError::into_inner).private);
        let started = Instant::now();
        hooks.ephemeral_start(&subject.address, EphemeralPhase::Renew);
        let (renewed, problems) = subject.provider.renew_ephemeral(&subject.subject(), private).await;
        let failed = problems.has_errors();
        if failed {
            hooks.ephemeral_errored(&subject.address, EphemeralPhase::Renew, started.elapsed());
        } else {
            hooks.ephemeral_complete(&subject.address, EphemeralPhase::Renew, started.elapsed());
        }
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.problems.append(problems);
        match renewed.renew_at.filter(|_| !failed) {
            Some(next) => {
                kept.private = renewed.private;
                renew_at = next;
            }
            None => return,
        }
    }
}

/// Returns the time to wait before renewal: a little less than the time left.
fn until(renew_at: SystemTime) -> Duration {
    let left = renew_at.duration_since(SystemTime::now()).unwrap_or_default();
    left.saturating_sub((left / 10).min(Duration::from_secs(10))).max(Duration::from_millis(1))
}

impl OpenEphemerals {
    /// One more is open.
    pub fn push(&mut self, open: OpenEphemeral) {
        self.open.push(open);
    }

    /// Closes all ephemeral resources in reverse order of opening, because later ones may depend on earlier ones.
    pub async fn close(&mut self, hooks: &dyn Hooks) -> Diagnostics {
        let mut diagnostics = Diagnostics::new();
        while let Some(open) = self.open.pop() {
            diagnostics.append(open.close(hooks).await);
        }
        diagnostics
    }
}
