//! How a test reaches the provider.

use std::sync::{Arc, Mutex, PoisonError};

use groma_address::ProviderAddress;
use groma_builtin::Terraform;
use groma_diagnostics::Diagnostic;
use groma_engine::ProviderSource;
use groma_plugin::Protocol;
use groma_plugin::client::{Plugin, Start};
use groma_plugin::server::{Served, serve_below};
use groma_plugin::transport::{NoLog, Reattach};
use groma_provider::Provider;
use tokio::runtime::Runtime;

/// How the engine talks to the provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// By calling it.
    InProcess,
    /// By the plugin protocol, over a socket.
    Protocol(Protocol),
}

/// A provider, made anew for each configuration.
pub(crate) type Make = dyn Fn() -> Arc<dyn Provider> + Send + Sync;

/// The provider under test, and the built-in one.
pub(crate) struct UnderTest {
    pub(crate) address: ProviderAddress,
    pub(crate) make: Box<Make>,
    pub(crate) transport: Transport,
    pub(crate) runtime: Arc<Runtime>,
    pub(crate) folder: tempfile::TempDir,
    pub(crate) served: Mutex<Vec<Served>>,
}

impl UnderTest {
    fn served(&self, protocol: Protocol) -> Result<Arc<dyn Provider>, String> {
        let _guard = self.runtime.enter();
        let provider = (self.make)();
        let served = serve_below(self.folder.path(), provider, protocol).map_err(|problem| problem.to_string())?;
        let reattach = Reattach { protocol, pid: std::process::id(), test: true, address: served.endpoint() };
        self.served.lock().unwrap_or_else(PoisonError::into_inner).push(served);
        Ok(Arc::new(Plugin::start(self.address.clone(), Start::Attach(reattach), Arc::new(NoLog))))
    }
}

impl ProviderSource for UnderTest {
    fn start(&self, address: &ProviderAddress) -> Result<Arc<dyn Provider>, Diagnostic> {
        if *address == ProviderAddress::builtin_terraform() {
            return Ok(Arc::new(Terraform::default()));
        }
        if *address != self.address {
            let detail = format!("The test is about {}, and the configuration needs {address}.", self.address);
            return Err(Diagnostic::error("Provider not available", detail));
        }
        match self.transport {
            Transport::InProcess => Ok((self.make)()),
            Transport::Protocol(protocol) => {
                self.served(protocol).map_err(|problem| Diagnostic::error("Provider cannot be served", problem))
            }
        }
    }
}
