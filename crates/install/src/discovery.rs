//! Service discovery: the services that a host declares in `/.well-known/terraform.json`.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use groma_diagnostics::json_reason;
use reqwest::{StatusCode, Url};
use serde_json::{Map, Value};

use crate::credentials::{Credentials, HelperError, Token, normal_host};
use crate::http::{Http, HttpError, without_secrets};

/// No host has so much to say.
const LARGEST_DOCUMENT: u64 = 1 << 20;

/// Asks hosts for their services; each host once.
#[derive(Debug)]
pub struct Discovery {
    http: Http,
    credentials: Arc<Credentials>,
    forced: HashMap<String, Arc<Services>>,
    known: Mutex<HashMap<String, Arc<Services>>>,
}

/// The services of a host by their identifiers, such as `providers.v1`.
#[derive(Clone, Debug, PartialEq)]
pub struct Services {
    host: String,
    base: Url,
    entries: Map<String, Value>,
}

/// The error of discovering a host's services.
#[derive(Debug, thiserror::Error)]
pub enum DiscoveryError {
    /// The text is not a host name.
    #[error("{0:?} is no valid host name")]
    Host(String),
    /// There is no document to read.
    #[error("failed to request discovery document: {0}")]
    Request(#[from] HttpError),
    /// The host answers with a failure.
    #[error("failed to request discovery document: {url} answered {status}")]
    Status {
        /// The requested URL.
        url: String,
        /// The status of the response.
        status: StatusCode,
    },
    /// The host's document cannot be understood.
    #[error("the discovery document of {host} is not valid: {reason}")]
    Document {
        /// The name of the host.
        host: String,
        /// The description of the error.
        reason: String,
    },
    /// The credentials are not available.
    #[error(transparent)]
    Credentials(#[from] HelperError),
}

/// The error of looking up a service of a host.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ServiceError {
    /// The host does not offer it.
    #[error("host {host} does not offer the service {service}")]
    NotOffered {
        /// The name of the host.
        host: String,
        /// The identifier of the service.
        service: String,
    },
    /// The declaration of the service is invalid.
    #[error("host {host} describes its service {service} wrongly: {reason}")]
    Invalid {
        /// The name of the host.
        host: String,
        /// The identifier of the service.
        service: String,
        /// The description of the error.
        reason: String,
    },
}

impl Discovery {
    /// Hosts are asked through `http`, with `credentials`; those of `forced` (`host` blocks of the CLI configuration) never.
    pub fn new(http: Http, credentials: Arc<Credentials>, forced: Vec<Services>) -> Self {
        let forced = forced.into_iter().map(|services| (normal_host(&services.host), Arc::new(services))).collect();
        Self { http, credentials, forced, known: Mutex::default() }
    }

    /// The client for what was found.
    pub fn http(&self) -> &Http {
        &self.http
    }

    /// Returns the credentials of requests.
    pub(crate) fn credentials(&self) -> &Arc<Credentials> {
        &self.credentials
    }

    /// The token to send to `host`, if there is one.
    ///
    /// # Errors
    /// The credentials helper failed.
    pub async fn token(&self, host: &str) -> Result<Option<Token>, HelperError> {
        self.credentials.token(host).await
    }

    /// Returns the services of `host` (`name` or `name:port`). A host without the document has no services.
    ///
    /// # Errors
    /// The host cannot be asked, or its document is nonsense.
    pub async fn services(&self, host: &str) -> Result<Arc<Services>, DiscoveryError> {
        let host = normal_host(host);
        if let Some(services) = self.forced.get(&host) {
            return Ok(Arc::clone(services));
        }
        if let Some(services) = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(&host) {
            return Ok(Arc::clone(services));
        }
        let services = Arc::new(self.ask(&host).await?);
        self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(host, Arc::clone(&services));
        Ok(services)
    }

    async fn ask(&self, host: &str) -> Result<Services, DiscoveryError> {
        let url = document_of(host)?;
        let token = self.credentials.token(host).await?;
        let answer =
            self.http.get_with(&url, token.as_ref(), &[("accept", "application/json")], LARGEST_DOCUMENT).await?;
        if answer.status == StatusCode::NOT_FOUND {
            return Ok(Services { host: host.to_owned(), base: url, entries: Map::new() });
        }
        if !answer.status.is_success() {
            return Err(DiscoveryError::Status { url: without_secrets(&url), status: answer.status });
        }
        let invalid = |reason: &str| DiscoveryError::Document { host: host.to_owned(), reason: reason.to_owned() };
        let kind = answer.header("content-type").unwrap_or_default();
        if kind.split(';').next().map(str::trim) != Some("application/json") {
            return Err(invalid(&format!("it is sent as {kind:?}, which should be \"application/json\"")));
        }
        Services::read(host, answer.url, &answer.body)
    }
}

impl Services {
    /// Parses the document of `host`, which was loaded from `base`.
    pub(crate) fn read(host: &str, base: Url, document: &[u8]) -> Result<Self, DiscoveryError> {
        let invalid = |reason: String| DiscoveryError::Document { host: host.to_owned(), reason };
        let entries = serde_json::from_slice(document)
            .map_err(|error| invalid(format!("it is no JSON object: {error}", error = json_reason(&error))))?;
        Ok(Self { host: host.to_owned(), base, entries })
    }

    /// The services that somebody has written down for `host`.
    ///
    /// # Errors
    /// `host` is not a name of a host.
    pub fn of(host: &str, entries: Map<String, Value>) -> Result<Self, DiscoveryError> {
        Ok(Self { host: host.to_owned(), base: document_of(host)?, entries })
    }

    /// Returns the name of the host.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The address of the service, with a slash at its end so that further parts can be joined to it.
    ///
    /// # Errors
    /// The host does not offer it, or its address is wrong.
    pub fn url(&self, service: &str) -> Result<Url, ServiceError> {
        match self.entry(service)? {
            Value::String(text) => self.join(service, text).map(with_slash),
            _ => Err(self.invalid(service, "its value must be an address")),
        }
    }

    /// Returns the declaration of a service that is an object, such as `login.v1`.
    ///
    /// # Errors
    /// The host does not offer it, or says no object.
    pub fn object(&self, service: &str) -> Result<&Map<String, Value>, ServiceError> {
        match self.entry(service)? {
            Value::Object(object) => Ok(object),
            _ => Err(self.invalid(service, "its value must be an object")),
        }
    }

    /// An address of the document, which may be relative to it.
    ///
    /// # Errors
    /// It is not an address of the web.
    pub fn join(&self, service: &str, text: &str) -> Result<Url, ServiceError> {
        let url =
            self.base.join(text).map_err(|error| self.invalid(service, &format!("{text:?} is no address: {error}")))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(self.invalid(service, &format!("{text:?} is neither https nor http")));
        }
        if url.fragment().is_some() {
            return Err(self.invalid(service, &format!("{text:?} has a fragment")));
        }
        Ok(url)
    }

    fn entry(&self, service: &str) -> Result<&Value, ServiceError> {
        self.entries
            .get(service)
            .ok_or_else(|| ServiceError::NotOffered { host: self.host.clone(), service: service.to_owned() })
    }

    pub(crate) fn invalid(&self, service: &str, reason: &str) -> ServiceError {
        ServiceError::Invalid { host: self.host.clone(), service: service.to_owned(), reason: reason.to_owned() }
    }
}

fn document_of(host: &str) -> Result<Url, DiscoveryError> {
    let url = Url::parse(&format!("https://{host}/.well-known/terraform.json"));
    url.map_err(|_| DiscoveryError::Host(host.to_owned()))
}

fn with_slash(mut url: Url) -> Url {
    if !url.path().ends_with('/') {
        let path = format!("{}/", url.path());
        url.set_path(&path);
    }
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    fn services(json: &str) -> Services {
        Services::of("example.com", serde_json::from_str(json).unwrap()).unwrap()
    }

    #[test]
    fn addresses_may_be_relative_to_the_document() {
        let services = services(r#"{"providers.v1": "/v1/providers", "modules.v1": "https://m.example.net/x/"}"#);
        assert_eq!(services.url("providers.v1").unwrap().as_str(), "https://example.com/v1/providers/");
        assert_eq!(services.url("modules.v1").unwrap().as_str(), "https://m.example.net/x/");
    }

    #[test]
    fn wrong_addresses_are_named_with_host_and_service() {
        let services = services(r#"{"a.v1": "ftp://example.com/", "b.v1": 1}"#);
        assert!(services.url("a.v1").unwrap_err().to_string().contains("neither https nor http"));
        assert!(services.url("b.v1").unwrap_err().to_string().contains("service b.v1"));
        assert_eq!(services.url("c.v1").unwrap_err().to_string(), "host example.com does not offer the service c.v1");
    }
}
