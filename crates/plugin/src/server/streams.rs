//! Calls with response streams: actions and list queries.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::{FutureExt, stream};
use groma_provider::{
    GenerateConfigRequest, InvokeActionRequest, ListControl, ListDetail, ListRequest, Listed, PlanActionRequest,
    ProviderDiagnostics, Schema,
};
use groma_value::Value;
use tokio::sync::mpsc;
use tonic::Status;
use tonic::codegen::BoxStream;

use super::adapter::{Adapter, StepResult, decode_request, encode_identity, encode_response, validation};

use super::services::{on_own_thread, panicked};
use crate::proto::v6::{self, invoke_action, list_resource};
use crate::wire;

type Sender<M> = mpsc::UnboundedSender<Result<M, Status>>;

impl Adapter {
    pub async fn validate_action(
        &self,
        message: v6::validate_action_config::Request,
    ) -> StepResult<ProviderDiagnostics> {
        let schema = self.action(&message.action_type)?;
        let request = validation(message.action_type, message.config.as_ref(), &schema)?;
        Ok(self.provider().validate_action(request).await)
    }

    pub async fn validate_list(
        &self,
        message: v6::validate_list_resource_config::Request,
    ) -> StepResult<ProviderDiagnostics> {
        let schema = self.list(&message.type_name)?;
        let request = validation(message.type_name, message.config.as_ref(), &schema)?;
        Ok(self.provider().validate_list(request).await)
    }

    pub async fn plan_action(&self, message: v6::plan_action::Request) -> StepResult<v6::plan_action::Response> {
        let schema = self.action(&message.action_type)?;
        let request = PlanActionRequest {
            config: decode_request(message.config.as_ref(), schema.block.implied_type(), "the configuration")?,
            client_capabilities: wire::client_capabilities(message.client_capabilities.as_ref()),
            type_name: message.action_type.into(),
        };
        let response = self.provider().plan_action(request).await;
        Ok(v6::plan_action::Response {
            deferred: wire::deferred_message(response.deferred),
            diagnostics: wire::diagnostics_message(&response.diagnostics),
        })
    }

    pub async fn generate_config(
        &self,
        message: v6::generate_resource_config::Request,
    ) -> StepResult<v6::generate_resource_config::Response> {
        let schema = self.resource(&message.type_name)?;
        let ty = schema.block.implied_type();
        let state = decode_request(message.state.as_ref(), ty, "the object")?;
        let request = GenerateConfigRequest { type_name: message.type_name.into(), state };
        let mut response = self.provider().generate_config(request).await;
        Ok(v6::generate_resource_config::Response {
            config: encode_response(&response.config, ty, &mut response.diagnostics),
            diagnostics: wire::diagnostics_message(&response.diagnostics),
        })
    }

    /// Runs an action; its messages are streamed as they arrive, and its diagnostics complete the stream.
    pub fn invoke_action(self: &Arc<Self>, message: invoke_action::Request) -> BoxStream<invoke_action::Event> {
        let adapter = Arc::clone(self);
        streamed(move |sender| async move {
            let problems = adapter.invoked(message, sender.clone()).await.unwrap_or_else(|problems| problems);
            let completed = invoke_action::event::Completed { diagnostics: wire::diagnostics_message(&problems) };
            // Sent even after an error: the host recognizes the end of the action by this event.
            let _ = sender.send(Ok(event(invoke_action::event::Type::Completed(completed))));
        })
    }

    async fn invoked(
        &self,
        message: invoke_action::Request,
        sender: Sender<invoke_action::Event>,
    ) -> StepResult<ProviderDiagnostics> {
        let schema = self.action(&message.action_type)?;
        let request = InvokeActionRequest {
            config: decode_request(message.config.as_ref(), schema.block.implied_type(), "the configuration")?,
            client_capabilities: wire::client_capabilities(message.client_capabilities.as_ref()),
            type_name: message.action_type.into(),
            progress: Arc::new(move |message| {
                let progress = invoke_action::event::Progress { message: message.to_owned() };
                let _ = sender.send(Ok(event(invoke_action::event::Type::Progress(progress))));
            }),
        };
        Ok(self.provider().invoke_action(request).await)
    }

    /// Runs a list query; its results are streamed as they are found.
    pub fn list_resource(self: &Arc<Self>, message: list_resource::Request) -> BoxStream<list_resource::Event> {
        let adapter = Arc::clone(self);
        streamed(move |sender| async move {
            let problems = adapter.listed(message, sender.clone()).await.unwrap_or_else(|problems| problems);
            if !problems.is_empty() {
                let diagnostic = wire::diagnostics_message(&problems);
                let _ = sender.send(Ok(list_resource::Event { diagnostic, ..Default::default() }));
            }
        })
    }

    async fn listed(
        &self,
        message: list_resource::Request,
        sender: Sender<list_resource::Event>,
    ) -> StepResult<ProviderDiagnostics> {
        let schema = self.list(&message.type_name)?;
        let resource = self.resource(&message.type_name)?;
        let detail = if message.include_resource_object { ListDetail::Objects } else { ListDetail::Identities };
        let request = ListRequest {
            config: decode_request(message.config.as_ref(), schema.block.implied_type(), "the configuration")?,
            type_name: message.type_name.into(),
            detail,
            // A negative limit is invalid and lists nothing.
            limit: u64::try_from(message.limit).unwrap_or_default(),
            found: Arc::new(move |listed| match sender.send(Ok(found(listed, &resource))) {
                Ok(()) => ListControl::Continue,
                Err(_) => ListControl::Stop,
            }),
        };
        Ok(self.provider().list_resource(request).await)
    }
}

fn found(mut listed: Listed, resource: &Schema) -> list_resource::Event {
    let identity = encode_identity(listed.identity.as_ref(), resource, &mut listed.diagnostics);
    let object: Option<Value> = listed.object;
    let ty = resource.block.implied_type();
    let resource_object = object.and_then(|object| encode_response(&object, ty, &mut listed.diagnostics));
    list_resource::Event {
        identity,
        display_name: listed.display_name,
        resource_object,
        diagnostic: wire::diagnostics_message(&listed.diagnostics),
    }
}

fn event(what: invoke_action::event::Type) -> invoke_action::Event {
    invoke_action::Event { r#type: Some(what) }
}

/// Returns the stream of the messages that `work` sends. The work continues without a receiver: an action cannot be
/// undone.
pub(super) fn streamed<M, F>(work: impl FnOnce(Sender<M>) -> F) -> BoxStream<M>
where
    M: Send + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    // Unbounded, because the provider's callbacks are synchronous and must not block.
    let (sender, receiver) = mpsc::unbounded_channel();
    // The clone keeps a sender for the report of a panic.
    let working = AssertUnwindSafe(work(sender.clone())).catch_unwind();
    on_own_thread(async move {
        if let Err(panic) = working.await {
            let _ = sender.send(Err(panicked(&*panic)));
        }
    });
    Box::pin(stream::unfold(receiver, |mut receiver| async move {
        receiver.recv().await.map(|message| (message, receiver))
    }))
}
