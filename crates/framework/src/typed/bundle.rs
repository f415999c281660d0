//! A provider as the collection of its parts.

use std::collections::BTreeMap;
use std::sync::Arc;

use groma_provider::{
    Answer, CallFunctionRequest, ConfigureRequest, FunctionError, FunctionSignature, ProviderDiagnostic,
    ProviderDiagnostics, SchemaProblem, TypeNames,
};
use groma_value::Value;

use super::{
    ActionAdapter, DataSourceAdapter, EphemeralResourceAdapter, Function, ListResourceAdapter, ModelAction,
    ModelDataSource, ModelEphemeralResource, ModelListResource, ModelResource, ModelStateStore, ResourceAdapter,
    StateStoreAdapter,
};
use crate::model::Model;
use crate::schema::{ResourceSchema, SchemaBuilder};
use crate::stopping::StopSignals;
use crate::{Action, DataSource, Definition, EphemeralResource, ListResource, Name, Resource, Server, StateStore};

type Configure = dyn Fn(ConfigureRequest) -> Answer<'static, ProviderDiagnostics> + Send + Sync;

/// The parts of a provider, by name.
#[derive(Default)]
#[must_use]
pub struct Bundle {
    schema: SchemaBuilder,
    configure: Option<Box<Configure>>,
    resources: BTreeMap<Name, Arc<dyn Resource>>,
    data_sources: BTreeMap<Name, Arc<dyn DataSource>>,
    ephemeral: BTreeMap<Name, Arc<dyn EphemeralResource>>,
    lists: BTreeMap<Name, Arc<dyn ListResource>>,
    actions: BTreeMap<Name, Arc<dyn Action>>,
    state_stores: BTreeMap<Name, Arc<dyn StateStore>>,
    functions: BTreeMap<Name, Function>,
    stops: StopSignals,
    problems: Vec<SchemaProblem>,
}

impl Bundle {
    /// Creates a provider without any parts.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a configuration, which `configure` receives. While planning it may contain unknown values: the model needs
    /// [`Maybe`](crate::model::Maybe) fields for arguments that may depend on resources.
    pub fn configured<M: Model>(
        mut self,
        configure: impl Fn(M) -> Result<(), ProviderDiagnostic> + Send + Sync + 'static,
    ) -> Self {
        self.schema = M::schema();
        self.configure = Some(Box::new(move |request| {
            // The conversion fails on unknown values where the model has no `Maybe` field.
            let result = M::of(&request.config).map_err(ProviderDiagnostic::from).and_then(&configure);
            Answer::ready(result.err().into_iter().collect())
        }));
        self
    }

    /// Like [`configured`](Bundle::configured), for an asynchronous `configure`, for example one that logs in.
    ///
    /// ```
    /// use groma_framework::{Bundle, Maybe, Model, ProviderDiagnostic};
    ///
    /// #[derive(Model)]
    /// struct Settings {
    ///     token: Maybe<String>,
    /// }
    ///
    /// async fn log_in(settings: Settings) -> Result<(), ProviderDiagnostic> {
    ///     match settings.token {
    ///         Maybe::Null => Err(ProviderDiagnostic::error("No token", "Set the argument token.")),
    ///         _ => Ok(()),
    ///     }
    /// }
    ///
    /// assert!(Bundle::new().configured_later(log_in).build().is_ok());
    /// ```
    pub fn configured_later<M: Model, F>(mut self, configure: impl Fn(M) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<(), ProviderDiagnostic>> + Send + 'static,
    {
        self.schema = M::schema();
        self.configure = Some(Box::new(move |request| match M::of(&request.config) {
            Ok(model) => {
                // The future owns the model, so it does not borrow from the bundle.
                let configuring = configure(model);
                Answer::pending(async { configuring.await.err().into_iter().collect() })
            }
            Err(problem) => Answer::ready(ProviderDiagnostic::from(problem).into()),
        }));
        self
    }

    /// Adds the resource type `type_name`.
    pub fn resource(mut self, type_name: impl Into<Name>, resource: impl ModelResource) -> Self {
        let name = type_name.into();
        match ResourceAdapter::new(resource, self.stops.clone()) {
            Ok(resource) => self.add::<dyn Resource>(name, Arc::new(resource), |bundle| &mut bundle.resources),
            Err(problems) => self.unsound(&name, problems),
        }
        self
    }

    /// Adds a resource type that works on values.
    pub fn plain_resource(mut self, type_name: impl Into<Name>, resource: impl Resource + 'static) -> Self {
        self.add::<dyn Resource>(type_name.into(), Arc::new(resource), |bundle| &mut bundle.resources);
        self
    }

    /// Adds the data source `type_name`.
    pub fn data_source(mut self, type_name: impl Into<Name>, source: impl ModelDataSource) -> Self {
        let name = type_name.into();
        match DataSourceAdapter::new(source, self.stops.clone()) {
            Ok(source) => self.add::<dyn DataSource>(name, Arc::new(source), |bundle| &mut bundle.data_sources),
            Err(problems) => self.unsound(&name, problems),
        }
        self
    }

    /// Adds a data source that works on values.
    pub fn plain_data_source(mut self, type_name: impl Into<Name>, source: impl DataSource + 'static) -> Self {
        self.add::<dyn DataSource>(type_name.into(), Arc::new(source), |bundle| &mut bundle.data_sources);
        self
    }

    /// Adds the ephemeral resource type `type_name`.
    pub fn ephemeral_resource(mut self, type_name: impl Into<Name>, resource: impl ModelEphemeralResource) -> Self {
        let name = type_name.into();
        match EphemeralResourceAdapter::new(resource, self.stops.clone()) {
            Ok(resource) => self.add::<dyn EphemeralResource>(name, Arc::new(resource), |bundle| &mut bundle.ephemeral),
            Err(problems) => self.unsound(&name, problems),
        }
        self
    }

    /// Adds an ephemeral resource type that works on values.
    pub fn plain_ephemeral_resource(
        mut self,
        type_name: impl Into<Name>,
        resource: impl EphemeralResource + 'static,
    ) -> Self {
        self.add::<dyn EphemeralResource>(type_name.into(), Arc::new(resource), |bundle| &mut bundle.ephemeral);
        self
    }

    /// Adds a list resource for the resource type `type_name`.
    pub fn list_resource(mut self, type_name: impl Into<Name>, list: impl ModelListResource) -> Self {
        let name = type_name.into();
        match ListResourceAdapter::new(list, self.stops.clone()) {
            Ok(list) => self.add::<dyn ListResource>(name, Arc::new(list), |bundle| &mut bundle.lists),
            Err(problems) => self.unsound(&name, problems),
        }
        self
    }

    /// Adds a list resource that works on values.
    pub fn plain_list_resource(mut self, type_name: impl Into<Name>, list: impl ListResource + 'static) -> Self {
        self.add::<dyn ListResource>(type_name.into(), Arc::new(list), |bundle| &mut bundle.lists);
        self
    }

    /// Adds the action type `type_name`.
    pub fn action(mut self, type_name: impl Into<Name>, action: impl ModelAction) -> Self {
        let name = type_name.into();
        match ActionAdapter::new(action, self.stops.clone()) {
            Ok(action) => self.add::<dyn Action>(name, Arc::new(action), |bundle| &mut bundle.actions),
            Err(problems) => self.unsound(&name, problems),
        }
        self
    }

    /// Adds an action type that works on values.
    pub fn plain_action(mut self, type_name: impl Into<Name>, action: impl Action + 'static) -> Self {
        self.add::<dyn Action>(type_name.into(), Arc::new(action), |bundle| &mut bundle.actions);
        self
    }

    /// Adds the state store type `type_name`.
    pub fn state_store(mut self, type_name: impl Into<Name>, store: impl ModelStateStore) -> Self {
        let name = type_name.into();
        match StateStoreAdapter::new(store) {
            Ok(store) => self.add::<dyn StateStore>(name, Arc::new(store), |bundle| &mut bundle.state_stores),
            Err(problems) => self.unsound(&name, problems),
        }
        self
    }

    /// Adds a state store type that works on values.
    pub fn plain_state_store(mut self, type_name: impl Into<Name>, store: impl StateStore + 'static) -> Self {
        self.add::<dyn StateStore>(type_name.into(), Arc::new(store), |bundle| &mut bundle.state_stores);
        self
    }

    /// Adds the function `name`.
    pub fn function(mut self, name: impl Into<Name>, function: Function) -> Self {
        let name = name.into();
        if let Some(message) = function.problem {
            self.problems.push(SchemaProblem { path: name.to_string(), message: message.to_owned() });
        }
        // Reported by `build` like all other problems, so that the methods can be chained.
        if self.functions.insert(name.clone(), function).is_some() {
            self.problems
                .push(SchemaProblem { path: name.to_string(), message: "the function is declared twice".into() });
        }
        self
    }

    fn add<T: ?Sized>(&mut self, name: Name, part: Arc<T>, parts: fn(&mut Self) -> &mut BTreeMap<Name, Arc<T>>) {
        if parts(self).insert(name.clone(), part).is_some() {
            self.problems.push(SchemaProblem { path: name.to_string(), message: "the type is declared twice".into() });
        }
    }

    /// Checks that listed resource types have an identity.
    fn check_lists(&mut self) {
        for name in self.lists.keys() {
            let message = match self.resources.get(name) {
                None => "its objects can be searched for, but there is no such resource type",
                // The host matches the results with resources by their identity.
                Some(resource) if resource.schema().schema().identity.is_none() => {
                    "its objects can be searched for, so its schema needs an identity"
                }
                Some(_) => continue,
            };
            self.problems.push(SchemaProblem { path: name.to_string(), message: message.to_owned() });
        }
    }

    fn unsound(&mut self, name: &str, problems: Vec<SchemaProblem>) {
        let within = |problem: SchemaProblem| SchemaProblem { path: format!("{name}.{}", problem.path), ..problem };
        self.problems.extend(problems.into_iter().map(within));
    }

    /// Checks all parts and builds the provider.
    ///
    /// # Errors
    ///
    /// Returns all problems of the schemas (FW-16, FW-18, FW-20), so that one call in a test checks them all.
    pub fn build(mut self) -> Result<Server, Vec<SchemaProblem>> {
        let schema = match std::mem::take(&mut self.schema).build() {
            Ok(schema) => schema,
            Err(problems) => {
                self.unsound("provider", problems);
                // These include the problems of the types, which were found while they were added.
                return Err(self.problems);
            }
        };
        self.check_lists();
        if self.problems.is_empty() {
            Ok(Server::new(Arc::new(Bundled { schema, bundle: self })))
        } else {
            Err(self.problems)
        }
    }

    /// Serves the provider to the program that started this process until that program ends the connection; for `main`.
    /// `address` is the provider's source address, such as `registry.terraform.io/example/files`.
    #[cfg(feature = "serve")]
    pub fn serve(self, address: &str) -> std::process::ExitCode {
        match self.build() {
            Ok(server) => crate::serve(address, Arc::new(server)),
            Err(problems) => {
                eprintln!("The provider {address} has unsound schemas:");
                problems.iter().for_each(|problem| eprintln!("  - {problem}"));
                std::process::ExitCode::FAILURE
            }
        }
    }
}

struct Bundled {
    schema: ResourceSchema,
    bundle: Bundle,
}

impl Definition for Bundled {
    fn schema(&self) -> &ResourceSchema {
        &self.schema
    }

    // The maps are sorted, as the lists must be.
    fn type_names(&self) -> TypeNames {
        let Bundle { resources, data_sources, ephemeral, lists, actions, state_stores, functions, .. } = &self.bundle;
        TypeNames {
            resources: resources.keys().cloned().collect(),
            data_sources: data_sources.keys().cloned().collect(),
            ephemeral_resources: ephemeral.keys().cloned().collect(),
            functions: functions.keys().cloned().collect(),
            lists: lists.keys().cloned().collect(),
            actions: actions.keys().cloned().collect(),
            state_stores: state_stores.keys().cloned().collect(),
        }
    }

    fn resource(&self, type_name: &str) -> Result<Option<Arc<dyn Resource>>, ProviderDiagnostics> {
        Ok(self.bundle.resources.get(type_name).cloned())
    }

    fn data_source(&self, type_name: &str) -> Result<Option<Arc<dyn DataSource>>, ProviderDiagnostics> {
        Ok(self.bundle.data_sources.get(type_name).cloned())
    }

    fn ephemeral_resource(&self, type_name: &str) -> Result<Option<Arc<dyn EphemeralResource>>, ProviderDiagnostics> {
        Ok(self.bundle.ephemeral.get(type_name).cloned())
    }

    fn list_resource(&self, type_name: &str) -> Result<Option<Arc<dyn ListResource>>, ProviderDiagnostics> {
        Ok(self.bundle.lists.get(type_name).cloned())
    }

    fn action(&self, type_name: &str) -> Result<Option<Arc<dyn Action>>, ProviderDiagnostics> {
        Ok(self.bundle.actions.get(type_name).cloned())
    }

    fn state_store(&self, type_name: &str) -> Result<Option<Arc<dyn StateStore>>, ProviderDiagnostics> {
        Ok(self.bundle.state_stores.get(type_name).cloned())
    }

    fn function(&self, name: &str) -> Option<Arc<FunctionSignature>> {
        self.bundle.functions.get(name).map(|function| Arc::clone(&function.signature))
    }

    fn call_function(&self, request: CallFunctionRequest) -> Answer<'_, Result<Value, FunctionError>> {
        let text = || format!("there is no function named {:?}", request.name);
        let found = self.bundle.functions.get(&request.name);
        // Hosts know the functions from the schema, so this is a mistake of the host.
        let found = found.ok_or_else(|| FunctionError::new(text()));
        Answer::ready(found.and_then(|function| function.call(&request.arguments)))
    }

    fn configure(&self, request: ConfigureRequest) -> Answer<'_, ProviderDiagnostics> {
        match &self.bundle.configure {
            Some(configure) => configure(request),
            // Hosts configure every provider, also one without settings.
            None => Answer::ready(ProviderDiagnostics::new()),
        }
    }

    fn stop(&self) {
        self.bundle.stops.stop();
    }
}
