//! Adapter from protocol messages to a [`Provider`]; identical for both versions except for schemas.
//!
//! Requests that cannot be decoded and responses that do not match their schema become diagnostics, which the host
//! shows along with the object that the call concerns.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use groma_provider::{
    ClientCapabilities, Provider, ProviderDiagnostic, ProviderDiagnostics, ProviderSchema, RawState, Schema,
    SchemaLookup, ValidateRequest,
};
use groma_value::{Type, Value};

use crate::proto::v6;
use crate::wire::{self, WireError};

/// A provider that is called with protocol messages.
pub(super) struct Adapter {
    provider: Arc<dyn Provider>,
    own: OnceLock<Arc<ProviderSchema>>,
    /// The negotiated chunk sizes by state store type.
    chunk_sizes: Mutex<HashMap<String, u64>>,
}

/// The result of a step towards a response.
pub(super) type StepResult<T> = Result<T, ProviderDiagnostics>;

impl Adapter {
    pub fn new(provider: Arc<dyn Provider>) -> Self {
        Self { provider, own: OnceLock::new(), chunk_sizes: Mutex::default() }
    }

    pub fn provider(&self) -> &dyn Provider {
        &*self.provider
    }

    /// Returns the schema of the provider configuration, requested once.
    pub fn own_schema(&self) -> StepResult<Arc<ProviderSchema>> {
        if let Some(own) = self.own.get() {
            return Ok(Arc::clone(own));
        }
        let own = Arc::new(self.provider.schema()?);
        // Errors are not kept: the provider is asked again by the next call.
        Ok(Arc::clone(self.own.get_or_init(|| own)))
    }

    pub fn resource(&self, name: &str) -> StepResult<Arc<Schema>> {
        require(self.provider.resource_schema(name), "resource type", name)
    }

    pub fn data_source(&self, name: &str) -> StepResult<Arc<Schema>> {
        require(self.provider.data_schema(name), "data source", name)
    }

    pub fn ephemeral(&self, name: &str) -> StepResult<Arc<Schema>> {
        require(self.provider.ephemeral_schema(name), "ephemeral resource type", name)
    }

    pub fn action(&self, name: &str) -> StepResult<Arc<Schema>> {
        require(self.provider.action_schema(name), "action", name)
    }

    pub fn list(&self, name: &str) -> StepResult<Arc<Schema>> {
        require(self.provider.list_schema(name), "list resource type", name)
    }

    pub fn state_store(&self, name: &str) -> StepResult<Arc<Schema>> {
        require(self.provider.state_store_schema(name), "state store", name)
    }

    pub fn chunk_sizes(&self) -> &Mutex<HashMap<String, u64>> {
        &self.chunk_sizes
    }

    /// Decodes the `provider_meta` values of a request.
    pub fn meta(&self, message: Option<&v6::DynamicValue>) -> StepResult<Value> {
        match &self.own_schema()?.meta {
            Some(schema) => decode_request(message, schema.block.implied_type(), "provider_meta"),
            // A host may send a value although the provider declares no schema for it.
            None => Ok(Value::NULL),
        }
    }
}

/// Decodes a value of a request.
pub(super) fn decode_request(message: Option<&v6::DynamicValue>, ty: &Type, what: &str) -> StepResult<Value> {
    wire::decode(message, ty).map_err(|error| unreadable_request(&error, what))
}

/// Decodes a configuration to validate.
pub(super) fn validation(
    type_name: String,
    config: Option<&v6::DynamicValue>,
    schema: &Schema,
) -> StepResult<ValidateRequest> {
    Ok(ValidateRequest {
        type_name: type_name.into(),
        config: decode_request(config, schema.block.implied_type(), "the configuration")?,
        // Only the validation of resources transmits capabilities; its caller sets them.
        client_capabilities: ClientCapabilities::default(),
    })
}

/// Decodes an identity of a request.
pub(super) fn decode_identity(
    message: Option<&v6::ResourceIdentityData>,
    schema: &Schema,
) -> StepResult<Option<Value>> {
    let ty = schema.identity_type();
    wire::decode_identity(message, ty.as_ref()).map_err(|error| unreadable_request(&error, "the identity"))
}

/// Encodes a value for a response; a value that does not match the schema adds a diagnostic.
pub(super) fn encode_response(
    value: &Value,
    ty: &Type,
    problems: &mut ProviderDiagnostics,
) -> Option<v6::DynamicValue> {
    ok_or_report(wire::encode(value, ty), problems)
}

/// Encodes an identity for a response; one that does not match the schema adds a diagnostic.
pub(super) fn encode_identity(
    value: Option<&Value>,
    schema: &Schema,
    problems: &mut ProviderDiagnostics,
) -> Option<v6::ResourceIdentityData> {
    let ty = schema.identity_type()?;
    ok_or_report(wire::encode_identity(value, &ty), problems).flatten()
}

fn ok_or_report<T>(result: Result<T, WireError>, problems: &mut ProviderDiagnostics) -> Option<T> {
    let error = match result {
        Ok(message) => return Some(message),
        Err(error) => error,
    };
    // After its own errors a provider may return anything; those errors are sufficient.
    if !problems.has_errors() {
        let detail = format!(
            "The provider returned a value that does not match its own schema: {error}. This is a bug in the provider."
        );
        problems.push(ProviderDiagnostic::error("Provider returned an invalid value", detail));
    }
    None
}

/// Decodes a stored object of a request.
pub(super) fn stored(message: Option<&v6::RawState>) -> StepResult<RawState> {
    match message {
        // Terraform sends the flatmap only for objects stored before 0.12.
        Some(message) if message.json.is_empty() && !message.flatmap.is_empty() => {
            let parts = message.flatmap.iter().map(|(path, text)| (path.clone(), text.clone()));
            Ok(RawState::Flat(Arc::new(parts.collect())))
        }
        _ => stored_json(message, "The object").map(RawState::Json),
    }
}

/// Decodes stored JSON of a request; absent JSON is null.
pub(super) fn stored_json(message: Option<&v6::RawState>, what: &str) -> StepResult<Arc<str>> {
    let problem = |detail: String| -> ProviderDiagnostics {
        ProviderDiagnostic::error("Unreadable stored object", detail).into()
    };
    let Some(message) = message else { return Ok("null".into()) };
    let text = std::str::from_utf8(&message.json).map_err(|_| problem(format!("{what} is not valid UTF-8.")))?;
    // Hosts send an empty message for a missing object.
    Ok(if text.is_empty() { "null".into() } else { text.into() })
}

fn require(lookup: SchemaLookup, kind: &str, name: &str) -> StepResult<Arc<Schema>> {
    lookup?.ok_or_else(|| {
        let detail = format!("This provider has no {kind} named \"{name}\".");
        ProviderDiagnostic::error("Unknown type", detail).into()
    })
}

fn unreadable_request(error: &WireError, what: &str) -> ProviderDiagnostics {
    let detail = format!("Cannot decode {what} of the request: {error}.");
    ProviderDiagnostic::error("Unreadable request", detail).into()
}
