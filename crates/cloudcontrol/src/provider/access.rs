//! The way to the service, which is there as soon as the provider is configured.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use groma_framework::ProviderDiagnostic;

use super::connection::Connection;

/// The connection that all types of a provider share. Cheap to clone.
#[derive(Clone, Default)]
pub struct Access {
    connection: Arc<RwLock<Option<Arc<Connection>>>>,
    stopping: Arc<AtomicBool>,
}

impl Access {
    /// Takes a connection into use.
    pub fn open(&self, connection: Connection) {
        *self.connection.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(connection));
    }

    /// The connection; an error as long as the provider is not configured.
    pub fn connection(&self) -> Result<Arc<Connection>, ProviderDiagnostic> {
        self.connection.read().unwrap_or_else(PoisonError::into_inner).clone().ok_or_else(|| {
            ProviderDiagnostic::error(
                "Provider Not Configured",
                "An operation was asked for before the provider was configured.",
            )
        })
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
