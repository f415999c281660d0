//! A provider put together from its parts.

use std::collections::BTreeMap;
use std::sync::Arc;

use groma_provider::{
    Answer, CallFunctionRequest, ConfigureRequest, FunctionError, FunctionSignature, ProviderDiagnostic,
    ProviderDiagnostics, SchemaProblem, TypeNames,
};
use groma_value::Value;

use super::{
    Acting, Function, Lent, ModelAction, ModelDataSource, ModelEphemeralResource, ModelListResource, ModelResource,
    Modelled, Searching, Sourced,
};
use crate::model::Model;
use crate::schema::{ResourceSchema, SchemaBuilder};
use crate::stopping::Stops;
use crate::{Action, DataSource, Definition, EphemeralResource, ListResource, Name, Resource, Server};

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
    functions: BTreeMap<Name, Function>,
    stops: Stops,
    problems: Vec<SchemaProblem>,
}

impl Bundle {
    /// A provider without anything.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same, with a configuration, which `configure` takes into use. While planning it may hold unknown values: the model
    /// needs [`Maybe`](crate::model::Maybe) fields for those that may depend on resources.
    pub fn configured<M: Model>(
        mut self,
        configure: impl Fn(M) -> Result<(), ProviderDiagnostic> + Send + Sync + 'static,
    ) -> Self {
        self.schema = M::schema();
        self.configure = Some(Box::new(move |request| {
            let result = M::of(&request.config).map_err(ProviderDiagnostic::from).and_then(&configure);
            Answer::ready(result.err().into_iter().collect())
        }));
        self
    }

    /// As [`configured`](Bundle::configured), where taking the configuration into use needs the network: to log in, say.
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
                let configuring = configure(model);
                Answer::later(async { configuring.await.err().into_iter().collect() })
            }
            Err(problem) => Answer::ready(ProviderDiagnostic::from(problem).into()),
        }));
        self
    }

    /// The same, with the resource type `type_name`.
    pub fn resource(mut self, type_name: impl Into<Name>, resource: impl ModelResource) -> Self {
        let name = type_name.into();
        match Modelled::new(resource, self.stops.clone()) {
            Ok(resource) => self.add_resource(name, Arc::new(resource)),
            Err(problems) => self.unsound(&name, problems),
        }
        self
    }

    /// The same, with a resource type that works on values.
    pub fn plain_resource(mut self, type_name: impl Into<Name>, resource: impl Resource + 'static) -> Self {
        self.add_resource(type_name.into(), Arc::new(resource));
        self
    }

    /// The same, with the data source `type_name`.
    pub fn data_source(mut self, type_name: impl Into<Name>, source: impl ModelDataSource) -> Self {
        let name = type_name.into();
        match Sourced::new(source, self.stops.clone()) {
            Ok(source) => self.add_data_source(name, Arc::new(source)),
            Err(problems) => self.unsound(&name, problems),
        }
        self
    }

    /// The same, with a data source that works on values.
    pub fn plain_data_source(mut self, type_name: impl Into<Name>, source: impl DataSource + 'static) -> Self {
        self.add_data_source(type_name.into(), Arc::new(source));
        self
    }

    /// The same, with the ephemeral resource type `type_name`.
    pub fn ephemeral_resource(mut self, type_name: impl Into<Name>, resource: impl ModelEphemeralResource) -> Self {
        let name = type_name.into();
        match Lent::new(resource, self.stops.clone()) {
            Ok(resource) => self.add_ephemeral(name, Arc::new(resource)),
            Err(problems) => self.unsound(&name, problems),
        }
        self
    }

    /// The same, with an ephemeral resource type that works on values.
    pub fn plain_ephemeral_resource(
        mut self,
        type_name: impl Into<Name>,
        resource: impl EphemeralResource + 'static,
    ) -> Self {
        self.add_ephemeral(type_name.into(), Arc::new(resource));
        self
    }

    /// The same, where the objects of the resource type `type_name` can be searched for.
    pub fn list_resource(mut self, type_name: impl Into<Name>, list: impl ModelListResource) -> Self {
        let name = type_name.into();
        match Searching::new(list, self.stops.clone()) {
            Ok(list) => self.add_list(name, Arc::new(list)),
            Err(problems) => self.unsound(&name, problems),
        }
        self
    }

    /// The same, with a search that works on values.
    pub fn plain_list_resource(mut self, type_name: impl Into<Name>, list: impl ListResource + 'static) -> Self {
        self.add_list(type_name.into(), Arc::new(list));
        self
    }

    /// The same, with the action type `type_name`.
    pub fn action(mut self, type_name: impl Into<Name>, action: impl ModelAction) -> Self {
        let name = type_name.into();
        match Acting::new(action, self.stops.clone()) {
            Ok(action) => self.add_action(name, Arc::new(action)),
            Err(problems) => self.unsound(&name, problems),
        }
        self
    }

    /// The same, with an action type that works on values.
    pub fn plain_action(mut self, type_name: impl Into<Name>, action: impl Action + 'static) -> Self {
        self.add_action(type_name.into(), Arc::new(action));
        self
    }

    /// The same, with the function `name`.
    pub fn function(mut self, name: impl Into<Name>, function: Function) -> Self {
        let name = name.into();
        if let Some(message) = function.problem {
            self.problems.push(SchemaProblem { path: name.to_string(), message: message.to_owned() });
        }
        if self.functions.insert(name.clone(), function).is_some() {
            self.problems
                .push(SchemaProblem { path: name.to_string(), message: "the function is declared twice".into() });
        }
        self
    }

    fn add_resource(&mut self, name: Name, resource: Arc<dyn Resource>) {
        if self.resources.insert(name.clone(), resource).is_some() {
            self.twice(&name);
        }
    }

    fn add_data_source(&mut self, name: Name, source: Arc<dyn DataSource>) {
        if self.data_sources.insert(name.clone(), source).is_some() {
            self.twice(&name);
        }
    }

    fn add_ephemeral(&mut self, name: Name, resource: Arc<dyn EphemeralResource>) {
        if self.ephemeral.insert(name.clone(), resource).is_some() {
            self.twice(&name);
        }
    }

    fn add_list(&mut self, name: Name, list: Arc<dyn ListResource>) {
        if self.lists.insert(name.clone(), list).is_some() {
            self.twice(&name);
        }
    }

    fn add_action(&mut self, name: Name, action: Arc<dyn Action>) {
        if self.actions.insert(name.clone(), action).is_some() {
            self.twice(&name);
        }
    }

    /// What is found is told by the identity of its resource type.
    fn check_lists(&mut self) {
        for name in self.lists.keys() {
            let message = match self.resources.get(name) {
                None => "its objects can be searched for, but there is no such resource type",
                Some(resource) if resource.schema().schema().identity.is_none() => {
                    "its objects can be searched for, so its schema needs an identity"
                }
                Some(_) => continue,
            };
            self.problems.push(SchemaProblem { path: name.to_string(), message: message.to_owned() });
        }
    }

    fn twice(&mut self, name: &str) {
        self.problems.push(SchemaProblem { path: name.to_owned(), message: "the type is declared twice".into() });
    }

    fn unsound(&mut self, name: &str, problems: Vec<SchemaProblem>) {
        let within = |problem: SchemaProblem| SchemaProblem { path: format!("{name}.{}", problem.path), ..problem };
        self.problems.extend(problems.into_iter().map(within));
    }

    /// The provider.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the schemas (FW-16, FW-18, FW-20): one call in a test checks them all.
    pub fn build(mut self) -> Result<Server, Vec<SchemaProblem>> {
        let schema = match std::mem::take(&mut self.schema).build() {
            Ok(schema) => schema,
            Err(problems) => {
                self.unsound("provider", problems);
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

    /// Serves the provider to the program that started this process, until that says it is enough; for `main`. `address` is
    /// the provider's source address, such as `registry.terraform.io/example/files`.
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

    fn type_names(&self) -> TypeNames {
        let Bundle { resources, data_sources, ephemeral, lists, actions, functions, .. } = &self.bundle;
        TypeNames {
            resources: resources.keys().cloned().collect(),
            data_sources: data_sources.keys().cloned().collect(),
            ephemeral_resources: ephemeral.keys().cloned().collect(),
            functions: functions.keys().cloned().collect(),
            lists: lists.keys().cloned().collect(),
            actions: actions.keys().cloned().collect(),
            ..TypeNames::default()
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

    fn function(&self, name: &str) -> Option<Arc<FunctionSignature>> {
        self.bundle.functions.get(name).map(|function| Arc::clone(&function.signature))
    }

    fn call_function(&self, request: CallFunctionRequest) -> Answer<'_, Result<Value, FunctionError>> {
        let text = || format!("there is no function named {:?}", request.name);
        let found = self.bundle.functions.get(&request.name);
        let found = found.ok_or_else(|| FunctionError { text: text(), argument: None });
        Answer::ready(found.and_then(|function| function.call(&request.arguments)))
    }

    fn configure(&self, request: ConfigureRequest) -> Answer<'_, ProviderDiagnostics> {
        match &self.bundle.configure {
            Some(configure) => configure(request),
            None => Answer::ready(ProviderDiagnostics::new()),
        }
    }

    fn stop(&self) {
        self.bundle.stops.stop();
    }
}
