//! Ways to servers: proxies, and who is believed to be a server.

use std::path::PathBuf;

use reqwest::{Certificate, ClientBuilder, NoProxy, Proxy};

use super::error::{HttpError, innermost};

/// The route to servers, where it is not left to the environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Route {
    /// The proxy for addresses that begin with `http:`.
    pub http_proxy: Option<String>,
    /// The proxy for addresses that begin with `https:`.
    pub https_proxy: Option<String>,
    /// The hosts that are reached without a proxy, as in `NO_PROXY`.
    pub no_proxy: Option<String>,
    /// The certificate authorities to trust instead of those of the system: a PEM file.
    pub authorities: Option<PathBuf>,
    /// The verification of servers.
    pub trust: ServerTrust,
}

/// The verification of servers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ServerTrust {
    /// Servers with a valid certificate are trusted.
    #[default]
    Proven,
    /// Anybody. Only who asks for it in so many words gets it.
    Anybody,
}

impl Route {
    /// The settings of a client for this route.
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
