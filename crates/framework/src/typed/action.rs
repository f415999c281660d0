//! Actions whose configuration is a model.

use std::future::Future;

use groma_provider::{
    ActionProgress, Answer, InvokeActionRequest, PlanActionRequest, PlanActionResponse, ProviderDiagnostic,
    ProviderDiagnostics, SchemaProblem,
};
use groma_value::Value;

use crate::definition::Action;
use crate::model::Model;
use crate::stopping::{StopSignal, StopSignals};
use crate::{ResourceSchema, SchemaBuilder};

/// The context of an invocation.
pub struct ActionContext {
    /// Whether the host wants running operations to end soon.
    pub stopping: StopSignal,
    progress: ActionProgress,
    diagnostics: ProviderDiagnostics,
}

impl ActionContext {
    /// Sends a progress message, which the host shows immediately.
    pub fn send_progress(&self, message: &str) {
        (self.progress)(message);
    }

    /// Adds a warning, which is reported at the end.
    pub fn warn(&mut self, summary: impl Into<String>, detail: impl Into<String>) {
        self.diagnostics.push(ProviderDiagnostic::warning(summary, detail));
    }
}

/// An action type whose configuration is a struct. An action runs on request (`-invoke`) or before or after a change, and leaves no
/// object in the state.
///
/// ```
/// use groma_framework::{Bundle, ActionContext, Model, ModelAction, ProviderDiagnostic};
///
/// /// The text.
/// #[derive(Model)]
/// struct Message {
///     text: String,
/// }
///
/// struct Say;
///
/// impl ModelAction for Say {
///     type Model = Message;
///
///     async fn invoke(&self, config: Message, context: &mut ActionContext) -> Result<(), ProviderDiagnostic> {
///         context.send_progress(&config.text);
///         Ok(())
///     }
/// }
///
/// assert!(Bundle::new().action("talk_say", Say).build().is_ok());
/// ```
pub trait ModelAction: Send + Sync + 'static {
    /// The model of the configuration.
    type Model: Model + Send;

    /// Returns the schema: by default that of the model.
    fn schema(&self) -> SchemaBuilder {
        Self::Model::schema()
    }

    /// Checks a configuration as a whole, after the validators of the attributes. It may hold unknown values.
    fn validate(&self, config: Value) -> impl Future<Output = ProviderDiagnostics> + Send {
        let _ = config;
        async { ProviderDiagnostics::new() }
    }

    /// Reports problems that would prevent the invocation. The configuration may contain unknown values. If the request
    /// allows it, an action that cannot be checked yet may be deferred.
    fn plan(&self, request: PlanActionRequest) -> impl Future<Output = PlanActionResponse> + Send {
        let _ = request;
        async { PlanActionResponse::default() }
    }

    /// Invokes the action. The configuration is wholly known.
    fn invoke(
        &self,
        config: Self::Model,
        context: &mut ActionContext,
    ) -> impl Future<Output = Result<(), ProviderDiagnostic>> + Send;
}

/// A [`ModelAction`] as an [`Action`].
pub struct ActionAdapter<A> {
    action: A,
    schema: ResourceSchema,
    stops: StopSignals,
}

impl<A: ModelAction> ActionAdapter<A> {
    /// Wraps `action` after a check of its schema. `stops` signals its calls to end soon.
    ///
    /// # Errors
    ///
    /// Returns the problems of the schema, and its differences from the model (FW-18, FW-20).
    pub fn new(action: A, stops: StopSignals) -> Result<Self, Vec<SchemaProblem>> {
        let schema = action.schema().build()?;
        let problems = A::Model::mismatches(&schema);
        if problems.is_empty() { Ok(Self { action, schema, stops }) } else { Err(problems) }
    }
}

impl<A: ModelAction> Action for ActionAdapter<A> {
    fn schema(&self) -> &ResourceSchema {
        &self.schema
    }

    fn validate(&self, config: Value) -> Answer<'_, ProviderDiagnostics> {
        Answer::pending(self.action.validate(config))
    }

    fn plan(&self, request: PlanActionRequest) -> Answer<'_, PlanActionResponse> {
        Answer::pending(self.action.plan(request))
    }

    fn invoke(&self, request: InvokeActionRequest) -> Answer<'_, ProviderDiagnostics> {
        Answer::pending(async move {
            let diagnostics = ProviderDiagnostics::new();
            let mut context =
                ActionContext { stopping: self.stops.for_call(), progress: request.progress, diagnostics };
            let result = match A::Model::of(&request.config) {
                Ok(config) => self.action.invoke(config, &mut context).await,
                Err(problem) => Err(problem.into()),
            };
            let mut diagnostics = context.diagnostics;
            diagnostics.extend(result.err());
            diagnostics
        })
    }
}
