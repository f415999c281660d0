//! The scripted provider: what it has, and what it was asked.

mod answers;
mod faulty;

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

/// What a function gives for its arguments.
type FunctionBody = dyn Fn(&[Value]) -> Result<Value, FunctionError> + Send + Sync;

/// The same, for the provider's configuration and its arguments.
type ConfiguredBody = dyn Fn(&Value, &[Value]) -> Result<Value, FunctionError> + Send + Sync;

/// What the provider writes for an object.
type Generating = dyn Fn(&GenerateConfigRequest) -> GenerateConfigResponse + Send + Sync;

/// A provider whose responses a test decides.
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
    generate: Option<Arc<Generating>>,
    functions: BTreeMap<Name, (Arc<FunctionSignature>, Arc<FunctionBody>)>,
    /// Those that it has once it is configured.
    configured_functions: BTreeMap<Name, (Arc<FunctionSignature>, Arc<ConfiguredBody>)>,
    /// What it was configured with, once all of that is known.
    configured: Mutex<Option<Value>>,
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
            meta: None,
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

    /// The same, with a function that it has only once all of its configuration is known: `body` is handed that too.
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

    /// The same, which takes `provider_meta` blocks.
    #[must_use]
    pub fn meta(mut self, schema: Schema) -> Self {
        self.meta = Some(Arc::new(schema));
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

    /// What it was configured with, once all of that is known.
    fn configuration(&self) -> MutexGuard<'_, Option<Value>> {
        self.configured.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn script(&self, type_name: &str) -> Result<&ResourceScript, ProviderDiagnostics> {
        self.resources.get(type_name).ok_or_else(|| {
            let detail = format!("The provider {} has no type {type_name}.", self.name);
            ProviderDiagnostic::error("Unknown type", detail).into()
        })
    }

    /// Records a call about something open, which is known by the bytes it was opened with.
    fn record_opened(&self, operation: Operation, type_name: &str, private: &[u8]) {
        let name = Value::string(String::from_utf8_lossy(private));
        self.record(operation, type_name, &[&Value::object([("name", name)])]);
    }
}
