//! Resource blocks prepared for their instances: schema and decoder, once for each block.

use std::sync::Arc;

use groma_address::{ProviderAddress, ProviderConfig, ResourceInstance};
use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_provider::{BodyDecoder, Schema};
use groma_value::{Path, Value};

use crate::config_graph::{ConfigGraph, ModuleIndex, narrow};
use crate::module_functions::ModuleFunctions;
use crate::providers::Providers;
use crate::session::Session;

/// A resource block, ready for evaluation.
pub struct Template {
    /// The schema of its type.
    pub schema: Arc<Schema>,
    /// Its body.
    pub body: Arc<BodyDecoder>,
    /// Who manages its objects.
    pub provider: Arc<ProviderConfig>,
}

impl Template {
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

/// A provider block, ready for evaluation.
pub struct ProviderTemplate {
    /// Its body.
    pub body: Arc<BodyDecoder>,
    /// Which configuration it is.
    pub config: ProviderConfig,
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
    pub fn prepare(session: &Session, graph: &ConfigGraph, providers: &mut Providers) -> (Self, Diagnostics) {
        let mut diagnostics = Diagnostics::new();
        let functions = ModuleFunctions::new(graph, providers.on_demand());
        let mut templates = Self { functions, ..Self::default() };
        let mut shared: std::collections::HashMap<ProviderConfig, Arc<ProviderConfig>> =
            std::collections::HashMap::new();
        for (_, module) in graph.modules() {
            let config = &module.config;
            let blocks = config.providers.iter().map(|(local, block)| {
                let address = config.provider_address(&local.name);
                match prepare_provider(providers, &address, &block.body, block.span) {
                    Ok((body, problems)) => {
                        diagnostics.append(problems);
                        let config = ProviderConfig {
                            module: config.path.clone(),
                            provider: address,
                            alias: local.alias.clone(),
                        };
                        Some(Arc::new(ProviderTemplate { body: Arc::new(body), config }))
                    }
                    Err(problems) => {
                        diagnostics.append(problems);
                        None
                    }
                }
            });
            templates.providers.push(blocks.collect());
            let mut prepared = Vec::with_capacity(config.resources.len());
            for (address, resource) in &config.resources {
                let template = match session.configuration.provider_config(&config.path, resource) {
                    Ok(provider) => match providers.schema(&provider.provider, address, resource.header_span) {
                        Ok(schema) => {
                            let (body, problems) = BodyDecoder::new(&resource.body, &schema.block);
                            diagnostics.append(problems);
                            let provider = shared.entry(provider.clone()).or_insert_with(|| Arc::new(provider));
                            Some(Arc::new(Template { schema, body: Arc::new(body), provider: Arc::clone(provider) }))
                        }
                        Err(problems) => {
                            report_once(&mut diagnostics, problems);
                            None
                        }
                    },
                    // That it is missing is found by the checks of the configuration.
                    Err(_) => None,
                };
                prepared.push(template);
            }
            templates.resources.push(prepared);
            let actions = config.actions.values().map(|action| {
                let provider = session.configuration.resolve_provider_config(&config.path, &action.local_provider());
                match prepare_action(providers, provider.ok()?, action) {
                    Ok((template, problems)) => {
                        diagnostics.append(problems);
                        Some(Arc::new(template))
                    }
                    Err(problems) => {
                        report_once(&mut diagnostics, problems);
                        None
                    }
                }
            });
            templates.actions.push(actions.collect());
        }
        (templates, diagnostics)
    }

    /// The functions that providers offer to the modules.
    pub fn functions(&self) -> &ModuleFunctions {
        &self.functions
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

fn prepare_action(
    providers: &mut Providers,
    config: ProviderConfig,
    action: &groma_config::ActionBlock,
) -> Result<(Template, Diagnostics), Diagnostics> {
    let schema = providers.action_schema(&config.provider, &action.type_name, action.span)?;
    let empty = groma_hcl::Body::new(Vec::new(), Vec::new(), action.span);
    let (body, problems) = BodyDecoder::new(action.config.as_ref().unwrap_or(&empty), &schema.block);
    Ok((Template { schema, body: Arc::new(body), provider: Arc::new(config) }, problems))
}

fn prepare_provider(
    providers: &mut Providers,
    address: &ProviderAddress,
    body: &groma_hcl::Body,
    span: groma_diagnostics::Span,
) -> Result<(BodyDecoder, Diagnostics), Diagnostics> {
    let provider = providers.started(address).map_err(|problem| Diagnostics::from(problem.at(span)))?;
    let schema = &provider.schema()?.config;
    Ok(BodyDecoder::new(body, &schema.block))
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
