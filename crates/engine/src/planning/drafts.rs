//! Invocations of actions before their providers have said what they think of them, and the question.

use std::collections::HashSet;
use std::sync::Arc;

use groma_address::ResourceInstance;
use groma_diagnostics::{Diagnostics, Span};
use groma_provider::{ActionSubject, Checked};
use groma_value::Value;

use crate::deferral::{DeferredInvocation, Which};
use crate::invocation::{ActionInstance, Invocation};
use crate::invocation_problems::{Summaries, gathered};
use crate::options::Deferral;
use crate::plan::DeferralReason;
use crate::templates::Template;

/// An invocation before its provider was asked.
pub(super) struct InvocationDraft {
    pub(super) invocation: Invocation,
    /// The evaluated configuration for the provider, with ephemeral values, which no plan contains.
    pub(super) config: Value,
    pub(super) which: Which,
    pub(super) template: Arc<Template>,
    pub(super) ask: Ask,
    pub(super) span: Span,
    /// The element of a list that names it.
    pub(super) named_at: Option<Span>,
}

/// Whether a provider is asked about an invocation.
pub(super) enum Ask {
    Now(Arc<Checked>),
    /// The invocation is deferred for this reason.
    Never(DeferralReason),
}

/// Invocations with what their providers say of them.
pub(super) struct PlannedInvocations {
    pub(super) invocations: Vec<Invocation>,
    /// The deferred invocations.
    pub(super) deferred: Vec<DeferredInvocation>,
    pub(super) diagnostics: Diagnostics,
}

/// Asks providers about invocations, one after the other.
pub(super) async fn asked(drafts: Vec<InvocationDraft>, deferral: Deferral) -> PlannedInvocations {
    let mut planned = PlannedInvocations {
        invocations: Vec::with_capacity(drafts.len()),
        deferred: Vec::new(),
        diagnostics: Diagnostics::new(),
    };
    // Changes whose list came to something that is left to a later run, before them or after.
    let mut broken: HashSet<(ResourceInstance, bool)> = HashSet::new();
    for InvocationDraft { invocation, config, which, template, ask, span, named_at } in drafts {
        let list = invocation.trigger().map(|(resource, event)| (resource.clone(), event.is_before()));
        let reason = match ask {
            Ask::Never(reason) => Some(reason),
            Ask::Now(_) if list.as_ref().is_some_and(|list| broken.contains(list)) => {
                Some(DeferralReason::DeferredPrerequisite)
            }
            Ask::Now(provider) => {
                let subject = ActionSubject { type_name: &invocation.action.type_name, body: &template.body, span };
                let answer = provider.plan_action(&subject, &config, deferral.capabilities());
                let (deferred, problems) = answer.await;
                let failed = problems.has_errors();
                planned.diagnostics.append(told(problems, &invocation.action, named_at));
                if failed && named_at.is_some() {
                    continue;
                }
                deferred.map(DeferralReason::from)
            }
        };
        match reason {
            None => planned.invocations.push(invocation),
            Some(reason) => {
                broken.extend(list);
                planned.deferred.push(DeferredInvocation { reason, invocation, which });
            }
        }
    }
    planned
}

const SUMMARIES: Summaries = Summaries { error: "Failed to plan action", warning: "Warnings when planning action" };

/// Problems with an action, at the element of a list that names it; where a person asks for it, they are about the action itself.
fn told(problems: Diagnostics, action: &ActionInstance, named_at: Option<Span>) -> Diagnostics {
    match named_at {
        Some(span) => gathered(problems, &SUMMARIES).into_iter().map(|problem| problem.at(span)).collect(),
        None => problems.into_iter().map(|problem| problem.about(action.to_string())).collect(),
    }
}
