//! The way to the service, which is there as soon as the provider is configured.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use groma_framework::ProviderDiagnostic;

use super::connection::Connection;

/// The state of the provider's configuration.
#[derive(Clone, Default)]
enum Status {
    #[default]
    NotConfigured,
    /// These arguments are known only after apply. Another region or account in their place would have none of the objects.
    Unknown(Vec<String>),
    Connected(Arc<Connection>),
}

/// The connection that all types of a provider share. Cheap to clone.
#[derive(Clone, Default)]
pub struct Access {
    status: Arc<RwLock<Status>>,
    /// The connections to other regions, each opened when it is first needed.
    regions: Arc<Mutex<HashMap<String, Arc<Connection>>>>,
    stopping: Arc<AtomicBool>,
}

impl Access {
    /// Takes a connection into use.
    pub fn open(&self, connection: Connection) {
        self.regions.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.set(Status::Connected(Arc::new(connection)));
    }

    /// Refuses all requests until these arguments of the provider block are known.
    pub fn wait_for(&self, arguments: Vec<String>) {
        self.set(Status::Unknown(arguments));
    }

    fn set(&self, status: Status) {
        *self.status.write().unwrap_or_else(PoisonError::into_inner) = status;
    }

    fn status(&self) -> Status {
        self.status.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether arguments of the provider block are not known yet.
    pub fn is_waiting(&self) -> bool {
        matches!(self.status(), Status::Unknown(_))
    }

    /// The connection; an error as long as the provider is not configured.
    pub fn connection(&self) -> Result<Arc<Connection>, ProviderDiagnostic> {
        match self.status() {
            Status::Connected(connection) => Ok(connection),
            Status::Unknown(arguments) => Err(ProviderDiagnostic::error(
                "Provider Configuration Not Known Yet",
                format!(
                    "The provider block sets {} to a value that is known only after apply, so existing objects cannot be read. Apply what \
                     the value comes from first, with -target, or set a value that is known during planning.",
                    arguments.join(", ")
                ),
            )),
            Status::NotConfigured => Err(ProviderDiagnostic::error(
                "Provider Not Configured",
                "An operation was asked for before the provider was configured.",
            )),
        }
    }

    /// The connection to a region; without one, that of the provider.
    pub fn in_region(&self, region: Option<&str>) -> Result<Arc<Connection>, ProviderDiagnostic> {
        let connection = self.connection()?;
        let Some(region) = region.filter(|region| *region != connection.region) else { return Ok(connection) };
        let mut regions = self.regions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = regions.get(region) {
            return Ok(known.clone());
        }
        let opened = Arc::new(connection.in_region(region)?);
        regions.insert(region.to_owned(), opened.clone());
        Ok(opened)
    }

    /// Says that the user wants to stop.
    pub fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    /// Returns the flag that a request to stop sets.
    pub fn stopping(&self) -> Arc<AtomicBool> {
        self.stopping.clone()
    }
}
