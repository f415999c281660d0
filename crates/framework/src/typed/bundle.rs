//! A provider put together from its parts.

use std::collections::BTreeMap;
use std::sync::Arc;

use groma_provider::{
    Answer, CallFunctionRequest, ConfigureRequest, FunctionError, FunctionSignature, ProviderDiagnostic,
    ProviderDiagnostics, SchemaProblem, TypeNames,
};
use groma_value::Value;

use super::{Function, Lent, ModelDataSource, ModelEphemeralResource, ModelResource, Modelled, Sourced};
use crate::model::Model;
use crate::schema::{ResourceSchema, SchemaBuilder};
use crate::stopping::Stops;
use crate::{DataSource, Definition, EphemeralResource, Name, Resource, Server};

type Configure = dyn Fn(ConfigureRequest) -> Result<(), ProviderDiagnostic> + Send + Sync;

/// The parts of a provider, by name.
#[derive(Default)]
#[must_use]
pub struct Bundle {
    schema: SchemaBuilder,
    configure: Option<Box<Configure>>,
    resources: BTreeMap<Name, Arc<dyn Resource>>,
    data_sources: BTreeMap<Name, Arc<dyn DataSource>>,
    ephemeral: BTreeMap<Name, Arc<dyn EphemeralResource>>,
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
        self.configure = Some(Box::new(move |request| configure(M::of(&request.config)?)));
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
        match Sourced::new(source) {
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

    /// The same, with the function `name`.
    pub fn function(mut self, name: impl Into<Name>, function: Function) -> Self {
        let name = name.into();
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
        let Bundle { resources, data_sources, ephemeral, functions, .. } = &self.bundle;
        TypeNames {
            resources: resources.keys().cloned().collect(),
            data_sources: data_sources.keys().cloned().collect(),
            ephemeral_resources: ephemeral.keys().cloned().collect(),
            functions: functions.keys().cloned().collect(),
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
        let result = self.bundle.configure.as_ref().map_or(Ok(()), |configure| configure(request));
        Answer::ready(result.err().into_iter().collect())
    }

    fn stop(&self) {
        self.bundle.stops.stop();
    }
}
