//! The HTTP client for registries, mirrors and download servers.

mod client;
mod error;
mod response;

pub use client::{Http, HttpOptions};
pub use error::HttpError;
pub(crate) use error::without_secrets;
pub use reqwest::{Method, StatusCode, Url};
pub use response::Response;
