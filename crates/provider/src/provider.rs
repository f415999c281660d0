//! The one seam between the engine and everything that manages objects.

use std::sync::Arc;

use crate::protocol::{
    ApplyRequest, ApplyResponse, CallFunctionRequest, CloseEphemeralRequest, ConfigureRequest,
    ConfigureStateStoreRequest, ConfigureStateStoreResponse, EphemeralResponse, FunctionError, FunctionSignature,
    Functions, GenerateConfigRequest, GenerateConfigResponse, ImportRequest, ImportResponse, InvokeActionRequest,
    ListRequest, LockStateRequest, LockStateResponse, MoveRequest, MoveResponse, OpenEphemeralRequest,
    OpenEphemeralResponse, PlanActionRequest, PlanActionResponse, PlanRequest, PlanResponse, ProviderSchema,
    ReadDataRequest, ReadDataResponse, ReadRequest, ReadResponse, ReadStateResponse, RenewEphemeralRequest,
    StateRequest, StatesResponse, TypeNames, UnlockStateRequest, UpgradeIdentityRequest, UpgradeIdentityResponse,
    UpgradeRequest, UpgradeResponse, ValidateProviderRequest, ValidateRequest, WriteStateRequest,
};
use crate::{Answer, Name, ProviderDiagnostic, ProviderDiagnostics, Schema};
use groma_value::Value;

/// The schema of a type; `None` when the provider does not have the type.
pub type SchemaLookup = Result<Option<Arc<Schema>>, ProviderDiagnostics>;

/// A provider: in process, behind a plugin connection, or scripted by a test.
///
/// Requests are owned, so that they can outlive the caller's borrow; responses are [`Answer`]s. Schemas are asked for by
/// type, so that a provider with thousands of types builds those in use. Everything but the schemas, the checks of
/// configurations and [`configure`](Provider::configure) has a default that answers with an error.
pub trait Provider: Send + Sync {
    /// What the provider itself declares.
    ///
    /// # Errors
    ///
    /// What kept the provider from answering.
    fn schema(&self) -> Result<ProviderSchema, ProviderDiagnostics>;

    /// The names of all its types and functions, without their schemas.
    fn type_names(&self) -> TypeNames;

    /// The schema of a managed resource type.
    ///
    /// # Errors
    ///
    /// What kept the provider from answering.
    fn resource_schema(&self, type_name: &str) -> SchemaLookup {
        let _ = type_name;
        Ok(None)
    }

    /// The schema of a data source.
    ///
    /// # Errors
    ///
    /// What kept the provider from answering.
    fn data_schema(&self, type_name: &str) -> SchemaLookup {
        let _ = type_name;
        Ok(None)
    }

    /// The schema of an ephemeral resource type.
    ///
    /// # Errors
    ///
    /// What kept the provider from answering.
    fn ephemeral_schema(&self, type_name: &str) -> SchemaLookup {
        let _ = type_name;
        Ok(None)
    }

    /// The signature of a function.
    fn function(&self, name: &str) -> Option<Arc<FunctionSignature>> {
        let _ = name;
        None
    }

    /// The functions that it has now that it is configured, and that its schema need not tell of: OpenTofu calls these too.
    ///
    /// # Errors
    ///
    /// What kept the provider from answering.
    fn configured_functions(&self) -> Answer<'_, Result<Functions, ProviderDiagnostics>> {
        Answer::ready(Ok(Functions::new()))
    }

    /// Checks the provider's configuration.
    fn validate_provider_config(&self, request: ValidateProviderRequest) -> Answer<'_, ProviderDiagnostics> {
        let _ = request;
        Answer::ready(ProviderDiagnostics::new())
    }

    /// Takes the provider's configuration into use.
    fn configure(&self, request: ConfigureRequest) -> Answer<'_, ProviderDiagnostics> {
        let _ = request;
        Answer::ready(ProviderDiagnostics::new())
    }

    /// Checks the configuration of a managed resource (LC-03).
    fn validate_resource(&self, request: ValidateRequest) -> Answer<'_, ProviderDiagnostics> {
        let _ = request;
        Answer::ready(ProviderDiagnostics::new())
    }

    /// Brings a stored object to the shape of the current schema (LC-19, LC-20).
    fn upgrade_resource(&self, request: UpgradeRequest) -> Answer<'_, UpgradeResponse> {
        let diagnostics = unsupported("upgrade_resource", &request.type_name);
        Answer::ready(UpgradeResponse { upgraded_state: Value::DYNAMIC, diagnostics })
    }

    /// Brings a stored identity to the shape of the current schema (LC-31).
    fn upgrade_identity(&self, request: UpgradeIdentityRequest) -> Answer<'_, UpgradeIdentityResponse> {
        let diagnostics = unsupported("upgrade_identity", &request.type_name);
        Answer::ready(UpgradeIdentityResponse { upgraded_identity: Value::DYNAMIC, diagnostics })
    }

    /// Finds out what an object is like now (LC-21).
    fn read_resource(&self, request: ReadRequest) -> Answer<'_, ReadResponse> {
        let diagnostics = unsupported("read_resource", &request.type_name);
        Answer::ready(ReadResponse { diagnostics, ..ReadResponse::unchanged(request) })
    }

    /// [`read_resource`](Provider::read_resource) of several objects, for providers that can ask for many at once.
    ///
    /// The responses are in the order of the requests, one each.
    fn read_resources(&self, requests: Vec<ReadRequest>) -> Answer<'_, Vec<ReadResponse>> {
        Answer::in_turn(requests, |request| self.read_resource(request))
    }

    /// How many objects of a type are best read in one call of [`read_resources`](Provider::read_resources): one, when the
    /// provider gains nothing from being asked about several.
    fn read_batch_size(&self, type_name: &str) -> usize {
        let _ = type_name;
        1
    }

    /// Says what a change will lead to (LC-06 to LC-09).
    fn plan_resource(&self, request: PlanRequest) -> Answer<'_, PlanResponse> {
        let diagnostics = unsupported("plan_resource", &request.type_name);
        let response = PlanResponse::new(request.proposed_new_state, request.prior_private);
        Answer::ready(PlanResponse { diagnostics, ..response })
    }

    /// Makes a change (LC-12 to LC-16).
    fn apply_resource(&self, request: ApplyRequest) -> Answer<'_, ApplyResponse> {
        let diagnostics = unsupported("apply_resource", &request.type_name);
        let response = ApplyResponse::new(request.prior_state, request.planned_private);
        Answer::ready(ApplyResponse { diagnostics, ..response })
    }

    /// Finds an existing object that is to be managed from now on (LC-23).
    fn import_resource(&self, request: ImportRequest) -> Answer<'_, ImportResponse> {
        let diagnostics = unsupported("import_resource", &request.type_name);
        Answer::ready(ImportResponse { diagnostics, ..ImportResponse::default() })
    }

    /// Makes an object of another type one of this provider's types.
    fn move_resource(&self, request: MoveRequest) -> Answer<'_, MoveResponse> {
        let diagnostics = unsupported("move_resource", &request.target_type_name);
        Answer::ready(MoveResponse {
            target_state: Value::DYNAMIC,
            target_private: request.source_private,
            target_identity: None,
            diagnostics,
        })
    }

    /// Checks the configuration of a data source.
    fn validate_data(&self, request: ValidateRequest) -> Answer<'_, ProviderDiagnostics> {
        let _ = request;
        Answer::ready(ProviderDiagnostics::new())
    }

    /// Reads a data source.
    fn read_data(&self, request: ReadDataRequest) -> Answer<'_, ReadDataResponse> {
        let diagnostics = unsupported("read_data", &request.type_name);
        Answer::ready(ReadDataResponse { state: request.config, deferred: None, diagnostics })
    }

    /// Checks the configuration of an ephemeral resource.
    fn validate_ephemeral(&self, request: ValidateRequest) -> Answer<'_, ProviderDiagnostics> {
        let _ = request;
        Answer::ready(ProviderDiagnostics::new())
    }

    /// Opens an ephemeral resource.
    fn open_ephemeral(&self, request: OpenEphemeralRequest) -> Answer<'_, OpenEphemeralResponse> {
        let diagnostics = unsupported("open_ephemeral", &request.type_name);
        Answer::ready(OpenEphemeralResponse {
            result: request.config,
            renew_at: None,
            private: Arc::default(),
            deferred: None,
            diagnostics,
        })
    }

    /// Keeps an ephemeral resource open.
    fn renew_ephemeral(&self, request: RenewEphemeralRequest) -> Answer<'_, EphemeralResponse> {
        let diagnostics = unsupported("renew_ephemeral", &request.type_name);
        Answer::ready(EphemeralResponse { renew_at: None, private: request.private, diagnostics })
    }

    /// Closes an ephemeral resource.
    fn close_ephemeral(&self, request: CloseEphemeralRequest) -> Answer<'_, ProviderDiagnostics> {
        let _ = request;
        Answer::ready(ProviderDiagnostics::new())
    }

    /// The schema of an action type.
    ///
    /// # Errors
    ///
    /// What kept the provider from answering.
    fn action_schema(&self, type_name: &str) -> SchemaLookup {
        let _ = type_name;
        Ok(None)
    }

    /// Checks the configuration of an action.
    fn validate_action(&self, request: ValidateRequest) -> Answer<'_, ProviderDiagnostics> {
        let _ = request;
        Answer::ready(ProviderDiagnostics::new())
    }

    /// Says whether an action can be invoked with a configuration that may still hold unknown values.
    fn plan_action(&self, request: PlanActionRequest) -> Answer<'_, PlanActionResponse> {
        let _ = request;
        Answer::ready(PlanActionResponse::default())
    }

    /// Does what an action stands for; its messages go to the request's `progress` as they come.
    fn invoke_action(&self, request: InvokeActionRequest) -> Answer<'_, ProviderDiagnostics> {
        Answer::ready(unsupported("invoke_action", &request.type_name))
    }

    /// The schema of what objects of a resource type are searched by, where they can be listed.
    ///
    /// # Errors
    ///
    /// What kept the provider from answering.
    fn list_schema(&self, type_name: &str) -> SchemaLookup {
        let _ = type_name;
        Ok(None)
    }

    /// Checks what objects are searched by.
    fn validate_list(&self, request: ValidateRequest) -> Answer<'_, ProviderDiagnostics> {
        let _ = request;
        Answer::ready(ProviderDiagnostics::new())
    }

    /// Searches for objects, which go to the request's `found` as they come.
    fn list_resource(&self, request: ListRequest) -> Answer<'_, ProviderDiagnostics> {
        Answer::ready(unsupported("list_resource", &request.type_name))
    }

    /// Writes a configuration that manages an object as it is.
    fn generate_config(&self, request: GenerateConfigRequest) -> Answer<'_, GenerateConfigResponse> {
        let diagnostics = unsupported("generate_config", &request.type_name);
        Answer::ready(GenerateConfigResponse { config: Value::DYNAMIC, diagnostics })
    }

    /// Calls a function.
    fn call_function(&self, request: CallFunctionRequest) -> Answer<'_, Result<Value, FunctionError>> {
        let text = format!("the provider has no function named {:?}", request.name);
        Answer::ready(Err(FunctionError::new(text)))
    }

    /// The schema of a state store.
    ///
    /// # Errors
    ///
    /// What kept the provider from answering.
    fn state_store_schema(&self, type_name: &str) -> SchemaLookup {
        let _ = type_name;
        Ok(None)
    }

    /// Checks the configuration of a state store.
    fn validate_state_store(&self, request: ValidateRequest) -> Answer<'_, ProviderDiagnostics> {
        let _ = request;
        Answer::ready(ProviderDiagnostics::new())
    }

    /// Takes the configuration of a state store into use.
    fn configure_state_store(&self, request: ConfigureStateStoreRequest) -> Answer<'_, ConfigureStateStoreResponse> {
        let diagnostics = unsupported("configure_state_store", &request.type_name);
        Answer::ready(ConfigureStateStoreResponse { chunk_size: request.chunk_size, diagnostics })
    }

    /// Reads a state from a store.
    fn read_state(&self, request: StateRequest) -> Answer<'_, ReadStateResponse> {
        let diagnostics = unsupported("read_state", &request.type_name);
        Answer::ready(ReadStateResponse { bytes: Vec::new(), diagnostics })
    }

    /// Writes a state to a store.
    fn write_state(&self, request: WriteStateRequest) -> Answer<'_, ProviderDiagnostics> {
        Answer::ready(unsupported("write_state", &request.type_name))
    }

    /// Locks a state in a store.
    fn lock_state(&self, request: LockStateRequest) -> Answer<'_, LockStateResponse> {
        let diagnostics = unsupported("lock_state", &request.type_name);
        Answer::ready(LockStateResponse { lock_id: String::new(), diagnostics })
    }

    /// Gives a lock back.
    fn unlock_state(&self, request: UnlockStateRequest) -> Answer<'_, ProviderDiagnostics> {
        Answer::ready(unsupported("unlock_state", &request.type_name))
    }

    /// The states in the store `type_name`.
    fn states(&self, type_name: Name) -> Answer<'_, StatesResponse> {
        Answer::ready(StatesResponse { state_ids: Vec::new(), diagnostics: unsupported("states", &type_name) })
    }

    /// Deletes a state in a store.
    fn delete_state(&self, request: StateRequest) -> Answer<'_, ProviderDiagnostics> {
        Answer::ready(unsupported("delete_state", &request.type_name))
    }

    /// Asks running operations to end soon: the user wants to stop (FW-22). Their answers still come.
    fn stop(&self) {}

    /// Whether the provider has ended and cannot be asked anything any more, as a process may that crashed.
    fn has_ended(&self) -> bool {
        false
    }
}

/// What a default method answers.
fn unsupported(method: &str, type_name: &str) -> ProviderDiagnostics {
    ProviderDiagnostic::error(
        "Unsupported plugin method",
        format!("The provider does not support {method} for {type_name}; a newer version of it may."),
    )
    .into()
}
