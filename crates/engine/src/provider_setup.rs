//! Giving providers their configuration: the same when planning and when applying.

use std::collections::HashSet;
use std::sync::Arc;

use groma_address::ProviderConfig;
use groma_diagnostics::{Diagnostics, Span};
use groma_hcl::Body;
use groma_provider::{BodyDecoder, Checked, ConfigureRequest};
use groma_value::Value;

use crate::planning::capabilities;
use crate::providers::Providers;
use crate::session::Session;
use crate::templates::Templates;

/// A provider that is being given its configuration.
pub struct Configuring {
    /// Which configuration.
    pub config: ProviderConfig,
    /// The provider.
    pub provider: Arc<Checked>,
    /// The configuration's value.
    pub value: Value,
    /// What went wrong.
    pub diagnostics: Diagnostics,
    body: Arc<BodyDecoder>,
}

impl Configuring {
    /// Not begun yet.
    pub fn new(config: ProviderConfig, provider: Arc<Checked>, body: Arc<BodyDecoder>, value: Value) -> Self {
        Self { config, provider, value, diagnostics: Diagnostics::new(), body }
    }

    /// Checks the configuration and gives it to the provider.
    pub async fn hold(mut self, terraform_version: String) -> Self {
        let span = Span::NONE;
        self.diagnostics = self.provider.validate_provider_config(&self.value, Some(&self.body), span).await;
        if !self.diagnostics.has_errors() {
            let request =
                ConfigureRequest { terraform_version, config: self.value.clone(), client_capabilities: capabilities() };
            self.diagnostics.append(self.provider.configure(request, Some(&self.body), span).await);
        }
        self
    }
}

/// Configures the providers among `used` that no block configures: the root module's default ones, which are empty.
pub async fn configure_implied(
    session: &Session,
    providers: &mut Providers,
    templates: &Templates,
    used: &HashSet<ProviderConfig>,
) -> Diagnostics {
    let written: HashSet<&ProviderConfig> = templates.provider_blocks().map(|(_, _, block)| &block.config).collect();
    let is_implied =
        |config: &&ProviderConfig| !written.contains(config) && config.alias.is_none() && config.module.is_root();
    let mut implied: Vec<ProviderConfig> = used.iter().filter(is_implied).cloned().collect();
    implied.sort();
    let mut diagnostics = Diagnostics::new();
    for config in implied {
        if providers.configured(&config).is_some() {
            continue;
        }
        match begin_implied(providers, config) {
            Ok((configuring, problems)) => {
                diagnostics.append(problems);
                let configured = configuring.hold(session.terraform_version.clone()).await;
                let failed = configured.diagnostics.has_errors();
                diagnostics.append(configured.diagnostics);
                if !failed {
                    providers.took(configured.config, configured.provider, configured.value);
                }
            }
            Err(problems) => diagnostics.append(problems),
        }
    }
    diagnostics
}

fn begin_implied(providers: &mut Providers, config: ProviderConfig) -> Result<(Configuring, Diagnostics), Diagnostics> {
    let provider = providers.for_configuration(&config).map_err(Diagnostics::from)?;
    let schema = Arc::clone(&provider.schema()?.config);
    let empty = Body::new(Vec::new(), Vec::new(), Span::NONE);
    let (body, problems) = BodyDecoder::new(&empty, &schema.block);
    let value = schema.block.empty_value().clone();
    Ok((Configuring::new(config, provider, Arc::new(body), value), problems))
}
