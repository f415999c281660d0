//! One running process: calls to it, and what to say when one fails.

use std::sync::Arc;

use groma_address::ProviderAddress;
use groma_provider::{CallFate, Functions, ProviderDiagnostic, ProviderDiagnostics, Schema};
use groma_value::{Type, Value};
use prost::Message;
use prost::bytes::Bytes;
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::Channel;
use tonic::{Code, ConnectError, Request, Status};

use super::cache::{Kept, SchemaCache};
use super::giving_up::answered;
use super::schemas::{Kind, RawSchemas, Schemas};
use crate::MESSAGE_LIMIT;
use crate::methods::{self, Method};
use crate::proto::v6::{self, DynamicValue};
use crate::raw::{Raw, decoded, encoded};
use crate::transport::{Connection, LastWords};
use crate::wire::{self, WireError};

/// The call for the schemas, which stay bytes until they are asked for.
const SCHEMA: Method<v6::get_provider_schema::Request, RawSchemas> = methods::SCHEMA.answered_as();

/// A connection with the schemas of who is at its other end.
pub(super) struct Session {
    address: ProviderAddress,
    connection: Connection,
    schemas: Arc<Schemas>,
}

/// Whether more messages of a stream are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum More {
    Wanted,
    NotWanted,
}

impl Session {
    /// A session whose provider need not be asked what it declares.
    pub fn knowing(address: ProviderAddress, connection: Connection, schemas: Arc<Schemas>) -> Self {
        Self { address, connection, schemas }
    }

    /// Asks for the schemas, and keeps the answer in `cache` if there is one.
    pub async fn begin(
        address: ProviderAddress,
        connection: Connection,
        cache: Option<&SchemaCache>,
    ) -> Result<Self, ProviderDiagnostics> {
        let asked = exchange(&connection, SCHEMA, &v6::get_provider_schema::Request {});
        let identities = exchange(&connection, methods::IDENTITIES, &v6::get_resource_identity_schemas::Request {});
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
            // Providers of older minor versions do not know the call.
            Err(status) if status.code() == Code::Unimplemented => Default::default(),
            Err(status) => return Err(failure(&address, &connection, methods::IDENTITIES.name(), status).await),
        };
        if problems.has_errors() {
            return Err(problems);
        }
        let mut kept = Kept::new(connection.protocol(), raw, identities.into_iter().collect());
        if let Some(cache) = cache.filter(|_| problems.is_empty()) {
            cache.write(&mut kept);
        }
        let schemas = Arc::new(Schemas::new(connection.protocol(), kept.schemas, kept.identities)?);
        Ok(Self::knowing(address, connection, schemas))
    }

    /// What the provider declares.
    pub fn schemas(&self) -> &Arc<Schemas> {
        &self.schemas
    }

    /// The functions that it has with its configuration.
    pub async fn functions(&self) -> Result<Functions, ProviderDiagnostics> {
        let method = methods::FUNCTIONS;
        let response = match exchange(&self.connection, method, &v6::get_functions::Request {}).await {
            Ok(response) => response,
            // Providers of older minor versions do not know the call.
            Err(status) if status.code() == Code::Unimplemented => return Ok(Functions::new()),
            Err(status) => return Err(failure(&self.address, &self.connection, method.name(), status).await),
        };
        let problems = wire::diagnostics(response.diagnostics);
        if problems.has_errors() {
            return Err(problems);
        }
        // As with those of the schema, one that cannot be read is not there.
        let readable =
            |(name, message): (String, v6::Function)| Some((name.into(), Arc::new(wire::function(&message).ok()?)));
        Ok(response.functions.into_iter().filter_map(readable).collect())
    }

    /// Calls the provider.
    pub async fn call<Q, R>(&self, method: Method<Q, R>, request: Q) -> Result<R, ProviderDiagnostics>
    where
        Q: Message,
        R: Message + Default,
    {
        self.check_running().await?;
        match exchange(&self.connection, method, &request).await {
            Ok(response) => Ok(response),
            Err(status) => Err(failure(&self.address, &self.connection, method.name(), status).await),
        }
    }

    /// Whether the process has ended.
    pub fn has_ended(&self) -> bool {
        self.connection.has_ended()
    }

    /// Refuses a call to a process that has ended.
    async fn check_running(&self) -> Result<(), ProviderDiagnostics> {
        match self.has_ended() {
            true => Err(unsent(&self.address, &self.connection.last_words().await)),
            false => Ok(()),
        }
    }

    /// Calls the provider, which answers with many messages: each goes to `take` as it comes, until no more are wanted.
    pub async fn stream<Q, R>(
        &self,
        method: Method<Q, R>,
        request: Q,
        mut take: impl FnMut(R) -> More + Send,
    ) -> Result<(), ProviderDiagnostics>
    where
        Q: Message,
        R: Message + Default,
    {
        let path = method.path(self.connection.protocol());
        let mut take = |bytes| decoded(bytes).map(&mut take);
        self.check_running().await?;
        match answered(listen(&self.connection, path, encoded(&request), &mut take)).await {
            Ok(()) => Ok(()),
            Err(status) => Err(failure(&self.address, &self.connection, method.name(), status).await),
        }
    }

    /// Calls the provider with many messages, which it answers when it has them all.
    pub async fn upload<Q, R>(&self, method: Method<Q, R>, requests: Vec<Q>) -> Result<R, ProviderDiagnostics>
    where
        Q: Message,
        R: Message + Default,
    {
        let path = method.path(self.connection.protocol());
        let requests = requests.iter().map(encoded).collect();
        self.check_running().await?;
        match answered(send(&self.connection, path, requests)).await.and_then(decoded) {
            Ok(response) => Ok(response),
            Err(status) => Err(failure(&self.address, &self.connection, method.name(), status).await),
        }
    }

    /// The schema of a type that a request is about.
    pub fn schema(&self, kind: Kind, type_name: &str) -> Result<Arc<Schema>, ProviderDiagnostics> {
        self.schemas.expect(kind, type_name)
    }

    /// A value for a request.
    pub fn encode(&self, value: &Value, ty: &Type) -> Result<Option<DynamicValue>, ProviderDiagnostics> {
        wire::encode(value, ty).map(Some).map_err(|error| self.misunderstood("The request", &error))
    }

    /// The value of `provider_meta` for a request; nothing where the provider takes none.
    pub fn meta(&self, value: &Value) -> Result<Option<DynamicValue>, ProviderDiagnostics> {
        let Some(schema) = &self.schemas.declared().meta else { return Ok(None) };
        let ty = schema.block.implied_type();
        if value.is_null() { self.encode(&Value::null(ty.clone()), ty) } else { self.encode(value, ty) }
    }

    /// A value of a response.
    pub fn decode(&self, message: Option<&DynamicValue>, ty: &Type) -> Result<Value, ProviderDiagnostics> {
        wire::decode(message, ty).map_err(|error| self.misunderstood("The answer", &error))
    }

    /// What to say when a value does not fit its schema.
    pub fn misunderstood(&self, what: &str, error: &WireError) -> ProviderDiagnostics {
        let detail = format!(
            "{what} of the provider {} does not fit its schema: {error}. This is a mistake in the provider; please \
             report it to its authors.",
            self.address
        );
        ProviderDiagnostic::error("Provider produced invalid object", detail).into()
    }

    /// Ends the process.
    pub async fn shutdown(&self) {
        self.connection.shutdown().await;
    }
}

/// A call with its messages.
async fn exchange<Q, R>(connection: &Connection, method: Method<Q, R>, request: &Q) -> Result<R, Status>
where
    Q: Message,
    R: Message + Default,
{
    answered(ask(connection, method.path(connection.protocol()), encoded(request))).await.and_then(decoded)
}

/// One request and its response.
async fn ask(connection: &Connection, path: &'static str, request: Bytes) -> Result<Bytes, Status> {
    let mut client = ready(connection).await?;
    Ok(client.unary(Request::new(request), PathAndQuery::from_static(path), Raw).await?.into_inner())
}

/// One request; each of the responses goes to `take`.
async fn listen(
    connection: &Connection,
    path: &'static str,
    request: Bytes,
    take: &mut (dyn FnMut(Bytes) -> Result<More, Status> + Send),
) -> Result<(), Status> {
    let mut client = ready(connection).await?;
    let streaming = client.server_streaming(Request::new(request), PathAndQuery::from_static(path), Raw).await?;
    let mut messages = streaming.into_inner();
    while let Some(message) = messages.message().await? {
        if take(message)? == More::NotWanted {
            break;
        }
    }
    Ok(())
}

/// Many requests and one response.
async fn send(connection: &Connection, path: &'static str, requests: Vec<Bytes>) -> Result<Bytes, Status> {
    let mut client = ready(connection).await?;
    let requests = Request::new(futures_util::stream::iter(requests));
    Ok(client.client_streaming(requests, PathAndQuery::from_static(path), Raw).await?.into_inner())
}

/// A client that can take a call.
async fn ready(connection: &Connection) -> Result<Grpc<Channel>, Status> {
    let mut client = Grpc::new(connection.channel())
        .max_decoding_message_size(MESSAGE_LIMIT)
        .max_encoding_message_size(MESSAGE_LIMIT);
    client.ready().await.map_err(|error| Status::unavailable(error.to_string()))?;
    Ok(client)
}

/// What to say when a call did not come back: what happened to the process, and its last words.
async fn failure(
    address: &ProviderAddress,
    connection: &Connection,
    method: &str,
    status: Status,
) -> ProviderDiagnostics {
    if status.code() == Code::Unimplemented {
        let detail = format!(
            "The provider {address} does not support the call {method}. A newer version of the provider may; without \
             one, leave out what needs it."
        );
        return ProviderDiagnostic::error("Unsupported plugin method", detail).into();
    }
    if status.code() == Code::Cancelled {
        let detail = format!("The call {method} of the provider {address} was cancelled before it was answered.");
        return ProviderDiagnostic::error("Request cancelled", detail).unanswered(CallFate::Lost).into();
    }
    let words = connection.last_words().await;
    if is_unsent(&status) {
        return unsent(address, &words);
    }
    let (summary, mut detail) = match &words.exit {
        Some(exit) => (
            "Plugin did not respond",
            format!("The process of the provider {address} ended during the call {method}: {exit}."),
        ),
        None if status.code() == Code::Unavailable => (
            "Plugin did not respond",
            format!("The connection to the provider {address} broke during the call {method}: {}.", status.message()),
        ),
        None => ("Plugin error", format!("The provider {address} failed in the call {method}: {}.", status.message())),
    };
    if words.exit.is_some() || status.code() == Code::Unavailable {
        detail.push_str(PROVIDER_FAULT);
    }
    add_last_output(&mut detail, &words);
    ProviderDiagnostic::error(summary, detail).unanswered(CallFate::Lost).into()
}

const PROVIDER_FAULT: &str = " This is a mistake in the provider; please report it to its authors.";

/// Whether the request never left this program, as there was no connection to send it over.
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

/// Reports that a provider was gone before it could be asked. The text is the same for all such calls, which are many after a crash.
fn unsent(address: &ProviderAddress, words: &LastWords) -> ProviderDiagnostics {
    let how = words.exit.as_ref().map(|exit| format!(": {exit}")).unwrap_or_default();
    let mut detail = format!(
        "The process of the provider {address} has ended{how}. What it was still to be asked was not begun.{PROVIDER_FAULT}"
    );
    add_last_output(&mut detail, words);
    ProviderDiagnostic::error("Plugin did not respond", detail).unanswered(CallFate::Unsent).into()
}

fn add_last_output(detail: &mut String, words: &LastWords) {
    if !words.stderr.trim().is_empty() {
        detail.push_str("\n\nIts last output:\n");
        detail.push_str(words.stderr.trim_end());
    }
}
