//! The interface between the engine and everything that manages objects.

use std::sync::Arc;

use crate::protocol::{
    ApplyRequest, ApplyResponse, CallFunctionRequest, CloseEphemeralRequest, ConfigureRequest,
    ConfigureStateStoreRequest, ConfigureStateStoreResponse, EphemeralResponse, FunctionError, FunctionSignature,
    Functions, GenerateConfigRequest, GenerateConfigResponse, ImportRequest, ImportResponse, InvokeActionRequest,
    ListRequest, LockStateRequest, LockStateResponse, MoveRequest, MoveResponse, OpenEphemeralRequest,
    OpenEphemeralResponse, PlanActionRequest, PlanActionResponse, PlanRequest, PlanResponse, ProviderSchema,
    ReadDataRequest, ReadDataResponse, ReadRequest, ReadResponse, ReadStateResponse, RenewEphemeralRequest,
    StateRequest, StatesResponse, TypeCategory, TypeNames, UnlockStateRequest, UpgradeIdentityRequest,
    UpgradeIdentityResponse, UpgradeRequest, UpgradeResponse, ValidateProviderRequest, ValidateRequest,
    WriteStateRequest,
};
use crate::{Answer, Name, ProviderDiagnostic, ProviderDiagnostics, Schema};
use groma_value::Value;

/// A schema lookup; `None` if the provider does not have the type.
pub type SchemaLookup = Result<Option<Arc<Schema>>, ProviderDiagnostics>;

/// A provider: an in-process implementation, a plugin connection, or a test script.
///
/// An implementation owns its connection to the service, and manages objects on request; it has no knowledge of states,
/// plans or other objects. Calls may come concurrently from several threads. Requests are owned, so they can outlive
/// the caller's borrows; responses are [`Answer`]s, which an in-process provider returns ready.
///
/// Values in requests and responses have no marks and conform to the implied type of the schema. An implementation
/// reports failures as diagnostics of the response and never panics. It need not check its own responses: the engine
/// calls it through [`Checked`](crate::Checked), which does.
///
/// Schemas are requested by type, so that a provider with thousands of types builds only those in use. Apart from
/// schemas, validation and [`configure`](Provider::configure), every method defaults to an error response.
pub trait Provider: Send + Sync {
    /// Returns the schema of the provider configuration and the provider's capabilities.
    ///
    /// # Errors
    ///
    /// The reason why the provider did not answer, such as a broken connection.
    fn schema(&self) -> Result<ProviderSchema, ProviderDiagnostics>;

    /// Returns the names of all types and functions, without their schemas.
    fn type_names(&self) -> TypeNames;

    /// Returns the schema of a managed resource type.
    ///
    /// # Errors
    ///
    /// The reason why the provider did not answer, such as a broken connection.
    fn resource_schema(&self, type_name: &str) -> SchemaLookup {
        let _ = type_name;
        Ok(None)
    }

    /// Returns the schema of a data source.
    ///
    /// # Errors
    ///
    /// The reason why the provider did not answer, such as a broken connection.
    fn data_schema(&self, type_name: &str) -> SchemaLookup {
        let _ = type_name;
        Ok(None)
    }

    /// Returns the schema of an ephemeral resource type.
    ///
    /// # Errors
    ///
    /// The reason why the provider did not answer, such as a broken connection.
    fn ephemeral_schema(&self, type_name: &str) -> SchemaLookup {
        let _ = type_name;
        Ok(None)
    }

    /// Returns the schema of a type in a category.
    ///
    /// # Errors
    ///
    /// The reason why the provider did not answer, such as a broken connection.
    fn category_schema(&self, category: TypeCategory, type_name: &str) -> SchemaLookup {
        match category {
            TypeCategory::Resource => self.resource_schema(type_name),
            TypeCategory::DataSource => self.data_schema(type_name),
            TypeCategory::EphemeralResource => self.ephemeral_schema(type_name),
            TypeCategory::List => self.list_schema(type_name),
            TypeCategory::Action => self.action_schema(type_name),
            TypeCategory::StateStore => self.state_store_schema(type_name),
        }
    }

    /// Passes the schemas of all types to `visit`, in no particular order and on several threads, if there are many. A provider with
    /// thousands of types frees each after its visit.
    ///
    /// # Errors
    ///
    /// The reason why the provider did not answer, such as a broken connection.
    fn visit_schemas(
        &self,
        visit: &(dyn Fn(TypeCategory, &Name, &Arc<Schema>) + Sync),
    ) -> Result<(), ProviderDiagnostics> {
        for (name, categories) in self.type_names().categories() {
            for category in categories {
                if let Some(schema) = self.category_schema(category, &name)? {
                    visit(category, &name, &schema);
                }
            }
        }
        Ok(())
    }

    /// Returns the signature of a function that the schema declares.
    fn function(&self, name: &str) -> Option<Arc<FunctionSignature>> {
        let _ = name;
        None
    }

    /// Returns the functions that exist only after configuration, in addition to the declared ones. OpenTofu calls
    /// these, too.
    ///
    /// # Errors
    ///
    /// The reason why the provider did not answer, such as a broken connection.
    fn configured_functions(&self) -> Answer<'_, Result<Functions, ProviderDiagnostics>> {
        Answer::ready(Ok(Functions::new()))
    }

    /// Validates the provider configuration.
    fn validate_provider_config(&self, request: ValidateProviderRequest) -> Answer<'_, ProviderDiagnostics> {
        let _ = request;
        Answer::ready(ProviderDiagnostics::new())
    }

    /// Configures the provider. Calls that depend on the configuration follow after the response.
    fn configure(&self, request: ConfigureRequest) -> Answer<'_, ProviderDiagnostics> {
        let _ = request;
        Answer::ready(ProviderDiagnostics::new())
    }

    /// Validates the configuration of a managed resource (LC-03).
    fn validate_resource(&self, request: ValidateRequest) -> Answer<'_, ProviderDiagnostics> {
        let _ = request;
        Answer::ready(ProviderDiagnostics::new())
    }

    /// Upgrades a stored object to the current schema (LC-19, LC-20).
    fn upgrade_resource(&self, request: UpgradeRequest) -> Answer<'_, UpgradeResponse> {
        let diagnostics = unsupported("upgrade_resource", &request.type_name);
        Answer::ready(UpgradeResponse { upgraded_state: Value::DYNAMIC, diagnostics })
    }

    /// Upgrades a stored identity to the current identity schema (LC-31).
    fn upgrade_identity(&self, request: UpgradeIdentityRequest) -> Answer<'_, UpgradeIdentityResponse> {
        let diagnostics = unsupported("upgrade_identity", &request.type_name);
        Answer::ready(UpgradeIdentityResponse { upgraded_identity: Value::DYNAMIC, diagnostics })
    }

    /// Reads the current state of a real object (LC-21).
    fn read_resource(&self, request: ReadRequest) -> Answer<'_, ReadResponse> {
        let diagnostics = unsupported("read_resource", &request.type_name);
        Answer::ready(ReadResponse { diagnostics, ..ReadResponse::unchanged(request) })
    }

    /// Reads several objects, for providers with a batch API.
    ///
    /// The responses are in the order of the requests, one each.
    fn read_resources(&self, requests: Vec<ReadRequest>) -> Answer<'_, Vec<ReadResponse>> {
        Answer::sequence(requests, |request| self.read_resource(request))
    }

    /// Returns the recommended number of objects per [`read_resources`](Provider::read_resources) call: one, if batches
    /// have no advantage.
    fn read_batch_size(&self, type_name: &str) -> usize {
        let _ = type_name;
        1
    }

    /// Plans a change (LC-06 to LC-09).
    fn plan_resource(&self, request: PlanRequest) -> Answer<'_, PlanResponse> {
        let diagnostics = unsupported("plan_resource", &request.type_name);
        let response = PlanResponse::new(request.proposed_new_state, request.prior_private);
        Answer::ready(PlanResponse { diagnostics, ..response })
    }

    /// Applies a planned change (LC-12 to LC-16).
    fn apply_resource(&self, request: ApplyRequest) -> Answer<'_, ApplyResponse> {
        let diagnostics = unsupported("apply_resource", &request.type_name);
        let response = ApplyResponse::new(request.prior_state, request.planned_private);
        Answer::ready(ApplyResponse { diagnostics, ..response })
    }

    /// Finds an existing object for import (LC-23).
    fn import_resource(&self, request: ImportRequest) -> Answer<'_, ImportResponse> {
        let diagnostics = unsupported("import_resource", &request.type_name);
        Answer::ready(ImportResponse { diagnostics, ..ImportResponse::default() })
    }

    /// Converts an object of another resource type, possibly of another provider, to one of this provider's types.
    fn move_resource(&self, request: MoveRequest) -> Answer<'_, MoveResponse> {
        let diagnostics = unsupported("move_resource", &request.target_type_name);
        Answer::ready(MoveResponse {
            target_state: Value::DYNAMIC,
            target_private: request.source_private,
            target_identity: None,
            diagnostics,
        })
    }

    /// Validates the configuration of a data source.
    fn validate_data(&self, request: ValidateRequest) -> Answer<'_, ProviderDiagnostics> {
        let _ = request;
        Answer::ready(ProviderDiagnostics::new())
    }

    /// Reads a data source.
    fn read_data(&self, request: ReadDataRequest) -> Answer<'_, ReadDataResponse> {
        let diagnostics = unsupported("read_data", &request.type_name);
        Answer::ready(ReadDataResponse { state: request.config, deferred: None, diagnostics })
    }

    /// Validates the configuration of an ephemeral resource.
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

    /// Renews an open ephemeral resource before it expires.
    fn renew_ephemeral(&self, request: RenewEphemeralRequest) -> Answer<'_, EphemeralResponse> {
        let diagnostics = unsupported("renew_ephemeral", &request.type_name);
        Answer::ready(EphemeralResponse { renew_at: None, private: request.private, diagnostics })
    }

    /// Closes an ephemeral resource.
    fn close_ephemeral(&self, request: CloseEphemeralRequest) -> Answer<'_, ProviderDiagnostics> {
        let _ = request;
        Answer::ready(ProviderDiagnostics::new())
    }

    /// Returns the schema of an action type.
    ///
    /// # Errors
    ///
    /// The reason why the provider did not answer, such as a broken connection.
    fn action_schema(&self, type_name: &str) -> SchemaLookup {
        let _ = type_name;
        Ok(None)
    }

    /// Validates the configuration of an action.
    fn validate_action(&self, request: ValidateRequest) -> Answer<'_, ProviderDiagnostics> {
        let _ = request;
        Answer::ready(ProviderDiagnostics::new())
    }

    /// Checks whether an action can be invoked with a configuration that may contain unknown values.
    fn plan_action(&self, request: PlanActionRequest) -> Answer<'_, PlanActionResponse> {
        let _ = request;
        Answer::ready(PlanActionResponse::default())
    }

    /// Runs an action; its messages go to the request's `progress` as they arrive.
    fn invoke_action(&self, request: InvokeActionRequest) -> Answer<'_, ProviderDiagnostics> {
        Answer::ready(unsupported("invoke_action", &request.type_name))
    }

    /// Returns the schema of the list block of a resource type, if the type supports list queries.
    ///
    /// # Errors
    ///
    /// The reason why the provider did not answer, such as a broken connection.
    fn list_schema(&self, type_name: &str) -> SchemaLookup {
        let _ = type_name;
        Ok(None)
    }

    /// Validates the configuration of a list block.
    fn validate_list(&self, request: ValidateRequest) -> Answer<'_, ProviderDiagnostics> {
        let _ = request;
        Answer::ready(ProviderDiagnostics::new())
    }

    /// Lists objects, which go to the request's `found` as they arrive.
    fn list_resource(&self, request: ListRequest) -> Answer<'_, ProviderDiagnostics> {
        Answer::ready(unsupported("list_resource", &request.type_name))
    }

    /// Generates the configuration of an existing object.
    fn generate_config(&self, request: GenerateConfigRequest) -> Answer<'_, GenerateConfigResponse> {
        let diagnostics = unsupported("generate_config", &request.type_name);
        Answer::ready(GenerateConfigResponse { config: Value::DYNAMIC, diagnostics })
    }

    /// Calls a function, whether declared or available only after configuration.
    fn call_function(&self, request: CallFunctionRequest) -> Answer<'_, Result<Value, FunctionError>> {
        let text = format!("the provider has no function named {:?}", request.name);
        Answer::ready(Err(FunctionError::new(text)))
    }

    /// Returns the schema of a state store.
    ///
    /// # Errors
    ///
    /// The reason why the provider did not answer, such as a broken connection.
    fn state_store_schema(&self, type_name: &str) -> SchemaLookup {
        let _ = type_name;
        Ok(None)
    }

    /// Validates the configuration of a state store.
    fn validate_state_store(&self, request: ValidateRequest) -> Answer<'_, ProviderDiagnostics> {
        let _ = request;
        Answer::ready(ProviderDiagnostics::new())
    }

    /// Configures a state store and negotiates its chunk size.
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

    /// Unlocks a state in a store.
    fn unlock_state(&self, request: UnlockStateRequest) -> Answer<'_, ProviderDiagnostics> {
        Answer::ready(unsupported("unlock_state", &request.type_name))
    }

    /// Lists the states in the store `type_name`.
    fn states(&self, type_name: Name) -> Answer<'_, StatesResponse> {
        Answer::ready(StatesResponse { state_ids: Vec::new(), diagnostics: unsupported("states", &type_name) })
    }

    /// Deletes a state from a store.
    fn delete_state(&self, request: StateRequest) -> Answer<'_, ProviderDiagnostics> {
        Answer::ready(unsupported("delete_state", &request.type_name))
    }

    /// Asks running operations to end soon, after the user's interrupt (FW-22). They still return responses.
    fn stop(&self) {}

    /// Whether the provider has ended, for example after a crash, so that further calls fail.
    fn has_ended(&self) -> bool {
        false
    }
}

/// Creates the error of the default methods.
fn unsupported(method: &str, type_name: &str) -> ProviderDiagnostics {
    ProviderDiagnostic::error(
        "Unsupported plugin method",
        format!("The provider does not support {method} for {type_name}. A newer version may."),
    )
    .into()
}
