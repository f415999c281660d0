//! Configuration of providers, in plan and apply.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use futures_util::stream::{self, StreamExt};
use groma_address::ProviderConfig;
use groma_diagnostics::{Diagnostic, Diagnostics, Span};
use groma_hcl::Body;
use groma_provider::{BodyDecoder, Checked, ConfigSubject, ConfigureRequest, Schema};
use groma_state::Begin;
use groma_value::Value;

use crate::options::Deferral;
use crate::providers::Providers;
use crate::recovery::{Recovered, Recovery, ask_again};
use crate::session::Session;
use crate::templates::{ProviderTemplate, Templates};
use crate::world::World;

/// A provider that is being configured.
pub struct Configuring {
    /// The address of the configuration.
    pub config: ProviderConfig,
    /// The provider to configure.
    pub provider: Arc<Checked>,
    /// The evaluated configuration.
    pub value: Value,
    /// Errors and warnings of configuring.
    pub diagnostics: Diagnostics,
    /// The results of recovered calls of an interrupted run.
    pub(crate) recovered: Vec<Recovered>,
    body: Arc<BodyDecoder>,
    recovering: Vec<(Begin, Arc<Schema>)>,
    deferral: Deferral,
}

impl Configuring {
    /// Creates a configuration that is not applied to its provider yet.
    pub fn new(config: ProviderConfig, provider: Arc<Checked>, body: Arc<BodyDecoder>, value: Value) -> Self {
        Self {
            config,
            provider,
            value,
            diagnostics: Diagnostics::new(),
            recovered: Vec::new(),
            body,
            recovering: Vec::new(),
            deferral: Deferral::Refused,
        }
    }

    /// Sets whether the provider may defer changes.
    #[must_use]
    pub fn deferring(self, deferral: Deferral) -> Self {
        Self { deferral, ..self }
    }

    /// Sets the interrupted calls to recover as soon as the provider is configured.
    #[must_use]
    pub fn recovering(mut self, recovery: Option<&Recovery>) -> Self {
        for begin in recovery.map(|recovery| recovery.of(&self.config)).unwrap_or_default() {
            match self.provider.resource_schema(&begin.address.resource.type_name) {
                Ok(Some(schema)) => self.recovering.push((begin, schema)),
                // A type that is gone is reported where its objects are planned.
                Ok(None) => {}
                Err(problems) => self.diagnostics.append(problems),
            }
        }
        self
    }

    /// Validates the configuration, configures the provider, and recovers its interrupted calls.
    pub async fn configure(mut self, terraform_version: String) -> Self {
        let subject = ConfigSubject { address: &self.config, body: &self.body };
        self.diagnostics.append(self.provider.validate_provider_config(&subject, &self.value).await);
        if !self.diagnostics.has_errors() {
            let client_capabilities = self.deferral.capabilities();
            let request = ConfigureRequest { terraform_version, config: self.value.clone(), client_capabilities };
            self.diagnostics.append(self.provider.configure(&subject, request).await);
        }
        if !self.diagnostics.has_errors() {
            for (begin, schema) in std::mem::take(&mut self.recovering) {
                self.recovered.push(ask_again(&self.provider, begin, schema).await);
            }
        }
        self
    }
}

/// Configures the instances of one provider block, at most `at_once` at a time.
pub async fn configure_all(configuring: Vec<Configuring>, at_once: usize, version: String) -> Vec<Configuring> {
    let calls = configuring.into_iter().map(|one| one.configure(version.clone()));
    stream::iter(calls).buffered(at_once.max(1)).collect().await
}

/// Returns the configurations in `used` without a block: default configurations of the root module, which are empty.
pub fn implied<'u>(
    templates: &Templates,
    used: impl IntoIterator<Item = &'u ProviderConfig>,
) -> BTreeSet<ProviderConfig> {
    let written: HashSet<&ProviderConfig> = templates.provider_blocks().map(|(_, _, block)| &block.config).collect();
    let is_implied =
        |config: &&ProviderConfig| !written.contains(config) && config.alias.is_none() && config.module.is_root();
    used.into_iter().filter(is_implied).cloned().collect()
}

/// Returns the configurations in `used` that belong to a block in a disabled module. Such a block has no arguments: a module with others
/// cannot be disabled.
pub fn switched_off<'u>(
    templates: &Templates,
    world: &World,
    used: impl IntoIterator<Item = &'u ProviderConfig>,
) -> BTreeSet<ProviderConfig> {
    let is_off = |config: &&ProviderConfig| {
        let block = config.block();
        let is_written = |(module, _, written): (_, _, &Arc<ProviderTemplate>)| {
            written.for_each.is_some() && written.config == block && world.instances_of(module).is_empty()
        };
        !config.key.is_none() && templates.provider_blocks().any(is_written)
    };
    used.into_iter().filter(is_off).cloned().collect()
}

/// Configures providers without a block, with an empty configuration.
pub async fn configure_empty(
    session: &Session,
    providers: &mut Providers,
    wanted: BTreeSet<ProviderConfig>,
    recovery: Option<&Recovery>,
) -> (Vec<Recovered>, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let mut recovered = Vec::new();
    for config in wanted {
        if providers.configured(&config).is_some() {
            continue;
        }
        match begin_empty(providers, config) {
            Ok(configuring) => {
                let configured = configuring.recovering(recovery).configure(session.terraform_version.clone()).await;
                let failed = configured.diagnostics.has_errors();
                if failed {
                    diagnostics.push(needs_block(&configured.config));
                }
                diagnostics.append(configured.diagnostics);
                recovered.extend(configured.recovered);
                if !failed {
                    providers.took(configured.config, configured.provider, configured.value);
                }
            }
            Err(problems) => diagnostics.append(problems),
        }
    }
    (recovered, diagnostics)
}

/// Returns the advice to add a provider block, for problems of a provider without one.
fn needs_block(config: &ProviderConfig) -> Diagnostic {
    let provider = &config.provider;
    let detail = format!(
        "The root module has no provider block for {provider}, which does not work with an empty configuration. Add \
         a provider block with the arguments that the provider's documentation requires, or set the equivalent \
         environment variables."
    );
    Diagnostic::error("Invalid provider configuration", detail)
}

/// Returns the configuration of a provider for which nothing is written.
///
/// # Errors
///
/// The schema has required arguments or blocks: a provider relies on them, and may crash when they are null, so it must not be called.
fn begin_empty(providers: &mut Providers, config: ProviderConfig) -> Result<Configuring, Diagnostics> {
    let provider = providers.for_configuration(&config).map_err(Diagnostics::from)?;
    let schema = Arc::clone(&provider.schema()?.config);
    let empty = Body::new(Vec::new(), Vec::new(), Span::NONE);
    let (body, problems) = BodyDecoder::new(&empty, &schema.block);
    if problems.has_errors() {
        return Err(requires_block(&config, problems));
    }
    let value = schema.block.empty_value().clone();
    Ok(Configuring::new(config, provider, Arc::new(body), value))
}

/// Reports that a provider cannot do without a block, with `problems` as the list of the required arguments and blocks.
fn requires_block(config: &ProviderConfig, problems: Diagnostics) -> Diagnostics {
    let detail = format!(
        "The provider \"{}\" has required arguments. Add a provider block to the root module and set them; the provider's documentation lists them.",
        config.provider
    );
    let mut reported = Diagnostics::from(Diagnostic::error("Invalid provider configuration", detail));
    reported.extend(problems.into_iter().map(|problem| problem.about(config)));
    reported
}
