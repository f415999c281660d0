//! The provider implementation: responses from the script, or else the default behavior.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::SystemTime;

use groma_provider::{
    Answer, ApplyRequest, ApplyResponse, CallFunctionRequest, CloseEphemeralRequest, ConfigureRequest,
    EphemeralResponse, FunctionError, FunctionSignature, Functions, GenerateConfigRequest, GenerateConfigResponse,
    ImportRequest, ImportResponse, InvokeActionRequest, ListRequest, MoveRequest, MoveResponse, OpenEphemeralRequest,
    OpenEphemeralResponse, PlanActionRequest, PlanActionResponse, PlanRequest, PlanResponse, Provider,
    ProviderDiagnostic, ProviderDiagnostics, ProviderSchema, ReadDataRequest, ReadDataResponse, ReadRequest,
    ReadResponse, RenewEphemeralRequest, SchemaLookup, TypeNames, UpgradeIdentityRequest, UpgradeIdentityResponse,
    UpgradeRequest, UpgradeResponse, ValidateProviderRequest, ValidateRequest,
};
use groma_value::Value;

use super::Scripted;
use super::faults::{CallInfo, FaultEffects, delayed};
use crate::call::{Operation, name_of};
use crate::default_behavior;
use crate::fault::Fault;
use crate::script::Handler;

/// Returns the scripted response, or else the default one.
fn respond_by<Request, Response>(
    handler: Option<&Handler<Request, Response>>,
    request: &Request,
    good: impl Fn() -> Response,
) -> Response {
    match handler {
        Some(handler) => handler(request, &good),
        None => good(),
    }
}

impl Provider for Scripted {
    fn schema(&self) -> Result<ProviderSchema, ProviderDiagnostics> {
        Ok(ProviderSchema {
            config: Arc::clone(&self.config),
            meta: self.meta.clone(),
            capabilities: self.capabilities,
        })
    }

    fn type_names(&self) -> TypeNames {
        TypeNames {
            resources: self.resources.keys().cloned().collect(),
            data_sources: self.data_sources.keys().cloned().collect(),
            ephemeral_resources: self.ephemeral.keys().cloned().collect(),
            functions: self.functions.keys().cloned().collect(),
            lists: self.lists.keys().cloned().collect(),
            actions: self.actions.keys().cloned().collect(),
            state_stores: Vec::new(),
        }
    }

    fn resource_schema(&self, type_name: &str) -> SchemaLookup {
        Ok(self.resources.get(type_name).map(|script| Arc::clone(&script.schema)))
    }

    fn data_schema(&self, type_name: &str) -> SchemaLookup {
        Ok(self.data_sources.get(type_name).map(|script| Arc::clone(&script.schema)))
    }

    fn ephemeral_schema(&self, type_name: &str) -> SchemaLookup {
        Ok(self.ephemeral.get(type_name).map(|script| Arc::clone(&script.schema)))
    }

    fn function(&self, name: &str) -> Option<Arc<FunctionSignature>> {
        self.functions.get(name).map(|(signature, _)| Arc::clone(signature))
    }

    fn configured_functions(&self) -> Answer<'_, Result<Functions, ProviderDiagnostics>> {
        let all = self.configured_functions.iter().map(|(name, (signature, _))| (name.clone(), Arc::clone(signature)));
        Answer::ready(Ok(self.configuration().as_ref().map(|_| all.collect()).unwrap_or_default()))
    }

    fn call_function(&self, request: CallFunctionRequest) -> Answer<'_, Result<Value, FunctionError>> {
        let configured = self.configuration().clone().zip(self.configured_functions.get(&request.name));
        Answer::ready(match (self.functions.get(&request.name), configured) {
            (Some((_, body)), _) => body(&request.arguments),
            (None, Some((config, (_, body)))) => body(&config, &request.arguments),
            (None, None) => Err(FunctionError::new(format!("no function {}", request.name))),
        })
    }

    fn validate_provider_config(&self, request: ValidateProviderRequest) -> Answer<'_, ProviderDiagnostics> {
        self.record(Operation::ValidateProvider, "", &[&request.config]);
        Answer::ready(default_behavior::validate(&self.config.block, &request.config))
    }

    fn configure(&self, request: ConfigureRequest) -> Answer<'_, ProviderDiagnostics> {
        self.record(Operation::Configure, "", &[&request.config]);
        // Functions that depend on the configuration do not exist while it has unknown values, as in OpenTofu.
        *self.configuration() = request.config.is_wholly_known().then(|| request.config.clone());
        Answer::ready(respond_by(self.configure.as_ref(), &request, ProviderDiagnostics::new))
    }

    fn validate_resource(&self, request: ValidateRequest) -> Answer<'_, ProviderDiagnostics> {
        let object = self.record(Operation::Validate, &request.type_name, &[&request.config]);
        let call = CallInfo { operation: Operation::Validate, type_name: request.type_name.clone(), object };
        let effects = FaultEffects {
            reject: |_, problems| problems,
            distort_response: |fault, found| found.extend(fault.after()),
        };
        self.respond_with_faults(&call, request, effects, |script, request| {
            respond_by(script.validate.as_ref(), request, || {
                default_behavior::validate(&script.schema.block, &request.config)
            })
        })
    }

    fn upgrade_resource(&self, request: UpgradeRequest) -> Answer<'_, UpgradeResponse> {
        let object = self.record(Operation::Upgrade, &request.type_name, &[]);
        let call = CallInfo { operation: Operation::Upgrade, type_name: request.type_name.clone(), object };
        let effects = FaultEffects {
            reject: |_, diagnostics| UpgradeResponse { upgraded_state: Value::NULL, diagnostics },
            distort_response: |fault, response: &mut UpgradeResponse| {
                response.upgraded_state = fault.distort(std::mem::take(&mut response.upgraded_state));
                response.diagnostics.extend(fault.after());
            },
        };
        self.respond_with_faults(&call, request, effects, |script, request| {
            respond_by(script.upgrade.as_ref(), request, || default_behavior::upgrade(script, request))
        })
    }

    fn read_resource(&self, request: ReadRequest) -> Answer<'_, ReadResponse> {
        let object = self.record(Operation::Read, &request.type_name, &[&request.current_state]);
        let call = CallInfo { operation: Operation::Read, type_name: request.type_name.clone(), object };
        let effects = FaultEffects {
            reject: |request: &ReadRequest, diagnostics| ReadResponse {
                diagnostics,
                ..ReadResponse::unchanged(request.clone())
            },
            distort_response: |fault, response| {
                response.new_state = fault.distort(std::mem::take(&mut response.new_state));
                response.diagnostics.extend(fault.after());
            },
        };
        self.respond_with_faults(&call, request, effects, |script, request| {
            respond_by(script.read.as_ref(), request, || default_behavior::read(script, &self.world, request))
        })
    }

    fn plan_resource(&self, request: PlanRequest) -> Answer<'_, PlanResponse> {
        let object = self.record(Operation::Plan, &request.type_name, &[&request.config, &request.prior_state]);
        let call = CallInfo { operation: Operation::Plan, type_name: request.type_name.clone(), object };
        let effects = FaultEffects {
            reject: |request: &PlanRequest, diagnostics| PlanResponse {
                diagnostics,
                ..PlanResponse::new(request.proposed_new_state.clone(), request.prior_private.clone())
            },
            distort_response: |fault, response| {
                response.planned_state = fault.distort(std::mem::take(&mut response.planned_state));
                response.diagnostics.extend(fault.after());
            },
        };
        self.respond_with_faults(&call, request, effects, |script, request| {
            respond_by(script.plan.as_ref(), request, || default_behavior::plan(script, request))
        })
    }

    fn apply_resource(&self, request: ApplyRequest) -> Answer<'_, ApplyResponse> {
        let object = self.record(Operation::Apply, &request.type_name, &[&request.config, &request.prior_state]);
        let call = CallInfo { operation: Operation::Apply, type_name: request.type_name.clone(), object };
        let effects = FaultEffects {
            reject: |request: &ApplyRequest, diagnostics| ApplyResponse {
                diagnostics,
                ..ApplyResponse::new(request.prior_state.clone(), request.planned_private.clone())
            },
            distort_response: |fault, response| match fault {
                Fault::Nothing => response.new_state = None,
                fault => {
                    response.new_state = response.new_state.take().map(|state| fault.distort(state));
                    response.diagnostics.extend(fault.after());
                }
            },
        };
        self.respond_with_faults(&call, request, effects, |script, request| {
            respond_by(script.apply.as_ref(), request, || default_behavior::apply(script, &self.world, request))
        })
    }

    fn import_resource(&self, request: ImportRequest) -> Answer<'_, ImportResponse> {
        let object = self.record(Operation::Import, &request.type_name, &[]);
        let call = CallInfo { operation: Operation::Import, type_name: request.type_name.clone(), object };
        let effects = FaultEffects {
            reject: |_, diagnostics| ImportResponse { diagnostics, ..ImportResponse::default() },
            distort_response: |fault, response: &mut ImportResponse| {
                for imported in &mut response.imported {
                    imported.state = fault.distort(std::mem::take(&mut imported.state));
                }
                response.diagnostics.extend(fault.after());
            },
        };
        self.respond_with_faults(&call, request, effects, |script, request| {
            respond_by(script.import.as_ref(), request, || default_behavior::import(script, request))
        })
    }

    fn move_resource(&self, request: MoveRequest) -> Answer<'_, MoveResponse> {
        self.record(Operation::Move, &request.target_type_name, &[]);
        let refused = |diagnostics| MoveResponse {
            target_state: Value::NULL,
            target_private: request.source_private.clone(),
            target_identity: None,
            diagnostics,
        };
        let script = match self.script(&request.target_type_name) {
            Ok(script) => script,
            Err(problems) => return Answer::ready(refused(problems)),
        };
        let response = respond_by(script.move_state.as_ref(), &request, || {
            let detail = format!("{} cannot become {}.", request.source_type_name, request.target_type_name);
            refused(ProviderDiagnostic::error("Unsupported move", detail).into())
        });
        Answer::ready(response)
    }

    fn validate_data(&self, request: ValidateRequest) -> Answer<'_, ProviderDiagnostics> {
        self.record(Operation::Validate, &request.type_name, &[&request.config]);
        let block = self.data_sources.get(&request.type_name).map(|script| &script.schema.block);
        Answer::ready(block.map(|block| default_behavior::validate(block, &request.config)).unwrap_or_default())
    }

    fn read_data(&self, request: ReadDataRequest) -> Answer<'_, ReadDataResponse> {
        self.record(Operation::ReadData, &request.type_name, &[&request.config]);
        let Some(script) = self.data_sources.get(&request.type_name) else {
            let diagnostics = ProviderDiagnostic::error("Unknown data source", request.type_name.to_string()).into();
            return Answer::ready(ReadDataResponse { state: request.config, deferred: None, diagnostics });
        };
        delayed(script.delay, move || {
            respond_by(script.read.as_ref(), &request, || default_behavior::read_data(&script.schema.block, &request))
        })
    }

    fn validate_ephemeral(&self, request: ValidateRequest) -> Answer<'_, ProviderDiagnostics> {
        self.record(Operation::Validate, &request.type_name, &[&request.config]);
        let block = self.ephemeral.get(&request.type_name).map(|script| &script.schema.block);
        Answer::ready(block.map(|block| default_behavior::validate(block, &request.config)).unwrap_or_default())
    }

    fn open_ephemeral(&self, request: OpenEphemeralRequest) -> Answer<'_, OpenEphemeralResponse> {
        self.record(Operation::Open, &request.type_name, &[&request.config]);
        let script = self.ephemeral.get(&request.type_name);
        let result = match script {
            Some(script) => default_behavior::with_results(&script.schema.block, &request.config),
            None => request.config.clone(),
        };
        let renew_at = script.and_then(|script| script.renew_after).map(|after| SystemTime::now() + after);
        // The private data identifies the resource in later renew and close calls.
        let private = name_of(&[&request.config]).into_bytes().into();
        delayed(script.and_then(|script| script.opening_takes), move || {
            let diagnostics = ProviderDiagnostics::new();
            OpenEphemeralResponse { result, renew_at, private, deferred: None, diagnostics }
        })
    }

    fn renew_ephemeral(&self, request: RenewEphemeralRequest) -> Answer<'_, EphemeralResponse> {
        self.record_opened(Operation::Renew, &request.type_name, &request.private);
        let script = self.ephemeral.get(&request.type_name);
        let after = script.and_then(|script| script.renew_after);
        delayed(script.and_then(|script| script.renewal_takes), move || {
            let renew_at = after.map(|after| SystemTime::now() + after);
            // Each renewal changes the private data, so that tests notice a stale copy.
            let private = [&request.private, &b"'"[..]].concat().into();
            EphemeralResponse { renew_at, private, ..EphemeralResponse::default() }
        })
    }

    fn close_ephemeral(&self, request: CloseEphemeralRequest) -> Answer<'_, ProviderDiagnostics> {
        self.record_opened(Operation::Close, &request.type_name, &request.private);
        Answer::ready(ProviderDiagnostics::new())
    }

    fn action_schema(&self, type_name: &str) -> SchemaLookup {
        Ok(self.actions.get(type_name).map(|script| Arc::clone(&script.schema)))
    }

    fn validate_action(&self, request: ValidateRequest) -> Answer<'_, ProviderDiagnostics> {
        self.record(Operation::Validate, &request.type_name, &[&request.config]);
        let said = self.actions.get(&request.type_name).map(|script| {
            let problems = default_behavior::validate(&script.schema.block, &request.config);
            if problems.has_errors() { problems } else { (script.validate)(&request) }
        });
        Answer::ready(said.unwrap_or_default())
    }

    fn plan_action(&self, request: PlanActionRequest) -> Answer<'_, PlanActionResponse> {
        self.record(Operation::PlanAction, &request.type_name, &[&request.config]);
        let script = self.actions.get(&request.type_name);
        Answer::ready(script.map(|script| (script.plan)(&request)).unwrap_or_default())
    }

    fn invoke_action(&self, request: InvokeActionRequest) -> Answer<'_, ProviderDiagnostics> {
        self.record(Operation::Invoke, &request.type_name, &[&request.config]);
        let script = self.actions.get(&request.type_name);
        Answer::ready(script.map(|script| (script.invoke)(&request)).unwrap_or_default())
    }

    fn upgrade_identity(&self, request: UpgradeIdentityRequest) -> Answer<'_, UpgradeIdentityResponse> {
        self.record(Operation::Upgrade, &request.type_name, &[]);
        let script = self.resources.get(&request.type_name);
        Answer::ready(match script.and_then(|script| script.upgrade_identity.as_ref()) {
            Some(upgrade) => upgrade(&request),
            None => UpgradeIdentityResponse {
                upgraded_identity: Value::NULL,
                diagnostics: ProviderDiagnostic::error("Not scripted", "Nothing upgrades identities here.").into(),
            },
        })
    }

    fn list_schema(&self, type_name: &str) -> SchemaLookup {
        Ok(self.lists.get(type_name).map(|script| Arc::clone(&script.schema)))
    }

    fn validate_list(&self, request: ValidateRequest) -> Answer<'_, ProviderDiagnostics> {
        self.record(Operation::Validate, &request.type_name, &[&request.config]);
        let block = self.lists.get(&request.type_name).map(|script| &script.schema.block);
        Answer::ready(block.map(|block| default_behavior::validate(block, &request.config)).unwrap_or_default())
    }

    fn list_resource(&self, request: ListRequest) -> Answer<'_, ProviderDiagnostics> {
        self.record(Operation::List, &request.type_name, &[&request.config]);
        let script = self.lists.get(&request.type_name);
        Answer::ready(script.map(|script| (script.search)(&request)).unwrap_or_default())
    }

    fn generate_config(&self, request: GenerateConfigRequest) -> Answer<'_, GenerateConfigResponse> {
        self.record(Operation::GenerateConfig, &request.type_name, &[&request.state]);
        Answer::ready(match &self.generate {
            Some(generate) => generate(&request),
            None => GenerateConfigResponse { config: request.state, diagnostics: ProviderDiagnostics::new() },
        })
    }

    fn stop(&self) {
        self.record(Operation::Stop, "", &[]);
        self.stopped.store(true, Ordering::SeqCst);
    }
}
