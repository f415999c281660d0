//! Schema binding: starts the providers that blocks need, and binds each block to its schema.

use std::collections::HashMap;
use std::sync::Arc;

use groma_address::{InstanceKey, ModulePath, Name, ProviderAddress, ProviderConfig, Resource as ResourceAddress};
use groma_config::{
    ActionBlock, Configuration, LocalProvider, Module, ProviderBlock, ProviderKey, ProviderMeta, ProviderUse, Resource,
};
use groma_diagnostics::{Diagnostic, DiagnosticKind, Diagnostics, Severity};
use groma_hcl::Body;
use groma_lang::{EmptyScope, FunctionContext};
use groma_provider::{BodyDecoder, Schema};
use groma_value::Value;

use crate::call_target::no_meta;
use crate::config_graph::ConfigGraph;
use crate::module_functions::ModuleFunctions;
use crate::providers::Providers;
use crate::session::Session;
use crate::templates::{Blocks, ProviderTemplate, Template, TemplateKey, Templates, Validity};

/// The treatment of resource blocks that do not match their schemas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bodies {
    /// Mismatches are errors.
    Checked,
    /// Bodies are not checked: objects are imported into blocks that are written afterwards.
    Unchecked,
}

/// Binds all blocks to their schemas.
pub(crate) fn bind(
    session: &Session,
    graph: &Arc<ConfigGraph>,
    providers: &mut Providers,
    bodies: Bodies,
) -> BoundBlocks {
    let mut templates = Templates::with(ModuleFunctions::new(graph, providers.on_demand()));
    let configuration = &session.configuration;
    let mut schema_binding = SchemaBinding {
        configuration,
        graph,
        providers,
        bodies,
        shared: HashMap::new(),
        metas: HashMap::new(),
        meta_problems: Diagnostics::new(),
        diagnostics: Diagnostics::new(),
    };
    for (_, module) in graph.modules() {
        let config = &module.config;
        templates.add(Blocks {
            providers: config
                .providers
                .iter()
                .map(|(local, block)| schema_binding.provider(config, local, block))
                .collect(),
            resources: config
                .resources
                .iter()
                .map(|(address, resource)| schema_binding.resource(config, address, resource))
                .collect(),
            actions: config.actions.values().map(|action| schema_binding.action(config, action)).collect(),
        });
    }
    BoundBlocks { templates, meta_problems: schema_binding.meta_problems, diagnostics: schema_binding.diagnostics }
}

/// The result of binding blocks to schemas.
pub(crate) struct BoundBlocks {
    pub(crate) templates: Templates,
    /// Errors in `provider_meta` blocks. As in Terraform, they stop a plan, but not `validate`.
    pub(crate) meta_problems: Diagnostics,
    pub(crate) diagnostics: Diagnostics,
}

/// The work of preparing blocks.
struct SchemaBinding<'a> {
    configuration: &'a Configuration,
    graph: &'a ConfigGraph,
    providers: &'a mut Providers,
    bodies: Bodies,
    /// The configurations of providers met so far: the blocks of one share it.
    shared: HashMap<ProviderConfig, Arc<ProviderConfig>>,
    /// The `provider_meta` values, by module and local provider name.
    metas: HashMap<(ModulePath, Name), Value>,
    meta_problems: Diagnostics,
    diagnostics: Diagnostics,
}

impl SchemaBinding<'_> {
    fn provider(
        &mut self,
        module: &Module,
        local: &LocalProvider,
        block: &ProviderBlock,
    ) -> Option<Arc<ProviderTemplate>> {
        let address = module.provider_address(&local.name);
        let prepared = self.provider_body(&address, block);
        let (body, mut problems) = prepared.map_err(|problems| self.diagnostics.append(problems)).ok()?;
        let validity = Validity::of(&problems);
        let mut withheld = Diagnostics::new();
        if problems.has_errors() && !self.configuration.is_used(block) {
            withheld = problems.clone();
            problems.iter_mut().for_each(|problem| problem.severity = Severity::Warning);
        }
        self.diagnostics.append(problems);
        let config = ProviderConfig {
            module: module.path.clone(),
            provider: address,
            alias: local.alias.clone(),
            key: InstanceKey::None,
        };
        let for_each = block.for_each.clone();
        Some(Arc::new(ProviderTemplate { body: Arc::new(body), validity, config, for_each, withheld }))
    }

    fn provider_body(
        &mut self,
        address: &ProviderAddress,
        block: &ProviderBlock,
    ) -> Result<(BodyDecoder, Diagnostics), Diagnostics> {
        let provider = self.providers.started(address).map_err(|problem| Diagnostics::from(problem.at(block.span)))?;
        Ok(BodyDecoder::with_meta_arguments(
            &block.body,
            &provider.schema()?.config.block,
            ProviderBlock::META_ARGUMENTS,
        ))
    }

    fn resource(&mut self, module: &Module, address: &ResourceAddress, resource: &Resource) -> Option<Arc<Template>> {
        // A missing provider is reported by the checks of the configuration.
        let written = resource.provider.as_ref();
        let used = self.configuration.provider_use(&module.path, &resource.local_provider(), written).ok()?;
        let schema = self.providers.schema(&used.config.provider, address, resource.type_span);
        let meta = match schema {
            Ok(_) => self.meta(module, &resource.local_provider().name, &used.config.provider),
            Err(_) => no_meta(),
        };
        let template = self.template(schema, used, &resource.body, resource.meta_arguments())?;
        Some(Arc::new(Template { meta, ..template }))
    }

    fn action(&mut self, module: &Module, action: &ActionBlock) -> Option<Arc<Template>> {
        let written = action.provider.as_ref();
        let used = self.configuration.provider_use(&module.path, &action.local_provider(), written).ok()?;
        let schema = self.providers.action_schema(&used.config.provider, &action.type_name, action.type_span);
        let empty = Body::new(Vec::new(), Vec::new(), action.span);
        self.template(schema, used, action.config.as_ref().unwrap_or(&empty), &[]).map(Arc::new)
    }

    fn template(
        &mut self,
        schema: Result<Arc<Schema>, Diagnostics>,
        used: ProviderUse<'_>,
        body: &Body,
        words: &'static [&'static str],
    ) -> Option<Template> {
        let schema = schema.map_err(|problems| report_once(&mut self.diagnostics, problems)).ok()?;
        let (body, problems) = BodyDecoder::with_meta_arguments(body, &schema.block, words);
        let validity = Validity::of(&problems);
        if self.bodies == Bodies::Checked {
            self.diagnostics.append(problems);
        }
        let key = used.key.and_then(|key| self.key(key)).map(Box::new);
        let provider = self.shared.entry(used.config.clone()).or_insert_with(|| Arc::new(used.config));
        let (body, provider) = (Arc::new(body), Arc::clone(provider));
        Some(Template { schema, body, validity, provider, key, meta: no_meta() })
    }

    /// Evaluates the `provider_meta` block of `module` for the provider with the local name `name`: constants, the same for all its
    /// blocks.
    fn meta(&mut self, module: &Module, name: &Name, address: &ProviderAddress) -> Value {
        let Some(block) = module.provider_metas.get(name) else { return no_meta() };
        let key = (module.path.clone(), name.clone());
        if let Some(known) = self.metas.get(&key) {
            return known.clone();
        }
        let meta = self.decoded_meta(block, address).unwrap_or_else(|problems| {
            self.meta_problems.append(problems);
            no_meta()
        });
        self.metas.insert(key, meta.clone());
        meta
    }

    fn decoded_meta(&mut self, block: &ProviderMeta, address: &ProviderAddress) -> Result<Value, Diagnostics> {
        let provider = self.providers.started(address).map_err(|problem| problem.at(block.span))?;
        let Some(schema) = &provider.schema()?.meta else {
            let detail =
                format!("The provider {address} does not support this block, so it has no effect. Remove the block.");
            let summary = format!("Provider {address} doesn't support provider_meta");
            let problem = Diagnostic::error(summary, detail).of_kind(DiagnosticKind::ProviderFault);
            return Err(problem.at(block.span).into());
        };
        let (body, mut problems) = BodyDecoder::new(&block.body, &schema.block);
        let (value, more) = body.evaluate(&EmptyScope::new(FunctionContext::new(".", Arc::default())));
        problems.append(more);
        if problems.has_errors() { Err(problems) } else { Ok(value) }
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

/// Adds problems that are not reported yet: a provider that does not start is reported once, not for each of its resources.
pub(crate) fn report_once(diagnostics: &mut Diagnostics, problems: Diagnostics) {
    for problem in problems {
        let is_of_provider = problem.subject.is_none() || problem.kind == DiagnosticKind::ProviderFault;
        let known = is_of_provider && diagnostics.iter().any(|other| other.has_same_text(&problem));
        if !known {
            diagnostics.push(problem);
        }
    }
}
