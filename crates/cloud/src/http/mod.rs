//! HTTP connections: proxies, certificate authorities, timeouts.

mod connection;
mod error;
mod resolver;
mod transport;

pub use connection::{ConnectionSettings, TlsVerification};
pub use error::HttpError;
pub use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
pub use reqwest::{Method, StatusCode, Url};
pub use resolver::Resolver;
pub use transport::{HttpRequest, HttpResponse, Transport};
