//! The provider that lives in another process.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use groma_address::ProviderAddress;
use groma_provider::*;
use groma_value::Value;
use tokio::sync::oneshot;

use super::cache::SchemaCache;
use super::running::{Beginning, Running, Start, broken_off, not_started};
use super::schemas::{Kind, Schemas};
use super::session::Session;
use super::{actions, ephemeral, lists, objects, runtime, stores};
use crate::methods;
use crate::proto::v6;
use crate::transport::LogSink;
use crate::wire;

/// A provider in another process, which is started at once and in the background: the first call waits for it. Where what
/// it declares is known already, it is started for the first call.
///
/// Dropping it ends the process, unless somebody else had started it.
pub struct Plugin {
    running: Running,
    /// What the provider declares, where it need not be asked.
    known: Option<Arc<Schemas>>,
    stopped: AtomicBool,
}

impl Plugin {
    /// Starts the process of the provider known as `address`; its log lines go to `log`.
    pub fn start(address: ProviderAddress, start: Start, log: Arc<dyn LogSink>) -> Self {
        let plugin = Self::of(Beginning { address, start, log, cache: None, known: None });
        plugin.running.begin();
        plugin
    }

    /// The provider of a package whose content is known, so that what it declares is kept in `cache`. A provider that works
    /// without being asked for it is asked once for all runs; others are asked once a run.
    pub fn start_cached(address: ProviderAddress, start: Start, log: Arc<dyn LogSink>, cache: SchemaCache) -> Self {
        match Self::kept(&address, &start, &log, &cache) {
            Some(plugin) => plugin,
            None => {
                let plugin = Self::of(Beginning { address, start, log, cache: Some(cache), known: None });
                plugin.running.begin();
                plugin
            }
        }
    }

    /// The same if it need not be asked: its process starts when there is something else to ask.
    pub fn kept(address: &ProviderAddress, start: &Start, log: &Arc<dyn LogSink>, cache: &SchemaCache) -> Option<Self> {
        let kept = cache.read()?;
        let schemas = Schemas::new(kept.protocol()?, kept.schemas, kept.identities).ok()?;
        let known = schemas.declared().capabilities.get_provider_schema_optional.then(|| Arc::new(schemas))?;
        Some(Self::of(Beginning {
            address: address.clone(),
            start: start.clone(),
            log: Arc::clone(log),
            cache: Some(cache.clone()),
            known: Some(known),
        }))
    }

    fn of(beginning: Beginning) -> Self {
        let known = beginning.known.clone();
        Self { running: Running::new(beginning), known, stopped: AtomicBool::new(false) }
    }

    /// What the provider declares; where it must be asked, this waits until it has answered.
    fn schemas(&self) -> Result<Arc<Schemas>, ProviderDiagnostics> {
        match &self.known {
            Some(schemas) => Ok(Arc::clone(schemas)),
            None => Ok(Arc::clone(runtime::wait(self.running.session())?.schemas())),
        }
    }

    /// Holds a conversation on the plugins' thread; `otherwise` makes a response of what went wrong.
    fn converse<R, F>(
        &self,
        talk: impl FnOnce(Arc<Session>) -> F + Send + 'static,
        otherwise: impl FnOnce(ProviderDiagnostics) -> R + Send + 'static,
    ) -> Answer<'_, R>
    where
        R: Send + 'static,
        F: Future<Output = Result<R, ProviderDiagnostics>> + Send + 'static,
    {
        let session = self.running.session();
        let (answer, answered) = oneshot::channel();
        let held = runtime::hold(Box::pin(async move {
            let outcome = match session.await {
                Ok(session) => talk(session).await,
                Err(problems) => Err(problems),
            };
            // Nobody may be waiting any more.
            let _ = answer.send(outcome);
        }));
        if let Err(problem) = held {
            return Answer::ready(otherwise(not_started(problem)));
        }
        Answer::later(async move {
            let outcome = answered.await.unwrap_or_else(|_| Err(broken_off()));
            outcome.unwrap_or_else(otherwise)
        })
    }

    fn lookup(&self, kind: Kind, type_name: &str) -> SchemaLookup {
        self.schemas()?.lookup(kind, type_name)
    }
}

impl Provider for Plugin {
    fn schema(&self) -> Result<ProviderSchema, ProviderDiagnostics> {
        Ok(self.schemas()?.declared().clone())
    }

    fn type_names(&self) -> TypeNames {
        self.schemas().map(|schemas| schemas.type_names()).unwrap_or_default()
    }

    fn resource_schema(&self, type_name: &str) -> SchemaLookup {
        self.lookup(Kind::Resource, type_name)
    }

    fn data_schema(&self, type_name: &str) -> SchemaLookup {
        self.lookup(Kind::Data, type_name)
    }

    fn ephemeral_schema(&self, type_name: &str) -> SchemaLookup {
        self.lookup(Kind::Ephemeral, type_name)
    }

    fn function(&self, name: &str) -> Option<Arc<FunctionSignature>> {
        self.schemas().ok()?.function(name)
    }

    fn configured_functions(&self) -> Answer<'_, Result<Functions, ProviderDiagnostics>> {
        self.converse(|session| async move { session.functions().await.map(Ok) }, Err)
    }

    fn validate_provider_config(&self, request: ValidateProviderRequest) -> Answer<'_, ProviderDiagnostics> {
        let talk = async move |session: Arc<Session>| {
            let config = session.encode(&request.config, session.schemas().declared().config.block.implied_type())?;
            let request = v6::validate_provider_config::Request { config };
            let response = session.call(methods::VALIDATE_PROVIDER, request).await?;
            Ok(wire::diagnostics(response.diagnostics))
        };
        self.converse(talk, |problems| problems)
    }

    fn configure(&self, request: ConfigureRequest) -> Answer<'_, ProviderDiagnostics> {
        let talk = async move |session: Arc<Session>| {
            let config = session.encode(&request.config, session.schemas().declared().config.block.implied_type())?;
            let request = v6::configure_provider::Request {
                terraform_version: request.terraform_version,
                config,
                client_capabilities: Some(wire::capabilities_message(request.client_capabilities)),
            };
            let response = session.call(methods::CONFIGURE, request).await?;
            Ok(wire::diagnostics(response.diagnostics))
        };
        self.converse(talk, |problems| problems)
    }

    fn validate_resource(&self, request: ValidateRequest) -> Answer<'_, ProviderDiagnostics> {
        self.converse(|session| objects::validate_resource(session, request), |problems| problems)
    }

    fn upgrade_resource(&self, request: UpgradeRequest) -> Answer<'_, UpgradeResponse> {
        let otherwise = |diagnostics| UpgradeResponse { upgraded_state: Value::DYNAMIC, diagnostics };
        self.converse(|session| objects::upgrade(session, request), otherwise)
    }

    fn upgrade_identity(&self, request: UpgradeIdentityRequest) -> Answer<'_, UpgradeIdentityResponse> {
        let otherwise = |diagnostics| UpgradeIdentityResponse { upgraded_identity: Value::DYNAMIC, diagnostics };
        self.converse(|session| objects::upgrade_identity(session, request), otherwise)
    }

    fn read_resource(&self, request: ReadRequest) -> Answer<'_, ReadResponse> {
        let (new_state, private) = (request.current_state.clone(), Arc::clone(&request.private));
        let new_identity = request.current_identity.clone();
        let otherwise = |diagnostics| ReadResponse { new_state, private, deferred: None, new_identity, diagnostics };
        self.converse(|session| objects::read(session, request), otherwise)
    }

    fn plan_resource(&self, request: PlanRequest) -> Answer<'_, PlanResponse> {
        let otherwise = PlanResponse::new(request.proposed_new_state.clone(), Arc::clone(&request.prior_private));
        self.converse(
            |session| objects::plan(session, request),
            move |diagnostics| PlanResponse { diagnostics, ..otherwise },
        )
    }

    fn apply_resource(&self, request: ApplyRequest) -> Answer<'_, ApplyResponse> {
        let private = Arc::clone(&request.planned_private);
        let otherwise = |diagnostics| ApplyResponse {
            new_state: None,
            private,
            legacy_type_system: false,
            new_identity: None,
            diagnostics,
        };
        self.converse(|session| objects::apply(session, request), otherwise)
    }

    fn import_resource(&self, request: ImportRequest) -> Answer<'_, ImportResponse> {
        let otherwise = |diagnostics| ImportResponse { diagnostics, ..ImportResponse::default() };
        self.converse(|session| objects::import(session, request), otherwise)
    }

    fn move_resource(&self, request: MoveRequest) -> Answer<'_, MoveResponse> {
        let target_private = Arc::clone(&request.source_private);
        let otherwise = |diagnostics| MoveResponse {
            target_state: Value::DYNAMIC,
            target_private,
            target_identity: None,
            diagnostics,
        };
        self.converse(|session| objects::move_state(session, request), otherwise)
    }

    fn validate_data(&self, request: ValidateRequest) -> Answer<'_, ProviderDiagnostics> {
        self.converse(|session| objects::validate_data(session, request), |problems| problems)
    }

    fn read_data(&self, request: ReadDataRequest) -> Answer<'_, ReadDataResponse> {
        let state = request.config.clone();
        let otherwise = |diagnostics| ReadDataResponse { state, deferred: None, diagnostics };
        self.converse(|session| objects::read_data(session, request), otherwise)
    }

    fn validate_ephemeral(&self, request: ValidateRequest) -> Answer<'_, ProviderDiagnostics> {
        self.converse(|session| ephemeral::validate(session, request), |problems| problems)
    }

    fn open_ephemeral(&self, request: OpenEphemeralRequest) -> Answer<'_, OpenEphemeralResponse> {
        let result = request.config.clone();
        let otherwise = |diagnostics| OpenEphemeralResponse {
            result,
            renew_at: None,
            private: Arc::default(),
            deferred: None,
            diagnostics,
        };
        self.converse(|session| ephemeral::open(session, request), otherwise)
    }

    fn renew_ephemeral(&self, request: RenewEphemeralRequest) -> Answer<'_, EphemeralResponse> {
        let private = Arc::clone(&request.private);
        let otherwise = |diagnostics| EphemeralResponse { renew_at: None, private, diagnostics };
        self.converse(|session| ephemeral::renew(session, request), otherwise)
    }

    fn close_ephemeral(&self, request: CloseEphemeralRequest) -> Answer<'_, ProviderDiagnostics> {
        self.converse(|session| ephemeral::close(session, request), |problems| problems)
    }

    fn call_function(&self, request: CallFunctionRequest) -> Answer<'_, Result<Value, FunctionError>> {
        let otherwise = |problems: ProviderDiagnostics| Err(FunctionError::of_call(&problems));
        self.converse(|session| ephemeral::call_function(session, request), otherwise)
    }

    fn action_schema(&self, type_name: &str) -> SchemaLookup {
        self.lookup(Kind::Action, type_name)
    }

    fn validate_action(&self, request: ValidateRequest) -> Answer<'_, ProviderDiagnostics> {
        self.converse(|session| actions::validate(session, request), |problems| problems)
    }

    fn plan_action(&self, request: PlanActionRequest) -> Answer<'_, PlanActionResponse> {
        let otherwise = |diagnostics| PlanActionResponse { deferred: None, diagnostics };
        self.converse(|session| actions::plan(session, request), otherwise)
    }

    fn invoke_action(&self, request: InvokeActionRequest) -> Answer<'_, ProviderDiagnostics> {
        self.converse(|session| actions::invoke(session, request), |problems| problems)
    }

    fn list_schema(&self, type_name: &str) -> SchemaLookup {
        self.lookup(Kind::List, type_name)
    }

    fn validate_list(&self, request: ValidateRequest) -> Answer<'_, ProviderDiagnostics> {
        self.converse(|session| lists::validate(session, request), |problems| problems)
    }

    fn list_resource(&self, request: ListRequest) -> Answer<'_, ProviderDiagnostics> {
        self.converse(|session| lists::list(session, request), |problems| problems)
    }

    fn generate_config(&self, request: GenerateConfigRequest) -> Answer<'_, GenerateConfigResponse> {
        let otherwise = |diagnostics| GenerateConfigResponse { config: Value::DYNAMIC, diagnostics };
        self.converse(|session| lists::generate(session, request), otherwise)
    }

    fn state_store_schema(&self, type_name: &str) -> SchemaLookup {
        self.lookup(Kind::StateStore, type_name)
    }

    fn validate_state_store(&self, request: ValidateRequest) -> Answer<'_, ProviderDiagnostics> {
        self.converse(|session| stores::validate(session, request), |problems| problems)
    }

    fn configure_state_store(&self, request: ConfigureStateStoreRequest) -> Answer<'_, ConfigureStateStoreResponse> {
        let chunk_size = request.chunk_size;
        let otherwise = move |diagnostics| ConfigureStateStoreResponse { chunk_size, diagnostics };
        self.converse(|session| stores::configure(session, request), otherwise)
    }

    fn read_state(&self, request: StateRequest) -> Answer<'_, ReadStateResponse> {
        let otherwise = |diagnostics| ReadStateResponse { bytes: Vec::new(), diagnostics };
        self.converse(|session| stores::read(session, request), otherwise)
    }

    fn write_state(&self, request: WriteStateRequest) -> Answer<'_, ProviderDiagnostics> {
        self.converse(|session| stores::write(session, request), |problems| problems)
    }

    fn lock_state(&self, request: LockStateRequest) -> Answer<'_, LockStateResponse> {
        let otherwise = |diagnostics| LockStateResponse { lock_id: String::new(), diagnostics };
        self.converse(|session| stores::lock(session, request), otherwise)
    }

    fn unlock_state(&self, request: UnlockStateRequest) -> Answer<'_, ProviderDiagnostics> {
        self.converse(|session| stores::unlock(session, request), |problems| problems)
    }

    fn states(&self, type_name: Name) -> Answer<'_, StatesResponse> {
        let otherwise = |diagnostics| StatesResponse { state_ids: Vec::new(), diagnostics };
        self.converse(|session| stores::states(session, type_name), otherwise)
    }

    fn delete_state(&self, request: StateRequest) -> Answer<'_, ProviderDiagnostics> {
        self.converse(|session| stores::delete(session, request), |problems| problems)
    }

    fn has_ended(&self) -> bool {
        self.running.has_ended()
    }

    fn stop(&self) {
        if self.stopped.swap(true, Ordering::SeqCst) {
            return;
        }
        let (Ok(runtime), Some(session)) = (runtime::handle(), self.running.begun()) else { return };
        runtime.spawn(async move {
            if let Ok(session) = session.await {
                // What a provider says to this changes nothing: its running calls are waited for.
                let _ = session.call(methods::STOP, v6::stop_provider::Request {}).await;
            }
        });
    }
}
