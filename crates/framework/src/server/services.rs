//! Calls of actions, list resources, ephemeral resources and state stores.

use groma_provider::{
    Answer, CloseEphemeralRequest, ConfigureStateStoreRequest, ConfigureStateStoreResponse, EphemeralResponse,
    InvokeActionRequest, ListRequest, LockStateRequest, LockStateResponse, OpenEphemeralRequest, OpenEphemeralResponse,
    PlanActionRequest, PlanActionResponse, ProviderDiagnostics, ReadStateResponse, RenewEphemeralRequest, StateRequest,
    StatesResponse, UnlockStateRequest, WriteStateRequest,
};
use groma_value::Value;

use super::plan::with_defaults;
use super::{Server, panic};
use crate::definition::{OpenResponse, RenewResponse};
use crate::{Name, PrivateData, StateStore};

impl Server {
    pub(super) fn plan_invocation(&self, request: PlanActionRequest) -> Answer<'_, PlanActionResponse> {
        let failed = |diagnostics| PlanActionResponse { deferred: None, diagnostics };
        let action = self.types.known_action(&*self.definition, &request.type_name);
        let ready = action.and_then(|action| Ok((action, with_defaults(action.schema(), request.config)?)));
        match ready {
            Ok((action, config)) => {
                let request = PlanActionRequest { config, ..request };
                panic::guard("plan", || action.plan(request), failed)
            }
            Err(problems) => Answer::ready(failed(problems)),
        }
    }

    pub(super) fn invoke(&self, request: InvokeActionRequest) -> Answer<'_, ProviderDiagnostics> {
        let action = self.types.known_action(&*self.definition, &request.type_name);
        let ready = action.and_then(|action| Ok((action, with_defaults(action.schema(), request.config)?)));
        match ready {
            Ok((action, config)) => {
                let request = InvokeActionRequest { config, ..request };
                panic::guard("invoke", || action.invoke(request), |problems| problems)
            }
            Err(problems) => Answer::ready(problems),
        }
    }

    pub(super) fn search(&self, request: ListRequest) -> Answer<'_, ProviderDiagnostics> {
        let list = self.types.known_list(&*self.definition, &request.type_name);
        let ready = list.and_then(|list| Ok((list, with_defaults(list.schema(), request.config)?)));
        match ready {
            Ok((list, config)) => {
                let request = ListRequest { config, ..request };
                panic::guard("list", || list.list(request), |problems| problems)
            }
            Err(problems) => Answer::ready(problems),
        }
    }

    pub(super) fn open(&self, request: OpenEphemeralRequest) -> Answer<'_, OpenEphemeralResponse> {
        let failed =
            |diagnostics| OpenResponse { diagnostics, ..OpenResponse::opened(Value::NULL, PrivateData::new()) };
        let (config, host) = (request.config, request.client_capabilities);
        let resource = self.types.known_ephemeral(&*self.definition, &request.type_name);
        let ready = resource.and_then(|resource| Ok((resource, with_defaults(resource.schema(), config.clone())?)));
        let answer = match ready {
            Ok((resource, config)) => panic::guard("open", || resource.open(config), failed),
            Err(problems) => Answer::ready(failed(problems)),
        };
        answer.map(move |response| {
            let mut diagnostics = response.diagnostics;
            let deferred = response.deferral.and_then(|deferral| deferral.report(host, &mut diagnostics));
            OpenEphemeralResponse {
                // Until it can be opened, only its configuration is known.
                result: if deferred.is_some() { config } else { response.result },
                renew_at: response.renew_at,
                private: response.private.encode(),
                deferred,
                diagnostics,
            }
        })
    }

    pub(super) fn renew(&self, request: RenewEphemeralRequest) -> Answer<'_, EphemeralResponse> {
        let private = PrivateData::decode(&request.private);
        // A failed renewal keeps the data with which the resource must still be closed.
        let kept = private.clone();
        let failed = move |diagnostics| RenewResponse { renew_at: None, private: kept, diagnostics };
        let answer = match self.types.known_ephemeral(&*self.definition, &request.type_name) {
            Ok(resource) => panic::guard("renew", || resource.renew(private), failed),
            Err(problems) => Answer::ready(failed(problems)),
        };
        answer.map(|response| EphemeralResponse {
            renew_at: response.renew_at,
            private: response.private.encode(),
            diagnostics: response.diagnostics,
        })
    }

    pub(super) fn close(&self, request: CloseEphemeralRequest) -> Answer<'_, ProviderDiagnostics> {
        let private = PrivateData::decode(&request.private);
        match self.types.known_ephemeral(&*self.definition, &request.type_name) {
            Ok(resource) => panic::guard("close", || resource.close(private), |problems| problems),
            Err(problems) => Answer::ready(problems),
        }
    }

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

    /// Calls the store `type_name`. A panic in it and an unknown type produce the response of `failed`.
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
