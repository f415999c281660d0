//! How the services are spoken with that keep keys for states and plans.

use std::path::PathBuf;
use std::sync::OnceLock;

use groma_encryption::{AwsKeys, Network, NetworkAnswer, NetworkRequest};
use groma_install::credentials::Stores;
use groma_install::http::{Http, Method, Url};

use super::servers;
use crate::settings::Settings;

/// The longest answer: keys are short.
const LIMIT: u64 = 1024 * 1024;

/// A client for services, made when one is asked; and the environment of the process.
pub(super) struct KeyNetwork {
    settings: Settings,
    client: OnceLock<Result<Http, String>>,
}

impl std::fmt::Debug for KeyNetwork {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeyNetwork").finish_non_exhaustive()
    }
}

impl KeyNetwork {
    pub(super) fn new(settings: &Settings) -> Self {
        Self { settings: settings.clone(), client: OnceLock::new() }
    }

    fn client(&self) -> Result<&Http, String> {
        let made = self.client.get_or_init(|| {
            servers::http(&self.settings).map_err(|problems| {
                problems
                    .iter()
                    .map(|problem| problem.detail.trim_end_matches('.').to_owned())
                    .collect::<Vec<_>>()
                    .join("; ")
            })
        });
        made.as_ref().map_err(Clone::clone)
    }
}

impl Network for KeyNetwork {
    fn send(&self, request: &NetworkRequest) -> Result<NetworkAnswer, String> {
        let client = self.client()?;
        let url = Url::parse(&request.url).map_err(|problem| format!("{:?} is no address: {problem}", request.url))?;
        let method = Method::from_bytes(request.method.as_bytes()).map_err(|problem| problem.to_string())?;
        let headers: Vec<(&str, &str)> =
            request.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        // A thread of its own: whoever needs a key may be part of a runtime already.
        let asked = std::thread::scope(|threads| {
            threads
                .spawn(|| {
                    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                    let runtime = runtime.map_err(|problem| problem.to_string())?;
                    let answer = runtime.block_on(client.send(method, &url, &headers, request.body.clone(), LIMIT));
                    answer.map_err(|problem| problem.to_string())
                })
                .join()
        });
        let answer = asked.unwrap_or_else(|_| Err("the request was broken off".to_owned()))?;
        Ok(NetworkAnswer { status: answer.status.as_u16(), body: answer.body })
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.settings.variable(name).filter(|value| !value.is_empty()).map(str::to_owned)
    }

    fn home(&self) -> Option<PathBuf> {
        self.settings.home.clone()
    }

    fn aws_keys(&self, profile: Option<&str>) -> Option<AwsKeys> {
        let stores = Stores::new(self.settings.environment.iter().cloned(), self.settings.home.clone());
        let keys = stores.aws(profile)?;
        let session = keys.session.map(|token| token.secret().to_owned());
        Some(AwsKeys { id: keys.id, secret: keys.secret.secret().to_owned(), session })
    }
}
