//! The client: a plugin process as a [`Provider`](groma_provider::Provider).

mod cache;
mod host;
mod lazy_process;
mod resources;
mod schemas;
mod session;
mod stores;
mod streams;

pub use cache::SchemaCache;
pub use host::PluginHost;
pub use lazy_process::Start;

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use groma_address::ProviderAddress;
use groma_provider::*;
use groma_value::Value;
use lazy_process::{LazyProcess, SessionSetup, no_response, not_begun};
use schemas::{Kind, Schemas};
use session::Session;
use tokio::sync::oneshot;

use crate::proto::v6;
use crate::transport::LogSink;
use crate::{protocol, wire};

/// A provider in a plugin process, the client's main type.
///
/// It owns the process and its session. [`Plugin::start`] launches the process in the background, and the first call
/// waits for the session. If the schemas are cached, the process is launched only for the first call that needs it.
/// Every call runs as a task on the plugin runtime thread and is answered through a channel, so callers may block or
/// await as they need, and concurrent calls share one HTTP/2 connection.
///
/// A call never panics or hangs after the process has died: it returns an error diagnostic whose [`CallFate`] says
/// whether the provider may have carried out the request. Responses are decoded by the schemas but not checked against
/// the provider contract; that is the part of [`Checked`].
///
/// Dropping it shuts the process down, unless it was attached to with a reattach configuration.
pub struct Plugin {
    process: LazyProcess,
    /// The cached schemas, if the provider need not be asked for them.
    known: Option<Arc<Schemas>>,
    stopped: AtomicBool,
}

impl Plugin {
    /// Launches the provider process on `host`; its log lines go to `log`.
    pub fn start(host: &Arc<PluginHost>, address: ProviderAddress, start: Start, log: Arc<dyn LogSink>) -> Self {
        let plugin = Self::of(host, SessionSetup { address, start, log, cache: None, known: None });
        plugin.process.start();
        plugin
    }

    /// Launches the process of an installed package and caches its schemas in `cache`. If the cache is valid and the
    /// provider accepts calls without a preceding schema call, the process is not launched yet.
    pub fn start_cached(
        host: &Arc<PluginHost>,
        address: ProviderAddress,
        start: Start,
        log: Arc<dyn LogSink>,
        cache: SchemaCache,
    ) -> Self {
        match Self::from_cache(host, &address, &start, &log, &cache) {
            Some(plugin) => plugin,
            None => {
                let plugin = Self::of(host, SessionSetup { address, start, log, cache: Some(cache), known: None });
                plugin.process.start();
                plugin
            }
        }
    }

    /// Creates a provider from cached schemas, if the provider works without a schema call. The process starts on
    /// demand.
    pub fn from_cache(
        host: &Arc<PluginHost>,
        address: &ProviderAddress,
        start: &Start,
        log: &Arc<dyn LogSink>,
        cache: &SchemaCache,
    ) -> Option<Self> {
        let kept = cache.read()?;
        // Invalid cached schemas count as a cache miss: the provider is then asked again.
        let schemas = Schemas::new(kept.protocol()?, kept.schemas, kept.identities).ok()?;
        // Some providers initialize themselves in the schema call. They must be asked in every run.
        let known = schemas.declared().capabilities.get_provider_schema_optional.then(|| Arc::new(schemas))?;
        let setup = SessionSetup {
            address: address.clone(),
            start: start.clone(),
            log: Arc::clone(log),
            cache: Some(cache.clone()),
            known: Some(known),
        };
        Some(Self::of(host, setup))
    }

    fn of(host: &Arc<PluginHost>, setup: SessionSetup) -> Self {
        let known = setup.known.clone();
        Self { process: LazyProcess::new(Arc::clone(host), setup), known, stopped: AtomicBool::new(false) }
    }

    /// Returns the schemas; blocks until the provider has answered, unless they are cached.
    fn schemas(&self) -> Result<Arc<Schemas>, ProviderDiagnostics> {
        match &self.known {
            Some(schemas) => Ok(Arc::clone(schemas)),
            None => Ok(Arc::clone(host::wait(self.process.session())?.schemas())),
        }
    }

    /// Runs a provider call on the plugin runtime; `on_error` turns an error into a response.
    fn call<R, F>(
        &self,
        exchange: impl FnOnce(Arc<Session>) -> F + Send + 'static,
        on_error: impl FnOnce(ProviderDiagnostics) -> R + Send + 'static,
    ) -> Answer<'_, R>
    where
        R: Send + 'static,
        F: Future<Output = Result<R, ProviderDiagnostics>> + Send + 'static,
    {
        // Starts the process if this is the first call that needs it.
        let session = self.process.session();
        let (answer, answered) = oneshot::channel();
        let queued = self.process.host().spawn(Box::pin(async move {
            let outcome = match session.await {
                Ok(session) => exchange(session).await,
                Err(problems) => Err(problems),
            };
            // The receiver is gone if the caller has dropped the answer.
            let _ = answer.send(outcome);
        }));
        if let Err(problem) = queued {
            // The task was dropped unsent, so the call had no effect.
            return Answer::ready(on_error(not_begun(&problem.to_string())));
        }
        Answer::pending(async move {
            let outcome = answered.await.unwrap_or_else(|_| Err(no_response()));
            outcome.unwrap_or_else(on_error)
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
        self.call(|session| async move { session.functions().await.map(Ok) }, Err)
    }

    fn validate_provider_config(&self, request: ValidateProviderRequest) -> Answer<'_, ProviderDiagnostics> {
        let exchange = async move |session: Arc<Session>| {
            let config = session.encode(&request.config, session.schemas().declared().config.block.implied_type())?;
            let request = v6::validate_provider_config::Request { config };
            let response = session.call(protocol::VALIDATE_PROVIDER, request).await?;
            Ok(wire::diagnostics(response.diagnostics))
        };
        self.call(exchange, |problems| problems)
    }

    fn configure(&self, request: ConfigureRequest) -> Answer<'_, ProviderDiagnostics> {
        let exchange = async move |session: Arc<Session>| {
            let config = session.encode(&request.config, session.schemas().declared().config.block.implied_type())?;
            let request = v6::configure_provider::Request {
                terraform_version: request.terraform_version,
                config,
                client_capabilities: Some(wire::capabilities_message(request.client_capabilities)),
            };
            let response = session.call(protocol::CONFIGURE, request).await?;
            Ok(wire::diagnostics(response.diagnostics))
        };
        self.call(exchange, |problems| problems)
    }

    fn validate_resource(&self, request: ValidateRequest) -> Answer<'_, ProviderDiagnostics> {
        self.call(|session| resources::validate_resource(session, request), |problems| problems)
    }

    fn upgrade_resource(&self, request: UpgradeRequest) -> Answer<'_, UpgradeResponse> {
        let on_error = |diagnostics| UpgradeResponse { upgraded_state: Value::DYNAMIC, diagnostics };
        self.call(|session| resources::upgrade(session, request), on_error)
    }

    fn upgrade_identity(&self, request: UpgradeIdentityRequest) -> Answer<'_, UpgradeIdentityResponse> {
        let on_error = |diagnostics| UpgradeIdentityResponse { upgraded_identity: Value::DYNAMIC, diagnostics };
        self.call(|session| resources::upgrade_identity(session, request), on_error)
    }

    fn read_resource(&self, request: ReadRequest) -> Answer<'_, ReadResponse> {
        let (new_state, private) = (request.current_state.clone(), Arc::clone(&request.private));
        let new_identity = request.current_identity.clone();
        // A failed read leaves the object, its private data and its identity as they were.
        let on_error = |diagnostics| ReadResponse { new_state, private, deferred: None, new_identity, diagnostics };
        self.call(|session| resources::read(session, request), on_error)
    }

    fn plan_resource(&self, request: PlanRequest) -> Answer<'_, PlanResponse> {
        let on_error = PlanResponse::new(request.proposed_new_state.clone(), Arc::clone(&request.prior_private));
        self.call(
            |session| resources::plan(session, request),
            move |diagnostics| PlanResponse { diagnostics, ..on_error },
        )
    }

    fn apply_resource(&self, request: ApplyRequest) -> Answer<'_, ApplyResponse> {
        let private = Arc::clone(&request.planned_private);
        // Nothing is known about the object after a failed call, so the engine falls back on the prior state.
        let on_error = |diagnostics| ApplyResponse {
            new_state: None,
            private,
            legacy_type_system: false,
            new_identity: None,
            diagnostics,
        };
        self.call(|session| resources::apply(session, request), on_error)
    }

    fn import_resource(&self, request: ImportRequest) -> Answer<'_, ImportResponse> {
        let on_error = |diagnostics| ImportResponse { diagnostics, ..ImportResponse::default() };
        self.call(|session| resources::import(session, request), on_error)
    }

    fn move_resource(&self, request: MoveRequest) -> Answer<'_, MoveResponse> {
        let target_private = Arc::clone(&request.source_private);
        let on_error = |diagnostics| MoveResponse {
            target_state: Value::DYNAMIC,
            target_private,
            target_identity: None,
            diagnostics,
        };
        self.call(|session| resources::move_state(session, request), on_error)
    }

    fn validate_data(&self, request: ValidateRequest) -> Answer<'_, ProviderDiagnostics> {
        self.call(|session| resources::validate_data(session, request), |problems| problems)
    }

    fn read_data(&self, request: ReadDataRequest) -> Answer<'_, ReadDataResponse> {
        let state = request.config.clone();
        let on_error = |diagnostics| ReadDataResponse { state, deferred: None, diagnostics };
        self.call(|session| resources::read_data(session, request), on_error)
    }

    fn validate_ephemeral(&self, request: ValidateRequest) -> Answer<'_, ProviderDiagnostics> {
        self.call(|session| resources::validate_ephemeral(session, request), |problems| problems)
    }

    fn open_ephemeral(&self, request: OpenEphemeralRequest) -> Answer<'_, OpenEphemeralResponse> {
        let result = request.config.clone();
        let on_error = |diagnostics| OpenEphemeralResponse {
            result,
            renew_at: None,
            private: Arc::default(),
            deferred: None,
            diagnostics,
        };
        self.call(|session| resources::open_ephemeral(session, request), on_error)
    }

    fn renew_ephemeral(&self, request: RenewEphemeralRequest) -> Answer<'_, EphemeralResponse> {
        let private = Arc::clone(&request.private);
        let on_error = |diagnostics| EphemeralResponse { renew_at: None, private, diagnostics };
        self.call(|session| resources::renew_ephemeral(session, request), on_error)
    }

    fn close_ephemeral(&self, request: CloseEphemeralRequest) -> Answer<'_, ProviderDiagnostics> {
        self.call(|session| resources::close_ephemeral(session, request), |problems| problems)
    }

    fn call_function(&self, request: CallFunctionRequest) -> Answer<'_, Result<Value, FunctionError>> {
        // Functions report one error instead of diagnostics.
        let on_error = |problems: ProviderDiagnostics| Err(FunctionError::of_call(&problems));
        self.call(|session| resources::call_function(session, request), on_error)
    }

    fn action_schema(&self, type_name: &str) -> SchemaLookup {
        self.lookup(Kind::Action, type_name)
    }

    fn validate_action(&self, request: ValidateRequest) -> Answer<'_, ProviderDiagnostics> {
        self.call(|session| streams::validate_action(session, request), |problems| problems)
    }

    fn plan_action(&self, request: PlanActionRequest) -> Answer<'_, PlanActionResponse> {
        let on_error = |diagnostics| PlanActionResponse { deferred: None, diagnostics };
        self.call(|session| streams::plan_action(session, request), on_error)
    }

    fn invoke_action(&self, request: InvokeActionRequest) -> Answer<'_, ProviderDiagnostics> {
        self.call(|session| streams::invoke_action(session, request), |problems| problems)
    }

    fn list_schema(&self, type_name: &str) -> SchemaLookup {
        self.lookup(Kind::List, type_name)
    }

    fn validate_list(&self, request: ValidateRequest) -> Answer<'_, ProviderDiagnostics> {
        self.call(|session| streams::validate_list(session, request), |problems| problems)
    }

    fn list_resource(&self, request: ListRequest) -> Answer<'_, ProviderDiagnostics> {
        self.call(|session| streams::list(session, request), |problems| problems)
    }

    fn generate_config(&self, request: GenerateConfigRequest) -> Answer<'_, GenerateConfigResponse> {
        let on_error = |diagnostics| GenerateConfigResponse { config: Value::DYNAMIC, diagnostics };
        self.call(|session| streams::generate_config(session, request), on_error)
    }

    fn state_store_schema(&self, type_name: &str) -> SchemaLookup {
        self.lookup(Kind::StateStore, type_name)
    }

    fn validate_state_store(&self, request: ValidateRequest) -> Answer<'_, ProviderDiagnostics> {
        self.call(|session| stores::validate(session, request), |problems| problems)
    }

    fn configure_state_store(&self, request: ConfigureStateStoreRequest) -> Answer<'_, ConfigureStateStoreResponse> {
        let chunk_size = request.chunk_size;
        let on_error = move |diagnostics| ConfigureStateStoreResponse { chunk_size, diagnostics };
        self.call(|session| stores::configure(session, request), on_error)
    }

    fn read_state(&self, request: StateRequest) -> Answer<'_, ReadStateResponse> {
        let on_error = |diagnostics| ReadStateResponse { bytes: Vec::new(), diagnostics };
        self.call(|session| stores::read(session, request), on_error)
    }

    fn write_state(&self, request: WriteStateRequest) -> Answer<'_, ProviderDiagnostics> {
        self.call(|session| stores::write(session, request), |problems| problems)
    }

    fn lock_state(&self, request: LockStateRequest) -> Answer<'_, LockStateResponse> {
        let on_error = |diagnostics| LockStateResponse { lock_id: String::new(), diagnostics };
        self.call(|session| stores::lock(session, request), on_error)
    }

    fn unlock_state(&self, request: UnlockStateRequest) -> Answer<'_, ProviderDiagnostics> {
        self.call(|session| stores::unlock(session, request), |problems| problems)
    }

    fn states(&self, type_name: Name) -> Answer<'_, StatesResponse> {
        let on_error = |diagnostics| StatesResponse { state_ids: Vec::new(), diagnostics };
        self.call(|session| stores::states(session, type_name), on_error)
    }

    fn delete_state(&self, request: StateRequest) -> Answer<'_, ProviderDiagnostics> {
        self.call(|session| stores::delete(session, request), |problems| problems)
    }

    fn has_ended(&self) -> bool {
        self.process.has_ended()
    }

    fn stop(&self) {
        // One stop request suffices; a second interrupt must not queue another call to a busy provider.
        if self.stopped.swap(true, Ordering::SeqCst) {
            return;
        }
        // A process that was not started has nothing to stop, and the request must not start it.
        let (Ok(runtime), Some(session)) = (self.process.host().handle(), self.process.session_if_started()) else {
            return;
        };
        runtime.spawn(async move {
            if let Ok(session) = session.await {
                // The response is irrelevant: calls in flight end with responses of their own.
                let _ = session.call(protocol::STOP, v6::stop_provider::Request {}).await;
            }
        });
    }
}
