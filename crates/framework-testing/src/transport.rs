//! Connections of tests to the provider.

use std::sync::{Arc, Mutex, PoisonError};

use groma_address::ProviderAddress;
use groma_builtin::Terraform;
use groma_diagnostics::Diagnostic;
use groma_engine::ProviderSource;
use groma_plugin::Protocol;
use groma_plugin::client::{Plugin, PluginHost, Start};
use groma_plugin::server::{Served, serve_below};
use groma_plugin::transport::{NoLog, Reattach};
use groma_provider::Provider;
use tokio::runtime::Runtime;

/// The connection between the engine and the provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// Direct calls in the same process.
    InProcess,
    /// The plugin protocol, over a socket.
    Protocol(Protocol),
}

/// A constructor of the provider, called for each configuration.
pub(crate) type Make = dyn Fn() -> Arc<dyn Provider> + Send + Sync;

/// The provider under test, and the built-in one.
pub(crate) struct UnderTest {
    pub(crate) address: ProviderAddress,
    pub(crate) make: Box<Make>,
    pub(crate) transport: Transport,
    pub(crate) runtime: Arc<Runtime>,
    pub(crate) host: Arc<PluginHost>,
    pub(crate) folder: tempfile::TempDir,
    pub(crate) served: Mutex<Vec<Served>>,
}

impl UnderTest {
    /// Starts the provider at `address`, or returns the reason why that fails.
    pub(crate) fn new(address: &str, make: Box<Make>, transport: Transport) -> Result<Self, String> {
        let address =
            ProviderAddress::parse(address, "registry.terraform.io").map_err(|problem| problem.to_string())?;
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        Ok(Self {
            address,
            make,
            transport,
            runtime: Arc::new(runtime.map_err(|problem| problem.to_string())?),
            host: PluginHost::new(),
            folder: tempfile::tempdir().map_err(|problem| problem.to_string())?,
            served: Mutex::default(),
        })
    }

    /// Creates a new instance of the provider under test.
    pub(crate) fn reach(&self) -> Result<Arc<dyn Provider>, String> {
        match self.transport {
            Transport::InProcess => Ok((self.make)()),
            Transport::Protocol(protocol) => self.served(protocol),
        }
    }

    fn served(&self, protocol: Protocol) -> Result<Arc<dyn Provider>, String> {
        // The server spawns its tasks on the runtime of the current thread.
        let _guard = self.runtime.enter();
        let provider = (self.make)();
        let served = serve_below(self.folder.path(), provider, protocol).map_err(|problem| problem.to_string())?;
        let reattach = Reattach { protocol, pid: std::process::id(), test: true, address: served.endpoint() };
        // Kept until the end of the test: dropping it would end the server.
        self.served.lock().unwrap_or_else(PoisonError::into_inner).push(served);
        Ok(Arc::new(Plugin::start(&self.host, self.address.clone(), Start::Attach(reattach), Arc::new(NoLog))))
    }
}

impl ProviderSource for UnderTest {
    fn start(&self, address: &ProviderAddress) -> Result<Arc<dyn Provider>, Diagnostic> {
        if *address == ProviderAddress::builtin_terraform() {
            // Configurations of tests may use `terraform_data`.
            return Ok(Arc::new(Terraform::default()));
        }
        if *address != self.address {
            let detail = format!("The test is about {}, and the configuration needs {address}.", self.address);
            return Err(Diagnostic::error("Provider not available", detail));
        }
        self.reach().map_err(|problem| Diagnostic::error("Provider cannot be served", problem))
    }
}
