//! HTTP access to key management services for states and plans.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use groma_diagnostics::io_reason;
use groma_encryption::{Network, NetworkAnswer, NetworkRequest, Trust, Way};
use groma_install::http::{Http, Method, Route, ServerTrust, Url};

use super::servers;
use crate::settings::Settings;

/// The longest answer: keys are short.
const LIMIT: u64 = 1024 * 1024;

/// A client for services over each way, made when one is asked; and the environment of the process.
pub(super) struct KeyNetwork {
    settings: Settings,
    clients: Mutex<Vec<(Way, Http)>>,
}

impl std::fmt::Debug for KeyNetwork {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeyNetwork").finish_non_exhaustive()
    }
}

impl KeyNetwork {
    pub(super) fn new(settings: &Settings) -> Self {
        Self { settings: settings.clone(), clients: Mutex::default() }
    }

    fn client(&self, way: &Way) -> Result<Http, String> {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, client)) = clients.iter().find(|(known, _)| known == way) {
            return Ok(client.clone());
        }
        let client = servers::http_over(&self.settings, route(way)).map_err(|problems| {
            let told = |detail: &str| detail.trim_end_matches('.').to_owned();
            problems.iter().map(|problem| told(&problem.detail)).collect::<Vec<_>>().join("; ")
        })?;
        clients.push((way.clone(), client.clone()));
        Ok(client)
    }
}

fn route(way: &Way) -> Route {
    Route {
        http_proxy: way.http_proxy.clone(),
        https_proxy: way.https_proxy.clone(),
        no_proxy: way.no_proxy.clone(),
        authorities: way.authorities.clone(),
        trust: match way.trust {
            Trust::Proven => ServerTrust::Proven,
            Trust::Anybody => ServerTrust::Anybody,
        },
    }
}

impl Network for KeyNetwork {
    fn send(&self, request: &NetworkRequest, way: &Way) -> Result<NetworkAnswer, String> {
        let client = self.client(way)?;
        let url = Url::parse(&request.url).map_err(|problem| format!("{:?} is no address: {problem}", request.url))?;
        let method = Method::from_bytes(request.method.as_bytes()).map_err(|problem| problem.to_string())?;
        let headers: Vec<(&str, &str)> =
            request.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        // A separate thread, because the caller may run inside an async runtime.
        let asked = std::thread::scope(|threads| {
            let started = std::thread::Builder::new().name("key request".to_owned()).spawn_scoped(threads, || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                let runtime = runtime.map_err(|problem| io_reason(&problem))?;
                let answer = client.send(method, &url, &headers, request.body.clone(), LIMIT);
                // The clock belongs to the runtime.
                let answer = async {
                    let Some(patience) = way.patience else { return Ok(answer.await) };
                    tokio::time::timeout(patience, answer).await
                };
                match runtime.block_on(answer) {
                    Ok(answer) => answer.map_err(|problem| problem.to_string()),
                    Err(_) => Err(format!("{} has not answered in time", url.host_str().unwrap_or_default())),
                }
            });
            let thread = started.map_err(|error| format!("no thread can be started: {}", io_reason(&error)))?;
            thread.join().unwrap_or_else(|_| Err("the request was broken off".to_owned()))
        });
        let answer = asked?;
        Ok(NetworkAnswer { status: answer.status.as_u16(), body: answer.body })
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.settings.variable(name).filter(|value| !value.is_empty()).map(str::to_owned)
    }

    fn home(&self) -> Option<PathBuf> {
        self.settings.home.clone()
    }
}
