//! Connections to plugins: their endpoints, and the gRPC channel over them.

use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use std::{fmt, io};

use groma_diagnostics::io_reason;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::TlsConnector;
use tonic::codegen::Service;
use tonic::codegen::http::Uri;
use tonic::transport::Channel;

use super::log::{LogLevel, LogSink};
use super::process::{ExitInfo, Process};
use super::tls;
use crate::Protocol;
use crate::proto::plugin::grpc_controller_client::GrpcControllerClient;
use crate::proto::plugin::grpc_stdio_client::GrpcStdioClient;
use crate::proto::plugin::{Empty, stdio_data};
use crate::protocol::{CONNECTION_WINDOW, STREAM_WINDOW};

/// The grace period between the shutdown request and the kill.
const GRACE: Duration = Duration::from_secs(2);

/// A connection to a plugin. Dropping it kills the process if the connection launched it.
#[derive(Debug)]
pub struct Connection {
    channel: Channel,
    protocol: Protocol,
    process: Option<Process>,
    fate: Fate,
}

/// The fate of the plugin process at the end of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// Launched by this program: asked to shut down, then killed.
    Owned,
    /// Attached to: asked to shut down.
    AskedToEnd,
    /// Attached to in test mode: keeps running.
    Survives,
}

impl Connection {
    pub(super) fn new(channel: Channel, protocol: Protocol, process: Option<Process>, fate: Fate) -> Self {
        Self { channel, protocol, process, fate }
    }

    /// Returns the channel for calls. Clones are cheap; message limits are set on the stubs.
    pub fn channel(&self) -> Channel {
        self.channel.clone()
    }

    /// Returns the protocol version that the plugin selected.
    pub fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// Whether the process has ended; always false for a process that was attached to.
    pub fn has_ended(&self) -> bool {
        self.process.as_ref().is_some_and(Process::has_ended)
    }

    /// Returns exit status and last output of the process for error messages. Waits up to half a second for the exit,
    /// since a broken connection is often noticed before the process has ended.
    pub async fn exit_info(&self) -> ExitInfo {
        match &self.process {
            Some(process) => process.exit_info().await,
            None => ExitInfo::default(),
        }
    }

    /// Asks the plugin to shut down, and kills it after two seconds. A plugin attached to with `Test` keeps running.
    pub async fn shutdown(&self) {
        if self.fate == Fate::Survives {
            return;
        }
        // Go plugins often exit before their response is sent, so its failure means nothing.
        let mut controller = GrpcControllerClient::new(self.channel());
        let Some(process) = &self.process else {
            let _ = tokio::time::timeout(GRACE, controller.shutdown(Empty {})).await;
            return;
        };
        let asked = async {
            let _ = controller.shutdown(Empty {}).await;
            process.ended().await;
        };
        let ended = process.ended();
        // A process may exit without answering the shutdown call, or may have exited before.
        let either = futures_util::future::select(Box::pin(asked), Box::pin(ended));
        if tokio::time::timeout(GRACE, either).await.is_err() {
            process.kill().await;
        }
    }
}

/// Opens a channel to `endpoint`, with TLS if configured.
pub(super) async fn open(endpoint: Endpoint, tls: Option<Arc<rustls::ClientConfig>>) -> Result<Channel, OpenError> {
    // The URI is required by tonic but unused: the connector opens the socket.
    tonic::transport::Endpoint::from_static("http://localhost")
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .connect_with_connector(Connector { endpoint, tls })
        .await
        .map_err(OpenError::Transport)
}

/// The reason why a channel cannot be opened.
#[derive(Debug, thiserror::Error)]
pub(super) enum OpenError {
    #[error("it does not accept connections")]
    TooLate,
    #[error("{}", with_causes(.0))]
    Transport(#[from] tonic::transport::Error),
}

/// Joins an error and its causes; tonic's own message is only "transport error".
fn with_causes(error: &dyn std::error::Error) -> String {
    let mut texts = vec![error.to_string()];
    let mut next = error.source();
    while let Some(cause) = next {
        let text = cause.downcast_ref::<io::Error>().map_or_else(|| cause.to_string(), io_reason);
        // Each layer repeats the message of the one below.
        if !texts.contains(&text) {
            texts.push(text);
        }
        next = cause.source();
    }
    texts.join(": ")
}

/// Connects the streams of a channel.
#[derive(Clone)]
struct Connector {
    endpoint: Endpoint,
    tls: Option<Arc<rustls::ClientConfig>>,
}

type Connecting = Pin<Box<dyn Future<Output = io::Result<TokioIo<Stream>>> + Send>>;

impl Service<Uri> for Connector {
    type Response = TokioIo<Stream>;
    type Error = io::Error;
    type Future = Connecting;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Uri) -> Connecting {
        let Self { endpoint, tls } = self.clone();
        Box::pin(async move {
            let stream = Stream::connect(&endpoint).await?;
            let stream = match tls {
                None => stream,
                Some(config) => Stream::new(TlsConnector::from(config).connect(tls::server_name(), stream).await?),
            };
            Ok(TokioIo::new(stream))
        })
    }
}

/// Forwards the output that the plugin sends by gRPC after the handshake to the log.
pub(super) fn follow_output(channel: Channel, name: String, log: Arc<dyn LogSink>) {
    // Some servers do not respond until the first output, so nothing waits for this call.
    tokio::spawn(async move {
        let Ok(response) = GrpcStdioClient::new(channel).stream_stdio(()).await else { return };
        let mut stream = response.into_inner();
        while let Ok(Some(piece)) = stream.message().await {
            // Output without a level of its own; the plugin's log lines arrive on the real standard error.
            let level = if piece.channel() == stdio_data::Channel::Stderr { LogLevel::Info } else { LogLevel::Debug };
            for line in String::from_utf8_lossy(&piece.data).lines() {
                log.log(level, &name, line);
            }
        }
    });
}

/// The address of a local socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// A Unix domain socket.
    Unix(PathBuf),
    /// A TCP address as `host:port`.
    Tcp(String),
}

/// Formats as in a handshake line: network, bar, address.
impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix(path) => write!(f, "unix|{}", path.display()),
            Self::Tcp(address) => write!(f, "tcp|{address}"),
        }
    }
}

/// A bidirectional byte stream.
pub(crate) trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Duplex for T {}

/// A stream over either network, with or without TLS.
pub(crate) struct Stream(Box<dyn Duplex>);

impl Stream {
    /// Wraps a stream of any type.
    pub fn new(inner: impl Duplex + 'static) -> Self {
        Self(Box::new(inner))
    }

    /// Connects to the socket at `address`.
    pub async fn connect(address: &Endpoint) -> io::Result<Self> {
        match address {
            Endpoint::Unix(path) => Ok(Self::new(UnixStream::connect(path).await?)),
            Endpoint::Tcp(address) => {
                let stream = TcpStream::connect(address.as_str()).await?;
                // Small messages would otherwise wait for acknowledgments (Nagle's algorithm).
                stream.set_nodelay(true)?;
                Ok(Self::new(stream))
            }
        }
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl AsyncWrite for Stream {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write_vectored(context, buffers)
    }

    fn is_write_vectored(&self) -> bool {
        self.0.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}

impl tonic::transport::server::Connected for Stream {
    type ConnectInfo = ();

    fn connect_info(&self) -> Self::ConnectInfo {}
}
