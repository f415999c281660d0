//! Client side of calls for managed resources, data sources and ephemeral resources.

use std::sync::Arc;

use groma_provider::{
    ApplyRequest, ApplyResponse, CallFunctionRequest, CloseEphemeralRequest, EphemeralResponse, FunctionError,
    ImportRequest, ImportResponse, ImportTarget, ImportedResource, MoveRequest, MoveResponse, OpenEphemeralRequest,
    OpenEphemeralResponse, PlanRequest, PlanResponse, Private, ProviderDiagnostics, ReadDataRequest, ReadDataResponse,
    ReadRequest, ReadResponse, RenewEphemeralRequest, UpgradeIdentityRequest, UpgradeIdentityResponse, UpgradeRequest,
    UpgradeResponse, ValidateRequest,
};
use groma_value::{Type, Value};
use prost::bytes::Bytes;

use super::schemas::Kind;
use super::session::Session;
use crate::proto::v6::{self, ResourceIdentityData};
use crate::{protocol, wire};

type Outcome<T> = Result<T, ProviderDiagnostics>;

pub(super) async fn validate_resource(session: Arc<Session>, request: ValidateRequest) -> Outcome<ProviderDiagnostics> {
    let schema = session.schema(Kind::Resource, &request.type_name)?;
    let message = v6::validate_resource_config::Request {
        config: session.encode(&request.config, schema.block.implied_type())?,
        type_name: request.type_name.to_string(),
        client_capabilities: Some(wire::capabilities_message(request.client_capabilities)),
    };
    Ok(wire::diagnostics(session.call(protocol::VALIDATE_RESOURCE, message).await?.diagnostics))
}

pub(super) async fn validate_data(session: Arc<Session>, request: ValidateRequest) -> Outcome<ProviderDiagnostics> {
    let schema = session.schema(Kind::Data, &request.type_name)?;
    let message = v6::validate_data_resource_config::Request {
        config: session.encode(&request.config, schema.block.implied_type())?,
        type_name: request.type_name.to_string(),
    };
    Ok(wire::diagnostics(session.call(protocol::VALIDATE_DATA, message).await?.diagnostics))
}

pub(super) async fn upgrade(session: Arc<Session>, request: UpgradeRequest) -> Outcome<UpgradeResponse> {
    let schema = session.schema(Kind::Resource, &request.type_name)?;
    let message = v6::upgrade_resource_state::Request {
        type_name: request.type_name.to_string(),
        version: version(request.version),
        raw_state: Some(wire::raw_state(&request.raw_state)),
    };
    let response = session.call(protocol::UPGRADE, message).await?;
    let diagnostics = wire::diagnostics(response.diagnostics);
    // After its own errors the provider need not return an object; decoding would add a misleading error.
    if diagnostics.has_errors() {
        return Ok(UpgradeResponse { upgraded_state: Value::DYNAMIC, diagnostics });
    }
    let upgraded_state = session.decode(response.upgraded_state.as_ref(), schema.block.implied_type())?;
    Ok(UpgradeResponse { upgraded_state, diagnostics })
}

pub(super) async fn upgrade_identity(
    session: Arc<Session>,
    request: UpgradeIdentityRequest,
) -> Outcome<UpgradeIdentityResponse> {
    let schema = session.schema(Kind::Resource, &request.type_name)?;
    let message = v6::upgrade_resource_identity::Request {
        type_name: request.type_name.to_string(),
        version: version(request.version),
        raw_identity: Some(wire::raw_json(&request.raw_identity)),
    };
    let response = session.call(protocol::UPGRADE_IDENTITY, message).await?;
    let diagnostics = wire::diagnostics(response.diagnostics);
    let data = response.upgraded_identity.and_then(|identity| identity.identity_data);
    let upgraded_identity = match schema.identity_type() {
        // A type without an identity schema has no identity to upgrade.
        Some(ty) if !diagnostics.has_errors() => session.decode(data.as_ref(), &ty)?,
        _ => Value::DYNAMIC,
    };
    Ok(UpgradeIdentityResponse { upgraded_identity, diagnostics })
}

pub(super) async fn read(session: Arc<Session>, request: ReadRequest) -> Outcome<ReadResponse> {
    let schema = session.schema(Kind::Resource, &request.type_name)?;
    let ty = schema.block.implied_type();
    let identity = schema.identity_type();
    let message = v6::read_resource::Request {
        type_name: request.type_name.to_string(),
        current_state: session.encode(&request.current_state, ty)?,
        private: wire::private_bytes(&request.private),
        provider_meta: session.meta(&request.meta)?,
        client_capabilities: Some(wire::capabilities_message(request.client_capabilities)),
        current_identity: identity_message(&session, request.current_identity.as_ref(), identity.as_ref())?,
    };
    let response = session.call(protocol::READ, message).await?;
    let diagnostics = wire::diagnostics(response.diagnostics);
    let new_state = match session.decode(response.new_state.as_ref(), ty) {
        // The provider's errors explain the failure; the object stays as it was.
        Err(_) if diagnostics.has_errors() => request.current_state,
        decoded => decoded?,
    };
    Ok(ReadResponse {
        new_state,
        private: wire::private(&response.private),
        deferred: wire::deferred(response.deferred),
        new_identity: identity_value(&session, response.new_identity.as_ref(), identity.as_ref())?,
        diagnostics,
    })
}

pub(super) async fn plan(session: Arc<Session>, request: PlanRequest) -> Outcome<PlanResponse> {
    // A provider without `plan_destroy` may not handle a null configuration, so Terraform does not send it one either.
    let plans_destroy = session.schemas().declared().capabilities.plan_destroy;
    if request.proposed_new_state.is_null() && !plans_destroy {
        return Ok(PlanResponse::new(request.proposed_new_state, request.prior_private));
    }
    let schema = session.schema(Kind::Resource, &request.type_name)?;
    let ty = schema.block.implied_type();
    let identity = schema.identity_type();
    let message = v6::plan_resource_change::Request {
        type_name: request.type_name.to_string(),
        prior_state: session.encode(&request.prior_state, ty)?,
        proposed_new_state: session.encode(&request.proposed_new_state, ty)?,
        config: session.encode(&request.config, ty)?,
        prior_private: wire::private_bytes(&request.prior_private),
        provider_meta: session.meta(&request.meta)?,
        client_capabilities: Some(wire::capabilities_message(request.client_capabilities)),
        prior_identity: identity_message(&session, request.prior_identity.as_ref(), identity.as_ref())?,
        ..Default::default()
    };
    let response = session.call(protocol::PLAN, message).await?;
    let diagnostics = wire::diagnostics(response.diagnostics);
    let planned_state = match session.decode(response.planned_state.as_ref(), ty) {
        // The plan is discarded because of the errors; any value of the right type will do.
        Err(_) if diagnostics.has_errors() => request.proposed_new_state,
        decoded => decoded?,
    };
    Ok(PlanResponse {
        planned_state,
        requires_replace: response.requires_replace.iter().map(wire::path).collect(),
        planned_private: wire::private(&response.planned_private),
        legacy_type_system: response.legacy_type_system,
        deferred: wire::deferred(response.deferred),
        planned_identity: identity_value(&session, response.planned_identity.as_ref(), identity.as_ref())?,
        diagnostics,
    })
}

pub(super) async fn apply(session: Arc<Session>, request: ApplyRequest) -> Outcome<ApplyResponse> {
    let schema = session.schema(Kind::Resource, &request.type_name)?;
    let ty = schema.block.implied_type();
    let identity = schema.identity_type();
    let message = v6::apply_resource_change::Request {
        type_name: request.type_name.to_string(),
        prior_state: session.encode(&request.prior_state, ty)?,
        planned_state: session.encode(&request.planned_state, ty)?,
        config: session.encode(&request.config, ty)?,
        planned_private: wire::private_bytes(&request.planned_private),
        provider_meta: session.meta(&request.meta)?,
        planned_identity: identity_message(&session, request.planned_identity.as_ref(), identity.as_ref())?,
    };
    let response = session.call(protocol::APPLY, message).await?;
    let mut diagnostics = wire::diagnostics(response.diagnostics);
    // The real object may have been created or changed, so everything that can be decoded is returned for the state.
    let new_state = session.decode(response.new_state.as_ref(), ty).map(Some);
    let new_state = new_state.unwrap_or_else(|problems| {
        diagnostics.extend(problems);
        None
    });
    let new_identity = identity_value(&session, response.new_identity.as_ref(), identity.as_ref());
    let new_identity = new_identity.unwrap_or_else(|problems| {
        diagnostics.extend(problems);
        None
    });
    Ok(ApplyResponse {
        new_state,
        private: wire::private(&response.private),
        legacy_type_system: response.legacy_type_system,
        new_identity,
        diagnostics,
    })
}

pub(super) async fn import(session: Arc<Session>, request: ImportRequest) -> Outcome<ImportResponse> {
    let schema = session.schema(Kind::Resource, &request.type_name)?;
    let (id, identity) = match request.target {
        ImportTarget::Id(id) => (id, None),
        // The protocol expects exactly one of ID and identity.
        ImportTarget::Identity(value) => {
            (String::new(), identity_message(&session, Some(&value), schema.identity_type().as_ref())?)
        }
    };
    let message = v6::import_resource_state::Request {
        type_name: request.type_name.to_string(),
        id,
        client_capabilities: Some(wire::capabilities_message(request.client_capabilities)),
        identity,
    };
    let response = session.call(protocol::IMPORT, message).await?;
    let diagnostics = wire::diagnostics(response.diagnostics);
    let imported = response.imported_resources.iter().map(|one| imported(&session, one)).collect::<Result<_, _>>();
    let imported = match imported {
        Err(_) if diagnostics.has_errors() => Vec::new(),
        imported => imported?,
    };
    Ok(ImportResponse { imported, deferred: wire::deferred(response.deferred), diagnostics })
}

fn imported(session: &Session, one: &v6::import_resource_state::ImportedResource) -> Outcome<ImportedResource> {
    // An import may return objects of other types, each decoded by its own schema.
    let schema = session.schema(Kind::Resource, &one.type_name)?;
    Ok(ImportedResource {
        type_name: one.type_name.as_str().into(),
        state: session.decode(one.state.as_ref(), schema.block.implied_type())?,
        private: wire::private(&one.private),
        identity: identity_value(session, one.identity.as_ref(), schema.identity_type().as_ref())?,
    })
}

pub(super) async fn move_state(session: Arc<Session>, request: MoveRequest) -> Outcome<MoveResponse> {
    let schema = session.schema(Kind::Resource, &request.target_type_name)?;
    let message = v6::move_resource_state::Request {
        source_provider_address: request.source_provider_address,
        source_type_name: request.source_type_name.to_string(),
        source_schema_version: version(request.source_schema_version),
        source_state: Some(wire::raw_state(&request.source_state)),
        target_type_name: request.target_type_name.to_string(),
        source_private: wire::private_bytes(&request.source_private),
        source_identity: request.source_identity.as_ref().map(wire::raw_json),
        // State files do not record the version of an identity schema with the moved object.
        source_identity_schema_version: 0,
    };
    let response = session.call(protocol::MOVE, message).await?;
    let diagnostics = wire::diagnostics(response.diagnostics);
    let target_state = match session.decode(response.target_state.as_ref(), schema.block.implied_type()) {
        Err(_) if diagnostics.has_errors() => Value::DYNAMIC,
        decoded => decoded?,
    };
    Ok(MoveResponse {
        target_state,
        target_private: wire::private(&response.target_private),
        target_identity: identity_value(&session, response.target_identity.as_ref(), schema.identity_type().as_ref())?,
        diagnostics,
    })
}

pub(super) async fn read_data(session: Arc<Session>, request: ReadDataRequest) -> Outcome<ReadDataResponse> {
    let schema = session.schema(Kind::Data, &request.type_name)?;
    let ty = schema.block.implied_type();
    let message = v6::read_data_source::Request {
        type_name: request.type_name.to_string(),
        config: session.encode(&request.config, ty)?,
        provider_meta: session.meta(&request.meta)?,
        client_capabilities: Some(wire::capabilities_message(request.client_capabilities)),
    };
    let response = session.call(protocol::READ_DATA, message).await?;
    let diagnostics = wire::diagnostics(response.diagnostics);
    let state = match session.decode(response.state.as_ref(), ty) {
        Err(_) if diagnostics.has_errors() => request.config,
        decoded => decoded?,
    };
    Ok(ReadDataResponse { state, deferred: wire::deferred(response.deferred), diagnostics })
}

fn identity_message(
    session: &Session,
    value: Option<&Value>,
    ty: Option<&Type>,
) -> Outcome<Option<ResourceIdentityData>> {
    match ty {
        Some(ty) => wire::encode_identity(value, ty).map_err(|error| session.invalid_value("An identity", &error)),
        None => Ok(None),
    }
}

pub(super) fn identity_value(
    session: &Session,
    message: Option<&ResourceIdentityData>,
    ty: Option<&Type>,
) -> Outcome<Option<Value>> {
    wire::decode_identity(message, ty).map_err(|error| session.invalid_value("The identity in a response", &error))
}

fn version(version: u64) -> i64 {
    // Versions come from state files; one that is too large is refused by the provider as newer than its own.
    i64::try_from(version).unwrap_or(i64::MAX)
}

pub(super) async fn validate_ephemeral(
    session: Arc<Session>,
    request: ValidateRequest,
) -> Outcome<ProviderDiagnostics> {
    let schema = session.schema(Kind::Ephemeral, &request.type_name)?;
    let message = v6::validate_ephemeral_resource_config::Request {
        config: session.encode(&request.config, schema.block.implied_type())?,
        type_name: request.type_name.to_string(),
    };
    Ok(wire::diagnostics(session.call(protocol::VALIDATE_EPHEMERAL, message).await?.diagnostics))
}

pub(super) async fn open_ephemeral(
    session: Arc<Session>,
    request: OpenEphemeralRequest,
) -> Outcome<OpenEphemeralResponse> {
    let schema = session.schema(Kind::Ephemeral, &request.type_name)?;
    let ty = schema.block.implied_type();
    let message = v6::open_ephemeral_resource::Request {
        config: session.encode(&request.config, ty)?,
        type_name: request.type_name.to_string(),
        client_capabilities: Some(wire::capabilities_message(request.client_capabilities)),
    };
    let response = session.call(protocol::OPEN_EPHEMERAL, message).await?;
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

pub(super) async fn renew_ephemeral(
    session: Arc<Session>,
    request: RenewEphemeralRequest,
) -> Outcome<EphemeralResponse> {
    let message = v6::renew_ephemeral_resource::Request {
        type_name: request.type_name.to_string(),
        private: Some(wire::private_bytes(&request.private)),
    };
    let response = session.call(protocol::RENEW_EPHEMERAL, message).await?;
    Ok(EphemeralResponse {
        renew_at: wire::time(response.renew_at),
        private: private(response.private.as_ref()),
        diagnostics: wire::diagnostics(response.diagnostics),
    })
}

pub(super) async fn close_ephemeral(
    session: Arc<Session>,
    request: CloseEphemeralRequest,
) -> Outcome<ProviderDiagnostics> {
    let message = v6::close_ephemeral_resource::Request {
        type_name: request.type_name.to_string(),
        private: Some(wire::private_bytes(&request.private)),
    };
    Ok(wire::diagnostics(session.call(protocol::CLOSE_EPHEMERAL, message).await?.diagnostics))
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
    let response = session.call(protocol::CALL_FUNCTION, message).await?;
    // An error of the function is a result of the call, not a failure of the call.
    if let Some(error) = response.error {
        return Ok(Err(wire::function_error(error)));
    }
    session.decode(response.result.as_ref(), &signature.return_type).map(Ok)
}
