//! The provider `registry.terraform.io/hashicorp/awscc`: one generic resource that interprets schemas at run time.

mod access;
mod account;
mod arguments;
mod attributes;
mod aws_settings;
mod changing;
mod check;
mod connection;
#[cfg(test)]
mod corpus;
mod data;
mod declare;
mod defaults;
mod document;
#[cfg(test)]
mod every_type;
mod failure;
mod failures;
mod fields;
mod identity;
mod imported;
mod in_flight;
mod interpreted;
mod left_behind;
mod list;
mod node_type;
mod offered;
mod pace;
mod patch;
mod plan;
mod planned_patch;
mod polling;
mod present;
mod private_state;
#[cfg(test)]
mod recorded;
mod region;
mod remote;
mod resource;
mod same;
#[cfg(test)]
mod sampler;
mod secrets;
mod settings;
mod state;
mod stored;
mod tags;

use std::sync::Arc;
use std::time::Duration;

use groma_cloud::Environment;
use groma_cloud::aws::{AwsClient, AwsSettings};
use groma_framework::{
    Answer, ConfigureRequest, DataSource, Definition, ListResource, ProviderDiagnostic, ProviderDiagnostics, Resource,
    ResourceSchema, SchemaProblem, Server, TypeNames,
};
use groma_value::Value;

use self::access::Access;
use self::account::{AccountRestriction, unusable};
use self::arguments::Arguments;
use self::aws_settings::aws_settings;
use self::connection::{Connection, OtherRegions};
use self::data::{Many, One};
use self::in_flight::InFlight;
use self::interpreted::{Entry, Types};
use self::list::Listing;
use self::pace::Pace;
use self::polling::Durations;
use self::remote::Remote;
use self::resource::CloudResource;
use self::settings::Settings;
use crate::api::CloudControl;
use crate::emulator::{self, Embedded, Store};
use crate::schema::Catalogue;

pub use planned_patch::{Patches, PlannedPatch, PlannedUpdate};
pub use settings::EMULATOR_FILE;

/// The provider, to be [served](AwsCloudControl::served). Types are read from their schemas when they are first asked for.
pub struct AwsCloudControl {
    config: ResourceSchema,
    types: Types,
    access: Access,
    /// The operations to use whatever the configuration says.
    given: Option<Arc<dyn CloudControl>>,
    first_delay: Duration,
    environment: Environment,
}

impl Default for AwsCloudControl {
    fn default() -> Self {
        Self::new(Catalogue::shipped().clone())
    }
}

impl AwsCloudControl {
    /// The provider of the types in a catalogue.
    pub fn new(catalogue: Arc<Catalogue>) -> Self {
        Self {
            config: settings::schema(),
            types: Types::new(catalogue),
            access: Access::default(),
            given: None,
            first_delay: Duration::from_millis(500),
            environment: Environment::of_process(),
        }
    }

    /// Uses this API regardless of the configuration: for tests, and for hosts with their own.
    #[must_use]
    pub fn with_api(mut self, api: Arc<dyn CloudControl>) -> Self {
        self.given = Some(api);
        self
    }

    /// Uses this environment instead of that of the process.
    #[must_use]
    pub fn with_environment(mut self, environment: Environment) -> Self {
        self.environment = environment;
        self
    }

    /// Sets the first polling delay, from which the delay grows.
    #[must_use]
    pub fn with_first_delay(mut self, delay: Duration) -> Self {
        self.first_delay = delay;
        self
    }

    /// The provider as the engine uses it.
    #[must_use]
    pub fn served(self) -> Server {
        Server::new(Arc::new(self))
    }

    /// The types that cannot be offered, each with the reason (CC-01). This reads every schema.
    pub fn unsupported_types(&self) -> Vec<(String, String)> {
        self.types.unsupported()
    }

    async fn connect(&self, config: &Value) -> Result<Connection, ProviderDiagnostic> {
        let settings = Settings::of(config, |name| self.environment.get(name).map(str::to_owned));
        let is_remote = self.given.is_none() && settings.emulator.is_none();
        let service = match (&self.given, &settings.emulator) {
            (Some(api), _) => {
                let region = settings.region.unwrap_or_else(default_region);
                Service { api: api.clone(), region, pace: self.new_pace(), account: None, other_regions: None }
            }
            (None, Some(wanted)) => {
                let behaviour = emulator::Settings { delay: wanted.delay, ..emulator::Settings::default() };
                let store = Store::open(&wanted.path, self.types.catalogue().clone(), behaviour)
                    .map_err(|error| ProviderDiagnostic::error("Emulator Unusable", error.to_string()))?;
                self.emulated(Arc::new(store), settings.region.unwrap_or_else(default_region))
            }
            (None, None) => self.connect_to_aws(&Arguments::of(config)).await?,
        };
        let Service { api, region, pace, account, other_regions } = service;
        Ok(Connection {
            api,
            region,
            account,
            other_regions,
            role_arn: settings.role_arn,
            max_retries: settings.max_retries,
            tags: settings.tags,
            timeouts: settings.timeouts,
            pace,
            // The emulator in this process answers at once, so that many calls cost less than a list.
            in_flight: is_remote.then(InFlight::default),
            durations: Durations::default(),
            first_delay: self.first_delay,
            stopping: self.access.stopping(),
        })
    }

    fn emulated(&self, store: Arc<Store>, region: String) -> Service {
        let first_delay = self.first_delay;
        let shared = store.clone();
        let other_regions: OtherRegions = Arc::new(move |region| {
            let api: Arc<dyn CloudControl> = Arc::new(Embedded::new(shared.clone(), region));
            Ok((api, Arc::new(Pace::new(first_delay))))
        });
        Service {
            account: Some(store.account().to_owned()),
            api: Arc::new(Embedded::new(store, &region)),
            region,
            pace: self.new_pace(),
            other_regions: Some(other_regions),
        }
    }

    fn new_pace(&self) -> Arc<Pace> {
        Arc::new(Pace::new(self.first_delay))
    }

    /// Prepares the client of the real service. Credentials are loaded here, so that their problems are reported once
    /// and not for each resource.
    async fn connect_to_aws(&self, block: &Arguments) -> Result<Service, ProviderDiagnostic> {
        let restriction = AccountRestriction::of(block)?;
        let settings = aws_settings(block, self.environment.clone())?;
        let client = AwsClient::new(settings.clone()).map_err(|error| unusable(&error))?;
        let region = client.region().await.map_err(|error| unusable(&error))?;
        let owner = client.credentials_owner().await.map_err(|error| unusable(&error))?;
        // Before the first call of Cloud Control, so that nothing is changed in a forbidden account.
        restriction.check(&client).await?;
        let pace = Pace::shared(&owner, &region, self.first_delay);
        let first_delay = self.first_delay;
        let other_regions: OtherRegions = Arc::new(move |region| {
            let settings = AwsSettings { region: Some(region.to_owned()), ..settings.clone() };
            let client = AwsClient::new(settings).map_err(|error| unusable(&error))?;
            let api: Arc<dyn CloudControl> = Arc::new(Remote::new(client));
            Ok((api, Pace::shared(&owner, region, first_delay)))
        });
        Ok(Service {
            api: Arc::new(Remote::new(client)),
            region,
            pace,
            account: None,
            other_regions: Some(other_regions),
        })
    }
}

/// The service that a configuration names.
struct Service {
    api: Arc<dyn CloudControl>,
    region: String,
    pace: Arc<Pace>,
    account: Option<String>,
    other_regions: Option<OtherRegions>,
}

/// The region of an emulator that nobody has named one for.
fn default_region() -> String {
    "us-east-1".to_owned()
}

impl std::fmt::Debug for AwsCloudControl {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("AwsCloudControl").field("types", &self.types).finish_non_exhaustive()
    }
}

impl Definition for AwsCloudControl {
    fn schema(&self) -> &ResourceSchema {
        &self.config
    }

    /// The client token in the planned private data names the request: the service makes one object for it (CC-40).
    fn repeats_creations_safely(&self) -> bool {
        true
    }

    fn type_names(&self) -> TypeNames {
        offered::type_names(self.types.catalogue())
    }

    fn resource(&self, type_name: &str) -> Result<Option<Arc<dyn Resource>>, ProviderDiagnostics> {
        Ok(self.types.one(type_name)?.map(|interpreted| -> Arc<dyn Resource> {
            Arc::new(CloudResource::new(type_name.into(), interpreted, self.access.clone()))
        }))
    }

    fn data_source(&self, type_name: &str) -> Result<Option<Arc<dyn DataSource>>, ProviderDiagnostics> {
        let unusable = |problems: Vec<SchemaProblem>| unusable_schema(type_name, &problems);
        Ok(match self.types.find(type_name)? {
            Some(Entry::One(interpreted)) => {
                Some(Arc::new(One::new(interpreted, self.access.clone()).map_err(unusable)?))
            }
            Some(Entry::Many(cloud_name)) => {
                Some(Arc::new(Many::new(cloud_name, self.access.clone()).map_err(unusable)?))
            }
            None => None,
        })
    }

    fn list_resource(&self, type_name: &str) -> Result<Option<Arc<dyn ListResource>>, ProviderDiagnostics> {
        let Some(interpreted) = self.types.one(type_name)? else { return Ok(None) };
        let Some(handler) = interpreted.schema.handlers.list.clone() else { return Ok(None) };
        let listing = Listing::new(interpreted, &handler, self.access.clone());
        Ok(Some(Arc::new(listing.map_err(|problems| unusable_schema(type_name, &problems))?)))
    }

    fn configure(&self, request: ConfigureRequest) -> Answer<'_, ProviderDiagnostics> {
        let unknown = Arguments::of(&request.config).unknown_of(&settings::DESTINATION);
        if !unknown.is_empty() {
            self.access.wait_for(unknown);
            return Answer::ready(ProviderDiagnostics::new());
        }
        Answer::pending(async move {
            match self.connect(&request.config).await {
                Ok(connection) => {
                    self.access.open(connection);
                    ProviderDiagnostics::new()
                }
                Err(problem) => problem.into(),
            }
        })
    }

    fn stop(&self) {
        self.access.stop();
    }
}

fn unusable_schema(type_name: &str, problems: &[SchemaProblem]) -> ProviderDiagnostics {
    let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
    ProviderDiagnostic::error("Data Source Schema Unusable", format!("{type_name}: {}.", problems.join("; "))).into()
}
