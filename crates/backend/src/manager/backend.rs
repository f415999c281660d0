//! A configured remote backend, used synchronously.

use std::future::Future;
use std::sync::Arc;

use groma_state::Replicating;
use groma_value::Value;
use thiserror::Error;
use tokio::task::AbortHandle;

use crate::backend_type::BackendType;
use crate::error::StoreError;
use crate::host::Host;
use crate::schema::ArgumentError;
use crate::store::{DEFAULT_WORKSPACE, HeldLock, Snapshot, StateStore, StoreFuture, WorkspaceSupport};

use super::clock::{Clock, SystemClock};
use super::reading::Listing;
use super::runtime::StoreRuntime;

/// A remote backend with its configuration.
///
/// It blocks on the operations of its store, so it must not be used on a thread that drives an async runtime, except for
/// [`RemoteBackend::read_async`]. Clones share the store.
#[derive(Clone)]
pub struct RemoteBackend {
    ty: &'static BackendType,
    config: Value,
    store: Arc<dyn StateStore>,
    runtime: StoreRuntime,
    clock: Arc<dyn Clock>,
    replicating: Replicating,
}

/// The failure to create a store from its configuration.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ConnectError {
    /// Arguments are missing, or environment variables have the wrong type.
    #[error("invalid arguments")]
    Arguments(Vec<ArgumentError>),
    /// The store refuses the settings.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl std::fmt::Debug for RemoteBackend {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The configuration may hold secrets.
        f.debug_tuple("RemoteBackend").field(&self.ty.name).finish()
    }
}

impl RemoteBackend {
    /// Creates the store that `config` describes, as [`crate::BackendSchema::conform`] returns it. Sends no request.
    ///
    /// # Errors
    /// Required arguments are missing or values are invalid.
    pub fn connect(ty: &'static BackendType, config: Value, host: &Host) -> Result<Self, ConnectError> {
        let settings = (ty.schema)().resolve(&config, &host.environment).map_err(ConnectError::Arguments)?;
        let runtime = StoreRuntime::get().map_err(|problem| StoreError::Network {
            service: format!("the backend {:?}", ty.name),
            reason: groma_diagnostics::io_reason(&problem),
        })?;
        let store = {
            // Clients may bind to the runtime when they are created.
            let _entered = runtime.handle().enter();
            (ty.open)(&settings, host)?
        };
        Ok(Self { ty, config, store, runtime, clock: Arc::new(SystemClock), replicating: Replicating::Background })
    }

    /// Replaces the store.
    #[cfg(test)]
    pub(super) fn over(self, store: Arc<dyn StateStore>) -> Self {
        Self { store, ..self }
    }

    /// Replaces the clock, and leaves the work of background threads to the caller.
    #[cfg(test)]
    pub(super) fn simulated(self, clock: Arc<dyn Clock>) -> Self {
        Self { clock, replicating: Replicating::Caller, ..self }
    }

    /// Returns whether background threads work for the run.
    pub(super) fn replicating(&self) -> Replicating {
        self.replicating
    }

    /// Returns the clock of the run.
    pub(super) fn clock(&self) -> &dyn Clock {
        &*self.clock
    }

    /// Runs an operation in the background.
    pub(super) fn spawn(&self, operation: impl Future<Output = ()> + Send + 'static) -> AbortHandle {
        self.runtime.handle().spawn(operation).abort_handle()
    }

    /// Returns the backend type.
    pub fn ty(&self) -> &'static BackendType {
        self.ty
    }

    /// Returns the configuration without environment variables and defaults, as it is recorded.
    pub fn config(&self) -> &Value {
        &self.config
    }

    /// Returns the store.
    pub fn store(&self) -> &Arc<dyn StateStore> {
        &self.store
    }

    /// Blocks until an operation of the store has ended.
    pub(super) fn block_on<T>(&self, operation: impl Future<Output = T>) -> T {
        self.runtime.block_on(operation)
    }

    /// Whether the store has several workspaces.
    pub fn has_workspaces(&self) -> bool {
        matches!(self.store.workspace_support(), WorkspaceSupport::Many | WorkspaceSupport::ManyWithoutDefault)
    }

    /// Returns the workspace that exists without being created: the only one, or `default`. Some stores have none.
    pub fn default_workspace(&self) -> Option<String> {
        match self.store.workspace_support() {
            WorkspaceSupport::Many | WorkspaceSupport::DefaultOnly => Some(DEFAULT_WORKSPACE.to_owned()),
            WorkspaceSupport::ManyWithoutDefault => None,
            WorkspaceSupport::Only(name) => Some(name),
        }
    }

    /// Whether the store can have a workspace with this name.
    pub fn supports_workspace(&self, name: &str) -> bool {
        match self.store.workspace_support() {
            WorkspaceSupport::Many => true,
            WorkspaceSupport::ManyWithoutDefault => name != DEFAULT_WORKSPACE,
            WorkspaceSupport::DefaultOnly => name == DEFAULT_WORKSPACE,
            WorkspaceSupport::Only(only) => name == only,
        }
    }

    /// Returns the location of a workspace's state for messages.
    pub fn location(&self, workspace: &str) -> String {
        self.store.location(workspace)
    }

    /// Lists the workspaces: the one that always exists first, even where it has no state, then the others in alphabetical
    /// order.
    ///
    /// # Errors
    /// The store cannot list them.
    pub fn workspaces(&self) -> Result<Vec<String>, StoreError> {
        let default = self.default_workspace();
        if !self.has_workspaces() {
            return Ok(default.into_iter().collect());
        }
        let mut names = self.block_on(self.store.workspaces())?;
        names.retain(|name| name != DEFAULT_WORKSPACE);
        names.sort();
        names.dedup();
        names.splice(0..0, default);
        Ok(names)
    }

    /// Returns the error of using a workspace that the store cannot have.
    pub fn no_workspace(&self, name: &str) -> StoreError {
        let name_of_type = self.ty.name;
        let (operation, advice) = match self.default_workspace() {
            Some(only) => (
                "workspaces".to_owned(),
                format!(
                    "The backend {name_of_type:?} stores only the state of the workspace {only:?}. For another state, use another \
                     backend configuration, or a backend with workspaces."
                ),
            ),
            None => (
                format!("the workspace {name:?}"),
                format!(
                    "This configuration of the backend {name_of_type:?} has no default workspace. Select one with \"workspace select\", or \
                     create one with \"workspace new\"."
                ),
            ),
        };
        StoreError::Unsupported { operation, advice }
    }

    /// Reads the stored bytes of a workspace; `None` if nothing is stored.
    ///
    /// # Errors
    /// The store fails.
    pub fn read(&self, workspace: &str) -> Result<Option<Snapshot>, StoreError> {
        self.block_on(self.store.read(workspace))
    }

    /// Reads the stored bytes of a workspace without blocking: the returned future may be polled on any runtime.
    pub fn read_async(&self, workspace: &str) -> StoreFuture<'static, Option<Snapshot>> {
        let (store, name) = (self.store.clone(), workspace.to_owned());
        let service = self.location(workspace);
        // The client is bound to this runtime, whichever one polls the future.
        let task = self.runtime.handle().spawn(async move { store.read(&name).await });
        Box::pin(async move {
            task.await
                .unwrap_or_else(|_| Err(StoreError::Network { service, reason: "the request was aborted".to_owned() }))
        })
    }

    /// Deletes a workspace with its state, and the notes about its journals.
    ///
    /// # Errors
    /// The store fails.
    pub fn delete_workspace(&self, workspace: &str, lock: Option<&HeldLock>) -> Result<(), StoreError> {
        self.block_on(self.store.delete_workspace(workspace, lock))?;
        if let Some(journals) = self.store.journals()
            && let Ok(Listing::Names(names)) = self.list_journals(journals, workspace)
            && !names.is_empty()
        {
            // Without its state, what stays says nothing to anybody.
            let _ = self.block_on(journals.delete_segments(workspace, &names));
        }
        Ok(())
    }

    /// Releases a lock by its ID, regardless of its holder.
    ///
    /// # Errors
    /// The lock has another ID or does not exist, or the store fails.
    pub fn force_unlock(&self, workspace: &str, id: &str) -> Result<(), StoreError> {
        self.block_on(self.store.unlock(workspace, id))
    }
}
