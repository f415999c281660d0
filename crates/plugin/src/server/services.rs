//! The gRPC services of both versions on one adapter. A single dispatch table serves both, since the versions differ
//! only in method names and schemas.

use std::any::Any;
use std::convert::Infallible;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::{FutureExt, StreamExt};
use groma_provider::ProviderDiagnostics;
use prost::Message;
use prost::bytes::Bytes;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tonic::body::Body;
use tonic::codegen::{BoxFuture, BoxStream, http};
use tonic::server::{ClientStreamingService, Grpc, NamedService, ServerStreamingService, UnaryService};
use tonic::{Request, Response, Status, Streaming};

use super::adapter::{Adapter, StepResult};
use crate::proto::v6;
use crate::protocol::name_of;
use crate::raw::{Raw, decoded, encoded};
use crate::{MESSAGE_LIMIT, Protocol, wire};

/// A response that can consist of diagnostics alone.
trait FromDiagnostics {
    fn of(problems: &ProviderDiagnostics) -> Self;
}

macro_rules! from_diagnostics {
    ($($module:ident),* $(,)?) => {
        $(#[allow(clippy::needless_update, reason = "some of these responses have nothing but problems")]
        impl FromDiagnostics for v6::$module::Response {
            fn of(problems: &ProviderDiagnostics) -> Self {
                Self { diagnostics: wire::diagnostics_message(problems), ..Self::default() }
            }
        })*
    };
}

from_diagnostics!(
    apply_resource_change,
    close_ephemeral_resource,
    configure_provider,
    generate_resource_config,
    import_resource_state,
    move_resource_state,
    open_ephemeral_resource,
    plan_action,
    plan_resource_change,
    read_data_source,
    read_resource,
    delete_state,
    unlock_state,
    upgrade_resource_identity,
    upgrade_resource_state,
    validate_action_config,
    validate_data_resource_config,
    validate_ephemeral_resource_config,
    validate_list_resource_config,
    validate_provider_config,
    validate_resource_config,
    validate_state_store_config,
    configure_state_store,
    write_state_bytes,
);

fn or_diagnostics<R: FromDiagnostics>(step: StepResult<R>) -> R {
    step.unwrap_or_else(|problems| R::of(&problems))
}

fn only_diagnostics<R: FromDiagnostics>(step: StepResult<ProviderDiagnostics>) -> R {
    R::of(&step.unwrap_or_else(|problems| problems))
}

/// Creates the status for a panic in the provider's code.
pub(super) fn panicked(panic: &(dyn Any + Send)) -> Status {
    Status::internal(format!("the provider's code panicked: {}", panic_text(panic)))
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a message")
}

/// The provider service of one protocol version as a tonic service.
#[derive(Clone)]
pub(super) struct Service<const VERSION: u32>(pub Arc<Adapter>);

impl NamedService for Service<5> {
    const NAME: &'static str = "tfplugin5.Provider";
}

impl NamedService for Service<6> {
    const NAME: &'static str = "tfplugin6.Provider";
}

impl<const VERSION: u32> tonic::codegen::Service<http::Request<Body>> for Service<VERSION> {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<Self::Response, Self::Error>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        // tonic routes by the constant `NAME` of the type, hence the version as a type parameter.
        let protocol = if VERSION == 5 { Protocol::V5 } else { Protocol::V6 };
        let method = name_of(request.uri().path(), protocol).to_owned();
        let call = Call { adapter: Arc::clone(&self.0), protocol, method };
        Box::pin(async move { Ok(call.answered(request).await) })
    }
}

/// A call by the host.
struct Call {
    adapter: Arc<Adapter>,
    protocol: Protocol,
    /// The method name in version 6.
    method: String,
}

impl Call {
    async fn answered(self, request: http::Request<Body>) -> http::Response<Body> {
        let mut grpc = Grpc::new(Raw).apply_max_message_size_config(Some(MESSAGE_LIMIT), Some(MESSAGE_LIMIT));
        match &*self.method {
            // gRPC itself does not tell the kinds of methods apart, so the names must.
            "ListResource" | "InvokeAction" | "ReadStateBytes" => grpc.server_streaming(self, request).await,
            "WriteStateBytes" => grpc.client_streaming(self, request).await,
            _ => grpc.unary(self, request).await,
        }
    }

    /// Fails with `Unimplemented` in version 5.
    fn only_version_6(&self) -> Result<(), Status> {
        match self.protocol {
            Protocol::V5 => Err(self.unknown()),
            Protocol::V6 => Ok(()),
        }
    }

    fn unknown(&self) -> Status {
        Status::unimplemented(format!("unknown method {}", self.method))
    }
}

/// Awaits the response and turns a panic of the provider's code into an error, so that other calls are not affected.
async fn catch_panic<R>(answer: impl Future<Output = Result<R, Status>> + Send) -> Result<Response<R>, Status> {
    // The provider is shared between calls. A panic may leave it inconsistent, but ending the process would lose more.
    match AssertUnwindSafe(answer).catch_unwind().await {
        Ok(answer) => answer.map(Response::new),
        Err(panic) => Err(panicked(&*panic)),
    }
}

/// Creates the status for calls interrupted by the shutdown.
fn ending() -> Status {
    Status::unavailable("the plugin is shutting down")
}

impl UnaryService<Bytes> for Call {
    type Response = Bytes;
    type Future = BoxFuture<Response<Bytes>, Status>;

    fn call(&mut self, request: Request<Bytes>) -> Self::Future {
        let call = Self { adapter: Arc::clone(&self.adapter), protocol: self.protocol, method: self.method.clone() };
        let answered = async move { catch_panic(call.answer(request.into_inner())).await };
        match &*self.method {
            // These calls run no lengthy provider code, and a stop request must not queue behind other calls.
            "GetMetadata" | "GetProviderSchema" | "StopProvider" => Box::pin(answered),
            _ => Box::pin(on_own_thread(answered).map(|ended| ended.unwrap_or_else(|_| Err(ending())))),
        }
    }
}

impl ServerStreamingService<Bytes> for Call {
    type Response = Bytes;
    type ResponseStream = BoxStream<Bytes>;
    type Future = BoxFuture<Response<BoxStream<Bytes>>, Status>;

    fn call(&mut self, request: Request<Bytes>) -> Self::Future {
        let streamed = self.streamed(request.into_inner()).map(Response::new);
        Box::pin(std::future::ready(streamed))
    }
}

impl ClientStreamingService<Bytes> for Call {
    type Response = Bytes;
    type Future = BoxFuture<Response<Bytes>, Status>;

    fn call(&mut self, request: Request<Streaming<Bytes>>) -> Self::Future {
        let (adapter, known) = (Arc::clone(&self.adapter), self.only_version_6());
        Box::pin(catch_panic(async move {
            // First, so that version 5 does not read the stream of a method that it does not have.
            known?;
            let chunks = request.into_inner().map(|bytes| bytes.and_then(decoded));
            let written = adapter.write_state(chunks).await?;
            Ok(encoded(&only_diagnostics::<v6::write_state_bytes::Response>(written)))
        }))
    }
}

impl Call {
    /// Responds with a stream of messages.
    fn streamed(&self, message: Bytes) -> Result<BoxStream<Bytes>, Status> {
        Ok(match &*self.method {
            "ListResource" => encoded_stream(self.adapter.list_resource(decoded(message)?)),
            "InvokeAction" => encoded_stream(self.adapter.invoke_action(decoded(message)?)),
            _ => {
                self.only_version_6()?;
                encoded_stream(self.adapter.read_state(decoded(message)?))
            }
        })
    }
}

fn encoded_stream<M: Message + 'static>(messages: BoxStream<M>) -> BoxStream<Bytes> {
    Box::pin(messages.map(|message| message.map(|message| encoded(&message))))
}

/// Defines the dispatch table: `"Name": module = |adapter, message| response;`, where `module` contains the messages.
macro_rules! answers {
    ($($(@$version:ident)? $name:literal: $module:ident = |$adapter:ident, $message:ident| $answer:expr;)*) => {
        impl Call {
            /// Responds to a unary call.
            async fn answer(&self, bytes: Bytes) -> Result<Bytes, Status> {
                match &*self.method {
                    "GetProviderSchema" => Ok(match self.protocol {
                        Protocol::V5 => encoded(&self.adapter.get_schema_v5()),
                        Protocol::V6 => encoded(&self.adapter.get_schema_v6()),
                    }),
                    $($name => {
                        $(self.$version()?;)?
                        let ($adapter, $message) = (&*self.adapter, decoded::<v6::$module::Request>(bytes)?);
                        let response: v6::$module::Response = $answer;
                        Ok(encoded(&response))
                    })*
                    _ => Err(self.unknown()),
                }
            }
        }
    };
}

answers! {
    "GetMetadata": get_metadata = |adapter, _message| adapter.get_metadata();
    "GetResourceIdentitySchemas": get_resource_identity_schemas = |adapter, _message| adapter.get_identity_schemas();
    "GetFunctions": get_functions = |adapter, _message| adapter.get_functions().await;
    "ValidateProviderConfig": validate_provider_config = |adapter, message| only_diagnostics(adapter.validate_provider(message).await);
    "ConfigureProvider": configure_provider = |adapter, message| only_diagnostics(adapter.configure(message).await);
    "ValidateResourceConfig": validate_resource_config = |adapter, message| only_diagnostics(adapter.validate_resource(message).await);
    "ValidateDataResourceConfig": validate_data_resource_config = |adapter, message| only_diagnostics(adapter.validate_data(message).await);
    "UpgradeResourceState": upgrade_resource_state = |adapter, message| or_diagnostics(adapter.upgrade_state(message).await);
    "UpgradeResourceIdentity": upgrade_resource_identity = |adapter, message| or_diagnostics(adapter.upgrade_identity(message).await);
    "ReadResource": read_resource = |adapter, message| or_diagnostics(adapter.read(message).await);
    "PlanResourceChange": plan_resource_change = |adapter, message| or_diagnostics(adapter.plan(message).await);
    "ApplyResourceChange": apply_resource_change = |adapter, message| or_diagnostics(adapter.apply(message).await);
    "ImportResourceState": import_resource_state = |adapter, message| or_diagnostics(adapter.import(message).await);
    "MoveResourceState": move_resource_state = |adapter, message| or_diagnostics(adapter.move_state(message).await);
    "ReadDataSource": read_data_source = |adapter, message| or_diagnostics(adapter.read_data(message).await);
    "ValidateEphemeralResourceConfig": validate_ephemeral_resource_config = |adapter, message| only_diagnostics(adapter.validate_ephemeral(message).await);
    "OpenEphemeralResource": open_ephemeral_resource = |adapter, message| or_diagnostics(adapter.open(message).await);
    "RenewEphemeralResource": renew_ephemeral_resource = |adapter, message| adapter.renew(message).await;
    "CloseEphemeralResource": close_ephemeral_resource = |adapter, message| only_diagnostics(Ok(adapter.close(message).await));
    "GenerateResourceConfig": generate_resource_config = |adapter, message| or_diagnostics(adapter.generate_config(message).await);
    "ValidateListResourceConfig": validate_list_resource_config = |adapter, message| only_diagnostics(adapter.validate_list(message).await);
    "ValidateActionConfig": validate_action_config = |adapter, message| only_diagnostics(adapter.validate_action(message).await);
    "PlanAction": plan_action = |adapter, message| or_diagnostics(adapter.plan_action(message).await);
    "CallFunction": call_function = |adapter, message| adapter.call(message).await;
    "StopProvider": stop_provider = |adapter, _message| { adapter.provider().stop(); v6::stop_provider::Response::default() };
    @only_version_6 "ValidateStateStoreConfig": validate_state_store_config = |adapter, message| only_diagnostics(adapter.validate_store(message).await);
    @only_version_6 "ConfigureStateStore": configure_state_store = |adapter, message| or_diagnostics(adapter.configure_store(message).await);
    @only_version_6 "LockState": lock_state = |adapter, message| adapter.lock_state(message).await;
    @only_version_6 "UnlockState": unlock_state = |adapter, message| only_diagnostics(Ok(adapter.unlock_state(message).await));
    @only_version_6 "GetStates": get_states = |adapter, message| adapter.states(message).await;
    @only_version_6 "DeleteState": delete_state = |adapter, message| only_diagnostics(Ok(adapter.delete_state(message).await));
}

/// Runs `work` on a thread of its own, where it may block: blocking code on the runtime's worker threads could delay
/// the host's request to stop.
pub(super) fn on_own_thread<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
    let runtime = Handle::current();
    tokio::task::spawn_blocking(move || runtime.block_on(work))
}
