//! Client side of calls for ephemeral resources and functions, whose results are never stored.

use std::sync::Arc;

use groma_provider::{
    CallFunctionRequest, CloseEphemeralRequest, EphemeralResponse, FunctionError, OpenEphemeralRequest,
    OpenEphemeralResponse, Private, ProviderDiagnostics, RenewEphemeralRequest, ValidateRequest,
};
use groma_value::Value;
use prost::bytes::Bytes;

use super::schemas::Kind;
use super::session::Session;
use crate::methods;
use crate::proto::v6;
use crate::wire;

type Outcome<T> = Result<T, ProviderDiagnostics>;

pub(super) async fn validate(session: Arc<Session>, request: ValidateRequest) -> Outcome<ProviderDiagnostics> {
    let schema = session.schema(Kind::Ephemeral, &request.type_name)?;
    let message = v6::validate_ephemeral_resource_config::Request {
        config: session.encode(&request.config, schema.block.implied_type())?,
        type_name: request.type_name.to_string(),
    };
    Ok(wire::diagnostics(session.call(methods::VALIDATE_EPHEMERAL, message).await?.diagnostics))
}

pub(super) async fn open(session: Arc<Session>, request: OpenEphemeralRequest) -> Outcome<OpenEphemeralResponse> {
    let schema = session.schema(Kind::Ephemeral, &request.type_name)?;
    let ty = schema.block.implied_type();
    let message = v6::open_ephemeral_resource::Request {
        config: session.encode(&request.config, ty)?,
        type_name: request.type_name.to_string(),
        client_capabilities: Some(wire::capabilities_message(request.client_capabilities)),
    };
    let response = session.call(methods::OPEN_EPHEMERAL, message).await?;
    let diagnostics = wire::diagnostics(response.diagnostics);
    let result = match session.decode(response.result.as_ref(), ty) {
        // After its own errors the provider may return nothing usable; those errors matter, not the decoding.
        Err(_) if diagnostics.has_errors() => request.config,
        decoded => decoded?,
    };
    Ok(OpenEphemeralResponse {
        result,
        renew_at: wire::time(response.renew_at),
        private: private(response.private.as_ref()),
        deferred: wire::deferred(response.deferred),
        diagnostics,
    })
}

pub(super) async fn renew(session: Arc<Session>, request: RenewEphemeralRequest) -> Outcome<EphemeralResponse> {
    let message = v6::renew_ephemeral_resource::Request {
        type_name: request.type_name.to_string(),
        private: Some(wire::private_bytes(&request.private)),
    };
    let response = session.call(methods::RENEW_EPHEMERAL, message).await?;
    Ok(EphemeralResponse {
        renew_at: wire::time(response.renew_at),
        private: private(response.private.as_ref()),
        diagnostics: wire::diagnostics(response.diagnostics),
    })
}

pub(super) async fn close(session: Arc<Session>, request: CloseEphemeralRequest) -> Outcome<ProviderDiagnostics> {
    let message = v6::close_ephemeral_resource::Request {
        type_name: request.type_name.to_string(),
        private: Some(wire::private_bytes(&request.private)),
    };
    Ok(wire::diagnostics(session.call(methods::CLOSE_EPHEMERAL, message).await?.diagnostics))
}

fn private(bytes: Option<&Bytes>) -> Private {
    bytes.map(wire::private).unwrap_or_default()
}

pub(super) async fn call_function(
    session: Arc<Session>,
    request: CallFunctionRequest,
) -> Outcome<Result<Value, FunctionError>> {
    let CallFunctionRequest { name, signature, arguments: given } = request;
    // Each further argument has the type of the variadic parameter.
    let types = signature.parameters.iter().chain(signature.variadic.iter().cycle());
    let mut arguments = Vec::with_capacity(given.len());
    for (value, parameter) in given.iter().zip(types) {
        arguments.extend(session.encode(value, &parameter.ty)?);
    }
    let message = v6::call_function::Request { name: name.to_string(), arguments };
    let response = session.call(methods::CALL_FUNCTION, message).await?;
    if let Some(error) = response.error {
        return Ok(Err(wire::function_error(error)));
    }
    session.decode(response.result.as_ref(), &signature.return_type).map(Ok)
}
