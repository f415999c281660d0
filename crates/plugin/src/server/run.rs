//! The lifecycle of a plugin process: handshake, serving, shutdown.

use std::io::{self, Write};
use std::panic;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use groma_provider::Provider;
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinHandle;

use super::adapter::Adapter;
use super::listener::Listener;
use super::process::Shutdown;
use super::services::Service;
use crate::Protocol;
use crate::proto::health::health_server::HealthServer;
use crate::proto::plugin::grpc_broker_server::GrpcBrokerServer;
use crate::proto::plugin::grpc_controller_server::GrpcControllerServer;
use crate::proto::plugin::grpc_stdio_server::GrpcStdioServer;
use crate::protocol::{CONNECTION_WINDOW, STREAM_WINDOW};
use crate::transport::Endpoint;
use crate::transport::handshake::{self, Handshake, Multiplex};
use crate::transport::tls::{Identity, TlsError, certificate_of_pem};

/// The grace period for calls in flight after the host requests the shutdown.
const GRACE: Duration = Duration::from_secs(1);
/// The interval of checks whether the host process still exists.
const HOST_CHECK: Duration = Duration::from_secs(1);
/// The minimum number of runtime threads, for I/O in addition to the provider's own code.
const MIN_THREADS: usize = 2;

/// The reason why a plugin could not serve.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The socket or another operating system resource is unavailable.
    #[error("cannot listen for the plugin host: {0}")]
    Io(#[from] io::Error),
    /// The operating system does not allow the threads that are needed.
    #[error(
        "cannot start threads; the limit on processes and threads may be reached: raise it (ulimit -u), or end other programs"
    )]
    Threads,
    /// The TLS setup failed.
    #[error("cannot set up TLS with the plugin host: {0}")]
    Tls(String),
    /// The gRPC server failed.
    #[error("the plugin server failed: {0}")]
    Transport(#[from] tonic::transport::Error),
}

impl From<TlsError> for ServeError {
    fn from(error: TlsError) -> Self {
        Self::Tls(error.to_string())
    }
}

/// The mode in which this process was started, from its environment and arguments.
enum StartMode {
    /// A host with this protocol version started it.
    Hosted(Protocol),
    /// A developer started it with `-debug`, to attach a debugger.
    Debug(Protocol),
    /// A user started it directly, without a host.
    Interactive,
}

impl StartMode {
    fn of_process() -> Self {
        let versions = std::env::var(handshake::VERSIONS).ok();
        // Before the cookie check: a developer's shell may have the host's environment variables.
        if std::env::args().skip(1).any(|argument| matches!(&*argument, "-debug" | "--debug")) {
            return Self::Debug(versions.map_or(Protocol::V6, |versions| negotiate(&versions)));
        }
        match std::env::var(handshake::COOKIE_NAME) {
            Ok(cookie) if cookie == handshake::COOKIE_VALUE => {
                Self::Hosted(negotiate(versions.as_deref().unwrap_or_default()))
            }
            _ => Self::Interactive,
        }
    }
}

/// Selects the highest common version. Without one it is our lowest: the host then reports the mismatch.
fn negotiate(versions: &str) -> Protocol {
    let offered = versions.split(',').filter_map(|version| version.trim().parse().ok());
    offered.filter_map(Protocol::from_number).max().unwrap_or(Protocol::V5)
}

/// Serves `provider` to the host that started this process, until the host requests the shutdown. `address` is the
/// provider's source address, for example `registry.terraform.io/example/notes`, which debug mode prints.
///
/// Returns the exit code for `main`.
pub fn serve(address: &str, provider: Arc<dyn Provider>) -> ExitCode {
    let threads = std::thread::available_parallelism().map_or(MIN_THREADS, |n| n.get().max(MIN_THREADS));
    let served = runtime(threads).and_then(|runtime| {
        let served = runtime.block_on(served(address, provider));
        // A call that never completes must not keep the process alive.
        runtime.shutdown_background();
        served
    });
    match served {
        Ok(code) => code,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Starts the runtime. The library panics where a thread cannot be started.
fn runtime(threads: usize) -> Result<Runtime, ServeError> {
    let build = || tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build();
    // Silenced for the moment, because the caller reports the failure with advice.
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let built = panic::catch_unwind(build);
    panic::set_hook(hook);
    Ok(built.map_err(|_| ServeError::Threads)??)
}

async fn served(address: &str, provider: Arc<dyn Provider>) -> Result<ExitCode, ServeError> {
    match StartMode::of_process() {
        StartMode::Hosted(protocol) => serve_host(protocol, provider).await?,
        StartMode::Debug(protocol) => serve_debug(address, protocol, provider).await?,
        StartMode::Interactive => {
            eprintln!(
                "This program is a provider plugin. Terraform, OpenTofu and Groma run it for configurations that require \
                 {address}. To debug it, start it with -debug."
            );
            return Ok(ExitCode::FAILURE);
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the directory for the socket.
fn socket_parent() -> PathBuf {
    std::env::var_os("PLUGIN_UNIX_SOCKET_DIR")
        .filter(|folder| !folder.is_empty())
        .map_or_else(std::env::temp_dir, Into::into)
}

async fn serve_host(protocol: Protocol, provider: Arc<dyn Provider>) -> Result<(), ServeError> {
    let (certificate, tls) = match std::env::var(handshake::CLIENT_CERTIFICATE) {
        Ok(pem) if !pem.trim().is_empty() => {
            let identity = Identity::new()?;
            let tls = identity.server(certificate_of_pem(&pem)?)?;
            // The host pins this certificate, so it must be in the handshake line.
            (Some(identity.der().to_vec()), Some(tls))
        }
        _ => (None, None),
    };
    let served = Served::start(provider, protocol, &socket_parent(), tls)?;
    let multiplex =
        if std::env::var_os(handshake::MULTIPLEX).is_some() { Multiplex::Refused } else { Multiplex::NotRequested };
    let handshake = Handshake { protocol, address: served.endpoint(), certificate };
    // The socket already listens: the host connects as soon as it has read the line.
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{}", handshake.line(multiplex))?;
    // The host waits for this line.
    stdout.flush()?;
    drop(stdout);

    // Terminal interrupts reach the whole foreground process group; the host decides, and asks this process to stop.
    let mut interrupts = signal(SignalKind::interrupt())?;
    tokio::spawn(async move { while interrupts.recv().await.is_some() {} });
    let mut termination = signal(SignalKind::terminate())?;
    let shutdown = served.shutdown.clone();
    tokio::spawn(async move {
        tokio::select! {
            _ = termination.recv() => {}
            () = host_exited() => {}
        }
        shutdown.trigger();
    });
    served.ended().await
}

/// Waits until the parent process changes: a host that was killed sends no shutdown request.
async fn host_exited() {
    let host = nix::unistd::getppid();
    while nix::unistd::getppid() == host {
        tokio::time::sleep(HOST_CHECK).await;
    }
}

async fn serve_debug(address: &str, protocol: Protocol, provider: Arc<dyn Provider>) -> Result<(), ServeError> {
    let served = Served::start(provider, protocol, &socket_parent(), None)?;
    let entry = serde_json::json!({
        address: {
            "Protocol": "grpc",
            "ProtocolVersion": protocol.number(),
            "Pid": std::process::id(),
            "Test": true,
            "Addr": { "Network": "unix", "String": served.path().to_string_lossy() },
        }
    });
    println!(
        "The provider {address} is ready. Start the host with this environment variable:\n\n\t\
        TF_REATTACH_PROVIDERS='{entry}'\n"
    );
    let mut interrupts = signal(SignalKind::interrupt())?;
    let mut termination = signal(SignalKind::terminate())?;
    let shutdown = served.shutdown.clone();
    tokio::spawn(async move {
        tokio::select! {
            _ = interrupts.recv() => {}
            _ = termination.recv() => {}
        }
        shutdown.trigger();
    });
    served.ended().await
}

/// A provider that is being served on a socket, until it is stopped or its host ends it.
pub struct Served {
    path: PathBuf,
    shutdown: Shutdown,
    task: JoinHandle<Result<(), tonic::transport::Error>>,
}

/// Serves `provider` in this process without TLS, on a socket below the directory `parent`: for tests, and for hosts
/// that attach. Runs on the caller's runtime.
///
/// # Errors
///
/// The socket cannot be created.
pub fn serve_below(parent: &Path, provider: Arc<dyn Provider>, protocol: Protocol) -> Result<Served, ServeError> {
    Served::start(provider, protocol, parent, None)
}

impl Served {
    fn start(
        provider: Arc<dyn Provider>,
        protocol: Protocol,
        parent: &Path,
        tls: Option<Arc<rustls::ServerConfig>>,
    ) -> Result<Self, ServeError> {
        let listener = Listener::below(parent)?;
        let path = listener.path();
        let shutdown = Shutdown::new();
        let (incoming, folder) = listener.incoming(tls);
        let adapter = Arc::new(Adapter::new(provider));
        let router = tonic::transport::Server::builder()
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            // The host limits its own concurrency; a limit here would make calls wait invisibly.
            .max_concurrent_streams(None)
            .add_service(HealthServer::new(shutdown.clone()))
            .add_service(GrpcControllerServer::new(shutdown.clone()))
            .add_service(GrpcStdioServer::new(shutdown.clone()))
            .add_service(GrpcBrokerServer::new(shutdown.clone()));
        let router = match protocol {
            Protocol::V5 => router.add_service(Service::<5>(adapter)),
            Protocol::V6 => router.add_service(Service::<6>(adapter)),
        };
        let asked = shutdown.clone();
        let late = shutdown.clone();
        let task = tokio::spawn(async move {
            let serving = router.serve_with_incoming_shutdown(incoming, async move { asked.wait().await });
            let overdue = async {
                late.wait().await;
                tokio::time::sleep(GRACE).await;
            };
            let result = tokio::select! {
                result = serving => result,
                // A call that does not end in time is abandoned; the process exits and the host sees a broken
                // connection.
                () = overdue => Ok(()),
            };
            // The socket must exist until the server has ended.
            drop(folder);
            result
        });
        Ok(Self { path, shutdown, task })
    }

    /// Returns the path of the socket.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the socket as an address to attach to.
    pub fn endpoint(&self) -> Endpoint {
        Endpoint::Unix(self.path.clone())
    }

    /// Stops serving after the calls in flight are answered, within a second.
    ///
    /// # Errors
    ///
    /// The server had failed.
    pub async fn stop(self) -> Result<(), ServeError> {
        self.shutdown.trigger();
        self.ended().await
    }

    async fn ended(self) -> Result<(), ServeError> {
        match self.task.await {
            Ok(result) => Ok(result?),
            Err(error) => Err(io::Error::other(error).into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn highest_common_protocol_version_is_negotiated() {
        assert_eq!(negotiate("5,6"), Protocol::V6);
        assert_eq!(negotiate("6,5"), Protocol::V6);
        assert_eq!(negotiate("5"), Protocol::V5);
        assert_eq!(negotiate("7, 6"), Protocol::V6);
        assert_eq!(negotiate(""), Protocol::V5);
        assert_eq!(negotiate("4,nonsense"), Protocol::V5);
    }
}
