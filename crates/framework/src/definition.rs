//! The traits that a provider implements on values: the definition with its data sources, ephemeral resources, actions,
//! list resources and state stores. [`Resource`](crate::Resource) has a module of its own.

use std::sync::Arc;
use std::time::SystemTime;

use groma_provider::{
    Answer, CallFunctionRequest, ConfigureRequest, ConfigureStateStoreRequest, ConfigureStateStoreResponse, Deferred,
    FunctionError, FunctionSignature, InvokeActionRequest, ListRequest, LockStateRequest, LockStateResponse,
    PlanActionRequest, PlanActionResponse, ProviderDiagnostic, ProviderDiagnostics, ReadStateResponse, StateRequest,
    StatesResponse, TypeNames, UnlockStateRequest, WriteStateRequest,
};
use groma_value::Value;

use crate::{Deferral, PrivateData, Resource, ResourceSchema};

/// A provider: its configuration, and its types by name.
///
/// Types are requested at their first use and kept, so that a provider with thousands of types builds only those in
/// use.
pub trait Definition: Send + Sync {
    /// Returns the schema of the provider configuration.
    fn schema(&self) -> &ResourceSchema;

    /// Whether a create can be repeated with the same plan and private data after a crash without making a second
    /// object. An idempotency token in the private data achieves that.
    fn repeats_creations_safely(&self) -> bool {
        false
    }

    /// Returns the names of all types and functions, each list sorted.
    fn type_names(&self) -> TypeNames;

    /// Returns the resource type `type_name`; `None` if it is unknown.
    ///
    /// # Errors
    ///
    /// Fails if the type cannot be used.
    fn resource(&self, type_name: &str) -> Result<Option<Arc<dyn Resource>>, ProviderDiagnostics> {
        let _ = type_name;
        Ok(None)
    }

    /// Returns the data source `type_name`; `None` if it is unknown.
    ///
    /// # Errors
    ///
    /// Fails if the data source cannot be used.
    fn data_source(&self, type_name: &str) -> Result<Option<Arc<dyn DataSource>>, ProviderDiagnostics> {
        let _ = type_name;
        Ok(None)
    }

    /// Returns the ephemeral resource type `type_name`; `None` if it is unknown.
    ///
    /// # Errors
    ///
    /// Fails if the type cannot be used.
    fn ephemeral_resource(&self, type_name: &str) -> Result<Option<Arc<dyn EphemeralResource>>, ProviderDiagnostics> {
        let _ = type_name;
        Ok(None)
    }

    /// Returns the list resource for the resource type `type_name`; `None` if its objects cannot be listed.
    ///
    /// # Errors
    ///
    /// Fails if the list resource cannot be used.
    fn list_resource(&self, type_name: &str) -> Result<Option<Arc<dyn ListResource>>, ProviderDiagnostics> {
        let _ = type_name;
        Ok(None)
    }

    /// Returns the action type `type_name`; `None` if it is unknown.
    ///
    /// # Errors
    ///
    /// Fails if the type cannot be used.
    fn action(&self, type_name: &str) -> Result<Option<Arc<dyn Action>>, ProviderDiagnostics> {
        let _ = type_name;
        Ok(None)
    }

    /// Returns the state store type `type_name`; `None` if it is unknown.
    ///
    /// # Errors
    ///
    /// Fails if the type cannot be used.
    fn state_store(&self, type_name: &str) -> Result<Option<Arc<dyn StateStore>>, ProviderDiagnostics> {
        let _ = type_name;
        Ok(None)
    }

    /// Returns the signature of the function `name`; `None` if it is unknown.
    fn function(&self, name: &str) -> Option<Arc<FunctionSignature>> {
        let _ = name;
        None
    }

    /// Calls a provider-defined function.
    fn call_function(&self, request: CallFunctionRequest) -> Answer<'_, Result<Value, FunctionError>> {
        // Reached only by hosts that call a function which `function` does not know.
        let text = format!("there is no function named {:?}", request.name);
        Answer::ready(Err(FunctionError::new(text)))
    }

    /// Checks the provider's configuration, which may contain unknown values.
    fn validate(&self, config: Value) -> Answer<'_, ProviderDiagnostics> {
        let _ = config;
        Answer::ready(ProviderDiagnostics::new())
    }

    /// Configures the provider. While planning the configuration may contain unknown values.
    fn configure(&self, request: ConfigureRequest) -> Answer<'_, ProviderDiagnostics> {
        let _ = request;
        Answer::ready(ProviderDiagnostics::new())
    }

    /// Asks running operations to end soon (FW-22).
    fn stop(&self) {}
}

/// The implementation of an action type.
pub trait Action: Send + Sync {
    /// Returns the schema of the action's configuration.
    fn schema(&self) -> &ResourceSchema;

    /// Checks a configuration as a whole, after the validators of the attributes.
    fn validate(&self, config: Value) -> Answer<'_, ProviderDiagnostics> {
        let _ = config;
        Answer::ready(ProviderDiagnostics::new())
    }

    /// Reports problems that would prevent the invocation. The configuration may contain unknown values. If the request
    /// allows it, an action that cannot be checked yet may be deferred.
    fn plan(&self, request: PlanActionRequest) -> Answer<'_, PlanActionResponse> {
        let _ = request;
        Answer::ready(PlanActionResponse::default())
    }

    /// Invokes the action, and sends messages to the request's `progress`. It has succeeded if there are no errors.
    fn invoke(&self, request: InvokeActionRequest) -> Answer<'_, ProviderDiagnostics>;
}

/// The search for objects of a resource type. The resource type of the same name must have an identity, which
/// identifies the results.
pub trait ListResource: Send + Sync {
    /// Returns the schema of the search configuration: the content of `config` in a `list` block.
    fn schema(&self) -> &ResourceSchema;

    /// Checks the search configuration as a whole, after the validators of the attributes.
    fn validate(&self, config: Value) -> Answer<'_, ProviderDiagnostics> {
        let _ = config;
        Answer::ready(ProviderDiagnostics::new())
    }

    /// Lists objects: each is passed to the request's `found` at once, until that returns `Stop`.
    fn list(&self, request: ListRequest) -> Answer<'_, ProviderDiagnostics>;
}

/// The request to read a data source.
#[derive(Clone, Debug)]
pub struct ReadDataRequest {
    /// The configuration, wholly known.
    pub config: Value,
}

/// The result of reading a data source.
#[derive(Clone, Debug)]
pub struct ReadDataResponse {
    /// The configuration with the results filled in; null after an error.
    pub state: Value,
    /// The reason why the data source cannot be read yet.
    pub deferral: Option<Deferral>,
    /// Errors and warnings for the user.
    pub diagnostics: ProviderDiagnostics,
}

impl ReadDataResponse {
    /// Creates the response of a successful call: the configuration with the results.
    pub fn found(state: Value) -> Self {
        Self { state, deferral: None, diagnostics: ProviderDiagnostics::new() }
    }

    /// Creates the response for a data source that cannot be read yet: see [`Deferral`].
    pub fn deferred(reason: Deferred, problem: impl Into<ProviderDiagnostic>) -> Self {
        // A deferred read has no result.
        Self { deferral: Some(Deferral::new(reason, problem)), ..Self::found(Value::NULL) }
    }

    /// Creates the response for a failed read.
    pub fn failed(diagnostic: ProviderDiagnostic) -> Self {
        Self { diagnostics: diagnostic.into(), ..Self::found(Value::NULL) }
    }
}

/// The implementation of a data source.
pub trait DataSource: Send + Sync {
    /// Returns the schema of the data source.
    fn schema(&self) -> &ResourceSchema;

    /// Checks a configuration as a whole, after the validators of the attributes.
    fn validate(&self, config: Value) -> Answer<'_, ProviderDiagnostics> {
        let _ = config;
        Answer::ready(ProviderDiagnostics::new())
    }

    /// Reads the data source.
    fn read(&self, request: ReadDataRequest) -> Answer<'_, ReadDataResponse>;
}

/// An open ephemeral resource.
#[derive(Clone, Debug)]
pub struct OpenResponse {
    /// The configuration with the results filled in; null after an error.
    pub result: Value,
    /// The deadline for renewal; `None` if no renewal is needed.
    pub renew_at: Option<SystemTime>,
    /// The data for renew and close.
    pub private: PrivateData,
    /// The reason why the resource cannot be opened yet.
    pub deferral: Option<Deferral>,
    /// Errors and warnings for the user.
    pub diagnostics: ProviderDiagnostics,
}

impl OpenResponse {
    /// Creates the response of a successful call: the configuration with the results.
    pub fn opened(result: Value, private: PrivateData) -> Self {
        Self { result, renew_at: None, private, deferral: None, diagnostics: ProviderDiagnostics::new() }
    }

    /// Creates the response for a resource that cannot be opened yet: see [`Deferral`].
    pub fn deferred(reason: Deferred, problem: impl Into<ProviderDiagnostic>) -> Self {
        Self { deferral: Some(Deferral::new(reason, problem)), ..Self::opened(Value::NULL, PrivateData::new()) }
    }

    /// Creates the response for a failed open: nothing is open.
    pub fn failed(diagnostic: ProviderDiagnostic) -> Self {
        Self { diagnostics: diagnostic.into(), ..Self::opened(Value::NULL, PrivateData::new()) }
    }
}

/// The result of renewing an ephemeral resource.
#[derive(Clone, Debug)]
pub struct RenewResponse {
    /// The deadline for the next renewal.
    pub renew_at: Option<SystemTime>,
    /// The data for the next renew and for close.
    pub private: PrivateData,
    /// Errors and warnings for the user.
    pub diagnostics: ProviderDiagnostics,
}

/// An ephemeral resource type: its objects are open during a run and never stored.
pub trait EphemeralResource: Send + Sync {
    /// Returns the schema of the ephemeral resource.
    fn schema(&self) -> &ResourceSchema;

    /// Checks a configuration as a whole, after the validators of the attributes.
    fn validate(&self, config: Value) -> Answer<'_, ProviderDiagnostics> {
        let _ = config;
        Answer::ready(ProviderDiagnostics::new())
    }

    /// Opens the resource for a wholly known configuration. Configured values must not change.
    fn open(&self, config: Value) -> Answer<'_, OpenResponse>;

    /// Renews an open ephemeral resource before its deadline.
    fn renew(&self, private: PrivateData) -> Answer<'_, RenewResponse> {
        Answer::ready(RenewResponse { renew_at: None, private, diagnostics: ProviderDiagnostics::new() })
    }

    /// Closes an open ephemeral resource.
    fn close(&self, private: PrivateData) -> Answer<'_, ProviderDiagnostics> {
        let _ = private;
        Answer::ready(ProviderDiagnostics::new())
    }
}

/// A type of state store. It reads and writes whole states; the framework splits them into chunks of the configured
/// size and assembles them. An incomplete state is not written.
///
/// Only version 6 of the protocol has state stores.
pub trait StateStore: Send + Sync {
    /// Returns the schema of the store's configuration.
    fn schema(&self) -> &ResourceSchema;

    /// Checks a configuration as a whole, after the validators of the attributes.
    fn validate(&self, config: Value) -> Answer<'_, ProviderDiagnostics> {
        let _ = config;
        Answer::ready(ProviderDiagnostics::new())
    }

    /// Configures the store for all further calls.
    fn configure(&self, request: ConfigureStateStoreRequest) -> Answer<'_, ConfigureStateStoreResponse>;

    /// Returns the last written state; empty if it does not exist.
    fn read(&self, request: StateRequest) -> Answer<'_, ReadStateResponse>;

    /// Writes a new state. Until it is stored completely, reads return the previous one.
    fn write(&self, request: WriteStateRequest) -> Answer<'_, ProviderDiagnostics>;

    /// Returns the identifiers of stored states.
    fn states(&self) -> Answer<'_, StatesResponse>;

    /// Deletes a state and all of its content.
    fn delete(&self, request: StateRequest) -> Answer<'_, ProviderDiagnostics>;

    /// Locks a state, or reports the owner of its lock. A store without locks returns an empty ID, and unlock is not
    /// called.
    fn lock(&self, request: LockStateRequest) -> Answer<'_, LockStateResponse> {
        let _ = request;
        Answer::ready(LockStateResponse { lock_id: String::new(), diagnostics: ProviderDiagnostics::new() })
    }

    /// Releases the lock on a state, if it is still the given one.
    fn unlock(&self, request: UnlockStateRequest) -> Answer<'_, ProviderDiagnostics> {
        let _ = request;
        Answer::ready(ProviderDiagnostics::new())
    }
}
