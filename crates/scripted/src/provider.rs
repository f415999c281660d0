//! The scripted provider.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use groma_provider::{
    Answer, ApplyRequest, ApplyResponse, CallFunctionRequest, CloseEphemeralRequest, ConfigureRequest,
    EphemeralResponse, FunctionError, FunctionSignature, GenerateConfigRequest, GenerateConfigResponse, ImportRequest,
    ImportResponse, InvokeActionRequest, ListRequest, MoveRequest, MoveResponse, Name, OpenEphemeralRequest,
    OpenEphemeralResponse, PlanActionRequest, PlanActionResponse, PlanRequest, PlanResponse, Provider,
    ProviderDiagnostic, ProviderDiagnostics, ProviderSchema, ReadDataRequest, ReadDataResponse, ReadRequest,
    ReadResponse, RenewEphemeralRequest, Schema, SchemaLookup, ServerCapabilities, TypeNames, UpgradeIdentityRequest,
    UpgradeIdentityResponse, UpgradeRequest, UpgradeResponse, ValidateProviderRequest, ValidateRequest,
};
use groma_value::Value;

use crate::call::{Call, Operation, name_of};
use crate::delay::Delay;
use crate::fault::Fault;
use crate::good;
use crate::script::{ActionScript, DataScript, EphemeralScript, Handler, ListScript, ResourceScript};
use crate::world::World;

/// What a function gives for its arguments.
type FunctionBody = dyn Fn(&[Value]) -> Result<Value, FunctionError> + Send + Sync;

/// What the provider writes for an object.
type Generating = dyn Fn(&GenerateConfigRequest) -> GenerateConfigResponse + Send + Sync;

/// A provider whose responses a test decides.
pub struct Scripted {
    name: String,
    config: Arc<Schema>,
    capabilities: ServerCapabilities,
    resources: BTreeMap<Name, ResourceScript>,
    data_sources: BTreeMap<Name, DataScript>,
    ephemeral: BTreeMap<Name, EphemeralScript>,
    actions: BTreeMap<Name, ActionScript>,
    lists: BTreeMap<Name, ListScript>,
    generate: Option<Arc<Generating>>,
    functions: BTreeMap<Name, (Arc<FunctionSignature>, Arc<FunctionBody>)>,
    configure: Option<Handler<ConfigureRequest, ProviderDiagnostics>>,
    world: World,
    calls: Mutex<Vec<Call>>,
    stopped: AtomicBool,
}

impl Scripted {
    /// A provider without types, called `name` in its own messages.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            config: Arc::default(),
            capabilities: ServerCapabilities { plan_destroy: true, move_resource_state: true, ..Default::default() },
            resources: BTreeMap::new(),
            data_sources: BTreeMap::new(),
            ephemeral: BTreeMap::new(),
            actions: BTreeMap::new(),
            lists: BTreeMap::new(),
            generate: None,
            functions: BTreeMap::new(),
            configure: None,
            world: World::new(),
            calls: Mutex::default(),
            stopped: AtomicBool::new(false),
        }
    }

    /// The same, with a resource type.
    #[must_use]
    pub fn resource(mut self, type_name: impl Into<Name>, script: ResourceScript) -> Self {
        self.resources.insert(type_name.into(), script);
        self
    }

    /// The same, with a data source.
    #[must_use]
    pub fn data(mut self, type_name: impl Into<Name>, script: DataScript) -> Self {
        self.data_sources.insert(type_name.into(), script);
        self
    }

    /// The same, with an ephemeral resource type.
    #[must_use]
    pub fn ephemeral(mut self, type_name: impl Into<Name>, script: EphemeralScript) -> Self {
        self.ephemeral.insert(type_name.into(), script);
        self
    }

    /// The same, with an action type.
    #[must_use]
    pub fn action(mut self, type_name: impl Into<Name>, script: ActionScript) -> Self {
        self.actions.insert(type_name.into(), script);
        self
    }

    /// The same, with a search for objects of a resource type.
    #[must_use]
    pub fn list(mut self, type_name: impl Into<Name>, script: ListScript) -> Self {
        self.lists.insert(type_name.into(), script);
        self
    }

    /// The same, which writes configurations for objects.
    #[must_use]
    pub fn on_generate_config(
        mut self,
        answer: impl Fn(&GenerateConfigRequest) -> GenerateConfigResponse + Send + Sync + 'static,
    ) -> Self {
        self.capabilities.generate_resource_config = true;
        self.generate = Some(Arc::new(answer));
        self
    }

    /// The same, with a function.
    #[must_use]
    pub fn function(
        mut self,
        name: impl Into<Name>,
        signature: FunctionSignature,
        body: impl Fn(&[Value]) -> Result<Value, FunctionError> + Send + Sync + 'static,
    ) -> Self {
        self.functions.insert(name.into(), (Arc::new(signature), Arc::new(body)));
        self
    }

    /// The same, with a configuration.
    #[must_use]
    pub fn config(mut self, schema: Schema) -> Self {
        self.config = Arc::new(schema);
        self
    }

    /// The same, with another answer to being configured.
    #[must_use]
    pub fn on_configure(
        mut self,
        answer: impl Fn(&ConfigureRequest, crate::Good<'_, ProviderDiagnostics>) -> ProviderDiagnostics
        + Send
        + Sync
        + 'static,
    ) -> Self {
        self.configure = Some(Arc::new(answer));
        self
    }

    /// The same, with other capabilities.
    #[must_use]
    pub fn capabilities(mut self, capabilities: ServerCapabilities) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// The same, with the objects of `world`: for a second run with the objects of a first.
    #[must_use]
    pub fn in_world(mut self, world: World) -> Self {
        self.world = world;
        self
    }

    /// The objects it manages.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// All calls so far, in order.
    pub fn calls(&self) -> Vec<Call> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// All calls so far as text, in order: `plan test_object web`.
    pub fn call_texts(&self) -> Vec<String> {
        self.calls().iter().map(ToString::to_string).collect()
    }

    /// Forgets the calls so far.
    pub fn forget_calls(&self) {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Whether it was asked to stop.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }

    fn record(&self, operation: Operation, type_name: &str, values: &[&Value]) -> String {
        let object = name_of(values);
        let call = Call { operation, type_name: type_name.to_owned(), object: object.clone() };
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).push(call);
        object
    }

    fn script(&self, type_name: &str) -> Result<&ResourceScript, ProviderDiagnostics> {
        self.resources.get(type_name).ok_or_else(|| {
            let detail = format!("The provider {} has no type {type_name}.", self.name);
            ProviderDiagnostic::error("Unknown type", detail).into()
        })
    }
}

/// The scripted answer, or the good one.
fn answered<Request, Response>(
    handler: Option<&Handler<Request, Response>>,
    request: &Request,
    good: impl Fn() -> Response,
) -> Response {
    match handler {
        Some(handler) => handler(request, &good),
        None => good(),
    }
}

/// `respond`, after a while if the script says so.
fn delayed<'a, T: Send + 'a>(delay: Option<Duration>, respond: impl FnOnce() -> T + Send + 'a) -> Answer<'a, T> {
    match delay {
        None => Answer::ready(respond()),
        Some(duration) => Answer::later(async move {
            Delay::new(duration).await;
            respond()
        }),
    }
}

impl Provider for Scripted {
    fn schema(&self) -> Result<ProviderSchema, ProviderDiagnostics> {
        Ok(ProviderSchema { config: Arc::clone(&self.config), meta: None, capabilities: self.capabilities })
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

    fn call_function(&self, request: CallFunctionRequest) -> Answer<'_, Result<Value, FunctionError>> {
        Answer::ready(match self.functions.get(&request.name) {
            Some((_, body)) => body(&request.arguments),
            None => Err(FunctionError { text: format!("no function {}", request.name), argument: None }),
        })
    }

    fn validate_provider_config(&self, request: ValidateProviderRequest) -> Answer<'_, ProviderDiagnostics> {
        self.record(Operation::ValidateProvider, "", &[&request.config]);
        Answer::ready(good::validate(&self.config.block, &request.config))
    }

    fn configure(&self, request: ConfigureRequest) -> Answer<'_, ProviderDiagnostics> {
        self.record(Operation::Configure, "", &[&request.config]);
        Answer::ready(answered(self.configure.as_ref(), &request, ProviderDiagnostics::new))
    }

    fn validate_resource(&self, request: ValidateRequest) -> Answer<'_, ProviderDiagnostics> {
        let object = self.record(Operation::Validate, &request.type_name, &[&request.config]);
        let script = match self.script(&request.type_name) {
            Ok(script) => script,
            Err(problems) => return Answer::ready(problems),
        };
        let fault = script.fault_of(Operation::Validate, &object).cloned();
        delayed(script.delay_of(Operation::Validate), move || {
            if let Some(problems) = fault.as_ref().and_then(Fault::before) {
                return problems;
            }
            let block = &script.schema.block;
            let mut found = answered(script.validate.as_ref(), &request, || good::validate(block, &request.config));
            found.extend(fault.as_ref().map(Fault::after).unwrap_or_default());
            found
        })
    }

    fn upgrade_resource(&self, request: UpgradeRequest) -> Answer<'_, UpgradeResponse> {
        let object = self.record(Operation::Upgrade, &request.type_name, &[]);
        let script = match self.script(&request.type_name) {
            Ok(script) => script,
            Err(diagnostics) => return Answer::ready(UpgradeResponse { upgraded_state: Value::NULL, diagnostics }),
        };
        let fault = script.fault_of(Operation::Upgrade, &object).cloned();
        delayed(script.delay_of(Operation::Upgrade), move || {
            if let Some(diagnostics) = fault.as_ref().and_then(Fault::before) {
                return UpgradeResponse { upgraded_state: Value::NULL, diagnostics };
            }
            let mut response = answered(script.upgrade.as_ref(), &request, || good::upgrade(script, &request));
            if let Some(fault) = &fault {
                response.upgraded_state = fault.distort(response.upgraded_state);
                response.diagnostics.extend(fault.after());
            }
            response
        })
    }

    fn read_resource(&self, request: ReadRequest) -> Answer<'_, ReadResponse> {
        let object = self.record(Operation::Read, &request.type_name, &[&request.current_state]);
        let failed = |request: &ReadRequest, diagnostics| ReadResponse {
            new_state: request.current_state.clone(),
            private: request.private.clone(),
            deferred: None,
            new_identity: request.current_identity.clone(),
            diagnostics,
        };
        let script = match self.script(&request.type_name) {
            Ok(script) => script,
            Err(problems) => return Answer::ready(failed(&request, problems)),
        };
        let fault = script.fault_of(Operation::Read, &object).cloned();
        delayed(script.delay_of(Operation::Read), move || {
            if let Some(problems) = fault.as_ref().and_then(Fault::before) {
                return failed(&request, problems);
            }
            let mut response = answered(script.read.as_ref(), &request, || good::read(script, &self.world, &request));
            if let Some(fault) = &fault {
                response.new_state = fault.distort(response.new_state);
                response.diagnostics.extend(fault.after());
            }
            response
        })
    }

    fn plan_resource(&self, request: PlanRequest) -> Answer<'_, PlanResponse> {
        let object = self.record(Operation::Plan, &request.type_name, &[&request.config, &request.prior_state]);
        let failed = |request: &PlanRequest, diagnostics| {
            let response = PlanResponse::new(request.proposed_new_state.clone(), request.prior_private.clone());
            PlanResponse { diagnostics, ..response }
        };
        let script = match self.script(&request.type_name) {
            Ok(script) => script,
            Err(problems) => return Answer::ready(failed(&request, problems)),
        };
        let fault = script.fault_of(Operation::Plan, &object).cloned();
        delayed(script.delay_of(Operation::Plan), move || {
            if let Some(problems) = fault.as_ref().and_then(Fault::before) {
                return failed(&request, problems);
            }
            let mut response = answered(script.plan.as_ref(), &request, || good::plan(script, &request));
            if let Some(fault) = &fault {
                response.planned_state = fault.distort(response.planned_state);
                response.diagnostics.extend(fault.after());
            }
            response
        })
    }

    fn apply_resource(&self, request: ApplyRequest) -> Answer<'_, ApplyResponse> {
        let object = self.record(Operation::Apply, &request.type_name, &[&request.config, &request.prior_state]);
        let failed = |request: &ApplyRequest, diagnostics| {
            let response = ApplyResponse::new(request.prior_state.clone(), request.planned_private.clone());
            ApplyResponse { diagnostics, ..response }
        };
        let script = match self.script(&request.type_name) {
            Ok(script) => script,
            Err(problems) => return Answer::ready(failed(&request, problems)),
        };
        let fault = script.fault_of(Operation::Apply, &object).cloned();
        delayed(script.delay_of(Operation::Apply), move || {
            if let Some(problems) = fault.as_ref().and_then(Fault::before) {
                return failed(&request, problems);
            }
            let mut response = answered(script.apply.as_ref(), &request, || good::apply(script, &self.world, &request));
            match &fault {
                Some(Fault::Nothing) => response.new_state = None,
                Some(fault) => {
                    response.new_state = response.new_state.map(|state| fault.distort(state));
                    response.diagnostics.extend(fault.after());
                }
                None => {}
            }
            response
        })
    }

    fn import_resource(&self, request: ImportRequest) -> Answer<'_, ImportResponse> {
        let object = self.record(Operation::Import, &request.type_name, &[]);
        let script = match self.script(&request.type_name) {
            Ok(script) => script,
            Err(diagnostics) => return Answer::ready(ImportResponse { diagnostics, ..ImportResponse::default() }),
        };
        let fault = script.fault_of(Operation::Import, &object).cloned();
        delayed(script.delay_of(Operation::Import), move || {
            if let Some(diagnostics) = fault.as_ref().and_then(Fault::before) {
                return ImportResponse { diagnostics, ..ImportResponse::default() };
            }
            let mut response = answered(script.import.as_ref(), &request, || good::import(script, &request));
            if let Some(fault) = &fault {
                for imported in &mut response.imported {
                    imported.state = fault.distort(imported.state.clone());
                }
                response.diagnostics.extend(fault.after());
            }
            response
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
        let response = answered(script.take_over.as_ref(), &request, || {
            let detail = format!("{} cannot become {}.", request.source_type_name, request.target_type_name);
            refused(ProviderDiagnostic::error("Unsupported move", detail).into())
        });
        Answer::ready(response)
    }

    fn validate_data(&self, request: ValidateRequest) -> Answer<'_, ProviderDiagnostics> {
        self.record(Operation::Validate, &request.type_name, &[&request.config]);
        let block = self.data_sources.get(&request.type_name).map(|script| &script.schema.block);
        Answer::ready(block.map(|block| good::validate(block, &request.config)).unwrap_or_default())
    }

    fn read_data(&self, request: ReadDataRequest) -> Answer<'_, ReadDataResponse> {
        self.record(Operation::ReadData, &request.type_name, &[&request.config]);
        let Some(script) = self.data_sources.get(&request.type_name) else {
            let diagnostics = ProviderDiagnostic::error("Unknown data source", request.type_name.to_string()).into();
            return Answer::ready(ReadDataResponse { state: request.config, deferred: None, diagnostics });
        };
        delayed(script.delay, move || {
            answered(script.read.as_ref(), &request, || good::read_data(&script.schema.block, &request))
        })
    }

    fn validate_ephemeral(&self, request: ValidateRequest) -> Answer<'_, ProviderDiagnostics> {
        self.record(Operation::Validate, &request.type_name, &[&request.config]);
        let block = self.ephemeral.get(&request.type_name).map(|script| &script.schema.block);
        Answer::ready(block.map(|block| good::validate(block, &request.config)).unwrap_or_default())
    }

    fn open_ephemeral(&self, request: OpenEphemeralRequest) -> Answer<'_, OpenEphemeralResponse> {
        self.record(Operation::Open, &request.type_name, &[&request.config]);
        let script = self.ephemeral.get(&request.type_name);
        let result = match script {
            Some(script) => good::with_results(&script.schema.block, &request.config),
            None => request.config.clone(),
        };
        let renew_at = script.and_then(|script| script.renew_after).map(|after| SystemTime::now() + after);
        let private = name_of(&[&request.config]).into_bytes().into();
        let diagnostics = ProviderDiagnostics::new();
        Answer::ready(OpenEphemeralResponse { result, renew_at, private, deferred: None, diagnostics })
    }

    fn renew_ephemeral(&self, request: RenewEphemeralRequest) -> Answer<'_, EphemeralResponse> {
        self.record_opened(Operation::Renew, &request.type_name, &request.private);
        let after = self.ephemeral.get(&request.type_name).and_then(|script| script.renew_after);
        let renew_at = after.map(|after| SystemTime::now() + after);
        Answer::ready(EphemeralResponse { renew_at, private: request.private, ..EphemeralResponse::default() })
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
        let block = self.actions.get(&request.type_name).map(|script| &script.schema.block);
        Answer::ready(block.map(|block| good::validate(block, &request.config)).unwrap_or_default())
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
        Answer::ready(block.map(|block| good::validate(block, &request.config)).unwrap_or_default())
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

impl Scripted {
    /// Records a call about something open, which is known by the bytes it was opened with.
    fn record_opened(&self, operation: Operation, type_name: &str, private: &[u8]) {
        let name = Value::string(String::from_utf8_lossy(private));
        self.record(operation, type_name, &[&Value::object([("name", name)])]);
    }
}
