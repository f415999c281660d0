//! Remote service discovery: the document `/.well-known/terraform.json` of a host.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use groma_config::version::{Constraints, Operator, Version};
use groma_diagnostics::json_reason;
use reqwest::{StatusCode, Url};
use serde_json::{Map, Value};

use crate::credentials::{Credentials, HelperError, Token, normal_host};
use crate::http::{Http, HttpError, without_secrets};

/// The maximum size of a discovery document in bytes.
const LARGEST_DOCUMENT: u64 = 1 << 20;

/// Discovers the services of hosts, each host once.
#[derive(Debug)]
pub struct Discovery {
    http: Http,
    credentials: Arc<Credentials>,
    forced: HashMap<String, Arc<Services>>,
    known: Mutex<HashMap<String, Arc<Services>>>,
}

/// The services of a host by their IDs, such as `providers.v1`.
#[derive(Clone, Debug, PartialEq)]
pub struct Services {
    host: String,
    base: Url,
    entries: Map<String, Value>,
}

/// The reason why the discovery of a host failed.
#[derive(Debug, thiserror::Error)]
pub enum DiscoveryError {
    /// The host name is invalid.
    #[error("{0:?} is not a valid host name")]
    Host(String),
    /// The request for the document failed.
    #[error("failed to request discovery document: {0}")]
    Request(#[from] HttpError),
    /// The host answered with an error status.
    #[error("failed to request discovery document: {url} answered {status}")]
    Status {
        /// The URL of the document, without credentials.
        url: String,
        /// The status that the host answered with.
        status: StatusCode,
    },
    /// The document is invalid.
    #[error("the discovery document of {host} is not valid: {reason}")]
    Document {
        /// The host of the discovery document.
        host: String,
        /// The problem with the document.
        reason: String,
    },
    /// The credentials for the host are not available.
    #[error(transparent)]
    Credentials(#[from] HelperError),
}

/// The reason why a service cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ServiceError {
    /// The host does not offer the service.
    #[error("host {host} does not offer the service {service}")]
    NotOffered {
        /// The host that should offer the service.
        host: String,
        /// The ID of the service with its version: `modules.v1`.
        service: String,
    },
    /// The description of the service is invalid.
    #[error("host {host} has an invalid description of the service {service}: {reason}")]
    Invalid {
        /// The host whose document describes the service.
        host: String,
        /// The ID of the service with its version: `modules.v1`.
        service: String,
        /// The problem with the description.
        reason: String,
    },
}

impl Discovery {
    /// Creates a discovery that sends requests through `http` with `credentials`. Sends none to hosts in `forced`
    /// (`host` blocks of the CLI configuration).
    pub fn new(http: Http, credentials: Arc<Credentials>, forced: Vec<Services>) -> Self {
        let forced = forced.into_iter().map(|services| (normal_host(&services.host), Arc::new(services))).collect();
        Self { http, credentials, forced, known: Mutex::default() }
    }

    /// The client that all requests to services share.
    pub fn http(&self) -> &Http {
        &self.http
    }

    /// The credentials of hosts.
    pub(crate) fn credentials(&self) -> &Arc<Credentials> {
        &self.credentials
    }

    /// Returns the token for `host`, if any.
    ///
    /// # Errors
    /// Fails if the credentials helper fails.
    pub async fn token(&self, host: &str) -> Result<Option<Token>, HelperError> {
        self.credentials.token(host).await
    }

    /// Returns the services of `host` (`name` or `name:port`). A host without a discovery document offers none.
    ///
    /// # Errors
    /// Fails if the request fails or the document is invalid.
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
        // Private registries require the token for the discovery document, too.
        let token = self.credentials.token(host).await?;
        let answer =
            self.http.get_with(&url, token.as_ref(), &[("accept", "application/json")], LARGEST_DOCUMENT).await?;
        // A host without the document offers no services, which the caller reports for the service that it needs.
        if answer.status == StatusCode::NOT_FOUND {
            return Ok(Services { host: host.to_owned(), base: url, entries: Map::new() });
        }
        if !answer.status.is_success() {
            return Err(DiscoveryError::Status { url: without_secrets(&url), status: answer.status });
        }
        let invalid = |reason: &str| DiscoveryError::Document { host: host.to_owned(), reason: reason.to_owned() };
        let kind = answer.header("content-type").unwrap_or_default();
        // Login pages and error pages may answer with success and HTML.
        if kind.split(';').next().map(str::trim) != Some("application/json") {
            return Err(invalid(&format!("it is sent as {kind:?}, which should be \"application/json\"")));
        }
        // Relative URLs are resolved against the final URL, after redirects.
        Services::read(host, answer.url, &answer.body)
    }
}

impl Services {
    /// Parses the document of `host`, which was received from `base`.
    pub(crate) fn read(host: &str, base: Url, document: &[u8]) -> Result<Self, DiscoveryError> {
        let invalid = |reason: String| DiscoveryError::Document { host: host.to_owned(), reason };
        let entries = serde_json::from_slice(document)
            .map_err(|error| invalid(format!("it is not a JSON object: {error}", error = json_reason(&error))))?;
        Ok(Self { host: host.to_owned(), base, entries })
    }

    /// Creates the services that a `host` block of the CLI configuration lists.
    ///
    /// # Errors
    /// Fails if `host` is not a valid host name.
    pub fn of(host: &str, entries: Map<String, Value>) -> Result<Self, DiscoveryError> {
        Ok(Self { host: host.to_owned(), base: document_of(host)?, entries })
    }

    /// The name of the host.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Returns the URL of a service, with a final slash so that paths can be joined to it.
    ///
    /// # Errors
    /// Fails if the host does not offer the service or its URL is invalid.
    pub fn url(&self, service: &str) -> Result<Url, ServiceError> {
        match self.entry(service)? {
            Value::String(text) => self.join(service, text).map(with_slash),
            _ => Err(self.invalid(service, "its value must be an address")),
        }
    }

    /// Returns the description of a service that is an object, such as `login.v1`.
    ///
    /// # Errors
    /// Fails if the host does not offer the service or describes it otherwise.
    pub fn object(&self, service: &str) -> Result<&Map<String, Value>, ServiceError> {
        match self.entry(service)? {
            Value::Object(object) => Ok(object),
            _ => Err(self.invalid(service, "its value must be an object")),
        }
    }

    /// Resolves a URL of the document, which may be relative to it.
    ///
    /// # Errors
    /// Fails if the result is not an HTTP URL.
    pub fn join(&self, service: &str, text: &str) -> Result<Url, ServiceError> {
        let url = self
            .base
            .join(text)
            .map_err(|error| self.invalid(service, &format!("{text:?} is not a valid URL: {error}")))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(self.invalid(service, &format!("{text:?} is neither https nor http")));
        }
        // Paths are appended to the URL, which a fragment would swallow.
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

/// Whether a module version satisfies a constraint. Pre-releases must be requested by their exact number.
pub(crate) fn allows(constraints: &Constraints, version: &Version) -> bool {
    constraints.allow(version) && (!version.is_prerelease() || is_named(constraints, version))
}

/// Whether a constraint requests exactly this version.
pub(crate) fn is_named(constraints: &Constraints, version: &Version) -> bool {
    constraints.iter().any(|constraint| constraint.operator == Operator::Equal && constraint.version == *version)
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
