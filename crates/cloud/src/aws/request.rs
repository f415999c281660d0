//! Requests to services of AWS, and their responses.

use bytes::Bytes;

use super::endpoint::Addressing;
use super::service::AwsService;
use crate::http::{HeaderMap, HttpRequest, Method};

/// A request before it is signed. Not `Debug`, because headers and body may contain secrets.
#[derive(Clone)]
pub struct AwsRequest {
    pub(super) service: AwsService,
    pub(super) operation: &'static str,
    pub(super) method: Method,
    pub(super) bucket: Option<(String, Addressing)>,
    pub(super) path: String,
    pub(super) query: Vec<(String, String)>,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Bytes,
    pub(super) region: Option<String>,
    pub(super) attempts: Option<u32>,
    pub(super) limit: u64,
    pub(super) signature: Signature,
}

/// Whether a request carries a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signature {
    /// The request fails if there are no credentials.
    Required,
    /// The request is sent without a signature if there are no credentials: public objects need none.
    IfCredentials,
}

/// A successful response of an AWS service.
pub type AwsResponse = crate::http::HttpResponse;

impl AwsRequest {
    /// Creates a request. `operation` is the name of the API operation, which errors mention.
    pub fn new(service: AwsService, method: Method, operation: &'static str) -> Self {
        Self {
            service,
            operation,
            method,
            bucket: None,
            // Most services have one path and select the operation by header or body.
            path: "/".to_owned(),
            query: Vec::new(),
            headers: Vec::new(),
            body: Bytes::new(),
            region: None,
            attempts: None,
            limit: HttpRequest::LIMIT,
            signature: Signature::Required,
        }
    }

    /// Creates a request of a JSON protocol: `X-Amz-Target: TARGET.OPERATION`. `version` is `1.0` or `1.1`.
    pub fn json(service: AwsService, target: &str, operation: &'static str, version: &str, body: Vec<u8>) -> Self {
        Self::new(service, Method::POST, operation)
            .with_header("content-type", format!("application/x-amz-json-{version}"))
            .with_header("x-amz-target", format!("{target}.{operation}"))
            .with_body(body)
    }

    /// Creates a request for a bucket, or for the object `key` in it.
    pub fn s3(method: Method, operation: &'static str, bucket: &str, key: &str, style: Addressing) -> Self {
        let path = key.to_owned();
        Self { bucket: Some((bucket.to_owned(), style)), path, ..Self::new(AwsService::S3, method, operation) }
    }

    /// Sets the path, not encoded.
    #[must_use]
    pub fn with_path(mut self, path: impl Into<String>) -> Self {
        self.path = path.into();
        self
    }

    /// Adds a query parameter.
    #[must_use]
    pub fn with_query(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.query.push((name.into(), value.into()));
        self
    }

    /// Adds a header, which becomes part of the signature.
    #[must_use]
    pub fn with_header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Sets the body; it is empty by default.
    #[must_use]
    pub fn with_body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    /// Sends the request to another region than that of the client.
    #[must_use]
    pub fn in_region(mut self, region: impl Into<String>) -> Self {
        self.region = Some(region.into());
        self
    }

    /// Limits the attempts; 1 for callers that pace and repeat requests themselves.
    #[must_use]
    pub fn with_attempts(mut self, attempts: u32) -> Self {
        self.attempts = Some(attempts);
        self
    }

    /// Limits the size of the response body in bytes.
    #[must_use]
    pub fn with_limit(mut self, limit: u64) -> Self {
        self.limit = limit;
        self
    }

    /// Sends the request without a signature if there are no credentials.
    #[must_use]
    pub fn signed_if_possible(mut self) -> Self {
        self.signature = Signature::IfCredentials;
        self
    }

    /// Converts the headers for the transport.
    ///
    /// # Errors
    /// Fails with the name of a header that is not valid.
    pub(super) fn header_map(&self) -> Result<HeaderMap, String> {
        let mut map = HeaderMap::new();
        for (name, value) in &self.headers {
            let parsed = name.parse::<crate::http::HeaderName>().ok().zip(value.parse().ok());
            let (name, value) = parsed.ok_or_else(|| name.clone())?;
            map.append(name, value);
        }
        Ok(map)
    }
}
