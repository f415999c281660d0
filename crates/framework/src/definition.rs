//! The author's side of the provider itself.

use std::sync::Arc;

use groma_provider::{
    Answer, CallFunctionRequest, ConfigureRequest, FunctionError, FunctionSignature, ProviderDiagnostics, TypeNames,
};
use groma_value::Value;

use crate::{Action, DataSource, EphemeralResource, ListResource, Resource, ResourceSchema, StateStore};

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
