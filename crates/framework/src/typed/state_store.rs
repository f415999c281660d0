//! State stores on models.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use groma_provider::{
    Answer, ConfigureStateStoreRequest, ConfigureStateStoreResponse, LockStateRequest, LockStateResponse,
    ProviderDiagnostic, ProviderDiagnostics, ReadStateResponse, SchemaProblem, StateRequest, StatesResponse,
    UnlockStateRequest, WriteStateRequest,
};
use groma_value::Value;

use crate::definition::StateStore;
use crate::model::Model;
use crate::{ResourceSchema, SchemaBuilder};

/// A type of state store whose configuration is a struct. Opening it with a configuration returns the store of the
/// states.
///
/// ```
/// use std::io::ErrorKind;
/// use std::path::PathBuf;
/// use std::sync::Arc;
///
/// use groma_framework::{Bundle, Model, ModelStateStore, ProviderDiagnostic, States};
///
/// /// Where the states are.
/// #[derive(Model)]
/// struct Cabinet {
///     folder: String,
/// }
///
/// struct Cabinets;
///
/// impl ModelStateStore for Cabinets {
///     type Model = Cabinet;
///     type States = Folder;
///
///     async fn open(&self, config: Cabinet) -> Result<Folder, ProviderDiagnostic> {
///         Ok(Folder(config.folder.into()))
///     }
/// }
///
/// struct Folder(PathBuf);
///
/// fn problem(what: &str, error: std::io::Error) -> ProviderDiagnostic {
///     ProviderDiagnostic::error(format!("Cannot {what}"), error.to_string())
/// }
///
/// impl States for Folder {
///     async fn read(&self, id: &str) -> Result<Option<Vec<u8>>, ProviderDiagnostic> {
///         match std::fs::read(self.0.join(id)) {
///             Ok(content) => Ok(Some(content)),
///             Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
///             Err(error) => Err(problem("read the state", error)),
///         }
///     }
///
///     async fn write(&self, id: &str, content: Arc<[u8]>) -> Result<(), ProviderDiagnostic> {
///         let new = self.0.join(format!(".{id}.new"));
///         let written = std::fs::write(&new, content).and_then(|()| std::fs::rename(&new, self.0.join(id)));
///         written.map_err(|error| problem("write the state", error))
///     }
///
///     async fn list(&self) -> Result<Vec<String>, ProviderDiagnostic> {
///         let entries = std::fs::read_dir(&self.0).map_err(|error| problem("list the states", error))?;
///         let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
///         Ok(names.filter(|name| !name.starts_with('.')).collect())
///     }
///
///     async fn delete(&self, id: &str) -> Result<(), ProviderDiagnostic> {
///         std::fs::remove_file(self.0.join(id)).map_err(|error| problem("delete the state", error))
///     }
/// }
///
/// assert!(Bundle::new().state_store("office_cabinet", Cabinets).build().is_ok());
/// ```
pub trait ModelStateStore: Send + Sync + 'static {
    /// The model of the configuration.
    type Model: Model + Send;

    /// The type of an opened store.
    type States: States;

    /// Returns the schema: by default that of the model.
    fn schema(&self) -> SchemaBuilder {
        Self::Model::schema()
    }

    /// Checks a configuration as a whole, after the validators of the attributes.
    fn validate(&self, config: Value) -> impl Future<Output = ProviderDiagnostics> + Send {
        let _ = config;
        async { ProviderDiagnostics::new() }
    }

    /// Opens the store with a configuration.
    fn open(&self, config: Self::Model) -> impl Future<Output = Result<Self::States, ProviderDiagnostic>> + Send;
}

/// An opened store of states, by identifier: the names of workspaces.
pub trait States: Send + Sync + 'static {
    /// Returns the content that was written last; `None` if the state does not exist.
    fn read(&self, id: &str) -> impl Future<Output = Result<Option<Vec<u8>>, ProviderDiagnostic>> + Send;

    /// Writes a new state. Until it is stored completely, reads must return the previous one.
    fn write(&self, id: &str, content: Arc<[u8]>) -> impl Future<Output = Result<(), ProviderDiagnostic>> + Send;

    /// Returns the identifiers of all states.
    fn list(&self) -> impl Future<Output = Result<Vec<String>, ProviderDiagnostic>> + Send;

    /// Deletes a state and all of its content.
    fn delete(&self, id: &str) -> impl Future<Output = Result<(), ProviderDiagnostic>> + Send;

    /// Locks a state for `operation` atomically, and returns the ID that releases the lock. Fails with the name of the
    /// owner if the state is locked. `None` means that the store has no locks.
    fn lock(
        &self,
        id: &str,
        operation: &str,
    ) -> impl Future<Output = Result<Option<String>, ProviderDiagnostic>> + Send {
        let _ = (id, operation);
        async { Ok(None) }
    }

    /// Releases the lock on a state. Fails unless `lock_id` is the ID of the current lock.
    fn unlock(&self, id: &str, lock_id: &str) -> impl Future<Output = Result<(), ProviderDiagnostic>> + Send {
        let _ = (id, lock_id);
        async { Ok(()) }
    }

    /// Returns the chunk size in bytes for transfers between the host and the provider: by default `offered`, which is
    /// the maximum.
    fn chunk_size(&self, offered: u64) -> u64 {
        offered
    }
}

/// A [`ModelStateStore`] as a [`StateStore`].
pub struct StateStoreAdapter<S: ModelStateStore> {
    store: S,
    schema: ResourceSchema,
    /// The store that the current configuration opened.
    open: Mutex<Option<Arc<S::States>>>,
}

impl<S: ModelStateStore> StateStoreAdapter<S> {
    /// Wraps `store` after a check of its schema.
    ///
    /// # Errors
    ///
    /// Returns the problems of the schema, and its differences from the model (FW-18, FW-20).
    pub fn new(store: S) -> Result<Self, Vec<SchemaProblem>> {
        let schema = store.schema().build()?;
        let problems = S::Model::mismatches(&schema);
        if problems.is_empty() { Ok(Self { store, schema, open: Mutex::default() }) } else { Err(problems) }
    }

    fn states(&self) -> Result<Arc<S::States>, ProviderDiagnostic> {
        // Cloned out of the lock, so that concurrent calls do not wait for each other.
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner).clone();
        open.ok_or_else(|| {
            let detail = "The store was asked for a state before it was configured, or after its configuration had failed. This is a mistake \
                          in the program that asks; nothing was read or written.";
            ProviderDiagnostic::error("State store not configured", detail)
        })
    }

    async fn opened(&self, request: ConfigureStateStoreRequest) -> Result<u64, ProviderDiagnostic> {
        // The open store belongs to another configuration, whether this one succeeds or not.
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) = None;
        let states = self.store.open(S::Model::of(&request.config)?).await?;
        let chunk_size = states.chunk_size(request.chunk_size);
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(states));
        Ok(chunk_size)
    }
}

impl<S: ModelStateStore> StateStore for StateStoreAdapter<S> {
    fn schema(&self) -> &ResourceSchema {
        &self.schema
    }

    fn validate(&self, config: Value) -> Answer<'_, ProviderDiagnostics> {
        Answer::pending(self.store.validate(config))
    }

    fn configure(&self, request: ConfigureStateStoreRequest) -> Answer<'_, ConfigureStateStoreResponse> {
        let offered = request.chunk_size;
        Answer::pending(async move {
            let (chunk_size, diagnostics) = split(self.opened(request).await, offered);
            ConfigureStateStoreResponse { chunk_size, diagnostics }
        })
    }

    fn read(&self, request: StateRequest) -> Answer<'_, ReadStateResponse> {
        Answer::pending(async move {
            let read = async { self.states()?.read(&request.state_id).await };
            let (bytes, diagnostics) = split(read.await, None);
            ReadStateResponse { bytes: bytes.unwrap_or_default(), diagnostics }
        })
    }

    fn write(&self, request: WriteStateRequest) -> Answer<'_, ProviderDiagnostics> {
        Answer::pending(async move {
            let written = async { self.states()?.write(&request.state_id, request.bytes).await };
            split(written.await, ()).1
        })
    }

    fn states(&self) -> Answer<'_, StatesResponse> {
        Answer::pending(async move {
            let listed = async { Self::states(self)?.list().await };
            let (state_ids, diagnostics) = split(listed.await, Vec::new());
            StatesResponse { state_ids, diagnostics }
        })
    }

    fn delete(&self, request: StateRequest) -> Answer<'_, ProviderDiagnostics> {
        Answer::pending(async move {
            let deleted = async { self.states()?.delete(&request.state_id).await };
            split(deleted.await, ()).1
        })
    }

    fn lock(&self, request: LockStateRequest) -> Answer<'_, LockStateResponse> {
        Answer::pending(async move {
            let locked = async { self.states()?.lock(&request.state_id, &request.operation).await };
            let (lock_id, diagnostics) = split(locked.await, None);
            LockStateResponse { lock_id: lock_id.unwrap_or_default(), diagnostics }
        })
    }

    fn unlock(&self, request: UnlockStateRequest) -> Answer<'_, ProviderDiagnostics> {
        Answer::pending(async move {
            let unlocked = async { self.states()?.unlock(&request.state_id, &request.lock_id).await };
            split(unlocked.await, ()).1
        })
    }
}

/// Splits a result into a value and diagnostics; `failed` replaces a missing value.
fn split<T>(result: Result<T, ProviderDiagnostic>, failed: T) -> (T, ProviderDiagnostics) {
    match result {
        Ok(value) => (value, ProviderDiagnostics::new()),
        Err(problem) => (failed, problem.into()),
    }
}
