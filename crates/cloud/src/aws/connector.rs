//! The HTTP client of `aws-config`, which is ours: one set of proxies, certificates and connections.

use std::time::Duration;

use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest as SmithyRequest, HttpResponse as SmithyResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::body::SdkBody;

use crate::http::{HeaderMap, HeaderName, HeaderValue, HttpError, HttpRequest, Method, Transport, Url};

/// Credentials are small documents.
const LARGEST_DOCUMENT: u64 = 1 << 20;

/// An adapter from the SDK's HTTP interface to [`Transport`].
#[derive(Clone, Debug)]
pub(super) struct Connector {
    transport: Transport,
    timeout: Option<Duration>,
}

impl Connector {
    pub(super) fn new(transport: Transport) -> Self {
        Self { transport, timeout: None }
    }
}

impl HttpClient for Connector {
    fn http_connector(&self, settings: &HttpConnectorSettings, _: &RuntimeComponents) -> SharedHttpConnector {
        // One deadline covers connecting and reading, because `Transport` sends a request as a whole.
        let timeout = settings.read_timeout().map(|read| read + settings.connect_timeout().unwrap_or_default());
        SharedHttpConnector::new(Self { transport: self.transport.clone(), timeout })
    }
}

impl HttpConnector for Connector {
    fn call(&self, request: SmithyRequest) -> HttpConnectorFuture {
        let (transport, timeout) = (self.transport.clone(), self.timeout);
        HttpConnectorFuture::new(async move {
            let request = converted(request)?;
            let path = request.url.path().to_owned();
            let sent = transport.send(request);
            let answer = match timeout {
                Some(limit) => tokio::time::timeout(limit, sent)
                    .await
                    .map_err(|_| ConnectorError::timeout("no response in time".into()))?,
                None => sent.await,
            };
            let answer = answer.map_err(|error| match &error {
                HttpError::Timeout { .. } => ConnectorError::timeout(error.into()),
                HttpError::Connection { .. } => ConnectorError::io(error.into()),
                // User errors end the attempts of the SDK: repeating the request would give the same result.
                HttpError::Setup(_) | HttpError::TooLarge { .. } | HttpError::Tls { .. } => {
                    ConnectorError::user(error.into())
                }
            })?;
            let body = checked_metadata(&path, answer.body)?;
            let mut response = SmithyResponse::new(answer.status.into(), SdkBody::from(body));
            for (name, value) in &answer.headers {
                // The SDK cannot use headers that are not text, and the body may be shorter than its declared length.
                if let (Ok(value), false) = (value.to_str(), name == "content-length") {
                    response.headers_mut().append(name.to_string(), value.to_owned());
                }
            }
            Ok(response)
        })
    }
}

/// Checks the name of a role in an answer of the instance metadata service. The SDK makes a URL of it and panics if
/// that is not possible.
fn checked_metadata(path: &str, mut body: Vec<u8>) -> Result<Vec<u8>, ConnectorError> {
    // Only the metadata service answers with plain lines. Other bodies, such as JSON, must stay as they are.
    if !path.contains("/meta-data/") {
        return Ok(body);
    }
    while body.last().is_some_and(u8::is_ascii_whitespace) {
        // Emulators of the metadata service end the name with a line break, which is no part of the role's name.
        body.pop();
    }
    let names_role =
        ["/security-credentials/", "/security-credentials-extended/"].iter().any(|end| path.ends_with(end));
    // The characters that IAM allows in names of roles.
    let is_valid = |byte: &u8| byte.is_ascii_alphanumeric() || b"+=,.@-_".contains(byte);
    if names_role && !body.iter().all(is_valid) {
        return Err(ConnectorError::user("the instance metadata service answered with an invalid role name".into()));
    }
    Ok(body)
}

fn converted(request: SmithyRequest) -> Result<HttpRequest, ConnectorError> {
    let invalid = |part: &'static str| ConnectorError::user(format!("the SDK built an invalid {part}").into());
    let method = Method::from_bytes(request.method().as_bytes()).map_err(|_| invalid("method"))?;
    let url = Url::parse(request.uri()).map_err(|_| invalid("URL"))?;
    let mut headers = HeaderMap::new();
    for (name, value) in request.headers() {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| invalid("header name"))?;
        headers.append(name, HeaderValue::from_str(value).map_err(|_| invalid("header"))?);
    }
    // Requests for credentials have their whole body in memory.
    let body = request.body().bytes().ok_or_else(|| invalid("body"))?.to_vec().into();
    Ok(HttpRequest { headers, body, limit: LARGEST_DOCUMENT, ..HttpRequest::new(method, url) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn role_names_of_the_metadata_service_are_checked() {
        let listing = "/latest/meta-data/iam/security-credentials/";
        let checked = |path: &str, body: &str| checked_metadata(path, body.as_bytes().to_vec()).ok();
        assert_eq!(checked(listing, "the-role\n"), Some(b"the-role".to_vec()));
        assert_eq!(checked(listing, "<html> no"), None);
        assert_eq!(checked(&format!("{listing}the-role"), "{ }"), Some(b"{ }".to_vec()));
        assert_eq!(checked("/v2/credentials", "x\n"), Some(b"x\n".to_vec()));
    }
}
