//! The providers of a run: started when first needed, one process for each provider configuration.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Display;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use foldhash::fast::RandomState;
use groma_address::{InstanceKey, Mode, Name, ProviderAddress, ProviderConfig, Resource};
use groma_diagnostics::{Diagnostic, DiagnosticKind, Diagnostics, Span, suggest};
use groma_plan::Schemas;
use groma_provider::{Checked, Provider, Schema, TypeNames};
use groma_value::Value;

/// Starts provider processes or in-process providers.
pub trait ProviderSource: Send + Sync {
    /// A provider that has not been configured.
    ///
    /// # Errors
    ///
    /// There is no such provider here, or it does not start.
    fn start(&self, address: &ProviderAddress) -> Result<Arc<dyn Provider>, Diagnostic>;
}

/// Providers by address and by configuration.
pub struct Providers {
    started: Arc<Started>,
    /// Whether the started one has been taken over.
    taken: HashMap<ProviderAddress, ProviderConfig>,
    /// The instances of the blocks with `for_each`.
    instances: HashMap<ProviderConfig, BTreeMap<Name, Arc<ProviderConfig>>, RandomState>,
}

/// Providers that were started, for whatever first needed them. Functions need them where nothing else of a run is at hand.
pub struct Started {
    source: Arc<dyn ProviderSource>,
    /// Started for their schemas; the first configuration takes one over.
    known: Mutex<HashMap<ProviderAddress, Arc<Checked>>>,
    /// Providers that have received their configuration.
    configured: Mutex<HashMap<ProviderConfig, Configured, RandomState>>,
}

/// Knowledge of a configuration's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigKnowledge {
    /// All values are known.
    Whole,
    /// Some values are unknown until other changes are applied.
    InPart,
}

impl Started {
    /// The provider at `address`, started now if it was not before.
    pub fn get(&self, address: &ProviderAddress) -> Result<Arc<Checked>, Diagnostic> {
        let mut known = held(&self.known);
        if let Some(provider) = known.get(address) {
            return Ok(Arc::clone(provider));
        }
        let provider = Arc::new(Checked::new(self.source.start(address).map_err(at_fault)?, address.clone()));
        known.insert(address.clone(), Arc::clone(&provider));
        Ok(provider)
    }

    /// The provider with this configuration, once it has it, and how much of that is known.
    pub fn config_knowledge(&self, config: &ProviderConfig) -> Option<(Arc<Checked>, ConfigKnowledge)> {
        held(&self.configured)
            .get(config)
            .map(|configured| (Arc::clone(&configured.provider), configured.config_knowledge()))
    }

    fn configured(&self, config: &ProviderConfig) -> Option<Arc<Checked>> {
        held(&self.configured).get(config).map(|configured| Arc::clone(&configured.provider))
    }

    /// Whether the provider at `address` offers a function before it is configured. True also for a provider that does not start, which
    /// is reported
    /// where it is needed.
    pub fn has_function(&self, address: &ProviderAddress, function: &str) -> bool {
        let Ok(provider) = self.get(address) else { return true };
        provider.schema().is_err() || provider.declares_function(function)
    }
}

/// Marks the error of a provider that does not start.
fn at_fault(problem: Diagnostic) -> Diagnostic {
    problem.of_kind(DiagnosticKind::ProviderFault)
}

fn held<T>(table: &Mutex<T>) -> MutexGuard<'_, T> {
    table.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A provider with its configuration.
struct Configured {
    provider: Arc<Checked>,
    config: Value,
}

impl Configured {
    fn config_knowledge(&self) -> ConfigKnowledge {
        if self.config.is_wholly_known() { ConfigKnowledge::Whole } else { ConfigKnowledge::InPart }
    }
}

impl Schemas for Providers {
    fn resource(&mut self, provider: &ProviderAddress, resource: &Resource) -> Result<Arc<Schema>, Diagnostics> {
        self.schema(provider, resource, Span::NONE)
    }

    fn action(&mut self, provider: &ProviderAddress, type_name: &Name) -> Result<Arc<Schema>, Diagnostics> {
        self.action_schema(provider, type_name, Span::NONE)
    }
}

impl Providers {
    /// Creates a collection without started providers.
    pub fn new(source: Arc<dyn ProviderSource>) -> Self {
        let started = Arc::new(Started { source, known: Mutex::default(), configured: Mutex::default() });
        Self { started, taken: HashMap::new(), instances: HashMap::default() }
    }

    /// The provider at `address`, for its schemas.
    pub fn started(&mut self, address: &ProviderAddress) -> Result<Arc<Checked>, Diagnostic> {
        self.started.get(address)
    }

    /// The providers that were started, for those who need one later.
    pub fn on_demand(&self) -> &Arc<Started> {
        &self.started
    }

    /// A provider to be configured as `config`: the started one if no other configuration has it.
    pub fn for_configuration(&mut self, config: &ProviderConfig) -> Result<Arc<Checked>, Diagnostic> {
        let started = self.started(&config.provider)?;
        match self.taken.get(&config.provider) {
            Some(owner) if owner != config => Ok(Arc::new(Checked::new(
                self.started.source.start(&config.provider).map_err(at_fault)?,
                config.provider.clone(),
            ))),
            _ => {
                self.taken.insert(config.provider.clone(), config.clone());
                Ok(started)
            }
        }
    }

    /// Notes that a provider has taken its configuration.
    pub fn took(&mut self, config: ProviderConfig, provider: Arc<Checked>, value: Value) {
        held(&self.started.configured).insert(config, Configured { provider, config: value });
    }

    /// Notes the instances of a block with `for_each`.
    pub fn expand(&mut self, block: &ProviderConfig, keys: impl Iterator<Item = Name>) {
        let instance = |key: Name| (key.clone(), Arc::new(block.instance(InstanceKey::String(key))));
        self.instances.insert(block.clone(), keys.map(instance).collect());
    }

    /// The instance of a block with `for_each` that has this key.
    pub fn instance(&self, block: &ProviderConfig, key: &Name) -> Option<Arc<ProviderConfig>> {
        self.instances.get(block)?.get(key).cloned()
    }

    /// The keys of the instances of a block; none if it has no `for_each`, or is not there.
    pub fn keys(&self, block: &ProviderConfig) -> Option<Vec<Name>> {
        Some(self.instances.get(block)?.keys().cloned().collect())
    }

    /// The provider with this configuration.
    pub fn configured(&self, config: &ProviderConfig) -> Option<Arc<Checked>> {
        self.started.configured(config)
    }

    /// Returns the configured provider for `config`, which is needed for `whose`.
    ///
    /// # Errors
    ///
    /// It was not configured: the message is about `span`.
    pub fn needed(&self, config: &ProviderConfig, whose: &dyn Display, span: Span) -> Result<Arc<Checked>, Diagnostic> {
        self.configured(config).ok_or_else(|| {
            let detail = format!("{config} is required by {whose}, but it was not configured.");
            Diagnostic::error("Provider configuration not present", detail).at(span)
        })
    }

    /// Whether a provider has exactly this configuration already.
    pub fn is_configured_as(&self, config: &ProviderConfig, value: &Value) -> bool {
        value.is_wholly_known()
            && held(&self.started.configured).get(config).is_some_and(|configured| configured.config == *value)
    }

    /// Asks all to end what they are doing soon.
    pub fn stop(&self) {
        held(&self.started.known).values().for_each(|one| one.stop());
        held(&self.started.configured).values().for_each(|one| one.provider.stop());
    }

    /// The schema of a resource's type.
    ///
    /// # Errors
    ///
    /// The provider does not start, or has no such type: the message is about `span`.
    pub fn schema(
        &mut self,
        address: &ProviderAddress,
        resource: &Resource,
        span: Span,
    ) -> Result<Arc<Schema>, Diagnostics> {
        let provider = self.started(address).map_err(|problem| Diagnostics::from(problem.at(span)))?;
        let schema = match resource.mode {
            Mode::Managed => provider.resource_schema(&resource.type_name),
            Mode::Data => provider.data_schema(&resource.type_name),
            Mode::Ephemeral => provider.ephemeral_schema(&resource.type_name),
            Mode::List => provider.list_schema(&resource.type_name),
        }?;
        schema.ok_or_else(|| unsupported(&provider.type_names(), address, resource, span).into())
    }
}

impl Providers {
    /// The schema of an action's type.
    ///
    /// # Errors
    ///
    /// The provider does not start, or has no such type: the message is about `span`.
    pub fn action_schema(
        &mut self,
        address: &ProviderAddress,
        type_name: &str,
        span: Span,
    ) -> Result<Arc<Schema>, Diagnostics> {
        let provider = self.started(address).map_err(|problem| Diagnostics::from(problem.at(span)))?;
        provider.action_schema(type_name)?.ok_or_else(|| {
            let detail = format!("The provider {} has no action \"{type_name}\".", address.display_short());
            Diagnostic::error("Invalid action", detail).at(span).into()
        })
    }
}

fn unsupported(known: &TypeNames, address: &ProviderAddress, resource: &Resource, span: Span) -> Diagnostic {
    let (summary, what, names, other) = match resource.mode {
        Mode::Managed => ("Invalid resource type", "resource type", &known.resources, &known.data_sources),
        Mode::Data => ("Invalid data source", "data source", &known.data_sources, &known.resources),
        Mode::Ephemeral => {
            ("Invalid ephemeral resource", "ephemeral resource type", &known.ephemeral_resources, &known.resources)
        }
        // That objects can be managed does not help who wants to find them.
        Mode::List => ("Invalid list resource", "list resource", &known.lists, &known.lists),
    };
    let type_name = &resource.type_name;
    let mut detail = format!("The provider {} has no {what} \"{type_name}\".", address.display_short());
    if other.contains(type_name) {
        let kind = if resource.mode == Mode::Managed { "data source" } else { "managed resource type" };
        detail.push_str(&format!("\n\nDid you mean the {kind} \"{type_name}\"?"));
    } else if let Some(similar) = suggest(type_name, names.iter().map(|name| &**name)) {
        detail.push_str(&format!(" Did you mean \"{similar}\"?"));
    }
    Diagnostic::error(summary, detail).at(span)
}
