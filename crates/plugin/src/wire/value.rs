//! Conversion of values, encoded as msgpack or JSON.

use std::sync::Arc;

use groma_value::{Type, Value, json, msgpack};

use super::WireError;
use crate::proto::v6::{DynamicValue, RawState, ResourceIdentityData};

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

/// Encodes an identity.
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
