//! The client of AWS services.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::Value as Json;
use tokio::sync::OnceCell;

use super::endpoint::{default_url, request_url, signing_region};
use super::error::{AwsError, RequestError, ServiceError};
use super::loading::{Loaded, explained};
use super::request::{AwsRequest, AwsResponse, Signature};
use super::service::{AwsService, Partition};
use super::settings::{AwsSettings, with_scheme};
use super::signing::{Clock, sign_request};
use crate::background;
use crate::http::{HeaderName, HeaderValue, HttpError, HttpRequest, HttpResponse, Method, Transport, Url};
use crate::retry::Backoff;

const DEFAULT_ATTEMPTS: u32 = 3;

/// A client of AWS services. Clones share connections, credentials and the corrected clock.
///
/// Credentials are loaded at the first request and renewed before they expire. Requests are signed with Signature
/// Version 4 and repeated with jittered delays after throttling, errors of the service and of the network; a wrong
/// clock is corrected and rejected temporary keys are renewed without counting as an attempt. The futures of this type
/// need no async runtime: requests run on the thread of [`crate::background`].
#[derive(Clone, Debug)]
pub struct AwsClient {
    inner: Arc<AwsInner>,
}

#[derive(Debug)]
struct AwsInner {
    settings: AwsSettings,
    transport: Transport,
    loaded: OnceCell<Loaded>,
    clock: Clock,
    backoff: Backoff,
}

/// The identity behind the credentials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallerIdentity {
    /// The number of the account.
    pub account: String,
    /// The ARN of the user or the role session.
    pub arn: String,
}

impl AwsClient {
    /// Creates a client. Sends no request yet.
    ///
    /// # Errors
    /// Fails if a connection setting is invalid.
    pub fn new(mut settings: AwsSettings) -> Result<Self, AwsError> {
        let environment = &settings.environment;
        let mut connection = settings.connection.or_environment(environment);
        // The setting of the block precedes the variable, as in the SDK for Go that Terraform's AWS provider uses.
        if connection.ca_bundle.is_none() {
            connection.ca_bundle = environment.get("AWS_CA_BUNDLE").map(|path| environment.expand_home(path));
        }
        let product = concat!("Groma/", env!("CARGO_PKG_VERSION")).to_owned();
        let user_agent = [vec![product], settings.user_agent.clone()].concat().join(" ");
        let transport = Transport::new(&connection, &user_agent)?;
        settings.connection = connection;
        let backoff = Backoff::default();
        Ok(Self {
            inner: Arc::new(AwsInner {
                settings,
                transport,
                loaded: OnceCell::new(),
                clock: Clock::default(),
                backoff,
            }),
        })
    }

    /// Returns the region of requests.
    ///
    /// # Errors
    /// Fails if no source names one, or if the shared configuration files cannot be used.
    pub fn region(&self) -> BoxFuture<'_, Result<String, AwsError>> {
        Box::pin(async move {
            let inner = self.inner.clone();
            background::run(async move { inner.region(None).await }).await?
        })
    }

    /// Returns the partition of the client's region.
    ///
    /// # Errors
    /// Fails like [`Self::region`].
    pub fn partition(&self) -> BoxFuture<'_, Result<Partition, AwsError>> {
        Box::pin(async move { self.region().await.map(|region| Partition::of_region(&region)) })
    }

    /// Loads the credentials and returns the account that they belong to. Where they do not tell it, returns the access
    /// key ID: this names the owner of rate limits without a request to AWS STS.
    ///
    /// # Errors
    /// Fails if there are no credentials.
    pub fn credentials_owner(&self) -> BoxFuture<'_, Result<String, AwsError>> {
        Box::pin(async move {
            let inner = self.inner.clone();
            background::run(async move {
                let keys = inner.loaded().await?.keys.get(inner.clock.now()).await;
                let keys = keys.map_err(|error| explained(&inner.settings, &error))?;
                let account = keys.account_id().map(|account| account.as_str().to_owned());
                Ok(account.unwrap_or_else(|| keys.access_key_id().to_owned()))
            })
            .await?
        })
    }

    /// Adds the headers that sign a request of another client.
    pub(crate) async fn sign(
        &self,
        request: &mut HttpRequest,
        service: AwsService,
        region: &str,
    ) -> Result<(), AwsError> {
        let inner = &self.inner;
        let keys = inner.loaded().await?.keys.get(inner.clock.now()).await;
        let keys = keys.map_err(|error| explained(&inner.settings, &error))?;
        sign_request(request, service, region, &keys, inner.clock.now())
    }

    /// Returns the headers that sign a `GET` request for `url`, for callers that send it themselves.
    ///
    /// # Errors
    /// Fails if there are no credentials.
    pub fn signed_headers<'a>(
        &'a self,
        url: &'a Url,
        service: AwsService,
        region: &'a str,
    ) -> BoxFuture<'a, Result<Vec<(String, String)>, AwsError>> {
        Box::pin(async move {
            let (client, region) = (self.clone(), region.to_owned());
            let mut request = HttpRequest::new(Method::GET, url.clone());
            background::run(async move {
                client.sign(&mut request, service, &region).await?;
                let text = |(name, value): (&HeaderName, &HeaderValue)| {
                    Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
                };
                Ok(request.headers.iter().filter_map(text).collect())
            })
            .await?
        })
    }

    /// Sends a request and returns its successful response.
    ///
    /// # Errors
    /// Fails if there are no credentials, if no response arrives, or if the service answers with an error.
    pub fn send(&self, request: AwsRequest) -> BoxFuture<'_, Result<AwsResponse, RequestError>> {
        Box::pin(async move {
            let inner = self.inner.clone();
            background::run(async move { inner.send(&request).await }).await.map_err(AwsError::from)?
        })
    }

    /// Sends a request and blocks until its response arrives.
    ///
    /// # Errors
    /// Fails like [`Self::send`].
    pub fn send_blocking(&self, request: AwsRequest) -> Result<AwsResponse, RequestError> {
        let inner = self.inner.clone();
        background::block_on(async move { inner.send(&request).await }).map_err(AwsError::from)?
    }

    /// Asks AWS STS for the identity behind the credentials.
    ///
    /// # Errors
    /// Fails like [`Self::send`].
    pub fn caller_identity(&self) -> BoxFuture<'_, Result<CallerIdentity, RequestError>> {
        Box::pin(async move {
            let inner = self.inner.clone();
            background::run(async move { inner.caller_identity().await }).await.map_err(AwsError::from)?
        })
    }

    /// Asks AWS STS for the identity behind the credentials and blocks until the answer arrives.
    ///
    /// # Errors
    /// Fails like [`Self::send`].
    pub fn caller_identity_blocking(&self) -> Result<CallerIdentity, RequestError> {
        let inner = self.inner.clone();
        background::block_on(async move { inner.caller_identity().await }).map_err(AwsError::from)?
    }
}

impl AwsInner {
    // A failed load is not kept: the next request tries again, for example after the user has logged in elsewhere.
    async fn loaded(&self) -> Result<&Loaded, AwsError> {
        self.loaded.get_or_try_init(|| Loaded::load(&self.settings, &self.transport)).await
    }

    async fn region(&self, wanted: Option<&str>) -> Result<String, AwsError> {
        match wanted {
            Some(region) => Ok(region.to_owned()),
            None => self.loaded().await?.region.clone().ok_or(AwsError::MissingRegion),
        }
    }

    async fn send(&self, request: &AwsRequest) -> Result<AwsResponse, RequestError> {
        // A setting of 0 still sends the request once.
        let attempts = request.attempts.or(self.settings.attempts).unwrap_or(DEFAULT_ATTEMPTS).max(1);
        let mut failed = 0;
        let mut corrections = Corrections::default();
        loop {
            let answer = self.attempt(request, &mut corrections).await;
            match answer {
                Attempt::Answered(response) => return Ok(response),
                // No attempt is counted and no delay is needed. `Corrections` bounds the repetitions.
                Attempt::Corrected => continue,
                Attempt::Final(error) => return Err(error),
                Attempt::Transient(error) => {
                    failed += 1;
                    if failed >= attempts {
                        return Err(error);
                    }
                    tokio::time::sleep(self.backoff.delay(failed - 1)).await;
                }
            }
        }
    }

    /// Signs and sends a request once.
    async fn attempt(&self, request: &AwsRequest, corrections: &mut Corrections) -> Attempt {
        let loaded = match self.loaded().await {
            Ok(loaded) => loaded,
            Err(error) => return Attempt::Final(error.into()),
        };
        let keys = match (loaded.keys.get(self.clock.now()).await, request.signature) {
            (Ok(keys), _) => Some(keys),
            (Err(error), Signature::Required) => return Attempt::Final(explained(&self.settings, &error).into()),
            // Only missing credentials permit an unsigned request. Broken ones are an error, or a public object would
            // hide them.
            (Err(error), Signature::IfCredentials) => match explained(&self.settings, &error) {
                AwsError::MissingCredentials(_) => None,
                error => return Attempt::Final(error.into()),
            },
        };
        let mut sent = match self.build(request, loaded).await {
            Ok(sent) => sent,
            Err(error) => return Attempt::Final(error.into()),
        };
        if let Some(keys) = &keys {
            // `aws-global` selects the global endpoint of STS, but a signature must name a real region.
            let region = signing_region(&sent.1).to_owned();
            if let Err(error) = sign_request(&mut sent.0, request.service, &region, keys, self.clock.now()) {
                return Attempt::Final(error.into());
            }
        }
        let response = match self.transport.send(sent.0).await {
            // 304 is an answer to a conditional request. 301 is S3's way to say that the bucket is in another region.
            Ok(response) if response.status.as_u16() < 400 && response.status.as_u16() != 301 => {
                return Attempt::Answered(response);
            }
            Ok(response) => response,
            Err(error) => return network_error(request, error),
        };
        let error = service_error(request, &response);
        // The codes can also mean a wrong secret key, so the clock is corrected only if the `Date` header shows a
        // difference.
        if is_clock_error(&error) && !corrections.clock && self.clock.learn(response.header("date")) {
            corrections.clock = true;
            return Attempt::Corrected;
        }
        if let Some(keys) = &keys
            && is_expired_keys(&error)
            && !corrections.keys
        {
            corrections.keys = true;
            // The service is right about expiry: the file or the metadata service may have newer keys by now.
            loaded.keys.reject(keys).await;
            return Attempt::Corrected;
        }
        classified(error)
    }

    /// Builds the request without a signature, and returns its region.
    async fn build(&self, request: &AwsRequest, loaded: &Loaded) -> Result<(HttpRequest, String), AwsError> {
        let wanted = request.region.as_deref().or_else(|| {
            // STS may have a region of its own in the settings.
            self.settings.sts_region.as_deref().filter(|_| request.service == AwsService::STS)
        });
        let region = self.region(wanted).await?;
        // Endpoints of the block precede those of the environment and the profile.
        let configured = self.settings.endpoint(request.service).map(str::to_owned);
        let endpoint = match configured.or_else(|| loaded.configured_endpoint(request.service)) {
            Some(url) => with_scheme(&url),
            None => default_url(request.service, &region, loaded.variant),
        };
        let bucket = request.bucket.as_ref().map(|(bucket, style)| (bucket.as_str(), *style));
        let url = request_url(&endpoint, bucket, &request.path, &request.query)?;
        let headers = request
            .header_map()
            .map_err(|name| AwsError::Setting(format!("the header {name} contains invalid characters")))?;
        let mut sent = HttpRequest::new(request.method.clone(), url);
        sent.headers = headers;
        // The request keeps its body for further attempts, which share it.
        sent.body = request.body.clone();
        sent.limit = request.limit;
        Ok((sent, region))
    }

    async fn caller_identity(&self) -> Result<CallerIdentity, RequestError> {
        let request = AwsRequest::new(AwsService::STS, Method::POST, "GetCallerIdentity")
            .with_header("content-type", "application/x-www-form-urlencoded")
            // STS speaks the query protocol, in which the version of the API is a parameter.
            .with_body(b"Action=GetCallerIdentity&Version=2011-06-15".to_vec());
        let response = self.send(&request).await?;
        let text = String::from_utf8_lossy(&response.body);
        let element = |name: &str| {
            let missing = || AwsError::Credentials { reason: format!("the answer of AWS STS has no {name}") };
            xml_element(&text, name).ok_or_else(missing)
        };
        Ok(CallerIdentity { account: element("Account")?, arn: element("Arn")? })
    }
}

/// Corrections that one request has had already; each helps once or not at all.
#[derive(Default)]
struct Corrections {
    clock: bool,
    keys: bool,
}

/// The outcome of an attempt.
enum Attempt {
    Answered(AwsResponse),
    /// The reason of the failure was removed: the same request may be sent at once.
    Corrected,
    Transient(RequestError),
    Final(RequestError),
}

fn network_error(request: &AwsRequest, error: HttpError) -> Attempt {
    let is_transient = error.is_transient();
    let error = RequestError::Network { service: request.service.title, operation: request.operation, error };
    if is_transient { Attempt::Transient(error) } else { Attempt::Final(error) }
}

fn classified(error: ServiceError) -> Attempt {
    const THROTTLING: [&str; 14] = [
        "Throttling",
        "ThrottlingException",
        "ThrottledException",
        "RequestThrottledException",
        "RequestThrottled",
        "TooManyRequestsException",
        "ProvisionedThroughputExceededException",
        "TransactionInProgressException",
        "RequestLimitExceeded",
        "BandwidthLimitExceeded",
        "LimitExceededException",
        "SlowDown",
        "PriorRequestNotComplete",
        "EC2ThrottledException",
    ];
    const DENIED: [&str; 5] =
        ["AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "NotAuthorized", "AuthorizationError"];
    const TRANSIENT: [&str; 3] = ["RequestTimeout", "RequestTimeoutException", "InternalError"];
    let code = error.code.as_str();
    // First, because services report throttling with statuses from 400 to 503.
    if THROTTLING.contains(&code) || error.status == 429 {
        return Attempt::Transient(RequestError::Throttled(Box::new(error)));
    }
    if DENIED.contains(&code) || (error.status == 403 && code == "403") {
        return Attempt::Final(RequestError::AccessDenied(Box::new(error)));
    }
    // A redirect is not followed: its signature would be for the wrong region, and the backend's `region` is to be
    // fixed.
    if let Some(expected) = error.region.clone()
        && (["PermanentRedirect", "AuthorizationHeaderMalformed", "IllegalLocationConstraintException"].contains(&code)
            || error.status == 301)
    {
        return Attempt::Final(RequestError::WrongRegion { expected, error: Box::new(error) });
    }
    let is_transient = TRANSIENT.contains(&code) || matches!(error.status, 500 | 502 | 503 | 504);
    let error = RequestError::Service(Box::new(error));
    if is_transient { Attempt::Transient(error) } else { Attempt::Final(error) }
}

/// Whether a wrong clock of this machine can be the reason of an error.
fn is_clock_error(error: &ServiceError) -> bool {
    const CODES: [&str; 8] = [
        "RequestTimeTooSkewed",
        "RequestExpired",
        "RequestInTheFuture",
        "InvalidSignatureException",
        "SignatureDoesNotMatch",
        "AuthFailure",
        "InvalidSignature",
        "Forbidden",
    ];
    // HEAD requests have no body that could hold a code.
    CODES.contains(&error.code.as_str()) || (error.status == 403 && error.code == "403")
}

fn is_expired_keys(error: &ServiceError) -> bool {
    ["ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired"].contains(&error.code.as_str())
}

/// Reads the error in a response: JSON or XML, or only a status.
fn service_error(request: &AwsRequest, response: &HttpResponse) -> ServiceError {
    let status = response.status.as_u16();
    let text = String::from_utf8_lossy(&response.body);
    // Bodies that are not JSON become null, in which no member is found, and are searched as XML below.
    let document: Json = serde_json::from_slice(&response.body).unwrap_or_default();
    let member = |names: &[&str]| names.iter().find_map(|name| document[*name].as_str()).map(str::to_owned);
    // REST protocols report the code in the header, the other protocols in the body.
    let code = response.header("x-amzn-errortype").map(str::to_owned);
    let code = code.or_else(|| member(&["__type", "code", "Code"])).or_else(|| xml_element(&text, "Code"));
    // `com.amazonaws.service#Code:http://...`
    let code = code.map(|code| {
        let code = code.split(':').next().unwrap_or_default();
        code.rsplit('#').next().unwrap_or_default().to_owned()
    });
    let message = member(&["message", "Message", "errorMessage"]).or_else(|| xml_element(&text, "Message"));
    // S3 has a name of its own for this header.
    let request_id = ["x-amzn-requestid", "x-amz-request-id"].iter().find_map(|name| response.header(name));
    let region = response.header("x-amz-bucket-region").map(str::to_owned).or_else(|| xml_element(&text, "Region"));
    ServiceError {
        service: request.service,
        operation: request.operation,
        status,
        // The status serves as the code of a response without a body, to which `classified` and `is_clock_error`
        // refer.
        code: code.filter(|code| !code.is_empty()).unwrap_or_else(|| status.to_string()),
        message: message.unwrap_or_default(),
        request_id: request_id.map(str::to_owned),
        region,
    }
}

/// Returns the text of the first XML element of this name. Error documents of AWS have no attributes, comments or
/// CDATA, so this needs no XML parser.
pub(super) fn xml_element(document: &str, name: &str) -> Option<String> {
    let (_, rest) = document.split_once(&format!("<{name}>"))?;
    let (text, _) = rest.split_once(&format!("</{name}>"))?;
    // "&amp;" must be the last, or "&amp;lt;" would become "<".
    let entities = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")];
    Some(entities.iter().fold(text.to_owned(), |text, (entity, character)| text.replace(entity, character)))
}
