//! A provider behind the messages of the protocol, the same for both versions but for schemas.
//!
//! What cannot be understood of a request, and what does not fit the schema of a response, becomes a diagnostic: the host
//! shows it with the object that the call was about.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use groma_provider::{
    ClientCapabilities, Provider, ProviderDiagnostic, ProviderDiagnostics, ProviderSchema, RawState, Schema,
    SchemaLookup, ValidateRequest,
};
use groma_value::{Type, Value};

use crate::proto::v6;
use crate::wire::{self, WireError};

/// A provider that is asked in messages.
pub(super) struct Adapter {
    provider: Arc<dyn Provider>,
    own: OnceLock<Arc<ProviderSchema>>,
    /// How large the pieces of states are, by the type of the store.
    chunk_sizes: Mutex<HashMap<String, u64>>,
}

/// A step on the way to a response, or what went wrong.
pub(super) type Step<T> = Result<T, ProviderDiagnostics>;

impl Adapter {
    pub fn new(provider: Arc<dyn Provider>) -> Self {
        Self { provider, own: OnceLock::new(), chunk_sizes: Mutex::default() }
    }

    pub fn provider(&self) -> &dyn Provider {
        &*self.provider
    }

    /// What the provider declares about itself; asked once.
    pub fn own_schema(&self) -> Step<Arc<ProviderSchema>> {
        if let Some(own) = self.own.get() {
            return Ok(Arc::clone(own));
        }
        let own = Arc::new(self.provider.schema()?);
        Ok(Arc::clone(self.own.get_or_init(|| own)))
    }

    pub fn resource(&self, name: &str) -> Step<Arc<Schema>> {
        there_is(self.provider.resource_schema(name), "resource type", name)
    }

    pub fn data_source(&self, name: &str) -> Step<Arc<Schema>> {
        there_is(self.provider.data_schema(name), "data source", name)
    }

    pub fn ephemeral(&self, name: &str) -> Step<Arc<Schema>> {
        there_is(self.provider.ephemeral_schema(name), "ephemeral resource type", name)
    }

    pub fn action(&self, name: &str) -> Step<Arc<Schema>> {
        there_is(self.provider.action_schema(name), "action", name)
    }

    pub fn list(&self, name: &str) -> Step<Arc<Schema>> {
        there_is(self.provider.list_schema(name), "list resource type", name)
    }

    pub fn state_store(&self, name: &str) -> Step<Arc<Schema>> {
        there_is(self.provider.state_store_schema(name), "state store", name)
    }

    pub fn chunk_sizes(&self) -> &Mutex<HashMap<String, u64>> {
        &self.chunk_sizes
    }

    /// The values of `provider_meta` in a request.
    pub fn meta(&self, message: Option<&v6::DynamicValue>) -> Step<Value> {
        match &self.own_schema()?.meta {
            Some(schema) => given(message, schema.block.implied_type(), "provider_meta"),
            None => Ok(Value::NULL),
        }
    }
}

/// A value of a request.
pub(super) fn given(message: Option<&v6::DynamicValue>, ty: &Type, what: &str) -> Step<Value> {
    wire::decode(message, ty).map_err(|error| misunderstood(&error, what))
}

/// A configuration that is to be validated.
pub(super) fn validation(
    type_name: String,
    config: Option<&v6::DynamicValue>,
    schema: &Schema,
) -> Step<ValidateRequest> {
    Ok(ValidateRequest {
        type_name: type_name.into(),
        config: given(config, schema.block.implied_type(), "the configuration")?,
        client_capabilities: ClientCapabilities::default(),
    })
}

/// An identity of a request.
pub(super) fn given_identity(message: Option<&v6::ResourceIdentityData>, schema: &Schema) -> Step<Option<Value>> {
    let ty = schema.identity_type();
    wire::decode_identity(message, ty.as_ref()).map_err(|error| misunderstood(&error, "the identity"))
}

/// A value for a response; when it does not fit, that is one more problem of the response.
pub(super) fn taken(value: &Value, ty: &Type, problems: &mut ProviderDiagnostics) -> Option<v6::DynamicValue> {
    noted(wire::encode(value, ty), problems)
}

/// An identity for a response.
pub(super) fn taken_identity(
    value: Option<&Value>,
    schema: &Schema,
    problems: &mut ProviderDiagnostics,
) -> Option<v6::ResourceIdentityData> {
    let ty = schema.identity_type()?;
    noted(wire::encode_identity(value, &ty), problems).flatten()
}

fn noted<T>(result: Result<T, WireError>, problems: &mut ProviderDiagnostics) -> Option<T> {
    let error = match result {
        Ok(message) => return Some(message),
        Err(error) => error,
    };
    // After an error of its own the provider may give anything back; that error says enough.
    if !problems.has_errors() {
        let detail =
            format!("What the provider returned does not fit its own schema: {error}. This is a bug in the provider.");
        problems.push(ProviderDiagnostic::error("Provider returned an unfit value", detail));
    }
    None
}

/// A stored object of a request.
pub(super) fn stored(message: Option<&v6::RawState>) -> Step<RawState> {
    match message {
        Some(message) if message.json.is_empty() && !message.flatmap.is_empty() => {
            let parts = message.flatmap.iter().map(|(path, text)| (path.clone(), text.clone()));
            Ok(RawState::Flat(Arc::new(parts.collect())))
        }
        _ => stored_json(message, "The object").map(RawState::Json),
    }
}

/// What is stored as JSON of a request.
pub(super) fn stored_json(message: Option<&v6::RawState>, what: &str) -> Step<Arc<str>> {
    let problem = |detail: String| -> ProviderDiagnostics {
        ProviderDiagnostic::error("Unreadable stored object", detail).into()
    };
    let Some(message) = message else { return Ok("null".into()) };
    let text = std::str::from_utf8(&message.json).map_err(|_| problem(format!("{what} is no text.")))?;
    Ok(if text.is_empty() { "null".into() } else { text.into() })
}

fn there_is(lookup: SchemaLookup, kind: &str, name: &str) -> Step<Arc<Schema>> {
    lookup?.ok_or_else(|| {
        let detail = format!("This provider has no {kind} named \"{name}\".");
        ProviderDiagnostic::error("Unknown type", detail).into()
    })
}

fn misunderstood(error: &WireError, what: &str) -> ProviderDiagnostics {
    let detail = format!("The plugin could not read {what} of a request: {error}.");
    ProviderDiagnostic::error("Unreadable request", detail).into()
}
