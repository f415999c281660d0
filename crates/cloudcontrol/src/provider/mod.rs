//! The provider `registry.terraform.io/hashicorp/awscc`: one generic resource that interprets schemas at run time.

mod access;
mod attributes;
mod changing;
mod check;
mod configured;
mod connection;
mod data;
mod declare;
mod document;
#[cfg(test)]
mod every_type;
mod failures;
mod fields;
mod instant;
mod interpreted;
mod node_type;
mod offered;
mod patch;
mod plan;
mod present;
#[cfg(test)]
mod recorded;
mod resource;
mod same;
mod settings;
mod state;
mod stored;
mod tags;
mod token;

use std::sync::Arc;
use std::time::Duration;

use groma_framework::{
    Answer, ConfigureRequest, DataSource, Definition, ProviderDiagnostic, ProviderDiagnostics, Resource,
    ResourceSchema, SchemaProblem, Server, TypeNames,
};

use self::access::Access;
use self::connection::Connection;
use self::data::{Many, One};
use self::interpreted::{Entry, Types};
use self::resource::CloudResource;
use self::settings::Settings;
use crate::api::CloudControl;
use crate::emulator::{self, Embedded, Store};
use crate::schema::Catalogue;

pub use settings::EMULATOR_FILE;

/// The provider, to be [served](AwsCloudControl::served). Types are read from their schemas when they are first asked for.
pub struct AwsCloudControl {
    config: ResourceSchema,
    types: Types,
    access: Access,
    /// The operations to use whatever the configuration says.
    given: Option<Arc<dyn CloudControl>>,
    first_delay: Duration,
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
        }
    }

    /// Uses this API regardless of the configuration: for tests, and for hosts with their own.
    #[must_use]
    pub fn with_api(mut self, api: Arc<dyn CloudControl>) -> Self {
        self.given = Some(api);
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

    fn connect(&self, settings: Settings) -> Result<Connection, ProviderDiagnostic> {
        let api = match (&self.given, &settings.emulator) {
            (Some(api), _) => api.clone(),
            (None, Some(wanted)) => {
                let behaviour = emulator::Settings { delay: wanted.delay, ..emulator::Settings::default() };
                let store = Store::open(&wanted.path, self.types.catalogue().clone(), behaviour)
                    .map_err(|error| ProviderDiagnostic::error("Emulator Unusable", error.to_string()))?;
                Arc::new(Embedded::new(Arc::new(store), &settings.region))
            }
            (None, None) => {
                return Err(ProviderDiagnostic::error(
                    "AWS Not Reachable From This Build",
                    "This build works with the embedded emulator of AWS Cloud Control only; the client of the real service \
                     comes later. Write this into the provider block to use the emulator:\n\n    emulator = {}",
                ));
            }
        };
        Ok(Connection {
            api,
            region: settings.region,
            role_arn: settings.role_arn,
            max_retries: settings.max_retries,
            tags: settings.tags,
            first_delay: self.first_delay,
            stopping: self.access.stopping(),
        })
    }
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
        let unusable = |problems: Vec<SchemaProblem>| unusable(type_name, &problems);
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

    fn configure(&self, request: ConfigureRequest) -> Answer<'_, ProviderDiagnostics> {
        let settings = Settings::of(&request.config, |name| std::env::var(name).ok());
        Answer::ready(match self.connect(settings) {
            Ok(connection) => {
                self.access.open(connection);
                ProviderDiagnostics::new()
            }
            Err(problem) => problem.into(),
        })
    }

    fn stop(&self) {
        self.access.stop();
    }
}

fn unusable(type_name: &str, problems: &[SchemaProblem]) -> ProviderDiagnostics {
    let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
    ProviderDiagnostic::error("Data Source Schema Unusable", format!("{type_name}: {}.", problems.join("; "))).into()
}
