//! Actions.

use std::sync::Arc;

use groma_diagnostics::{Diagnostic, Diagnostics, Span};
use groma_value::Value;

use super::blame::{BUG, summary};
use super::marks::{Unmarked, restore};
use super::{Checked, TypeKind, placed};
use crate::contract::without_write_only;
use crate::protocol::{
    ActionProgress, ClientCapabilities, Deferred, InvokeActionRequest, PlanActionRequest, ValidateRequest,
};
use crate::{Answer, Block, BodyDecoder, Name, ProviderDiagnostics, Schema};

/// The action that a call is about.
#[derive(Clone, Copy)]
pub struct ActionSubject<'a> {
    /// The action type.
    pub type_name: &'a Name,
    /// Its configuration.
    pub body: &'a BodyDecoder,
    /// Where the action is declared.
    pub span: Span,
}

impl ActionSubject<'_> {
    fn place(&self, problems: ProviderDiagnostics) -> Diagnostics {
        placed(problems, Some(self.body), self.span, None)
    }
}

/// What may be kept of an action's configuration, in a plan and on the screen: nothing of write-only attributes (LC-29), and with the
/// sensitive mark wherever the schema hides something (LC-28).
pub fn kept_action_config(block: &Block, config: &Value) -> Value {
    let Unmarked { value, marks } = Unmarked::of(config.clone());
    restore(block, without_write_only(block, &value), &marks)
}

impl Checked {
    /// The schema of an action; `None` when the provider does not have it.
    ///
    /// # Errors
    ///
    /// The provider could not answer, or the schema is unsound.
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
        self.provider.validate_action(request).map(move |problems| subject.place(problems))
    }

    /// Asks what the provider says of an action before it is invoked.
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
            let mut diagnostics = subject.place(response.diagnostics);
            if response.deferred.is_some() && !capabilities.deferral_allowed {
                let detail = format!(
                    "Provider {} answered that it cannot plan the action {} yet, which it was not allowed to.\n\n{BUG}",
                    self.address, subject.type_name
                );
                diagnostics.push(Diagnostic::error(summary::UNALLOWED_DEFERRAL, detail).at(subject.span));
            }
            (response.deferred, diagnostics)
        })
    }

    /// Has an action done; `progress` is told what goes on.
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
        self.provider.invoke_action(request).map(move |problems| subject.place(problems))
    }
}
