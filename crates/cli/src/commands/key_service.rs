//! HTTP client for the key services of state encryption.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use groma_diagnostics::io_reason;
use groma_encryption::{ConnectionOptions, KeyError, Network, NetworkAnswer, NetworkRequest, TlsVerification};
use groma_install::http::{Http, Method, Route, ServerTrust, Url};

use super::servers;
use crate::settings::Settings;

/// Maximum size of a response, in bytes.
const LIMIT: u64 = 1024 * 1024;

/// Sends requests to key services. One HTTP client per route is created on first use.
pub(super) struct KeyServiceClient {
    settings: Settings,
    clients: Mutex<Vec<(ConnectionOptions, Http)>>,
}

impl std::fmt::Debug for KeyServiceClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeyServiceClient").finish_non_exhaustive()
    }
}

impl KeyServiceClient {
    pub(super) fn new(settings: &Settings) -> Self {
        Self { settings: settings.clone(), clients: Mutex::default() }
    }

    fn client(&self, way: &ConnectionOptions) -> Result<Http, KeyError> {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, client)) = clients.iter().find(|(known, _)| known == way) {
            return Ok(client.clone());
        }
        let client = servers::http_over(&self.settings, route(way)).map_err(|problems| {
            let clause = |detail: &str| detail.trim_end_matches('.').to_owned();
            KeyError::Connection(problems.iter().map(|problem| clause(&problem.detail)).collect::<Vec<_>>().join("; "))
        })?;
        // Kept for further keys: a client reads the system certificates, which takes a while.
        clients.push((way.clone(), client.clone()));
        Ok(client)
    }
}

fn route(way: &ConnectionOptions) -> Route {
    Route {
        http_proxy: way.http_proxy.clone(),
        https_proxy: way.https_proxy.clone(),
        no_proxy: way.no_proxy.clone(),
        authorities: way.ca_bundle.clone(),
        trust: match way.tls_verification {
            TlsVerification::Enabled => ServerTrust::Proven,
            TlsVerification::Disabled => ServerTrust::Anybody,
        },
    }
}

impl Network for KeyServiceClient {
    fn send(&self, request: &NetworkRequest, way: &ConnectionOptions) -> Result<NetworkAnswer, KeyError> {
        let client = self.client(way)?;
        let url = Url::parse(&request.url)
            .map_err(|problem| KeyError::Connection(format!("{:?} is not a valid URL: {problem}", request.url)))?;
        let method = Method::from_bytes(request.method.as_bytes())
            .map_err(|problem| KeyError::Connection(problem.to_string()))?;
        let headers: Vec<(&str, &str)> =
            request.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        // The caller may already run inside an async runtime, where blocking on another one would panic. Hence the thread.
        let asked = std::thread::scope(|threads| {
            let started = std::thread::Builder::new().name("key request".to_owned()).spawn_scoped(threads, || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                let runtime = runtime.map_err(|problem| io_reason(&problem))?;
                let answer = client.send(method, &url, &headers, request.body.clone(), LIMIT);
                // Timers must be created inside the runtime.
                let answer = async {
                    let Some(patience) = way.timeout else { return Ok(answer.await) };
                    tokio::time::timeout(patience, answer).await
                };
                match runtime.block_on(answer) {
                    Ok(answer) => answer.map_err(|problem| problem.to_string()),
                    Err(_) => Err(format!("{} did not respond in time", url.host_str().unwrap_or_default())),
                }
            });
            let thread = started.map_err(|error| format!("failed to start a thread: {}", io_reason(&error)))?;
            thread.join().unwrap_or_else(|_| Err("the request was aborted".to_owned()))
        });
        let answer = asked.map_err(KeyError::Connection)?;
        Ok(NetworkAnswer { status: answer.status.as_u16(), body: answer.body })
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.settings.variable(name).filter(|value| !value.is_empty()).map(str::to_owned)
    }

    fn home(&self) -> Option<PathBuf> {
        self.settings.home.clone()
    }
}
