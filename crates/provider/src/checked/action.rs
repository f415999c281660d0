//! Provider calls for actions: schema, validation, plan, invocation.

use std::sync::Arc;

use groma_diagnostics::{Diagnostic, Diagnostics, Span};
use groma_value::Value;

use super::contract_errors::{BUG, summary};
use super::response::{Unmarked, restore};
use super::{Checked, TypeKind, located};
use crate::contract::without_write_only;
use crate::protocol::{
    ActionProgress, ClientCapabilities, Deferred, InvokeActionRequest, PlanActionRequest, ValidateRequest,
};
use crate::{Answer, Block, BodyDecoder, Name, ProviderDiagnostics, Schema};

/// The action that a provider call concerns, used to locate its diagnostics.
#[derive(Clone, Copy)]
pub struct ActionSubject<'a> {
    /// The action type, for example `aws_lambda_invoke`.
    pub type_name: &'a Name,
    /// The decoder of the action's `config` block.
    pub body: &'a BodyDecoder,
    /// The header of the action block, for diagnostics without an attribute path.
    pub span: Span,
}

impl ActionSubject<'_> {
    fn locate(&self, problems: ProviderDiagnostics) -> Diagnostics {
        located(problems, Some(self.body), self.span, None)
    }
}

/// Returns the part of an action's configuration that may be stored and displayed: write-only attributes become null
/// (LC-29), attributes that the schema declares sensitive are marked (LC-28).
pub fn kept_action_config(block: &Block, config: &Value) -> Value {
    let Unmarked { value, marks } = Unmarked::of(config.clone());
    restore(block, without_write_only(block, &value), &marks)
}

impl Checked {
    /// Returns the schema of an action type, or `None` if the provider does not have it.
    ///
    /// # Errors
    ///
    /// The provider did not answer, or the schema is invalid.
    pub fn action_schema(&self, type_name: &str) -> Result<Option<Arc<Schema>>, Diagnostics> {
        self.type_schema(TypeKind::Action, type_name, |provider| provider.action_schema(type_name))
    }

    /// Checks the configuration of an action.
    pub fn validate_action<'a>(&'a self, subject: &ActionSubject<'a>, config: &Value) -> Answer<'a, Diagnostics> {
        let subject = *subject;
        let request = ValidateRequest {
            type_name: subject.type_name.clone(),
            config: config.unmark_deep().0,
            client_capabilities: ClientCapabilities::default(),
        };
        self.provider.validate_action(request).map(move |problems| subject.locate(problems))
    }

    /// Asks the provider whether an action can be invoked with `config`, and returns its deferral, if any.
    pub fn plan_action<'a>(
        &'a self,
        subject: &ActionSubject<'a>,
        config: &Value,
        capabilities: ClientCapabilities,
    ) -> Answer<'a, (Option<Deferred>, Diagnostics)> {
        let subject = *subject;
        let request = PlanActionRequest {
            type_name: subject.type_name.clone(),
            config: config.unmark_deep().0,
            client_capabilities: capabilities,
        };
        let answer = self.provider.plan_action(request);
        answer.map(move |response| {
            let mut diagnostics = subject.locate(response.diagnostics);
            if response.deferred.is_some() && !capabilities.deferral_allowed {
                let detail = format!(
                    "Provider {} deferred the action {}, although this run does not allow deferrals.\n\n{BUG}",
                    self.address, subject.type_name
                );
                diagnostics.push(Diagnostic::error(summary::UNALLOWED_DEFERRAL, detail).at(subject.span));
            }
            (response.deferred, diagnostics)
        })
    }

    /// Invokes an action; `progress` receives its messages while the action runs.
    pub fn invoke_action<'a>(
        &'a self,
        subject: &ActionSubject<'a>,
        config: &Value,
        progress: ActionProgress,
    ) -> Answer<'a, Diagnostics> {
        let subject = *subject;
        let request = InvokeActionRequest {
            type_name: subject.type_name.clone(),
            config: config.unmark_deep().0,
            client_capabilities: ClientCapabilities::default(),
            progress,
        };
        self.provider.invoke_action(request).map(move |problems| subject.locate(problems))
    }
}
