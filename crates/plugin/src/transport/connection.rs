//! A connection to a plugin, and its end.

use std::sync::Arc;
use std::time::Duration;

use groma_diagnostics::io_reason;
use hyper_util::rt::TokioIo;
use tokio_rustls::TlsConnector;
use tonic::codegen::Service;
use tonic::codegen::http::Uri;
use tonic::transport::Channel;

use super::endpoint::{Endpoint, Stream};
use super::log::{LogLevel, LogSink};
use super::process::{LastWords, Process};
use super::tls;
use crate::Protocol;
use crate::proto::plugin::Empty;
use crate::proto::plugin::grpc_controller_client::GrpcControllerClient;
use crate::proto::plugin::grpc_stdio_client::GrpcStdioClient;
use crate::proto::plugin::stdio_data;
use crate::protocol::{CONNECTION_WINDOW, STREAM_WINDOW};

/// How long a plugin is given to end after it was asked to.
const GRACE: Duration = Duration::from_secs(2);

/// A connection to a plugin. Dropping it kills a process that was launched for it and is still there.
#[derive(Debug)]
pub struct Connection {
    channel: Channel,
    protocol: Protocol,
    process: Option<Process>,
    ending: Ending,
}

/// What the end of a connection means for the plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// It is ours: it is asked to end, and killed if it does not.
    Ours,
    /// It is somebody else's, and is asked to end.
    Asked,
    /// It is somebody else's, and goes on.
    GoesOn,
}

impl Connection {
    pub(super) fn new(channel: Channel, protocol: Protocol, process: Option<Process>, ending: Ending) -> Self {
        Self { channel, protocol, process, ending }
    }

    /// The channel for calls; cloning it is cheap. Message limits are set on the stubs.
    pub fn channel(&self) -> Channel {
        self.channel.clone()
    }

    /// The version of the protocol that the plugin chose.
    pub fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// Whether the process has ended. Of a process that somebody else started it is not known.
    pub fn has_ended(&self) -> bool {
        self.process.as_ref().is_some_and(Process::has_ended)
    }

    /// What the process said last, for the message about a failed call. Waits up to half a second for its end, since a
    /// broken connection is often seen before the end of the process.
    pub async fn last_words(&self) -> LastWords {
        match &self.process {
            Some(process) => process.last_words().await,
            None => LastWords::default(),
        }
    }

    /// Asks the plugin to end, and kills it two seconds later. A plugin that was attached to with `Test` goes on.
    pub async fn shutdown(&self) {
        if self.ending == Ending::GoesOn {
            return;
        }
        // Go's plugins end before they have answered, so the answer says nothing.
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
        let either = futures_util::future::select(Box::pin(asked), Box::pin(ended));
        if tokio::time::timeout(GRACE, either).await.is_err() {
            process.kill().await;
        }
    }
}

/// Opens a channel to `endpoint`, with TLS if there is a configuration for it.
pub(super) async fn open(endpoint: Endpoint, tls: Option<Arc<rustls::ClientConfig>>) -> Result<Channel, String> {
    tonic::transport::Endpoint::from_static("http://localhost")
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .connect_with_connector(Connector { endpoint, tls })
        .await
        .map_err(|problem| whole(&problem))
}

/// An error with its causes; tonic's own says "transport error" alone.
fn whole(error: &dyn std::error::Error) -> String {
    let mut texts = vec![error.to_string()];
    let mut next = error.source();
    while let Some(cause) = next {
        let text = cause.downcast_ref::<std::io::Error>().map_or_else(|| cause.to_string(), io_reason);
        if !texts.contains(&text) {
            texts.push(text);
        }
        next = cause.source();
    }
    texts.join(": ")
}

/// Makes the streams of a channel.
#[derive(Clone)]
struct Connector {
    endpoint: Endpoint,
    tls: Option<Arc<rustls::ClientConfig>>,
}

type Connecting = std::pin::Pin<Box<dyn Future<Output = std::io::Result<TokioIo<Stream>>> + Send>>;

impl Service<Uri> for Connector {
    type Response = TokioIo<Stream>;
    type Error = std::io::Error;
    type Future = Connecting;

    fn poll_ready(&mut self, _: &mut std::task::Context<'_>) -> std::task::Poll<Result<(), Self::Error>> {
        std::task::Poll::Ready(Ok(()))
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

/// Takes what the plugin wrote on its standard streams after the handshake into the log, for as long as it runs.
pub(super) fn follow_output(channel: Channel, name: String, log: Arc<dyn LogSink>) {
    // Some servers answer this call only with the first output, so it must not be waited for.
    tokio::spawn(async move {
        let Ok(response) = GrpcStdioClient::new(channel).stream_stdio(()).await else { return };
        let mut stream = response.into_inner();
        while let Ok(Some(piece)) = stream.message().await {
            let level = if piece.channel() == stdio_data::Channel::Stderr { LogLevel::Info } else { LogLevel::Debug };
            for line in String::from_utf8_lossy(&piece.data).lines() {
                log.log(level, &name, line);
            }
        }
    });
}
