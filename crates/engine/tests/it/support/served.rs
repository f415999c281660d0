//! A provider in this process, reached as one in another process is.

use std::path::Path;
use std::sync::{Arc, LazyLock, OnceLock};

use groma_address::ProviderAddress;
use groma_plugin::Protocol;
use groma_plugin::client::{Plugin, PluginHost, Start};
use groma_plugin::server::serve_below;
use groma_plugin::transport::{NoLog, Reattach};
use groma_provider::Provider;
use tokio::runtime::{Builder, Runtime};

/// The host of all plugins of these tests.
pub fn host() -> Arc<PluginHost> {
    static HOST: LazyLock<Arc<PluginHost>> = LazyLock::new(PluginHost::new);
    Arc::clone(&HOST)
}

/// `provider`, through a server and a client of `protocol`.
pub fn over(protocol: Protocol, address: &ProviderAddress, provider: Arc<dyn Provider>) -> Arc<dyn Provider> {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    let runtime = RUNTIME.get_or_init(|| Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap());
    // Served until the tests end: a plan and its apply start the provider each.
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let inside = runtime.enter();
    let served = serve_below(folder, provider, protocol).unwrap();
    drop(inside);
    let reattach = Reattach { protocol, pid: 0, test: true, address: served.endpoint() };
    Arc::new(Plugin::start(&host(), address.clone(), Start::Attach(reattach), Arc::new(NoLog)))
}
