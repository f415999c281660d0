//! Conversion of values, and of what accompanies them: private data, capabilities, deferrals, timestamps.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use groma_provider::{ClientCapabilities, Deferred, Private, ServerCapabilities};
use groma_value::{Type, Value, json, msgpack};
use prost::bytes::Bytes;
use prost_types::Timestamp;

use super::WireError;
use crate::proto::v6::deferred::Reason;
use crate::proto::v6::{self, DynamicValue, RawState, ResourceIdentityData};

/// Encodes a value of type `ty`.
///
/// # Errors
///
/// The value does not conform to `ty`, which is a mistake of the caller.
pub fn encode(value: &Value, ty: &Type) -> Result<DynamicValue, WireError> {
    let bytes = msgpack::encode(value, ty).map_err(|error| WireError::new(error.to_string()))?;
    Ok(DynamicValue { msgpack: bytes.into(), json: Default::default() })
}

/// Decodes a value: from msgpack if present, else from JSON, else null.
///
/// # Errors
///
/// The data does not conform to `ty`.
pub fn decode(message: Option<&DynamicValue>, ty: &Type) -> Result<Value, WireError> {
    let Some(message) = message else { return Ok(Value::null(ty.clone())) };
    let value = if !message.msgpack.is_empty() {
        msgpack::decode(&message.msgpack, ty)
    } else if !message.json.is_empty() {
        // Some servers encode values as JSON, which the protocol permits.
        json::from_json(&message.json, ty)
    } else {
        return Ok(Value::null(ty.clone()));
    };
    value.map_err(|error| WireError::new(error.to_string()))
}

/// Encodes an identity, if there is one.
///
/// # Errors
///
/// The value does not conform to `ty`.
pub fn encode_identity(value: Option<&Value>, ty: &Type) -> Result<Option<ResourceIdentityData>, WireError> {
    let Some(value) = value else { return Ok(None) };
    Ok(Some(ResourceIdentityData { identity_data: Some(encode(value, ty)?) }))
}

/// Decodes an identity; `None` if the type has no identity.
///
/// # Errors
///
/// The data does not conform to `ty`.
pub fn decode_identity(message: Option<&ResourceIdentityData>, ty: Option<&Type>) -> Result<Option<Value>, WireError> {
    match (message.and_then(|message| message.identity_data.as_ref()), ty) {
        (Some(data), Some(ty)) => decode(Some(data), ty).map(Some),
        _ => Ok(None),
    }
}

/// Encodes a stored object or identity in JSON form.
pub fn raw_json(json: &Arc<str>) -> RawState {
    RawState { json: json.as_bytes().to_vec().into(), flatmap: Default::default() }
}

/// Encodes a stored object in its stored form.
pub fn raw_state(object: &groma_provider::RawState) -> RawState {
    match object {
        groma_provider::RawState::Json(json) => raw_json(json),
        groma_provider::RawState::Flat(flat) => {
            let flatmap = flat.iter().map(|(path, text)| (path.clone(), text.clone())).collect();
            RawState { json: Default::default(), flatmap }
        }
    }
}

/// Decodes the optional features of a provider.
pub fn server_capabilities(message: Option<&v6::ServerCapabilities>) -> ServerCapabilities {
    let message = message.copied().unwrap_or_default();
    ServerCapabilities {
        plan_destroy: message.plan_destroy,
        get_provider_schema_optional: message.get_provider_schema_optional,
        move_resource_state: message.move_resource_state,
        generate_resource_config: message.generate_resource_config,
        // The protocol cannot express the next two, so plugins never have them.
        repeatable_create: false,
        is_pure: false,
    }
}

/// Encodes the optional features of a provider.
pub fn server_capabilities_message(capabilities: ServerCapabilities) -> v6::ServerCapabilities {
    v6::ServerCapabilities {
        plan_destroy: capabilities.plan_destroy,
        get_provider_schema_optional: capabilities.get_provider_schema_optional,
        move_resource_state: capabilities.move_resource_state,
        generate_resource_config: capabilities.generate_resource_config,
    }
}

/// Decodes the optional features of a caller.
pub fn client_capabilities(message: Option<&v6::ClientCapabilities>) -> ClientCapabilities {
    let message = message.copied().unwrap_or_default();
    ClientCapabilities {
        deferral_allowed: message.deferral_allowed,
        write_only_attributes_allowed: message.write_only_attributes_allowed,
    }
}

/// Encodes the optional features of a caller.
pub fn capabilities_message(capabilities: ClientCapabilities) -> v6::ClientCapabilities {
    v6::ClientCapabilities {
        deferral_allowed: capabilities.deferral_allowed,
        write_only_attributes_allowed: capabilities.write_only_attributes_allowed,
        ..Default::default()
    }
}

/// Decodes the reason of a deferral.
pub fn deferred(message: Option<v6::Deferred>) -> Option<Deferred> {
    Some(match message?.reason() {
        Reason::Unknown => Deferred::Unknown,
        Reason::ResourceConfigUnknown => Deferred::ResourceConfigUnknown,
        Reason::ProviderConfigUnknown => Deferred::ProviderConfigUnknown,
        Reason::AbsentPrereq => Deferred::AbsentPrerequisite,
    })
}

/// Encodes the reason of a deferral.
pub fn deferred_message(deferred: Option<Deferred>) -> Option<v6::Deferred> {
    let reason = match deferred? {
        Deferred::Unknown => Reason::Unknown,
        Deferred::ResourceConfigUnknown => Reason::ResourceConfigUnknown,
        Deferred::ProviderConfigUnknown => Reason::ProviderConfigUnknown,
        Deferred::AbsentPrerequisite => Reason::AbsentPrereq,
    };
    Some(v6::Deferred { reason: reason.into() })
}

/// Decodes private data, which is opaque to the host.
pub fn private(bytes: &Bytes) -> Private {
    Private::from(&bytes[..])
}

/// Copies private data into a message.
pub fn private_bytes(private: &Private) -> Bytes {
    Bytes::copy_from_slice(private)
}

/// Decodes a timestamp; `None` if it is out of range.
pub fn time(message: Option<Timestamp>) -> Option<SystemTime> {
    SystemTime::try_from(message?).ok()
}

/// Encodes a point in time as seconds and nanoseconds since 1970.
pub fn time_message(time: Option<SystemTime>) -> Option<Timestamp> {
    let since = time?.duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
    Some(Timestamp {
        seconds: i64::try_from(since.as_secs()).unwrap_or(i64::MAX),
        nanos: i32::try_from(since.subsec_nanos()).unwrap_or_default(),
    })
}
