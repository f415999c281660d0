//! Connection settings: proxies and the verification of servers.

use std::path::PathBuf;

use reqwest::{Certificate, ClientBuilder, NoProxy, Proxy};

use super::error::{HttpError, innermost};

/// The connection settings of a client. A setting that is `None` is left to the environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Route {
    /// The proxy for `http:` URLs.
    pub http_proxy: Option<String>,
    /// The proxy for `https:` URLs.
    pub https_proxy: Option<String>,
    /// The hosts that are reached without a proxy, in the syntax of `NO_PROXY`.
    pub no_proxy: Option<String>,
    /// A PEM file with the certificate authorities to trust instead of those of the system.
    pub authorities: Option<PathBuf>,
    /// Whether the certificate of the server is verified.
    pub trust: ServerTrust,
}

/// Whether the certificate of a server is verified.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ServerTrust {
    /// The certificate must be valid for the host.
    #[default]
    Proven,
    /// Any certificate is accepted. Only an explicit setting of the user selects this.
    Anybody,
}

impl Route {
    /// Builds the client configuration for these settings.
    pub(super) fn applied_to(&self, mut builder: ClientBuilder) -> Result<ClientBuilder, HttpError> {
        let wrong =
            |what: &str, error: &dyn std::fmt::Display| HttpError::Setup(format!("{what} cannot be used: {error}"));
        let without = self.no_proxy.as_deref().map(NoProxy::from_string).unwrap_or_else(NoProxy::from_env);
        type Make = fn(String) -> reqwest::Result<Proxy>;
        let proxies: [(&Option<String>, &str, Make); 2] =
            [(&self.http_proxy, "http_proxy", Proxy::http), (&self.https_proxy, "https_proxy", Proxy::https)];
        for (address, name, make) in proxies {
            let Some(address) = address else { continue };
            let proxy = make(address.clone()).map_err(|error| wrong(name, &innermost(&error)))?;
            builder = builder.proxy(proxy.no_proxy(without.clone()));
        }
        if let Some(path) = &self.authorities {
            let wrong =
                |error: &dyn std::fmt::Display| wrong(&format!("the certificates in {}", path.display()), error);
            let content = std::fs::read(path).map_err(|error| wrong(&error))?;
            let certificates = Certificate::from_pem_bundle(&content).map_err(|error| wrong(&innermost(&error)))?;
            if certificates.is_empty() {
                return Err(wrong(&"there are none in it"));
            }
            builder = builder.tls_certs_only(certificates);
        }
        Ok(match self.trust {
            ServerTrust::Proven => builder,
            ServerTrust::Anybody => builder.tls_danger_accept_invalid_certs(true),
        })
    }
}
