//! Client side of action calls.

use std::sync::Arc;

use groma_provider::{
    InvokeActionRequest, PlanActionRequest, PlanActionResponse, ProviderDiagnostics, ValidateRequest,
};

use super::schemas::Kind;
use super::session::{Session, StreamControl};
use crate::methods;
use crate::proto::v6;
use crate::wire;

type Outcome<T> = Result<T, ProviderDiagnostics>;

pub(super) async fn validate(session: Arc<Session>, request: ValidateRequest) -> Outcome<ProviderDiagnostics> {
    let schema = session.schema(Kind::Action, &request.type_name)?;
    let message = v6::validate_action_config::Request {
        config: session.encode(&request.config, schema.block.implied_type())?,
        action_type: request.type_name.to_string(),
    };
    Ok(wire::diagnostics(session.call(methods::VALIDATE_ACTION, message).await?.diagnostics))
}

pub(super) async fn plan(session: Arc<Session>, request: PlanActionRequest) -> Outcome<PlanActionResponse> {
    let schema = session.schema(Kind::Action, &request.type_name)?;
    let message = v6::plan_action::Request {
        config: session.encode(&request.config, schema.block.implied_type())?,
        action_type: request.type_name.to_string(),
        client_capabilities: Some(wire::capabilities_message(request.client_capabilities)),
    };
    let response = session.call(methods::PLAN_ACTION, message).await?;
    Ok(PlanActionResponse {
        deferred: wire::deferred(response.deferred),
        diagnostics: wire::diagnostics(response.diagnostics),
    })
}

pub(super) async fn invoke(session: Arc<Session>, request: InvokeActionRequest) -> Outcome<ProviderDiagnostics> {
    use v6::invoke_action::event::Type;
    let schema = session.schema(Kind::Action, &request.type_name)?;
    let message = v6::invoke_action::Request {
        config: session.encode(&request.config, schema.block.implied_type())?,
        action_type: request.type_name.to_string(),
        client_capabilities: Some(wire::capabilities_message(request.client_capabilities)),
    };
    let mut problems = ProviderDiagnostics::new();
    let take = |event: v6::invoke_action::Event| {
        match event.r#type {
            Some(Type::Progress(progress)) => (request.progress)(&progress.message),
            Some(Type::Completed(completed)) => problems.extend(wire::diagnostics(completed.diagnostics)),
            None => {}
        }
        StreamControl::Continue
    };
    session.stream(methods::INVOKE_ACTION, message, take).await?;
    Ok(problems)
}
