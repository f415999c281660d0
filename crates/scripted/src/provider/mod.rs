//! The scripted provider: its types, and the calls it received.

mod faults;
mod responses;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use groma_provider::{
    ConfigureRequest, FunctionError, FunctionSignature, GenerateConfigRequest, GenerateConfigResponse, Name,
    ProviderDiagnostic, ProviderDiagnostics, Schema, ServerCapabilities,
};
use groma_value::Value;

use crate::call::{Call, Operation, name_of};
use crate::script::{ActionScript, DataScript, EphemeralScript, Handler, ListScript, ResourceScript};
use crate::world::World;

/// The implementation of a function.
type FunctionBody = dyn Fn(&[Value]) -> Result<Value, FunctionError> + Send + Sync;

/// The implementation of a function that depends on the provider configuration.
type ConfiguredBody = dyn Fn(&Value, &[Value]) -> Result<Value, FunctionError> + Send + Sync;

/// The generation of a configuration.
type GenerateConfig = dyn Fn(&GenerateConfigRequest) -> GenerateConfigResponse + Send + Sync;

/// A provider whose responses are decided by a test.
pub struct Scripted {
    name: String,
    config: Arc<Schema>,
    meta: Option<Arc<Schema>>,
    capabilities: ServerCapabilities,
    resources: BTreeMap<Name, ResourceScript>,
    data_sources: BTreeMap<Name, DataScript>,
    ephemeral: BTreeMap<Name, EphemeralScript>,
    actions: BTreeMap<Name, ActionScript>,
    lists: BTreeMap<Name, ListScript>,
    generate: Option<Arc<GenerateConfig>>,
    functions: BTreeMap<Name, (Arc<FunctionSignature>, Arc<FunctionBody>)>,
    /// Functions that exist only after configuration.
    configured_functions: BTreeMap<Name, (Arc<FunctionSignature>, Arc<ConfiguredBody>)>,
    /// The provider configuration, once it is wholly known.
    configured: Mutex<Option<Value>>,
    configure: Option<Handler<ConfigureRequest, ProviderDiagnostics>>,
    world: World,
    calls: Mutex<Vec<Call>>,
    stopped: AtomicBool,
}

impl Scripted {
    /// Creates a provider without types, named `name` in its messages.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            config: Arc::default(),
            meta: None,
            // Both capabilities make the engine send calls that tests want to see recorded.
            capabilities: ServerCapabilities { plan_destroy: true, move_resource_state: true, ..Default::default() },
            resources: BTreeMap::new(),
            data_sources: BTreeMap::new(),
            ephemeral: BTreeMap::new(),
            actions: BTreeMap::new(),
            lists: BTreeMap::new(),
            generate: None,
            functions: BTreeMap::new(),
            configured_functions: BTreeMap::new(),
            configured: Mutex::default(),
            configure: None,
            world: World::new(),
            calls: Mutex::default(),
            stopped: AtomicBool::new(false),
        }
    }

    /// Adds a resource type.
    #[must_use]
    pub fn resource(mut self, type_name: impl Into<Name>, script: ResourceScript) -> Self {
        self.resources.insert(type_name.into(), script);
        self
    }

    /// Adds a data source.
    #[must_use]
    pub fn data(mut self, type_name: impl Into<Name>, script: DataScript) -> Self {
        self.data_sources.insert(type_name.into(), script);
        self
    }

    /// Adds an ephemeral resource type.
    #[must_use]
    pub fn ephemeral(mut self, type_name: impl Into<Name>, script: EphemeralScript) -> Self {
        self.ephemeral.insert(type_name.into(), script);
        self
    }

    /// Adds an action type.
    #[must_use]
    pub fn action(mut self, type_name: impl Into<Name>, script: ActionScript) -> Self {
        self.actions.insert(type_name.into(), script);
        self
    }

    /// Adds a list query for objects of a resource type.
    #[must_use]
    pub fn list(mut self, type_name: impl Into<Name>, script: ListScript) -> Self {
        self.lists.insert(type_name.into(), script);
        self
    }

    /// Sets the generation of configurations, and announces the capability.
    #[must_use]
    pub fn on_generate_config(
        mut self,
        answer: impl Fn(&GenerateConfigRequest) -> GenerateConfigResponse + Send + Sync + 'static,
    ) -> Self {
        self.capabilities.generate_resource_config = true;
        self.generate = Some(Arc::new(answer));
        self
    }

    /// Adds a function that the schema declares.
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

    /// Adds a function that exists only once the configuration is wholly known, which `body` receives, too.
    #[must_use]
    pub fn configured_function(
        mut self,
        name: impl Into<Name>,
        signature: FunctionSignature,
        body: impl Fn(&Value, &[Value]) -> Result<Value, FunctionError> + Send + Sync + 'static,
    ) -> Self {
        self.configured_functions.insert(name.into(), (Arc::new(signature), Arc::new(body)));
        self
    }

    /// Sets the schema of the provider configuration.
    #[must_use]
    pub fn config(mut self, schema: Schema) -> Self {
        self.config = Arc::new(schema);
        self
    }

    /// Replaces the response to configuration.
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

    /// Sets the schema of `provider_meta` blocks.
    #[must_use]
    pub fn meta(mut self, schema: Schema) -> Self {
        self.meta = Some(Arc::new(schema));
        self
    }

    /// Replaces the announced capabilities.
    #[must_use]
    pub fn capabilities(mut self, capabilities: ServerCapabilities) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// Shares the objects of `world`, for example for a second run with the objects of the first.
    #[must_use]
    pub fn in_world(mut self, world: World) -> Self {
        self.world = world;
        self
    }

    /// Returns the managed objects.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// Returns all calls so far, in order.
    pub fn calls(&self) -> Vec<Call> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns all calls so far, in order and formatted: `plan test_object web`.
    pub fn call_texts(&self) -> Vec<String> {
        self.calls().iter().map(ToString::to_string).collect()
    }

    /// Clears the record of calls.
    pub fn forget_calls(&self) {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Whether the provider was call to stop.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }

    fn record(&self, operation: Operation, type_name: &str, values: &[&Value]) -> String {
        let object = name_of(values);
        let call = Call { operation, type_name: type_name.to_owned(), object: object.clone() };
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).push(call);
        object
    }

    /// Locks the provider configuration, which is `None` unless wholly known.
    fn configuration(&self) -> MutexGuard<'_, Option<Value>> {
        self.configured.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn script(&self, type_name: &str) -> Result<&ResourceScript, ProviderDiagnostics> {
        self.resources.get(type_name).ok_or_else(|| {
            let detail = format!("The provider {} has no type {type_name}.", self.name);
            ProviderDiagnostic::error("Unknown type", detail).into()
        })
    }

    /// Records a call for an open ephemeral resource, which is identified by its private data.
    fn record_opened(&self, operation: Operation, type_name: &str, private: &[u8]) {
        let name = Value::string(String::from_utf8_lossy(private));
        self.record(operation, type_name, &[&Value::object([("name", name)])]);
    }
}
