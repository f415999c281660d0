//! A session with a plugin process: typed calls, and diagnostics for failed ones.

use std::sync::Arc;

use futures_util::future::{BoxFuture, Shared};
use groma_address::ProviderAddress;
use groma_provider::{CallFate, Functions, ProviderDiagnostic, ProviderDiagnostics, Schema};
use groma_value::{Type, Value};
use prost::Message;
use prost::bytes::Bytes;
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::Channel;
use tonic::{Code, ConnectError, Request, Status};

use super::cache::{CachedSchemas, SchemaCache};
use super::host::CallCancellation;
use super::schemas::{Kind, RawSchemas, Schemas};
use crate::MESSAGE_LIMIT;
use crate::proto::v6::{self, DynamicValue};
use crate::protocol::{self, Method};
use crate::raw::{Raw, decoded, encoded};
use crate::transport::{Connection, ExitInfo};
use crate::wire::{self, WireError};

/// The schema call, whose response stays partly undecoded.
const SCHEMA: Method<v6::get_provider_schema::Request, RawSchemas> = protocol::SCHEMA.with_response();

/// A connection to a plugin process together with the schemas of its provider.
///
/// It owns the connection and shares the schemas with [`Plugin`](super::Plugin). Its methods encode requests by the
/// schemas, send them, and decode the responses; they are called from tasks on the plugin runtime, any number of them
/// concurrently.
///
/// Every failed call becomes a diagnostic that includes the exit status and the last output of the process, and whether
/// the request was sent. A session never reconnects: after the process has ended, all calls fail with
/// `CallFate::Unsent`.
pub(super) struct Session {
    address: ProviderAddress,
    connection: Connection,
    cancellation: CallCancellation,
    schemas: Arc<Schemas>,
}

/// A session, or the reason why it could not be opened.
pub(super) type Started = Result<Arc<Session>, ProviderDiagnostics>;

/// A session that is being opened, shared between all waiting calls.
pub(super) type Starting = Shared<BoxFuture<'static, Started>>;

/// The receiver's decision whether a response stream continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StreamControl {
    Continue,
    Stop,
}

impl Session {
    /// Creates a session with known schemas, without a call.
    pub fn with_schemas(
        address: ProviderAddress,
        connection: Connection,
        cancellation: CallCancellation,
        schemas: Arc<Schemas>,
    ) -> Self {
        Self { address, connection, cancellation, schemas }
    }

    /// Requests the schemas, and writes them to `cache` if there is one.
    pub async fn open(
        address: ProviderAddress,
        connection: Connection,
        cancellation: CallCancellation,
        cache: Option<&SchemaCache>,
    ) -> Result<Self, ProviderDiagnostics> {
        let calls = Calls { connection: &connection, cancellation: &cancellation };
        let asked = calls.unary(SCHEMA, &v6::get_provider_schema::Request {});
        let identities = calls.unary(protocol::IDENTITIES, &v6::get_resource_identity_schemas::Request {});
        // Both requests are in flight together, because large providers take seconds to answer the first.
        let (asked, identities) = tokio::join!(asked, identities);
        let mut raw = match asked {
            Ok(raw) => raw,
            Err(status) => return Err(failure(&address, &connection, SCHEMA.name(), status).await),
        };
        let mut problems = wire::diagnostics(std::mem::take(&mut raw.diagnostics));
        let identities = match identities {
            Ok(response) => {
                problems.extend(wire::diagnostics(response.diagnostics));
                response.identity_schemas
            }
            // Providers built for older minor versions of the protocol do not implement the call.
            Err(status) if status.code() == Code::Unimplemented => Default::default(),
            Err(status) => return Err(failure(&address, &connection, protocol::IDENTITIES.name(), status).await),
        };
        if problems.has_errors() {
            return Err(problems);
        }
        let mut kept = CachedSchemas::new(connection.protocol(), raw, identities.into_iter().collect());
        // Warnings are not cached, so a response with warnings is requested again by the next run.
        if let Some(cache) = cache.filter(|_| problems.is_empty()) {
            cache.write(&mut kept);
        }
        let schemas = Arc::new(Schemas::new(connection.protocol(), kept.schemas, kept.identities)?);
        Ok(Self::with_schemas(address, connection, cancellation, schemas))
    }

    /// Returns the declarations of the provider.
    pub fn schemas(&self) -> &Arc<Schemas> {
        &self.schemas
    }

    /// Requests the functions of the configured provider.
    pub async fn functions(&self) -> Result<Functions, ProviderDiagnostics> {
        let method = protocol::FUNCTIONS;
        let response = match self.calls().unary(method, &v6::get_functions::Request {}).await {
            Ok(response) => response,
            // Providers built for older minor versions of the protocol do not implement the call.
            Err(status) if status.code() == Code::Unimplemented => return Ok(Functions::new()),
            Err(status) => return Err(failure(&self.address, &self.connection, method.name(), status).await),
        };
        let problems = wire::diagnostics(response.diagnostics);
        if problems.has_errors() {
            return Err(problems);
        }
        // Functions that cannot be decoded are skipped, as are those of the schema.
        let readable =
            |(name, message): (String, v6::Function)| Some((name.into(), Arc::new(wire::function(&message).ok()?)));
        Ok(response.functions.into_iter().filter_map(readable).collect())
    }

    /// Makes a unary call.
    pub async fn call<Q, R>(&self, method: Method<Q, R>, request: Q) -> Result<R, ProviderDiagnostics>
    where
        Q: Message,
        R: Message + Default,
    {
        self.check_running().await?;
        match self.calls().unary(method, &request).await {
            Ok(response) => Ok(response),
            Err(status) => Err(failure(&self.address, &self.connection, method.name(), status).await),
        }
    }

    fn calls(&self) -> Calls<'_> {
        Calls { connection: &self.connection, cancellation: &self.cancellation }
    }

    /// Whether the process has ended.
    pub fn has_ended(&self) -> bool {
        self.connection.has_ended()
    }

    /// Fails if the process has ended, before anything is sent.
    async fn check_running(&self) -> Result<(), ProviderDiagnostics> {
        match self.has_ended() {
            // Known before sending, so the caller learns for certain that the call had no effect.
            true => Err(unsent(&self.address, &self.connection.exit_info().await)),
            false => Ok(()),
        }
    }

    /// Makes a call with a response stream: each message goes to `take`, which decides whether to continue.
    pub async fn stream<Q, R>(
        &self,
        method: Method<Q, R>,
        request: Q,
        mut take: impl FnMut(R) -> StreamControl + Send,
    ) -> Result<(), ProviderDiagnostics>
    where
        Q: Message,
        R: Message + Default,
    {
        let path = method.path(self.connection.protocol());
        let mut take = |bytes| decoded(bytes).map(&mut take);
        self.check_running().await?;
        // The messages stay encoded up to `take`, so that `listen` is compiled once for all methods.
        let listening = listen(&self.connection, path, encoded(&request), &mut take);
        match self.cancellation.unless_cancelled(listening).await {
            Ok(()) => Ok(()),
            Err(status) => Err(failure(&self.address, &self.connection, method.name(), status).await),
        }
    }

    /// Makes a call with a request stream and a single response.
    pub async fn upload<Q, R>(&self, method: Method<Q, R>, requests: Vec<Q>) -> Result<R, ProviderDiagnostics>
    where
        Q: Message,
        R: Message + Default,
    {
        let path = method.path(self.connection.protocol());
        let requests = requests.iter().map(encoded).collect();
        self.check_running().await?;
        let sending = send(&self.connection, path, requests);
        match self.cancellation.unless_cancelled(sending).await.and_then(decoded) {
            Ok(response) => Ok(response),
            Err(status) => Err(failure(&self.address, &self.connection, method.name(), status).await),
        }
    }

    /// Returns the schema of a type that a request names; a missing type is an error.
    pub fn schema(&self, kind: Kind, type_name: &str) -> Result<Arc<Schema>, ProviderDiagnostics> {
        self.schemas.expect(kind, type_name)
    }

    /// Encodes a value for a request.
    pub fn encode(&self, value: &Value, ty: &Type) -> Result<Option<DynamicValue>, ProviderDiagnostics> {
        wire::encode(value, ty).map(Some).map_err(|error| self.invalid_value("The request", &error))
    }

    /// Encodes the value of `provider_meta` for a request; `None` if the provider accepts none.
    pub fn meta(&self, value: &Value) -> Result<Option<DynamicValue>, ProviderDiagnostics> {
        let Some(schema) = &self.schemas.declared().meta else { return Ok(None) };
        let ty = schema.block.implied_type();
        // A null of unknown type must get the schema's type before it is encoded.
        if value.is_null() { self.encode(&Value::null(ty.clone()), ty) } else { self.encode(value, ty) }
    }

    /// Decodes a value of a response.
    pub fn decode(&self, message: Option<&DynamicValue>, ty: &Type) -> Result<Value, ProviderDiagnostics> {
        wire::decode(message, ty).map_err(|error| self.invalid_value("The response", &error))
    }

    /// Creates the error for a value that does not conform to its schema.
    pub fn invalid_value(&self, what: &str, error: &WireError) -> ProviderDiagnostics {
        let detail = format!(
            "{what} of the provider {} does not match its schema: {error}. This is a bug in the provider. Please report it \
             in the provider's issue tracker.",
            self.address
        );
        ProviderDiagnostic::error("Provider produced invalid object", detail).into()
    }

    /// Shuts the process down.
    pub async fn shutdown(&self) {
        self.connection.shutdown().await;
    }
}

/// A connection whose calls can be cancelled.
struct Calls<'a> {
    connection: &'a Connection,
    cancellation: &'a CallCancellation,
}

impl Calls<'_> {
    /// Makes a unary call with typed messages.
    async fn unary<Q, R>(&self, method: Method<Q, R>, request: &Q) -> Result<R, Status>
    where
        Q: Message,
        R: Message + Default,
    {
        let call = ask(self.connection, method.path(self.connection.protocol()), encoded(request));
        self.cancellation.unless_cancelled(call).await.and_then(decoded)
    }
}

/// Makes a unary call with encoded messages.
async fn ask(connection: &Connection, path: &'static str, request: Bytes) -> Result<Bytes, Status> {
    let mut client = ready(connection).await?;
    Ok(client.unary(Request::new(request), PathAndQuery::from_static(path), Raw).await?.into_inner())
}

/// Makes a call with a response stream, whose encoded messages go to `take`.
async fn listen(
    connection: &Connection,
    path: &'static str,
    request: Bytes,
    take: &mut (dyn FnMut(Bytes) -> Result<StreamControl, Status> + Send),
) -> Result<(), Status> {
    let mut client = ready(connection).await?;
    let streaming = client.server_streaming(Request::new(request), PathAndQuery::from_static(path), Raw).await?;
    let mut messages = streaming.into_inner();
    while let Some(message) = messages.message().await? {
        // Dropping the stream resets it, which tells the provider to stop sending.
        if take(message)? == StreamControl::Stop {
            break;
        }
    }
    Ok(())
}

/// Makes a call with a request stream of encoded messages.
async fn send(connection: &Connection, path: &'static str, requests: Vec<Bytes>) -> Result<Bytes, Status> {
    let mut client = ready(connection).await?;
    let requests = Request::new(futures_util::stream::iter(requests));
    Ok(client.client_streaming(requests, PathAndQuery::from_static(path), Raw).await?.into_inner())
}

/// Waits until the channel accepts a call.
async fn ready(connection: &Connection) -> Result<Grpc<Channel>, Status> {
    // The limits are per client object in tonic; the channel itself has none.
    let mut client = Grpc::new(connection.channel())
        .max_decoding_message_size(MESSAGE_LIMIT)
        .max_encoding_message_size(MESSAGE_LIMIT);
    client.ready().await.map_err(|error| Status::unavailable(error.to_string()))?;
    Ok(client)
}

/// Creates the diagnostic for a failed call, with the exit status and the last output of the process.
async fn failure(
    address: &ProviderAddress,
    connection: &Connection,
    method: &str,
    status: Status,
) -> ProviderDiagnostics {
    if status.code() == Code::Unimplemented {
        let detail = format!(
            "The provider {address} does not support the call {method}. Upgrade the provider, or remove the configuration \
             that requires the call."
        );
        return ProviderDiagnostic::error("Unsupported plugin method", detail).into();
    }
    // The provider may carry out a cancelled call nonetheless, so its effect is unknown.
    if status.code() == Code::Cancelled {
        let detail = format!("The call {method} of the provider {address} was cancelled before it was answered.");
        return ProviderDiagnostic::error("Request cancelled", detail).unanswered(CallFate::NoResponse).into();
    }
    // Wait for the exit first: a crash closes the connection before the process has ended.
    let exit_info = connection.exit_info().await;
    // The connection was lost between two calls, so this request had no effect.
    if is_unsent(&status) {
        return unsent(address, &exit_info);
    }
    let (summary, mut detail) = match &exit_info.exit {
        Some(exit) => (
            "Plugin did not respond",
            format!("The process of the provider {address} ended during the call {method}: {exit}."),
        ),
        // The process is alive, or its exit is not known yet: only the connection is gone.
        None if status.code() == Code::Unavailable => (
            "Plugin did not respond",
            format!("The connection to the provider {address} broke during the call {method}: {}.", status.message()),
        ),
        None => ("Plugin error", format!("The provider {address} failed in the call {method}: {}.", status.message())),
    };
    // A provider that returns a gRPC error may have good reason to; one that dies or hangs up has none.
    if exit_info.exit.is_some() || status.code() == Code::Unavailable {
        detail.push_str(PROVIDER_FAULT);
    }
    add_last_output(&mut detail, &exit_info);
    ProviderDiagnostic::error(summary, detail).unanswered(CallFate::NoResponse).into()
}

const PROVIDER_FAULT: &str = " This is a bug in the provider. Please report it in the provider's issue tracker.";

/// Whether the request was never sent, because there was no connection.
fn is_unsent(status: &Status) -> bool {
    let mut cause = std::error::Error::source(status);
    while let Some(error) = cause {
        if error.is::<ConnectError>() {
            return true;
        }
        cause = error.source();
    }
    false
}

/// Creates the diagnostic for a call to an ended process. Identical for all such calls, so that a crash is reported
/// once.
fn unsent(address: &ProviderAddress, exit_info: &ExitInfo) -> ProviderDiagnostics {
    let how = exit_info.exit.as_ref().map(|exit| format!(": {exit}")).unwrap_or_default();
    let mut detail = format!(
        "The process of the provider {address} has ended{how}. Its remaining operations were not started.{PROVIDER_FAULT}"
    );
    add_last_output(&mut detail, exit_info);
    ProviderDiagnostic::error("Plugin did not respond", detail).unanswered(CallFate::Unsent).into()
}

fn add_last_output(detail: &mut String, exit_info: &ExitInfo) {
    if !exit_info.stderr.trim().is_empty() {
        detail.push_str("\n\nIts last output:\n");
        detail.push_str(exit_info.stderr.trim_end());
    }
}
