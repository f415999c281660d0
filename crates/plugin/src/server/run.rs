//! The life of a plugin process: handshake, serving, end.

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
use super::process::End;
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

/// How long calls that are under way may take after the host said that it is the end.
const GRACE: Duration = Duration::from_secs(1);
/// How often it is looked whether the host is still there.
const HOST_CHECK: Duration = Duration::from_secs(1);
/// Threads for what goes on besides the provider's own code.
const LEAST_THREADS: usize = 2;

/// Why a plugin could not be served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// There is no socket, or another matter of the operating system.
    #[error("the plugin could not listen for its host: {0}")]
    Io(#[from] io::Error),
    /// The operating system does not allow the threads that are needed.
    #[error(
        "the plugin could not start its threads; the limit on processes and threads may be reached: raise it (ulimit -u), or end other \
         programs"
    )]
    Threads,
    /// TLS could not be set up.
    #[error("the plugin could not set up TLS with its host: {0}")]
    Tls(String),
    /// Serving ended with an error.
    #[error("the plugin could not go on serving: {0}")]
    Transport(#[from] tonic::transport::Error),
}

impl From<TlsError> for ServeError {
    fn from(error: TlsError) -> Self {
        Self::Tls(error.to_string())
    }
}

/// How this process was started.
enum Start {
    /// By a host.
    Hosted(Protocol),
    /// By a person who wants to look at it while it runs.
    Debug(Protocol),
    /// By a person who may not know what it is.
    ByHand,
}

impl Start {
    fn of_process() -> Self {
        let versions = std::env::var(handshake::VERSIONS).ok();
        if std::env::args().skip(1).any(|argument| matches!(&*argument, "-debug" | "--debug")) {
            return Self::Debug(versions.map_or(Protocol::V6, |versions| chosen(&versions)));
        }
        match std::env::var(handshake::COOKIE_NAME) {
            Ok(cookie) if cookie == handshake::COOKIE_VALUE => {
                Self::Hosted(chosen(versions.as_deref().unwrap_or_default()))
            }
            _ => Self::ByHand,
        }
    }
}

/// The highest version that both sides speak. With none in common it is our lowest: the host says then what is wrong.
fn chosen(versions: &str) -> Protocol {
    let offered = versions.split(',').filter_map(|version| version.trim().parse().ok());
    offered.filter_map(Protocol::from_number).max().unwrap_or(Protocol::V5)
}

/// Serves `provider` to the host that started this process, until that says it is enough. `address` is the provider's
/// source address, such as `registry.terraform.io/example/notes`; it is told in debug mode.
///
/// The value is for `main` to return.
pub fn serve(address: &str, provider: Arc<dyn Provider>) -> ExitCode {
    let threads = std::thread::available_parallelism().map_or(LEAST_THREADS, |n| n.get().max(LEAST_THREADS));
    let served = runtime(threads).and_then(|runtime| {
        let served = runtime.block_on(served(address, provider));
        // A call that does not come to its end must not keep the process.
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
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let built = panic::catch_unwind(build);
    panic::set_hook(hook);
    Ok(built.map_err(|_| ServeError::Threads)??)
}

async fn served(address: &str, provider: Arc<dyn Provider>) -> Result<ExitCode, ServeError> {
    match Start::of_process() {
        Start::Hosted(protocol) => hosted(protocol, provider).await?,
        Start::Debug(protocol) => debugged(address, protocol, provider).await?,
        Start::ByHand => {
            eprintln!(
                "This program is a provider plugin: Terraform, OpenTofu or Groma start it when a configuration needs \
                 {address}. To run it under a debugger, start it with -debug."
            );
            return Ok(ExitCode::FAILURE);
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The folder for the socket.
fn socket_parent() -> PathBuf {
    std::env::var_os("PLUGIN_UNIX_SOCKET_DIR")
        .filter(|folder| !folder.is_empty())
        .map_or_else(std::env::temp_dir, Into::into)
}

async fn hosted(protocol: Protocol, provider: Arc<dyn Provider>) -> Result<(), ServeError> {
    let (certificate, tls) = match std::env::var(handshake::CLIENT_CERTIFICATE) {
        Ok(pem) if !pem.trim().is_empty() => {
            let identity = Identity::new()?;
            let tls = identity.server(certificate_of_pem(&pem)?)?;
            (Some(identity.der().to_vec()), Some(tls))
        }
        _ => (None, None),
    };
    let served = Served::start(provider, protocol, &socket_parent(), tls)?;
    let multiplex =
        if std::env::var_os(handshake::MULTIPLEX).is_some() { Multiplex::Refused } else { Multiplex::NotAsked };
    let handshake = Handshake { protocol, address: served.endpoint(), certificate };
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{}", handshake.line(multiplex))?;
    stdout.flush()?;
    drop(stdout);

    // An interrupt from the keyboard reaches us too; the host decides what it means, and says so.
    let mut interrupts = signal(SignalKind::interrupt())?;
    tokio::spawn(async move { while interrupts.recv().await.is_some() {} });
    let mut termination = signal(SignalKind::terminate())?;
    let end = served.end.clone();
    tokio::spawn(async move {
        tokio::select! {
            _ = termination.recv() => {}
            () = host_gone() => {}
        }
        end.come();
    });
    served.ended().await
}

/// Waits until the process that started us is no longer our parent: a host that was killed tells nobody.
async fn host_gone() {
    let host = nix::unistd::getppid();
    while nix::unistd::getppid() == host {
        tokio::time::sleep(HOST_CHECK).await;
    }
}

async fn debugged(address: &str, protocol: Protocol, provider: Arc<dyn Provider>) -> Result<(), ServeError> {
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
        "The provider {address} waits for its host. Start that with this in its environment:\n\n\t\
         TF_REATTACH_PROVIDERS='{entry}'\n"
    );
    let mut interrupts = signal(SignalKind::interrupt())?;
    let mut termination = signal(SignalKind::terminate())?;
    let end = served.end.clone();
    tokio::spawn(async move {
        tokio::select! {
            _ = interrupts.recv() => {}
            _ = termination.recv() => {}
        }
        end.come();
    });
    served.ended().await
}

/// A provider that is being served on a socket.
pub struct Served {
    path: PathBuf,
    end: End,
    task: JoinHandle<Result<(), tonic::transport::Error>>,
}

/// Serves `provider` in this process, without TLS, on a socket below the folder `parent`: for tests, and for hosts that
/// attach. It runs on the runtime of the caller.
///
/// # Errors
///
/// There can be no socket.
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
        let end = End::new();
        let (incoming, folder) = listener.incoming(tls);
        let adapter = Arc::new(Adapter::new(provider));
        let router = tonic::transport::Server::builder()
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .max_concurrent_streams(None)
            .add_service(HealthServer::new(end.clone()))
            .add_service(GrpcControllerServer::new(end.clone()))
            .add_service(GrpcStdioServer::new(end.clone()))
            .add_service(GrpcBrokerServer::new(end.clone()));
        let router = match protocol {
            Protocol::V5 => router.add_service(Service::<5>(adapter)),
            Protocol::V6 => router.add_service(Service::<6>(adapter)),
        };
        let asked = end.clone();
        let late = end.clone();
        let task = tokio::spawn(async move {
            let serving = router.serve_with_incoming_shutdown(incoming, async move { asked.wait().await });
            let overdue = async {
                late.wait().await;
                tokio::time::sleep(GRACE).await;
            };
            let result = tokio::select! {
                result = serving => result,
                () = overdue => Ok(()),
            };
            drop(folder);
            result
        });
        Ok(Self { path, end, task })
    }

    /// The path of the socket.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The socket.
    pub fn endpoint(&self) -> Endpoint {
        Endpoint::Unix(self.path.clone())
    }

    /// Ends it once the calls under way are answered, within a second.
    ///
    /// # Errors
    ///
    /// Serving had ended with an error.
    pub async fn stop(self) -> Result<(), ServeError> {
        self.end.come();
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
    fn the_highest_version_in_common_is_spoken_in_whatever_order_they_come() {
        assert_eq!(chosen("5,6"), Protocol::V6);
        assert_eq!(chosen("6,5"), Protocol::V6);
        assert_eq!(chosen("5"), Protocol::V5);
        assert_eq!(chosen("7, 6"), Protocol::V6);
        assert_eq!(chosen(""), Protocol::V5);
        assert_eq!(chosen("4,nonsense"), Protocol::V5);
    }
}
