//! The provider type, which dispatches calls to the implementation of each type.

use std::sync::Arc;

use groma_provider::{
    Answer, ApplyRequest, ApplyResponse, CallFunctionRequest, FunctionError, FunctionSignature, ImportRequest,
    ImportResponse, MoveRequest, MoveResponse, PlanRequest, PlanResponse, Provider, ProviderDiagnostics,
    ProviderSchema, ReadDataRequest, ReadDataResponse, ReadRequest, ReadResponse, Schema, SchemaLookup,
    ServerCapabilities, TypeNames, UpgradeIdentityRequest, UpgradeIdentityResponse, UpgradeRequest, UpgradeResponse,
    ValidateRequest,
};

use groma_backend::Host;
use groma_encryption::RemoteEncryption;
use groma_value::Value;

use crate::{data, functions, remote_state};

/// The provider `terraform.io/builtin/terraform`, which has no configuration.
#[derive(Clone, Debug, Default)]
pub struct Terraform {
    remote: RemoteEncryption,
    host: Host,
}

impl Terraform {
    /// Sets the decryption of the remote states that data sources read.
    #[must_use]
    pub fn with_encryption(self, remote: RemoteEncryption) -> Self {
        Self { remote, ..self }
    }

    /// Sets the surroundings of the backends that data sources read: environment and home directory.
    #[must_use]
    pub fn with_host(self, host: Host) -> Self {
        Self { host, ..self }
    }
}

impl Provider for Terraform {
    fn schema(&self) -> Result<ProviderSchema, ProviderDiagnostics> {
        let capabilities = ServerCapabilities {
            plan_destroy: true,
            // Types are looked up one by one, so that the whole schema is never needed.
            get_provider_schema_optional: true,
            move_resource_state: true,
            generate_resource_config: false,
            // Objects exist only in the state, so a repeated creation has no side effects.
            repeatable_create: true,
            is_pure: true,
        };
        Ok(ProviderSchema { config: Arc::new(Schema::default()), meta: None, capabilities })
    }

    fn type_names(&self) -> TypeNames {
        TypeNames {
            resources: vec![data::TYPE_NAME.into()],
            data_sources: vec![remote_state::TYPE_NAME.into()],
            functions: functions::names(),
            ..TypeNames::default()
        }
    }

    fn resource_schema(&self, type_name: &str) -> SchemaLookup {
        Ok((type_name == data::TYPE_NAME).then(|| data::schema().clone()))
    }

    fn data_schema(&self, type_name: &str) -> SchemaLookup {
        Ok((type_name == remote_state::TYPE_NAME).then(|| remote_state::schema().clone()))
    }

    fn function(&self, name: &str) -> Option<Arc<FunctionSignature>> {
        functions::find(name)
    }

    fn call_function(&self, request: CallFunctionRequest) -> Answer<'_, Result<Value, FunctionError>> {
        Answer::ready(functions::call(&request))
    }

    fn validate_resource(&self, request: ValidateRequest) -> Answer<'_, ProviderDiagnostics> {
        Answer::ready(data::validate(&request.config))
    }

    fn upgrade_resource(&self, request: UpgradeRequest) -> Answer<'_, UpgradeResponse> {
        Answer::ready(data::upgrade(&request))
    }

    fn upgrade_identity(&self, request: UpgradeIdentityRequest) -> Answer<'_, UpgradeIdentityResponse> {
        Answer::ready(data::upgrade_identity(&request))
    }

    fn read_resource(&self, request: ReadRequest) -> Answer<'_, ReadResponse> {
        // The object exists only in the state.
        Answer::ready(ReadResponse::unchanged(request))
    }

    fn plan_resource(&self, request: PlanRequest) -> Answer<'_, PlanResponse> {
        Answer::ready(data::plan(request))
    }

    fn apply_resource(&self, request: ApplyRequest) -> Answer<'_, ApplyResponse> {
        Answer::ready(data::apply(request))
    }

    fn import_resource(&self, request: ImportRequest) -> Answer<'_, ImportResponse> {
        Answer::ready(data::import(request))
    }

    fn move_resource(&self, request: MoveRequest) -> Answer<'_, MoveResponse> {
        Answer::ready(data::move_state(request))
    }

    fn validate_data(&self, request: ValidateRequest) -> Answer<'_, ProviderDiagnostics> {
        Answer::ready(remote_state::check(&request.config, &self.host))
    }

    fn read_data(&self, request: ReadDataRequest) -> Answer<'_, ReadDataResponse> {
        remote_state::read(request, &self.remote, &self.host)
    }
}
