//! The provider that the engine uses: a [`Definition`] with the features of the framework.

mod apply;
mod panic;
mod plan;
mod read;
mod services;
mod types;
mod validate;
mod visit;

use std::sync::Arc;

use groma_provider::{
    Answer, ApplyRequest, ApplyResponse, CallFunctionRequest, CloseEphemeralRequest, ConfigureRequest,
    ConfigureStateStoreRequest, ConfigureStateStoreResponse, EphemeralResponse, FunctionError, FunctionSignature,
    ImportRequest, ImportResponse, InvokeActionRequest, ListRequest, LockStateRequest, LockStateResponse, MoveRequest,
    MoveResponse, OpenEphemeralRequest, OpenEphemeralResponse, PlanActionRequest, PlanActionResponse, PlanRequest,
    PlanResponse, Provider, ProviderDiagnostics, ProviderSchema, ReadDataRequest, ReadDataResponse, ReadRequest,
    ReadResponse, ReadStateResponse, RenewEphemeralRequest, Schema, SchemaLookup, ServerCapabilities, StateRequest,
    StatesResponse, TypeCategory, TypeNames, UnlockStateRequest, UpgradeIdentityRequest, UpgradeIdentityResponse,
    UpgradeRequest, UpgradeResponse, ValidateProviderRequest, ValidateRequest, WriteStateRequest,
};
use groma_value::Value;

use crate::{Definition, Name};

/// Serves a [`Definition`] as a provider.
pub struct Server {
    definition: Arc<dyn Definition>,
    types: types::Types,
}

impl Server {
    /// Creates a server for `definition`.
    pub fn new(definition: Arc<dyn Definition>) -> Self {
        Self { definition, types: types::Types::default() }
    }

    /// Returns the served definition.
    pub fn definition(&self) -> &Arc<dyn Definition> {
        &self.definition
    }
}

impl Provider for Server {
    fn schema(&self) -> Result<ProviderSchema, ProviderDiagnostics> {
        let config = panic::catch("schema", || self.definition.schema().schema().clone())?;
        let capabilities = ServerCapabilities {
            plan_destroy: true,
            get_provider_schema_optional: true,
            move_resource_state: true,
            // Hosts derive a configuration from the object themselves.
            generate_resource_config: false,
            repeatable_create: self.definition.repeats_creations_safely(),
            is_pure: false,
        };
        Ok(ProviderSchema { config, meta: None, capabilities })
    }

    fn type_names(&self) -> TypeNames {
        panic::catch("type_names", || self.definition.type_names()).unwrap_or_default()
    }

    fn resource_schema(&self, type_name: &str) -> SchemaLookup {
        let resource = self.types.resource(&*self.definition, type_name)?;
        resource.map(|resource| panic::catch("schema", || resource.schema().schema().clone())).transpose()
    }

    fn data_schema(&self, type_name: &str) -> SchemaLookup {
        let source = self.types.data_source(&*self.definition, type_name)?;
        source.map(|source| panic::catch("schema", || source.schema().schema().clone())).transpose()
    }

    fn ephemeral_schema(&self, type_name: &str) -> SchemaLookup {
        let resource = self.types.ephemeral(&*self.definition, type_name)?;
        resource.map(|resource| panic::catch("schema", || resource.schema().schema().clone())).transpose()
    }

    fn list_schema(&self, type_name: &str) -> SchemaLookup {
        let list = self.types.list(&*self.definition, type_name)?;
        list.map(|list| panic::catch("schema", || list.schema().schema().clone())).transpose()
    }

    fn action_schema(&self, type_name: &str) -> SchemaLookup {
        let action = self.types.action(&*self.definition, type_name)?;
        action.map(|action| panic::catch("schema", || action.schema().schema().clone())).transpose()
    }

    fn state_store_schema(&self, type_name: &str) -> SchemaLookup {
        let store = self.types.state_store(&*self.definition, type_name)?;
        store.map(|store| panic::catch("schema", || store.schema().schema().clone())).transpose()
    }

    fn visit_schemas(
        &self,
        visit: &(dyn Fn(TypeCategory, &Name, &Arc<Schema>) + Sync),
    ) -> Result<(), ProviderDiagnostics> {
        let names: Vec<_> = self.type_names().categories().into_iter().collect();
        self.visit_all(&names, visit)
    }

    fn function(&self, name: &str) -> Option<Arc<FunctionSignature>> {
        panic::catch("function", || self.definition.function(name)).ok().flatten()
    }

    fn validate_provider_config(&self, request: ValidateProviderRequest) -> Answer<'_, ProviderDiagnostics> {
        self.validate_provider(request.config)
    }

    fn configure(&self, request: ConfigureRequest) -> Answer<'_, ProviderDiagnostics> {
        // A provider block is not planned, so its defaults are applied here (FW-16).
        match plan::with_defaults(self.definition.schema(), request.config) {
            Ok(config) => {
                let request = ConfigureRequest { config, ..request };
                panic::guard("configure", || self.definition.configure(request), |problems| problems)
            }
            Err(problems) => Answer::ready(problems),
        }
    }

    fn validate_resource(&self, request: ValidateRequest) -> Answer<'_, ProviderDiagnostics> {
        self.validate_resource_config(request)
    }

    fn upgrade_resource(&self, request: UpgradeRequest) -> Answer<'_, UpgradeResponse> {
        Answer::ready(self.upgrade(&request))
    }

    fn upgrade_identity(&self, request: UpgradeIdentityRequest) -> Answer<'_, UpgradeIdentityResponse> {
        Answer::ready(self.upgrade_identity_data(&request))
    }

    fn read_resource(&self, request: ReadRequest) -> Answer<'_, ReadResponse> {
        self.read(request)
    }

    fn read_resources(&self, requests: Vec<ReadRequest>) -> Answer<'_, Vec<ReadResponse>> {
        self.read_batch(requests)
    }

    fn read_batch_size(&self, type_name: &str) -> usize {
        match self.types.resource(&*self.definition, type_name) {
            // At least one, or a host that divides by the size would read nothing.
            Ok(Some(resource)) => panic::catch("read_batch_size", || resource.read_batch_size()).unwrap_or(1).max(1),
            _ => 1,
        }
    }

    fn plan_resource(&self, request: PlanRequest) -> Answer<'_, PlanResponse> {
        self.plan(request)
    }

    fn apply_resource(&self, request: ApplyRequest) -> Answer<'_, ApplyResponse> {
        self.apply(request)
    }

    fn import_resource(&self, request: ImportRequest) -> Answer<'_, ImportResponse> {
        self.import(request)
    }

    fn move_resource(&self, request: MoveRequest) -> Answer<'_, MoveResponse> {
        self.move_object(request)
    }

    fn validate_data(&self, request: ValidateRequest) -> Answer<'_, ProviderDiagnostics> {
        self.validate_data_config(request)
    }

    fn read_data(&self, request: ReadDataRequest) -> Answer<'_, ReadDataResponse> {
        self.read_data_source(request)
    }

    fn validate_ephemeral(&self, request: ValidateRequest) -> Answer<'_, ProviderDiagnostics> {
        self.validate_ephemeral_config(request)
    }

    fn open_ephemeral(&self, request: OpenEphemeralRequest) -> Answer<'_, OpenEphemeralResponse> {
        self.open(request)
    }

    fn renew_ephemeral(&self, request: RenewEphemeralRequest) -> Answer<'_, EphemeralResponse> {
        self.renew(request)
    }

    fn close_ephemeral(&self, request: CloseEphemeralRequest) -> Answer<'_, ProviderDiagnostics> {
        self.close(request)
    }

    fn validate_list(&self, request: ValidateRequest) -> Answer<'_, ProviderDiagnostics> {
        self.validate_list_config(request)
    }

    fn list_resource(&self, request: ListRequest) -> Answer<'_, ProviderDiagnostics> {
        self.search(request)
    }

    fn validate_action(&self, request: ValidateRequest) -> Answer<'_, ProviderDiagnostics> {
        self.validate_action_config(request)
    }

    fn plan_action(&self, request: PlanActionRequest) -> Answer<'_, PlanActionResponse> {
        self.plan_invocation(request)
    }

    fn invoke_action(&self, request: InvokeActionRequest) -> Answer<'_, ProviderDiagnostics> {
        self.invoke(request)
    }

    fn validate_state_store(&self, request: ValidateRequest) -> Answer<'_, ProviderDiagnostics> {
        self.validate_store_config(request)
    }

    fn configure_state_store(&self, request: ConfigureStateStoreRequest) -> Answer<'_, ConfigureStateStoreResponse> {
        self.configure_store(request)
    }

    fn read_state(&self, request: StateRequest) -> Answer<'_, ReadStateResponse> {
        self.read_stored(request)
    }

    fn write_state(&self, request: WriteStateRequest) -> Answer<'_, ProviderDiagnostics> {
        self.write_stored(request)
    }

    fn lock_state(&self, request: LockStateRequest) -> Answer<'_, LockStateResponse> {
        self.lock_stored(request)
    }

    fn unlock_state(&self, request: UnlockStateRequest) -> Answer<'_, ProviderDiagnostics> {
        self.unlock_stored(request)
    }

    fn states(&self, type_name: Name) -> Answer<'_, StatesResponse> {
        self.list_stored(&type_name)
    }

    fn delete_state(&self, request: StateRequest) -> Answer<'_, ProviderDiagnostics> {
        self.delete_stored(request)
    }

    fn call_function(&self, request: CallFunctionRequest) -> Answer<'_, Result<Value, FunctionError>> {
        panic::guard(
            "call_function",
            || self.definition.call_function(request),
            |problems| Err(FunctionError::of_call(&problems)),
        )
    }

    fn stop(&self) {
        // The request has no response that could report an error.
        let _ = panic::catch("stop", || self.definition.stop());
    }
}
