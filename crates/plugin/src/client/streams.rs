//! Client side of list queries and actions, whose responses are streams.

use std::sync::Arc;

use groma_provider::{
    GenerateConfigRequest, GenerateConfigResponse, InvokeActionRequest, ListControl, ListDetail, ListRequest, Listed,
    PlanActionRequest, PlanActionResponse, ProviderDiagnostics, Schema, ValidateRequest,
};
use groma_value::Value;

use super::resources::identity_value;
use super::schemas::Kind;
use super::session::{Session, StreamControl};
use crate::proto::v6;
use crate::{protocol, wire};

type Outcome<T> = Result<T, ProviderDiagnostics>;

pub(super) async fn validate_list(session: Arc<Session>, request: ValidateRequest) -> Outcome<ProviderDiagnostics> {
    let schema = session.schema(Kind::List, &request.type_name)?;
    let message = v6::validate_list_resource_config::Request {
        config: session.encode(&request.config, schema.block.implied_type())?,
        type_name: request.type_name.to_string(),
        ..Default::default()
    };
    Ok(wire::diagnostics(session.call(protocol::VALIDATE_LIST, message).await?.diagnostics))
}

pub(super) async fn list(session: Arc<Session>, request: ListRequest) -> Outcome<ProviderDiagnostics> {
    let schema = session.schema(Kind::List, &request.type_name)?;
    // The results are objects of the resource type; the schema of the list only describes its configuration.
    let resource = session.schema(Kind::Resource, &request.type_name)?;
    let message = v6::list_resource::Request {
        type_name: request.type_name.to_string(),
        config: session.encode(&request.config, schema.block.implied_type())?,
        include_resource_object: request.detail == ListDetail::Objects,
        limit: i64::try_from(request.limit).unwrap_or(i64::MAX),
    };
    let mut remaining = request.limit;
    let mut problems = ProviderDiagnostics::new();
    let take = |event: v6::list_resource::Event| match listed(&session, &resource, event) {
        Ok(listed) => {
            // Events with diagnostics only do not count toward the limit.
            remaining = remaining.saturating_sub(u64::from(listed.identity.is_some()));
            let ends = listed.diagnostics.has_errors() || remaining == 0;
            let control = (request.found)(listed);
            if ends || control == ListControl::Stop { StreamControl::Stop } else { StreamControl::Continue }
        }
        Err(unreadable) => {
            // One invalid event ends the query: the events after it are from the same provider code.
            problems.extend(unreadable);
            StreamControl::Stop
        }
    };
    // Providers may take zero for the absence of a limit.
    if request.limit > 0 {
        session.stream(protocol::LIST, message, take).await?;
    }
    Ok(problems)
}

fn listed(session: &Session, resource: &Schema, event: v6::list_resource::Event) -> Outcome<Listed> {
    let ty = resource.block.implied_type();
    let identity = resource.identity_type();
    let object = event.resource_object.as_ref().map(|object| session.decode(Some(object), ty)).transpose()?;
    Ok(Listed {
        identity: identity_value(session, event.identity.as_ref(), identity.as_ref())?,
        display_name: event.display_name,
        object,
        diagnostics: wire::diagnostics(event.diagnostic),
    })
}

pub(super) async fn generate_config(
    session: Arc<Session>,
    request: GenerateConfigRequest,
) -> Outcome<GenerateConfigResponse> {
    let schema = session.schema(Kind::Resource, &request.type_name)?;
    let ty = schema.block.implied_type();
    let message = v6::generate_resource_config::Request {
        state: session.encode(&request.state, ty)?,
        type_name: request.type_name.to_string(),
    };
    let response = session.call(protocol::GENERATE_CONFIG, message).await?;
    let diagnostics = wire::diagnostics(response.diagnostics);
    let config = match session.decode(response.config.as_ref(), ty) {
        // The provider's own errors matter, not that it returned no object with them.
        Err(_) if diagnostics.has_errors() => Value::null(ty.clone()),
        decoded => decoded?,
    };
    Ok(GenerateConfigResponse { config, diagnostics })
}

pub(super) async fn validate_action(session: Arc<Session>, request: ValidateRequest) -> Outcome<ProviderDiagnostics> {
    let schema = session.schema(Kind::Action, &request.type_name)?;
    let message = v6::validate_action_config::Request {
        config: session.encode(&request.config, schema.block.implied_type())?,
        action_type: request.type_name.to_string(),
    };
    Ok(wire::diagnostics(session.call(protocol::VALIDATE_ACTION, message).await?.diagnostics))
}

pub(super) async fn plan_action(session: Arc<Session>, request: PlanActionRequest) -> Outcome<PlanActionResponse> {
    let schema = session.schema(Kind::Action, &request.type_name)?;
    let message = v6::plan_action::Request {
        config: session.encode(&request.config, schema.block.implied_type())?,
        action_type: request.type_name.to_string(),
        client_capabilities: Some(wire::capabilities_message(request.client_capabilities)),
    };
    let response = session.call(protocol::PLAN_ACTION, message).await?;
    Ok(PlanActionResponse {
        deferred: wire::deferred(response.deferred),
        diagnostics: wire::diagnostics(response.diagnostics),
    })
}

pub(super) async fn invoke_action(session: Arc<Session>, request: InvokeActionRequest) -> Outcome<ProviderDiagnostics> {
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
    session.stream(protocol::INVOKE_ACTION, message, take).await?;
    Ok(problems)
}
