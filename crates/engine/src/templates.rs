//! Provider, resource and action blocks prepared for evaluation: schema and decoder, once for each block.

use std::collections::HashMap;
use std::sync::Arc;

use groma_address::{InstanceKey, ProviderAddress, ProviderConfig, Resource as ResourceAddress, ResourceInstance};
use groma_config::{
    ActionBlock, Configuration, LocalProvider, Module, ProviderBlock, ProviderKey, ProviderUse, Resource,
};
use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_hcl::{Body, Expression};
use groma_provider::{BodyDecoder, Schema};
use groma_value::{Path, Value};

use crate::config_graph::{ConfigGraph, ModuleIndex, narrow};
use crate::deprecated_objects::DeprecatedObjects;
use crate::module_functions::ModuleFunctions;
use crate::providers::Providers;
use crate::session::Session;
use crate::world::Surroundings;

/// A resource block, ready for evaluation.
pub struct Template {
    /// The schema of its type.
    pub schema: Arc<Schema>,
    /// Its body.
    pub body: Arc<BodyDecoder>,
    /// Who manages its objects.
    pub provider: Arc<ProviderConfig>,
    /// Which instance of it, where its block has `for_each`.
    pub key: Option<Box<TemplateKey>>,
}

impl Template {
    /// The same, for what one configuration manages.
    pub fn managed_by(&self, provider: Arc<ProviderConfig>) -> Self {
        Self { schema: Arc::clone(&self.schema), body: Arc::clone(&self.body), provider, key: None }
    }

    /// Ephemeral values may only go where nothing keeps them (LC-29).
    pub fn ephemeral_misuse(&self, value: &Value, address: &ResourceInstance) -> Option<Diagnostic> {
        if !value.has_marks() {
            return None;
        }
        let (_, marks) = value.unmark_deep();
        let kept =
            |path: &Path| !self.schema.block.attribute_at(path).is_some_and(|attribute| attribute.is_write_only());
        let (path, _) = marks.iter().find(|(path, marks)| marks.is_ephemeral() && kept(path))?;
        let detail = "An ephemeral value cannot be used here: the argument is not write-only, so its value would be \
                      kept in the plan and in the state.";
        Some(
            Diagnostic::error("Invalid use of ephemeral value", detail)
                .at(self.body.span_of(path))
                .about(address.to_string()),
        )
    }
}

/// What chooses among the instances of a provider block.
#[derive(Clone)]
pub enum TemplateKey {
    /// The block that uses it.
    Own(Expression),
    /// The call of a module around the block, which hands one instance in.
    Passed {
        /// The module that is called.
        module: ModuleIndex,
        /// The key, as the calling module sees it.
        key: Expression,
    },
}

impl TemplateKey {
    /// The key as it is written.
    pub fn expression(&self) -> &Expression {
        match self {
            Self::Own(key) | Self::Passed { key, .. } => key,
        }
    }
}

/// A provider block, ready for evaluation.
pub struct ProviderTemplate {
    /// Its body.
    pub body: Arc<BodyDecoder>,
    /// Which configuration it is.
    pub config: ProviderConfig,
    /// What it has an instance for each element of.
    pub for_each: Option<Expression>,
}

/// The prepared blocks of all modules; what could not be prepared was reported and is missing.
#[derive(Default)]
pub struct Templates {
    resources: Vec<Vec<Option<Arc<Template>>>>,
    actions: Vec<Vec<Option<Arc<Template>>>>,
    providers: Vec<Vec<Option<Arc<ProviderTemplate>>>>,
    functions: ModuleFunctions,
}

impl Templates {
    /// Prepares all blocks.
    pub fn prepare(
        session: &Session,
        graph: &ConfigGraph,
        providers: &mut Providers,
        bodies: Bodies,
    ) -> (Self, Diagnostics) {
        let mut templates = Self { functions: ModuleFunctions::new(graph, providers.on_demand()), ..Self::default() };
        let configuration = &session.configuration;
        let mut preparing = Preparing {
            configuration,
            graph,
            providers,
            bodies,
            shared: HashMap::new(),
            diagnostics: Diagnostics::new(),
        };
        for (_, module) in graph.modules() {
            let config = &module.config;
            let blocks = config.providers.iter().map(|(local, block)| preparing.provider(config, local, block));
            templates.providers.push(blocks.collect());
            let resources =
                config.resources.iter().map(|(address, resource)| preparing.resource(config, address, resource));
            templates.resources.push(resources.collect());
            let actions = config.actions.values().map(|action| preparing.action(config, action));
            templates.actions.push(actions.collect());
        }
        (templates, preparing.diagnostics)
    }

    /// The resources of which something is deprecated.
    pub fn deprecated(&self) -> DeprecatedObjects {
        let deprecated = |template: &Option<Arc<Template>>| {
            let schema = &template.as_ref()?.schema;
            schema.block.contains_deprecated().then(|| Arc::clone(schema))
        };
        DeprecatedObjects::new(self.resources.iter().map(|module| module.iter().map(deprecated).collect()))
    }

    /// What is the same everywhere in a plan.
    pub(crate) fn surroundings(&self, session: &Session) -> Surroundings {
        Surroundings {
            workspace: session.workspace.clone(),
            working_directory: session.working_directory.clone(),
            root_directory: session.root_directory.clone(),
            applying: false,
            functions: self.functions.clone(),
            deprecated: self.deprecated(),
        }
    }

    /// A resource block.
    pub fn resource(&self, module: ModuleIndex, at: u32) -> Option<&Arc<Template>> {
        self.resources.get(module.at())?.get(at as usize)?.as_ref()
    }

    /// An action block.
    pub fn action(&self, module: ModuleIndex, at: u32) -> Option<&Arc<Template>> {
        self.actions.get(module.at())?.get(at as usize)?.as_ref()
    }

    /// The action blocks of all modules.
    pub fn action_blocks(&self) -> impl Iterator<Item = &Arc<Template>> {
        self.actions.iter().flatten().flatten()
    }

    /// A provider block.
    pub fn provider(&self, module: ModuleIndex, at: u32) -> Option<&Arc<ProviderTemplate>> {
        self.providers.get(module.at())?.get(at as usize)?.as_ref()
    }

    /// The provider blocks of all modules.
    pub fn provider_blocks(&self) -> impl Iterator<Item = (ModuleIndex, u32, &Arc<ProviderTemplate>)> {
        self.providers.iter().enumerate().flat_map(|(module, blocks)| {
            let known = blocks.iter().enumerate();
            known.filter_map(move |(at, block)| Some((ModuleIndex(narrow(module)), narrow(at), block.as_ref()?)))
        })
    }

    /// The resource blocks of all modules.
    pub fn resource_blocks(&self) -> impl Iterator<Item = &Arc<Template>> {
        self.resources.iter().flatten().flatten()
    }
}

/// What becomes of resource blocks that do not fit their schemas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bodies {
    /// They are mistakes.
    Checked,
    /// Nobody looks at them: objects are imported into blocks that are written only after that.
    Unchecked,
}

/// The work of preparing blocks.
struct Preparing<'a> {
    configuration: &'a Configuration,
    graph: &'a ConfigGraph,
    providers: &'a mut Providers,
    bodies: Bodies,
    /// The configurations of providers met so far: the blocks of one share it.
    shared: HashMap<ProviderConfig, Arc<ProviderConfig>>,
    diagnostics: Diagnostics,
}

impl Preparing<'_> {
    fn provider(
        &mut self,
        module: &Module,
        local: &LocalProvider,
        block: &ProviderBlock,
    ) -> Option<Arc<ProviderTemplate>> {
        let address = module.provider_address(&local.name);
        let prepared = self.provider_body(&address, block);
        let (body, problems) = prepared.map_err(|problems| self.diagnostics.append(problems)).ok()?;
        self.diagnostics.append(problems);
        let config = ProviderConfig {
            module: module.path.clone(),
            provider: address,
            alias: local.alias.clone(),
            key: InstanceKey::None,
        };
        Some(Arc::new(ProviderTemplate { body: Arc::new(body), config, for_each: block.for_each.clone() }))
    }

    fn provider_body(
        &mut self,
        address: &ProviderAddress,
        block: &ProviderBlock,
    ) -> Result<(BodyDecoder, Diagnostics), Diagnostics> {
        let provider = self.providers.started(address).map_err(|problem| Diagnostics::from(problem.at(block.span)))?;
        Ok(BodyDecoder::new(&block.body, &provider.schema()?.config.block))
    }

    fn resource(&mut self, module: &Module, address: &ResourceAddress, resource: &Resource) -> Option<Arc<Template>> {
        // That a provider is missing is found by the checks of the configuration.
        let written = resource.provider.as_ref();
        let used = self.configuration.provider_use(&module.path, &resource.local_provider(), written).ok()?;
        let schema = self.providers.schema(&used.config.provider, address, resource.header_span);
        self.template(schema, used, &resource.body)
    }

    fn action(&mut self, module: &Module, action: &ActionBlock) -> Option<Arc<Template>> {
        let written = action.provider.as_ref();
        let used = self.configuration.provider_use(&module.path, &action.local_provider(), written).ok()?;
        let schema = self.providers.action_schema(&used.config.provider, &action.type_name, action.span);
        let empty = Body::new(Vec::new(), Vec::new(), action.span);
        self.template(schema, used, action.config.as_ref().unwrap_or(&empty))
    }

    fn template(
        &mut self,
        schema: Result<Arc<Schema>, Diagnostics>,
        used: ProviderUse<'_>,
        body: &Body,
    ) -> Option<Arc<Template>> {
        let schema = schema.map_err(|problems| report_once(&mut self.diagnostics, problems)).ok()?;
        let (body, problems) = BodyDecoder::new(body, &schema.block);
        if self.bodies == Bodies::Checked {
            self.diagnostics.append(problems);
        }
        let key = used.key.and_then(|key| self.key(key)).map(Box::new);
        let provider = self.shared.entry(used.config.clone()).or_insert_with(|| Arc::new(used.config));
        Some(Arc::new(Template { schema, body: Arc::new(body), provider: Arc::clone(provider), key }))
    }

    fn key(&self, key: ProviderKey<'_>) -> Option<TemplateKey> {
        Some(match key {
            ProviderKey::Own(key) => TemplateKey::Own(key.clone()),
            ProviderKey::Passed { module, key } => {
                TemplateKey::Passed { module: self.graph.find(module)?, key: key.clone() }
            }
        })
    }
}

/// That a provider does not start is told once, not for each of its resources.
fn report_once(diagnostics: &mut Diagnostics, problems: Diagnostics) {
    for problem in problems {
        let known = problem.summary.starts_with("Provider ")
            && diagnostics.iter().any(|other| other.summary == problem.summary && other.detail == problem.detail);
        if !known {
            diagnostics.push(problem);
        }
    }
}
