//! The provider through its trait, against the emulator.

#![allow(dead_code, clippy::unwrap_used, reason = "each test file uses a part of it; a test that fails may panic")]

use std::future::Future;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::Duration;

use groma_cloud::Environment;
use groma_cloudcontrol::AwsCloudControl;
use groma_cloudcontrol::api::{
    Answer, ApiError, CloudControl, CreateResource, DeleteResource, Fault, GetResource, ListResourceRequests,
    ListResources, ProgressEvent, RequestList, ResourceDescription, ResourceList, UpdateResource,
};
use groma_cloudcontrol::emulator::{self, Embedded, Settings, Store};
use groma_cloudcontrol::schema::Catalogue;
use groma_framework::Server;
use groma_provider::{
    ApplyRequest, ApplyResponse, Block, ClientCapabilities, ConfigureRequest, ImportRequest, ImportTarget, PlanRequest,
    PlanResponse, Private, Provider, ProviderDiagnostics, ReadRequest, ReadResponse, ValidateRequest, contract,
    proposed_new_state,
};
use groma_value::{Path, Value, convert};
use serde_json::{Value as Json, json};

/// Wakes the thread that waits.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

pub fn wait<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(done) = future.as_mut().poll(&mut context) {
            return done;
        }
        std::thread::park();
    }
}

fn written(json: &Json, block: &Block) -> Value {
    let text = json.to_string();
    let ty = groma_value::json::implied_type(text.as_bytes()).unwrap();
    let written = groma_value::json::from_json(text.as_bytes(), &ty).unwrap();
    let given = convert::convert(&written, block.config_type()).unwrap();
    let empty = block.empty_value().as_object().unwrap();
    let values = empty.iter().map(|(name, empty)| given.as_object().unwrap().get(name).unwrap_or(empty).clone());
    block.object(values.collect())
}

/// Configures a provider.
pub fn configure(provider: &Server, settings: &Json) -> ProviderDiagnostics {
    let config = written(settings, &provider.schema().unwrap().config.block);
    wait(provider.configure(ConfigureRequest {
        terraform_version: "1.15.0".to_owned(),
        config,
        client_capabilities: ClientCapabilities::default(),
    }))
}

/// A provider of the real service, in an environment without credentials.
pub fn remote_provider() -> Server {
    remote_provider_in(Environment::default())
}

/// A provider of the real service, with these variables in its environment.
pub fn remote_provider_in(environment: Environment) -> Server {
    let environment = environment.with("AWS_EC2_METADATA_DISABLED", "true").with("HOME", "/nonexistent");
    let provider = AwsCloudControl::default().with_environment(environment);
    provider.with_first_delay(Duration::from_millis(1)).served()
}

/// Serves an emulator on a free port.
pub fn serve(store: Arc<Store>) -> SocketAddr {
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let server = emulator::Server::bind("127.0.0.1:0".parse().unwrap(), store).await.unwrap();
            sender.send(server.address().unwrap()).unwrap();
            server.run().await.unwrap();
        });
    });
    receiver.recv().unwrap()
}

/// A call of the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    Create,
    Get,
    Update,
    Delete,
    List,
    Status,
    Requests,
    Cancel,
}

/// A service whose gate sees each call, and may answer it with an error instead.
pub struct Gated<G> {
    service: Embedded,
    gate: G,
}

impl<G: Fn(Call) -> Option<Fault> + Send + Sync> Gated<G> {
    pub fn new(store: &Arc<Store>, gate: G) -> Self {
        Self { service: Embedded::new(store.clone(), "eu-central-1"), gate }
    }

    fn pass<'a, T: Send + 'a>(&'a self, call: Call, send: impl FnOnce(&'a Embedded) -> Answer<'a, T>) -> Answer<'a, T> {
        match (self.gate)(call) {
            Some(fault) => Box::pin(std::future::ready(Err(ApiError::new(fault, "as asked for")))),
            None => send(&self.service),
        }
    }
}

impl<G: Fn(Call) -> Option<Fault> + Send + Sync> CloudControl for Gated<G> {
    fn create_resource(&self, request: CreateResource) -> Answer<'_, ProgressEvent> {
        self.pass(Call::Create, |service| service.create_resource(request))
    }

    fn get_resource(&self, request: GetResource) -> Answer<'_, ResourceDescription> {
        self.pass(Call::Get, |service| service.get_resource(request))
    }

    fn update_resource(&self, request: UpdateResource) -> Answer<'_, ProgressEvent> {
        self.pass(Call::Update, |service| service.update_resource(request))
    }

    fn delete_resource(&self, request: DeleteResource) -> Answer<'_, ProgressEvent> {
        self.pass(Call::Delete, |service| service.delete_resource(request))
    }

    fn list_resources(&self, request: ListResources) -> Answer<'_, ResourceList> {
        self.pass(Call::List, |service| service.list_resources(request))
    }

    fn get_resource_request_status(&self, request_token: String) -> Answer<'_, ProgressEvent> {
        self.pass(Call::Status, |service| service.get_resource_request_status(request_token))
    }

    fn list_resource_requests(&self, request: ListResourceRequests) -> Answer<'_, RequestList> {
        self.pass(Call::Requests, |service| service.list_resource_requests(request))
    }

    fn cancel_resource_request(&self, request_token: String) -> Answer<'_, ProgressEvent> {
        self.pass(Call::Cancel, |service| service.cancel_resource_request(request_token))
    }
}

/// A provider on an emulator in memory.
pub struct World {
    pub store: Arc<Store>,
    pub provider: Server,
}

/// An object as a state keeps it.
#[derive(Clone)]
pub struct Object {
    pub state: Value,
    pub private: Private,
}

impl World {
    pub fn new() -> Self {
        let store = Arc::new(Store::in_memory(Catalogue::shipped().clone(), Settings::default()).unwrap());
        Self::on(store)
    }

    pub fn on(store: Arc<Store>) -> Self {
        Self::configured(store, &json!({"region": "eu-central-1"}))
    }

    /// With this configuration of the provider.
    pub fn configured(store: Arc<Store>, settings: &Json) -> Self {
        let api = Arc::new(Embedded::new(store.clone(), "eu-central-1"));
        Self::with_api(store, api, settings)
    }

    /// With a service that stands between the provider and the emulator.
    pub fn with_api(store: Arc<Store>, api: Arc<dyn CloudControl>, settings: &Json) -> Self {
        Self::with_delay(store, api, settings, Duration::from_micros(100))
    }

    /// With delays that let a rate settle.
    pub fn with_api_patiently(store: Arc<Store>, api: Arc<dyn CloudControl>, settings: &Json) -> Self {
        Self::with_delay(store, api, settings, Duration::from_millis(10))
    }

    fn with_delay(store: Arc<Store>, api: Arc<dyn CloudControl>, settings: &Json, first_delay: Duration) -> Self {
        let provider = AwsCloudControl::default().with_api(api).with_first_delay(first_delay).served();
        let problems = configure(&provider, settings);
        assert!(problems.is_empty(), "{problems:?}");
        Self { store, provider }
    }

    /// With the emulator on a port of this machine, reached as AWS is.
    pub fn remote(store: Arc<Store>, settings: &Json) -> Self {
        let provider = remote_provider();
        let problems = configure(&provider, settings);
        assert!(problems.is_empty(), "{problems:?}");
        Self { store, provider }
    }

    /// A configuration as its author would write it in JSON, converted as the engine converts it.
    pub fn config(&self, type_name: &str, json: &Json) -> Value {
        let schema = self.provider.resource_schema(type_name).unwrap().unwrap_or_else(|| panic!("{type_name}"));
        written(json, &schema.block)
    }

    pub fn validate(&self, type_name: &str, json: &Json) -> ProviderDiagnostics {
        let request = ValidateRequest {
            type_name: type_name.into(),
            config: self.config(type_name, json),
            client_capabilities: ClientCapabilities::default(),
        };
        wait(self.provider.validate_resource(request))
    }

    pub fn plan_value(&self, type_name: &str, config: &Value, prior: Option<&Object>) -> PlanResponse {
        let schema = self.provider.resource_schema(type_name).unwrap().unwrap();
        let null = Value::null(schema.block.implied_type().clone());
        let prior_state = prior.map_or(&null, |object| &object.state);
        let proposed = proposed_new_state(&schema.block, prior_state, config);
        let response = wait(self.provider.plan_resource(PlanRequest {
            type_name: type_name.into(),
            prior_state: prior_state.clone(),
            proposed_new_state: proposed,
            config: config.clone(),
            prior_private: prior.map_or_else(Private::default, |object| object.private.clone()),
            ..PlanRequest::default()
        }));
        assert!(!response.diagnostics.has_errors(), "{:?}", response.diagnostics);
        let violations = contract::check_planned(&schema.block, prior_state, config, &response.planned_state);
        assert!(violations.is_empty(), "{type_name}: {violations:?}");
        response
    }

    pub fn plan(&self, type_name: &str, json: &Json, prior: Option<&Object>) -> PlanResponse {
        self.plan_value(type_name, &self.config(type_name, json), prior)
    }

    pub fn try_apply(
        &self,
        type_name: &str,
        json: &Json,
        prior: Option<&Object>,
        plan: &PlanResponse,
    ) -> ApplyResponse {
        let schema = self.provider.resource_schema(type_name).unwrap().unwrap();
        let null = Value::null(schema.block.implied_type().clone());
        let config = self.config(type_name, json);
        wait(self.provider.apply_resource(ApplyRequest {
            type_name: type_name.into(),
            prior_state: prior.map_or(null, |object| object.state.clone()),
            planned_state: plan.planned_state.clone(),
            config,
            planned_private: plan.planned_private.clone(),
            ..ApplyRequest::default()
        }))
    }

    /// Plans and applies; the contract of the lifecycle holds.
    pub fn apply(&self, type_name: &str, json: &Json, prior: Option<&Object>) -> Object {
        let plan = self.plan(type_name, json, prior);
        assert!(plan.requires_replace.is_empty(), "{:?}", plan.requires_replace);
        let applied = self.try_apply(type_name, json, prior, &plan);
        assert!(!applied.diagnostics.has_errors(), "{:?}", applied.diagnostics);
        let state = applied.new_state.unwrap();
        let schema = self.provider.resource_schema(type_name).unwrap().unwrap();
        let violations = contract::check_compatible(&schema.block, &plan.planned_state, &state);
        assert!(violations.is_empty(), "{type_name}: {violations:?}");
        assert!(state.is_wholly_known());
        Object { state, private: applied.private }
    }

    pub fn read(&self, type_name: &str, object: &Object) -> Object {
        let response = wait(self.provider.read_resource(ReadRequest {
            type_name: type_name.into(),
            current_state: object.state.clone(),
            private: object.private.clone(),
            ..ReadRequest::default()
        }));
        assert!(!response.diagnostics.has_errors(), "{:?}", response.diagnostics);
        Object { state: response.new_state, private: response.private }
    }

    /// Imports an object to a resource with this configuration, and reads it.
    pub fn imported(&self, type_name: &str, id: &str, config: &Json) -> ReadResponse {
        let response = wait(self.provider.import_resource(ImportRequest {
            type_name: type_name.into(),
            target: ImportTarget::Id(id.to_owned()),
            config: Some(self.config(type_name, config)),
            client_capabilities: ClientCapabilities::default(),
        }));
        assert!(!response.diagnostics.has_errors(), "{:?}", response.diagnostics);
        let imported = response.imported.into_iter().next().unwrap();
        wait(self.provider.read_resource(ReadRequest {
            type_name: type_name.into(),
            current_state: imported.state,
            private: imported.private,
            ..ReadRequest::default()
        }))
    }

    pub fn delete(&self, type_name: &str, object: &Object) {
        let response = self.try_delete(type_name, object);
        assert!(!response.diagnostics.has_errors(), "{:?}", response.diagnostics);
        assert!(response.new_state.unwrap().is_null());
    }

    pub fn try_delete(&self, type_name: &str, object: &Object) -> ApplyResponse {
        let null = Value::null(object.state.ty());
        wait(self.provider.apply_resource(ApplyRequest {
            type_name: type_name.into(),
            prior_state: object.state.clone(),
            planned_state: null.clone(),
            config: null,
            planned_private: object.private.clone(),
            ..ApplyRequest::default()
        }))
    }

    /// Creates, and checks that nothing is left to do: neither a read nor another plan changes anything.
    pub fn applied(&self, type_name: &str, json: &Json) -> Object {
        let object = self.apply(type_name, json, None);
        let read = self.read(type_name, &object);
        assert_eq!(read.state, object.state, "{type_name}: a read changes the state");
        let plan = self.plan(type_name, json, Some(&read));
        assert_eq!(plan.planned_state, read.state, "{type_name}: another plan changes something");
        object
    }
}

pub fn text(object: &Object, path: &str) -> String {
    path.split('.')
        .fold(object.state.clone(), |value, step| value.as_object().unwrap().get(step).unwrap().clone())
        .as_str()
        .unwrap_or_else(|| panic!("{path} is no string"))
        .to_owned()
}

pub fn at(name: &str) -> Path {
    Path::root().attribute(name)
}
