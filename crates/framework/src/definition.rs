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

use crate::{NotYet, PrivateData, Resource, ResourceSchema};

/// A provider: its configuration, and its types by name.
///
/// Types are asked for when they are used for the first time, and kept: a provider with thousands of types builds those in
/// use.
pub trait Definition: Send + Sync {
    /// Returns the schema of the provider configuration.
    fn schema(&self) -> &ResourceSchema;

    /// Whether a create may be asked for again with the same plan and the same private data after a crash, and makes no
    /// second object: an idempotency token in the private data can see to that.
    fn repeats_creations_safely(&self) -> bool {
        false
    }

    /// The names of all its types and functions, each list sorted.
    fn type_names(&self) -> TypeNames;

    /// Returns the resource type `type_name`; `None` if it is unknown.
    ///
    /// # Errors
    ///
    /// What makes the type unusable.
    fn resource(&self, type_name: &str) -> Result<Option<Arc<dyn Resource>>, ProviderDiagnostics> {
        let _ = type_name;
        Ok(None)
    }

    /// Returns the data source `type_name`; `None` if it is unknown.
    ///
    /// # Errors
    ///
    /// What makes the data source unusable.
    fn data_source(&self, type_name: &str) -> Result<Option<Arc<dyn DataSource>>, ProviderDiagnostics> {
        let _ = type_name;
        Ok(None)
    }

    /// Returns the ephemeral resource type `type_name`; `None` if it is unknown.
    ///
    /// # Errors
    ///
    /// What makes the type unusable.
    fn ephemeral_resource(&self, type_name: &str) -> Result<Option<Arc<dyn EphemeralResource>>, ProviderDiagnostics> {
        let _ = type_name;
        Ok(None)
    }

    /// Returns the list resource for the resource type `type_name`; `None` if its objects cannot be listed.
    ///
    /// # Errors
    ///
    /// What makes it unusable.
    fn list_resource(&self, type_name: &str) -> Result<Option<Arc<dyn ListResource>>, ProviderDiagnostics> {
        let _ = type_name;
        Ok(None)
    }

    /// Returns the action type `type_name`; `None` if it is unknown.
    ///
    /// # Errors
    ///
    /// What makes the type unusable.
    fn action(&self, type_name: &str) -> Result<Option<Arc<dyn Action>>, ProviderDiagnostics> {
        let _ = type_name;
        Ok(None)
    }

    /// Returns the state store type `type_name`; `None` if it is unknown.
    ///
    /// # Errors
    ///
    /// What makes the type unusable.
    fn state_store(&self, type_name: &str) -> Result<Option<Arc<dyn StateStore>>, ProviderDiagnostics> {
        let _ = type_name;
        Ok(None)
    }

    /// The signature of the function `name`.
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

    /// Checks the provider's configuration; may hold unknown values.
    fn validate(&self, config: Value) -> Answer<'_, ProviderDiagnostics> {
        let _ = config;
        Answer::ready(ProviderDiagnostics::new())
    }

    /// Takes the provider's configuration into use; may hold unknown values while planning.
    fn configure(&self, request: ConfigureRequest) -> Answer<'_, ProviderDiagnostics> {
        let _ = request;
        Answer::ready(ProviderDiagnostics::new())
    }

    /// Asks running operations to end soon (FW-22).
    fn stop(&self) {}
}

/// The implementation of an action type.
pub trait Action: Send + Sync {
    /// The schema of what it is invoked with.
    fn schema(&self) -> &ResourceSchema;

    /// Checks a configuration as a whole, after the validators of the attributes.
    fn validate(&self, config: Value) -> Answer<'_, ProviderDiagnostics> {
        let _ = config;
        Answer::ready(ProviderDiagnostics::new())
    }

    /// Says what speaks against invoking it. The configuration may hold unknown values. Where the request allows it, an action that
    /// cannot be judged yet may be deferred.
    fn plan(&self, request: PlanActionRequest) -> Answer<'_, PlanActionResponse> {
        let _ = request;
        Answer::ready(PlanActionResponse::default())
    }

    /// Does it; messages on the way go to the request's `progress`. No errors mean that it is done.
    fn invoke(&self, request: InvokeActionRequest) -> Answer<'_, ProviderDiagnostics>;
}

/// The search for objects of a resource type. The resource type of the same name must have an identity, which identifies the results.
pub trait ListResource: Send + Sync {
    /// The schema of what is searched by: what `config` of a `list` block holds.
    fn schema(&self) -> &ResourceSchema;

    /// Checks what is searched by as a whole, after the validators of the attributes.
    fn validate(&self, config: Value) -> Answer<'_, ProviderDiagnostics> {
        let _ = config;
        Answer::ready(ProviderDiagnostics::new())
    }

    /// Searches: each object goes to the request's `found` as it is found, until that says that it is enough.
    fn list(&self, request: ListRequest) -> Answer<'_, ProviderDiagnostics>;
}

/// A data source to be read.
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
    /// That it cannot be read yet.
    pub not_yet: Option<NotYet>,
    /// Errors and warnings for the user.
    pub diagnostics: ProviderDiagnostics,
}

impl ReadDataResponse {
    /// The configuration with the results filled in.
    pub fn found(state: Value) -> Self {
        Self { state, not_yet: None, diagnostics: ProviderDiagnostics::new() }
    }

    /// It cannot be read yet: see [`NotYet`].
    pub fn not_yet(reason: Deferred, problem: impl Into<ProviderDiagnostic>) -> Self {
        // A deferred read has no result.
        Self { not_yet: Some(NotYet::new(reason, problem)), ..Self::found(Value::NULL) }
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
    /// That it cannot be opened yet.
    pub not_yet: Option<NotYet>,
    /// Errors and warnings for the user.
    pub diagnostics: ProviderDiagnostics,
}

impl OpenResponse {
    /// The configuration with the results filled in.
    pub fn opened(result: Value, private: PrivateData) -> Self {
        Self { result, renew_at: None, private, not_yet: None, diagnostics: ProviderDiagnostics::new() }
    }

    /// It cannot be opened yet: see [`NotYet`].
    pub fn not_yet(reason: Deferred, problem: impl Into<ProviderDiagnostic>) -> Self {
        Self { not_yet: Some(NotYet::new(reason, problem)), ..Self::opened(Value::NULL, PrivateData::new()) }
    }

    /// It failed, and nothing is open.
    pub fn failed(diagnostic: ProviderDiagnostic) -> Self {
        Self { diagnostics: diagnostic.into(), ..Self::opened(Value::NULL, PrivateData::new()) }
    }
}

/// An ephemeral resource that goes on.
#[derive(Clone, Debug)]
pub struct RenewResponse {
    /// The deadline for the next renewal.
    pub renew_at: Option<SystemTime>,
    /// The data for the next renew and for close.
    pub private: PrivateData,
    /// Errors and warnings for the user.
    pub diagnostics: ProviderDiagnostics,
}

/// An ephemeral resource type: something that is open during a run and leaves no trace.
pub trait EphemeralResource: Send + Sync {
    /// Returns the schema of the ephemeral resource.
    fn schema(&self) -> &ResourceSchema;

    /// Checks a configuration as a whole, after the validators of the attributes.
    fn validate(&self, config: Value) -> Answer<'_, ProviderDiagnostics> {
        let _ = config;
        Answer::ready(ProviderDiagnostics::new())
    }

    /// Opens one for a wholly known configuration. What is configured must come back unchanged.
    fn open(&self, config: Value) -> Answer<'_, OpenResponse>;

    /// Keeps one open that said when it must be renewed.
    fn renew(&self, private: PrivateData) -> Answer<'_, RenewResponse> {
        Answer::ready(RenewResponse { renew_at: None, private, diagnostics: ProviderDiagnostics::new() })
    }

    /// Closes an open ephemeral resource.
    fn close(&self, private: PrivateData) -> Answer<'_, ProviderDiagnostics> {
        let _ = private;
        Answer::ready(ProviderDiagnostics::new())
    }
}

/// A type of state store. States come and go as a whole; the framework takes them to pieces of the size that configuring the store came
/// to, and puts them together again: what does not arrive whole is not written.
///
/// Version 6 of the protocol alone has state stores.
pub trait StateStore: Send + Sync {
    /// The schema of its configuration.
    fn schema(&self) -> &ResourceSchema;

    /// Checks a configuration as a whole, after the validators of the attributes.
    fn validate(&self, config: Value) -> Answer<'_, ProviderDiagnostics> {
        let _ = config;
        Answer::ready(ProviderDiagnostics::new())
    }

    /// Takes a configuration into use, which everything further is about.
    fn configure(&self, request: ConfigureStateStoreRequest) -> Answer<'_, ConfigureStateStoreResponse>;

    /// Returns the last written state; empty if it does not exist.
    fn read(&self, request: StateRequest) -> Answer<'_, ReadStateResponse>;

    /// Writes a new state. Until it is stored completely, reads return the previous one.
    fn write(&self, request: WriteStateRequest) -> Answer<'_, ProviderDiagnostics>;

    /// Returns the identifiers of stored states.
    fn states(&self) -> Answer<'_, StatesResponse>;

    /// Deletes a state and all of its content.
    fn delete(&self, request: StateRequest) -> Answer<'_, ProviderDiagnostics>;

    /// Takes the lock on a state, or says who has it. A store without locks gives an empty id, and is not asked to unlock.
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
