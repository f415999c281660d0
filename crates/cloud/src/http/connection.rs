//! Connection settings: proxies, certificate authorities, timeouts.

use std::net::ToSocketAddrs;
use std::path::PathBuf;
use std::thread::Builder;
use std::time::Duration;
use std::{fmt, io};

use groma_diagnostics::io_reason;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{Certificate, ClientBuilder, NoProxy, Proxy};
use tokio::sync::oneshot;

use super::error::{HttpError, innermost};
use crate::environment::Environment;

/// The settings of connections. A proxy that is `None` means none: [`Self::or_environment`] adds those of the
/// environment.
///
/// `Debug` leaves out the proxies, because their URLs may hold passwords.
#[derive(Clone, PartialEq, Eq)]
pub struct ConnectionSettings {
    /// The proxy for `http:` URLs.
    pub http_proxy: Option<String>,
    /// The proxy for `https:` URLs.
    pub https_proxy: Option<String>,
    /// The hosts that are reached without a proxy, in the syntax of `NO_PROXY`.
    pub no_proxy: Option<String>,
    /// A PEM file with the certificate authorities to trust instead of those of the system.
    pub ca_bundle: Option<PathBuf>,
    /// Whether the certificate of the server is verified.
    pub tls_verification: TlsVerification,
    /// The time in which a connection must be established.
    pub connect_timeout: Duration,
    /// The maximum time without any data from the server.
    pub read_timeout: Duration,
}

/// Whether the certificate of a server is verified.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TlsVerification {
    /// The certificate must be valid for the host and issued by a trusted authority.
    #[default]
    Enabled,
    /// Any certificate is accepted, as the argument `insecure` requests.
    Disabled,
}

impl fmt::Debug for ConnectionSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectionSettings")
            .field("ca_bundle", &self.ca_bundle)
            .field("tls_verification", &self.tls_verification)
            .finish_non_exhaustive()
    }
}

impl Default for ConnectionSettings {
    fn default() -> Self {
        Self {
            http_proxy: None,
            https_proxy: None,
            no_proxy: None,
            ca_bundle: None,
            tls_verification: TlsVerification::default(),
            connect_timeout: Duration::from_secs(10),
            read_timeout: Duration::from_secs(60),
        }
    }
}

impl ConnectionSettings {
    /// Fills what is not set from `HTTP_PROXY`, `HTTPS_PROXY`, `NO_PROXY` and `ALL_PROXY`, in capitals or not.
    #[must_use]
    pub fn or_environment(mut self, environment: &Environment) -> Self {
        let variable = |names: &[&str]| environment.first(names).map(str::to_owned);
        // CGI programs get headers of requests as HTTP_*, so HTTP_PROXY could be a header named Proxy there.
        let http = if environment.get("REQUEST_METHOD").is_some() { None } else { variable(&["HTTP_PROXY"]) };
        let all = || variable(&["all_proxy", "ALL_PROXY"]);
        self.http_proxy = self.http_proxy.or_else(|| variable(&["http_proxy"])).or(http).or_else(all);
        self.https_proxy = self.https_proxy.or_else(|| variable(&["https_proxy", "HTTPS_PROXY"])).or_else(all);
        self.no_proxy = self.no_proxy.or_else(|| variable(&["no_proxy", "NO_PROXY"]));
        self
    }

    /// Configures a client that uses the proxies.
    pub(super) fn applied_to(&self, builder: ClientBuilder) -> Result<ClientBuilder, HttpError> {
        let invalid = |name: &str, error: &reqwest::Error| {
            HttpError::Setup(format!("the {name} is not a valid proxy URL: {}", innermost(error)))
        };
        // The library would read the proxies of the process itself; the environment is handed in.
        let mut builder = builder.no_proxy();
        let excluded = self.no_proxy.as_deref().and_then(NoProxy::from_string);
        if let Some(address) = &self.http_proxy {
            let proxy = Proxy::http(with_scheme(address)).map_err(|error| invalid("http_proxy", &error))?;
            builder = builder.proxy(proxy.no_proxy(excluded.clone()));
        }
        if let Some(address) = &self.https_proxy {
            let proxy = Proxy::https(with_scheme(address)).map_err(|error| invalid("https_proxy", &error))?;
            builder = builder.proxy(proxy.no_proxy(excluded));
        }
        self.trusting(builder.connect_timeout(self.connect_timeout).read_timeout(self.read_timeout))
    }

    fn trusting(&self, mut builder: ClientBuilder) -> Result<ClientBuilder, HttpError> {
        if let Some(path) = &self.ca_bundle {
            let unusable = |reason: &dyn fmt::Display| {
                HttpError::Setup(format!("the certificate bundle {} cannot be used: {reason}", path.display()))
            };
            let content = std::fs::read(path).map_err(|error| unusable(&io_reason(&error)))?;
            // An empty bundle is refused below, because it would reject every server without naming the reason.
            let certificates = Certificate::from_pem_bundle(&content).map_err(|error| unusable(&innermost(&error)))?;
            if certificates.is_empty() {
                return Err(unusable(&"it contains no certificate"));
            }
            builder = builder.tls_certs_only(certificates);
        }
        Ok(match self.tls_verification {
            TlsVerification::Enabled => builder,
            TlsVerification::Disabled => builder.tls_danger_accept_invalid_certs(true),
        })
    }
}

/// Adds the scheme that users leave out: `proxy.example.com:8080`.
fn with_scheme(address: &str) -> String {
    if address.contains("://") { address.to_owned() } else { format!("http://{address}") }
}

/// Resolves each name on a thread, since the system's resolver blocks.
///
/// The resolver of the HTTP library panics where the operating system does not allow another thread; here that is an
/// error.
#[derive(Clone, Copy, Debug)]
pub struct Resolver {
    /// Starts a lookup on a new thread.
    spawn: fn(Lookup) -> io::Result<()>,
}

type Lookup = Box<dyn FnOnce() + Send>;

impl Resolver {
    /// Creates a resolver that asks the operating system.
    pub fn new() -> Self {
        Self { spawn: |lookup| Builder::new().name("name lookup".to_owned()).spawn(lookup).map(drop) }
    }
}

impl Default for Resolver {
    fn default() -> Self {
        Self::new()
    }
}

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let (sender, receiver) = oneshot::channel();
        let lookup = move || {
            // The receiver is dropped if the answer arrives after the deadline.
            let _ = sender.send((name.as_str(), 0).to_socket_addrs());
        };
        let started = (self.spawn)(Box::new(lookup));
        Box::pin(async move {
            started.map_err(|error| {
                io::Error::other(format!(
                    "no thread can be started to look up the name: {}; raise the limit on processes and threads (ulimit -u), or end \
                     other programs",
                    io_reason(&error)
                ))
            })?;
            let found = receiver.await.map_err(|_| io::Error::other("the name lookup was given up"))??;
            Ok(Box::new(found) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_precede_the_environment() {
        let environment = Environment::default().with("HTTPS_PROXY", "http://e:1").with("http_proxy", "http://e:2");
        let given = ConnectionSettings { https_proxy: Some("http://s:1".to_owned()), ..Default::default() };
        let filled = given.or_environment(&environment.clone().with("NO_PROXY", "localhost"));
        assert_eq!(filled.https_proxy.as_deref(), Some("http://s:1"));
        assert_eq!(filled.http_proxy.as_deref(), Some("http://e:2"));
        assert_eq!(filled.no_proxy.as_deref(), Some("localhost"));
        assert!(!format!("{filled:?}").contains("http"), "a proxy may hold a password");
        let cgi = Environment::default().with("HTTP_PROXY", "http://evil").with("REQUEST_METHOD", "GET");
        assert_eq!(ConnectionSettings::default().or_environment(&cgi).http_proxy, None);
    }

    #[test]
    fn certificate_bundle_problems_name_the_file() {
        let missing = ConnectionSettings { ca_bundle: Some("/no/such.pem".into()), ..Default::default() };
        let problem = missing.applied_to(reqwest::Client::builder()).unwrap_err().to_string();
        assert!(problem.contains("/no/such.pem"), "{problem}");
    }

    fn resolved(resolver: Resolver, name: &str) -> Result<usize, String> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let found = runtime.block_on(resolver.resolve(name.parse().unwrap()));
        found.map(Iterator::count).map_err(|error| error.to_string())
    }

    #[test]
    fn names_are_resolved() {
        assert!(resolved(Resolver::new(), "localhost").unwrap() > 0);
        assert!(resolved(Resolver::new(), "no-such-host.invalid").is_err());
    }

    #[test]
    fn thread_that_cannot_be_started_is_an_error_with_advice() {
        let resolver = Resolver { spawn: |_| Err(io::ErrorKind::WouldBlock.into()) };
        let problem = resolved(resolver, "localhost").unwrap_err();
        assert!(problem.contains("no thread can be started") && problem.contains("ulimit -u"), "{problem}");
    }
}
