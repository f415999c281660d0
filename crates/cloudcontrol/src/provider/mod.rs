//! The provider `registry.terraform.io/hashicorp/awscc`: one generic resource that interprets schemas at run time.

mod check;
mod configured;
mod connection;
mod data;
mod document;
#[cfg(test)]
mod every_type;
mod fields;
mod instant;
mod interpreted;
mod offered;
mod patch;
mod plan;
#[cfg(test)]
mod recorded;
mod resource;
mod same;
mod settings;
mod state;
mod stored;
mod token;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use groma_provider::{
    Answer, ApplyRequest, ApplyResponse, ConfigureRequest, ImportRequest, ImportResponse, PlanRequest, PlanResponse,
    Provider, ProviderDiagnostic, ProviderDiagnostics, ProviderSchema, ReadDataRequest, ReadDataResponse, ReadRequest,
    ReadResponse, SchemaLookup, ServerCapabilities, TypeNames, UpgradeRequest, UpgradeResponse,
    ValidateProviderRequest, ValidateRequest,
};
use groma_value::Value;

use self::connection::Connection;
use self::interpreted::{Entry, Types, plural_data_source};
use self::settings::Settings;
use crate::api::CloudControl;
use crate::emulator::{self, Embedded, Store};
use crate::schema::Catalogue;

pub use settings::EMULATOR_FILE;

/// The provider. Types are read from their schemas when they are first asked for.
pub struct AwsCloudControl {
    types: Types,
    connection: RwLock<Option<Arc<Connection>>>,
    stopping: Arc<AtomicBool>,
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
            types: Types::new(catalogue),
            connection: RwLock::new(None),
            stopping: Arc::new(AtomicBool::new(false)),
            given: None,
            first_delay: Duration::from_millis(500),
        }
    }

    /// The same, working with these operations whatever its configuration says: for tests and for hosts that have their own.
    #[must_use]
    pub fn with_api(mut self, api: Arc<dyn CloudControl>) -> Self {
        self.given = Some(api);
        self
    }

    /// The same, coming back so soon at first when the service wants to be asked again; the time grows from there.
    #[must_use]
    pub fn with_first_delay(mut self, delay: Duration) -> Self {
        self.first_delay = delay;
        self
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
            first_delay: self.first_delay,
            stopping: self.stopping.clone(),
        })
    }

    fn connection(&self) -> Result<Arc<Connection>, ProviderDiagnostics> {
        self.connection.read().unwrap_or_else(PoisonError::into_inner).clone().ok_or_else(|| {
            ProviderDiagnostic::error(
                "Provider Not Configured",
                "An operation was asked for before the provider was configured.",
            )
            .into()
        })
    }
}

impl std::fmt::Debug for AwsCloudControl {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("AwsCloudControl").field("types", &self.types).finish_non_exhaustive()
    }
}

impl Provider for AwsCloudControl {
    fn schema(&self) -> Result<ProviderSchema, ProviderDiagnostics> {
        Ok(ProviderSchema {
            config: Arc::new(settings::schema()),
            meta: None,
            capabilities: ServerCapabilities {
                get_provider_schema_optional: true,
                repeatable_create: true,
                ..ServerCapabilities::default()
            },
        })
    }

    fn type_names(&self) -> TypeNames {
        offered::type_names(self.types.catalogue())
    }

    fn resource_schema(&self, type_name: &str) -> SchemaLookup {
        Ok(match self.types.find(type_name)? {
            Some(Entry::One(interpreted)) => Some(interpreted.resource.clone()),
            _ => None,
        })
    }

    fn data_schema(&self, type_name: &str) -> SchemaLookup {
        Ok(match self.types.find(type_name)? {
            Some(Entry::One(interpreted)) => Some(interpreted.data_source()),
            Some(Entry::Many(_)) => Some(plural_data_source()),
            None => None,
        })
    }

    fn validate_provider_config(&self, request: ValidateProviderRequest) -> Answer<'_, ProviderDiagnostics> {
        Answer::ready(settings::check(&request.config))
    }

    fn configure(&self, request: ConfigureRequest) -> Answer<'_, ProviderDiagnostics> {
        let settings = Settings::of(&request.config, |name| std::env::var(name).ok());
        Answer::ready(match self.connect(settings) {
            Ok(connection) => {
                *self.connection.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(connection));
                ProviderDiagnostics::new()
            }
            Err(problem) => problem.into(),
        })
    }

    fn validate_resource(&self, request: ValidateRequest) -> Answer<'_, ProviderDiagnostics> {
        Answer::ready(match self.types.one(&request.type_name) {
            Ok(interpreted) => check::check(&interpreted.schema, &interpreted.fields, &request.config),
            Err(problems) => problems,
        })
    }

    fn upgrade_resource(&self, request: UpgradeRequest) -> Answer<'_, UpgradeResponse> {
        Answer::ready(match self.types.one(&request.type_name) {
            Ok(interpreted) => resource::upgrade(&interpreted, &request),
            Err(diagnostics) => UpgradeResponse { upgraded_state: Value::DYNAMIC, diagnostics },
        })
    }

    fn read_resource(&self, request: ReadRequest) -> Answer<'_, ReadResponse> {
        let (connection, interpreted) =
            match self.connection().and_then(|connection| Ok((connection, self.types.one(&request.type_name)?))) {
                Ok(both) => both,
                Err(diagnostics) => {
                    return Answer::ready(ReadResponse {
                        new_state: request.current_state,
                        private: request.private,
                        deferred: None,
                        new_identity: request.current_identity,
                        diagnostics,
                    });
                }
            };
        Answer::later(async move { resource::read(&connection, &interpreted, request).await })
    }

    fn plan_resource(&self, request: PlanRequest) -> Answer<'_, PlanResponse> {
        Answer::ready(match self.types.one(&request.type_name) {
            Ok(interpreted) => resource::plan_change(&interpreted, request),
            Err(diagnostics) => {
                PlanResponse { diagnostics, ..PlanResponse::new(request.proposed_new_state, request.prior_private) }
            }
        })
    }

    fn apply_resource(&self, request: ApplyRequest) -> Answer<'_, ApplyResponse> {
        match self.connection().and_then(|connection| Ok((connection, self.types.one(&request.type_name)?))) {
            Ok((connection, interpreted)) => {
                Answer::later(async move { resource::apply_change(&connection, &interpreted, request).await })
            }
            Err(diagnostics) => {
                let response = ApplyResponse::new(request.prior_state, request.planned_private);
                Answer::ready(ApplyResponse { diagnostics, ..response })
            }
        }
    }

    fn import_resource(&self, request: ImportRequest) -> Answer<'_, ImportResponse> {
        Answer::ready(match self.types.one(&request.type_name) {
            Ok(interpreted) => resource::import(&interpreted, &request),
            Err(diagnostics) => ImportResponse { diagnostics, ..ImportResponse::default() },
        })
    }

    fn read_data(&self, request: ReadDataRequest) -> Answer<'_, ReadDataResponse> {
        let found = self.connection().and_then(|connection| Ok((connection, self.types.find(&request.type_name)?)));
        match found {
            Ok((connection, Some(entry))) => {
                Answer::later(async move { data::read(&connection, &entry, request).await })
            }
            Ok((_, None)) => {
                let problem = ProviderDiagnostic::error(
                    "Unknown Data Source",
                    format!("The provider has no data source {}.", request.type_name),
                );
                Answer::ready(ReadDataResponse { state: request.config, deferred: None, diagnostics: problem.into() })
            }
            Err(diagnostics) => Answer::ready(ReadDataResponse { state: request.config, deferred: None, diagnostics }),
        }
    }

    fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }
}
