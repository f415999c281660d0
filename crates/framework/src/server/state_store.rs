//! State store calls of the server.

use groma_provider::{
    Answer, ConfigureStateStoreRequest, ConfigureStateStoreResponse, LockStateRequest, LockStateResponse,
    ProviderDiagnostics, ReadStateResponse, StateRequest, StatesResponse, UnlockStateRequest, WriteStateRequest,
};

use super::defaults::with_defaults;
use super::{Server, panic};
use crate::{Name, StateStore};

impl Server {
    pub(super) fn configure_store(
        &self,
        request: ConfigureStateStoreRequest,
    ) -> Answer<'_, ConfigureStateStoreResponse> {
        let chunk_size = request.chunk_size;
        let failed = move |diagnostics| ConfigureStateStoreResponse { chunk_size, diagnostics };
        let type_name = request.type_name.clone();
        self.with_store(
            &type_name,
            "configure",
            |store| match with_defaults(store.schema(), request.config) {
                Ok(config) => store.configure(ConfigureStateStoreRequest { config, ..request }),
                Err(problems) => Answer::ready(failed(problems)),
            },
            failed,
        )
    }

    pub(super) fn read_stored(&self, request: StateRequest) -> Answer<'_, ReadStateResponse> {
        let failed = |diagnostics| ReadStateResponse { bytes: Vec::new(), diagnostics };
        let type_name = request.type_name.clone();
        self.with_store(&type_name, "read", |store| store.read(request), failed)
    }

    pub(super) fn write_stored(&self, request: WriteStateRequest) -> Answer<'_, ProviderDiagnostics> {
        let type_name = request.type_name.clone();
        self.with_store(&type_name, "write", |store| store.write(request), |problems| problems)
    }

    pub(super) fn lock_stored(&self, request: LockStateRequest) -> Answer<'_, LockStateResponse> {
        let failed = |diagnostics| LockStateResponse { lock_id: String::new(), diagnostics };
        let type_name = request.type_name.clone();
        self.with_store(&type_name, "lock", |store| store.lock(request), failed)
    }

    pub(super) fn unlock_stored(&self, request: UnlockStateRequest) -> Answer<'_, ProviderDiagnostics> {
        let type_name = request.type_name.clone();
        self.with_store(&type_name, "unlock", |store| store.unlock(request), |problems| problems)
    }

    pub(super) fn list_stored(&self, type_name: &Name) -> Answer<'_, StatesResponse> {
        let failed = |diagnostics| StatesResponse { state_ids: Vec::new(), diagnostics };
        self.with_store(type_name, "states", |store| store.states(), failed)
    }

    pub(super) fn delete_stored(&self, request: StateRequest) -> Answer<'_, ProviderDiagnostics> {
        let type_name = request.type_name.clone();
        self.with_store(&type_name, "delete", |store| store.delete(request), |problems| problems)
    }

    /// Asks the store `type_name`; a panic in it, and a type that the provider does not have, are answered by `failed`.
    fn with_store<'a, T: Send + Unpin + 'a>(
        &'a self,
        type_name: &str,
        method: &'static str,
        ask: impl FnOnce(&'a dyn StateStore) -> Answer<'a, T>,
        failed: impl FnOnce(ProviderDiagnostics) -> T + Send + 'a,
    ) -> Answer<'a, T> {
        match self.types.known_state_store(&*self.definition, type_name) {
            Ok(store) => panic::guard(method, || ask(store), failed),
            Err(problems) => Answer::ready(failed(problems)),
        }
    }
}
