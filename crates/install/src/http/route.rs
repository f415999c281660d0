//! Ways to servers: proxies, and who is believed to be a server.

use std::path::PathBuf;

use reqwest::{Certificate, ClientBuilder, NoProxy, Proxy};

use super::error::{HttpError, innermost};

/// How servers are got at, where that is not left to the environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Route {
    /// The proxy for addresses that begin with `http:`.
    pub http_proxy: Option<String>,
    /// The proxy for addresses that begin with `https:`.
    pub https_proxy: Option<String>,
    /// What is asked without a proxy, as in `NO_PROXY`.
    pub no_proxy: Option<String>,
    /// The certificate authorities that count, in place of those of the system: a file in PEM.
    pub authorities: Option<PathBuf>,
    /// Who is believed to be a server.
    pub trust: ServerTrust,
}

/// Who is believed to be a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ServerTrust {
    /// Who has a certificate.
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
