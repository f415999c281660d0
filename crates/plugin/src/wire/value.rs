//! Objects, as msgpack or JSON.

use std::sync::Arc;

use groma_value::{Type, Value, json, msgpack};

use super::WireError;
use crate::proto::v6::{DynamicValue, RawState, ResourceIdentityData};

/// A value of type `ty` as a message.
///
/// # Errors
///
/// It is no value of that type: a mistake of the caller.
pub fn encode(value: &Value, ty: &Type) -> Result<DynamicValue, WireError> {
    let bytes = msgpack::encode(value, ty).map_err(|error| WireError::new(error.to_string()))?;
    Ok(DynamicValue { msgpack: bytes.into(), json: Default::default() })
}

/// The value of a message: msgpack if there is any, else JSON, else null.
///
/// # Errors
///
/// It cannot be read as a value of that type.
pub fn decode(message: Option<&DynamicValue>, ty: &Type) -> Result<Value, WireError> {
    let Some(message) = message else { return Ok(Value::null(ty.clone())) };
    let value = if !message.msgpack.is_empty() {
        msgpack::decode(&message.msgpack, ty)
    } else if !message.json.is_empty() {
        json::from_json(&message.json, ty)
    } else {
        return Ok(Value::null(ty.clone()));
    };
    value.map_err(|error| WireError::new(error.to_string()))
}

/// An identity as a message.
///
/// # Errors
///
/// It is no value of that type.
pub fn encode_identity(value: Option<&Value>, ty: &Type) -> Result<Option<ResourceIdentityData>, WireError> {
    let Some(value) = value else { return Ok(None) };
    Ok(Some(ResourceIdentityData { identity_data: Some(encode(value, ty)?) }))
}

/// The identity of a message; none where the type has no identity.
///
/// # Errors
///
/// It cannot be read as a value of that type.
pub fn decode_identity(message: Option<&ResourceIdentityData>, ty: Option<&Type>) -> Result<Option<Value>, WireError> {
    match (message.and_then(|message| message.identity_data.as_ref()), ty) {
        (Some(data), Some(ty)) => decode(Some(data), ty).map(Some),
        _ => Ok(None),
    }
}

/// A stored object as a message.
pub fn raw_json(json: &Arc<str>) -> RawState {
    RawState { json: json.as_bytes().to_vec().into(), flatmap: Default::default() }
}

/// A stored object as a message, in the form that it has.
pub fn raw_state(object: &groma_provider::RawState) -> RawState {
    match object {
        groma_provider::RawState::Json(json) => raw_json(json),
        groma_provider::RawState::Flat(flat) => {
            let flatmap = flat.iter().map(|(path, text)| (path.clone(), text.clone())).collect();
            RawState { json: Default::default(), flatmap }
        }
    }
}
