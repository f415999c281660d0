//! Requests to the Kubernetes API.

use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_TYPE};
use reqwest::{Client, Method, Proxy, StatusCode, Url};
use serde_json::Value as Json;
use tokio::sync::Mutex;

use super::cluster::{Authentication, Cluster};
use super::exec::{ExecCommand, ExecCredential};
use crate::error::StoreError;
use crate::host::Host;
use crate::stores::requests::{self, Response, RetryPolicy, TlsArguments, TlsSettings, Verification, shown};

const RETRIES: RetryPolicy =
    RetryPolicy { attempts: 3, shortest: Duration::from_millis(250), longest: Duration::from_secs(4) };

/// Answers about objects without their content.
const METADATA_ONLY: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1, application/json";

/// The objects of a namespace.
pub(super) struct Api {
    host: Host,
    server: Url,
    cluster: Cluster,
    pub namespace: String,
    session: Mutex<Option<Session>>,
}

/// A client with the credentials that it was made for.
#[derive(Clone)]
struct Session {
    client: Client,
    credential: Option<ExecCredential>,
}

/// A kind of object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Resource {
    Secrets,
    Leases,
}

impl Resource {
    fn path(self) -> &'static str {
        match self {
            Self::Secrets => "/api/v1",
            Self::Leases => "/apis/coordination.k8s.io/v1",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Secrets => "secrets",
            Self::Leases => "leases",
        }
    }
}

/// The result of a write that may meet another one.
#[derive(Debug)]
pub(super) enum Outcome {
    Done(Json),
    /// Another write came first.
    Refused,
}

impl Api {
    /// Creates the client of a cluster's API.
    pub fn new(cluster: Cluster, namespace: &str, host: &Host) -> Result<Self, StoreError> {
        let Some(server) = &cluster.server else {
            return Err(StoreError::InvalidArgument {
                argument: "config_path".to_owned(),
                reason: "no cluster is configured; set config_path or KUBE_CONFIG_PATH (~/.kube/config, for example), \
                         in_cluster_config = true in a pod, or host"
                    .to_owned(),
            });
        };
        let with_scheme = if server.contains("://") { server.clone() } else { format!("https://{server}") };
        let server = Url::parse(&with_scheme).map_err(|problem| StoreError::InvalidArgument {
            argument: "host".to_owned(),
            reason: format!("{server:?} is not a valid URL: {problem}"),
        })?;
        let api =
            Self { host: host.clone(), server, cluster, namespace: namespace.to_owned(), session: Mutex::default() };
        // Certificates and keys are checked before the first request.
        api.client(None)?;
        Ok(api)
    }

    fn client(&self, credential: Option<&ExecCredential>) -> Result<Client, StoreError> {
        let cluster = &self.cluster;
        let of_exec = credential.and_then(|credential| credential.identity.as_ref());
        let identity = match (of_exec, &cluster.certificate, &cluster.key) {
            (Some(identity), _, _) => Some(identity.reveal().as_bytes().to_vec()),
            (None, Some(certificate), Some(key)) => Some([&certificate[..], b"\n", key].concat()),
            (None, None, None) => None,
            (None, Some(_), None) => return Err(invalid("client_key", "it is required with \"client_certificate\"")),
            (None, None, Some(_)) => return Err(invalid("client_certificate", "it is required with \"client_key\"")),
        };
        let tls = TlsSettings {
            authorities: cluster.authorities.clone().filter(|_| !cluster.is_insecure),
            identity,
            verification: if cluster.is_insecure { Verification::Skipped } else { Verification::Required },
        };
        let arguments = TlsArguments { authorities: "cluster_ca_certificate", identity: "client_certificate" };
        let mut builder = requests::builder(&self.host, &tls, arguments)?;
        if let Some(url) = &cluster.proxy {
            let proxy = Proxy::all(url).map_err(|_| invalid("proxy_url", "it is not the URL of a proxy"))?;
            builder = builder.proxy(proxy);
        }
        requests::build(builder, arguments)
    }

    /// Returns the client, with credentials that are still valid.
    async fn session(&self, rejected: Rejected) -> Result<Session, StoreError> {
        let mut kept = self.session.lock().await;
        if let Some(session) = &*kept
            && rejected == Rejected::No
            && session.credential.as_ref().is_none_or(ExecCredential::is_fresh)
        {
            return Ok(session.clone());
        }
        let credential = match &self.cluster.authentication {
            Authentication::Exec(command) => Some(ExecCommand::run(command).await?),
            _ => None,
        };
        let session = Session { client: self.client(credential.as_ref())?, credential };
        *kept = Some(session.clone());
        Ok(session)
    }

    fn url(&self, resource: Resource, name: &str, query: &str) -> Url {
        let mut url = self.server.clone();
        let base = url.path().trim_end_matches('/').to_owned();
        let name = if name.is_empty() { String::new() } else { format!("/{name}") };
        url.set_path(&format!("{base}{}/namespaces/{}/{}{name}", resource.path(), self.namespace, resource.name()));
        url.set_query(Some(query).filter(|query| !query.is_empty()));
        url
    }

    async fn send(
        &self,
        method: Method,
        url: &Url,
        body: Option<&Json>,
        accept: &'static str,
    ) -> Result<Response, StoreError> {
        let response = self.attempt(&method, url, body, accept, Rejected::No).await?;
        let is_renewable = matches!(self.cluster.authentication, Authentication::Exec(_));
        if response.status == StatusCode::UNAUTHORIZED && is_renewable {
            return self.attempt(&method, url, body, accept, Rejected::Yes).await;
        }
        Ok(response)
    }

    async fn attempt(
        &self,
        method: &Method,
        url: &Url,
        body: Option<&Json>,
        accept: &'static str,
        rejected: Rejected,
    ) -> Result<Response, StoreError> {
        let session = self.session(rejected).await?;
        let token_of_file = match &self.cluster.authentication {
            Authentication::TokenFile(path) => {
                Some(std::fs::read_to_string(path).map_err(|problem| StoreError::Unauthenticated {
                    service: "the Kubernetes API".to_owned(),
                    reason: format!(
                        "the file {} with the token cannot be read: {}",
                        path.display(),
                        groma_diagnostics::io_reason(&problem)
                    ),
                    advice: String::new(),
                })?)
            }
            _ => None,
        };
        let encoded = body.map(Json::to_string);
        let build = |mut request: reqwest::RequestBuilder| {
            request = request.header(ACCEPT, accept);
            let of_exec = session.credential.as_ref().and_then(|credential| credential.token.as_ref());
            request = match (&self.cluster.authentication, &token_of_file, of_exec) {
                (_, Some(token), _) => request.bearer_auth(token.trim()),
                (_, _, Some(token)) | (Authentication::Token(token), _, _) => request.bearer_auth(token.reveal()),
                (Authentication::Password(name, password), _, _) => request.basic_auth(name, Some(password.reveal())),
                _ => request,
            };
            match &encoded {
                Some(body) => request.header(CONTENT_TYPE, "application/json").body(body.clone()),
                None => request,
            }
        };
        requests::send(&session.client, method, url, RETRIES, build).await
    }

    /// Returns an object; `None` if it does not exist.
    pub async fn get(&self, resource: Resource, name: &str) -> Result<Option<Json>, StoreError> {
        let url = self.url(resource, name, "");
        let response = self.send(Method::GET, &url, None, "application/json").await?;
        match response.status {
            StatusCode::OK => Ok(serde_json::from_slice(&response.body).ok()),
            StatusCode::NOT_FOUND => Ok(None),
            _ => Err(self.failed(resource, "get", name, &response)),
        }
    }

    /// Creates an object, unless one of this name exists.
    pub async fn create(&self, resource: Resource, object: &Json) -> Result<Outcome, StoreError> {
        let url = self.url(resource, "", "");
        let response = self.send(Method::POST, &url, Some(object), "application/json").await?;
        self.outcome(resource, "create", object["metadata"]["name"].as_str().unwrap_or_default(), &response)
    }

    /// Replaces an object, if it still has the resource version of `object`.
    pub async fn update(&self, resource: Resource, object: &Json) -> Result<Outcome, StoreError> {
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        let url = self.url(resource, name, "");
        let response = self.send(Method::PUT, &url, Some(object), "application/json").await?;
        if response.status == StatusCode::NOT_FOUND {
            return Ok(Outcome::Refused);
        }
        self.outcome(resource, "update", name, &response)
    }

    /// Deletes an object. A missing one is not an error.
    pub async fn delete(&self, resource: Resource, name: &str) -> Result<(), StoreError> {
        let url = self.url(resource, name, "");
        let response = self.send(Method::DELETE, &url, None, "application/json").await?;
        match response.status {
            status if status.is_success() || status == StatusCode::NOT_FOUND => Ok(()),
            _ => Err(self.failed(resource, "delete", name, &response)),
        }
    }

    /// Returns the metadata of the objects with these labels.
    pub async fn list(&self, resource: Resource, labels: &[(&str, &str)]) -> Result<Vec<Json>, StoreError> {
        let selector = labels.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(",");
        let selector = groma_cloud::api::url_encoded(&selector);
        let mut items = Vec::new();
        let mut next = String::new();
        loop {
            let mut query = format!("labelSelector={selector}&limit=500");
            if !next.is_empty() {
                query.push_str(&format!("&continue={}", groma_cloud::api::url_encoded(&next)));
            }
            let url = self.url(resource, "", &query);
            let response = self.send(Method::GET, &url, None, METADATA_ONLY).await?;
            if response.status != StatusCode::OK {
                return Err(self.failed(resource, "list", "", &response));
            }
            let page: Json = serde_json::from_slice(&response.body).unwrap_or_default();
            items.extend(page["items"].as_array().into_iter().flatten().map(|item| item["metadata"].clone()));
            page["metadata"]["continue"].as_str().unwrap_or_default().clone_into(&mut next);
            if next.is_empty() {
                return Ok(items);
            }
        }
    }

    fn outcome(&self, resource: Resource, verb: &str, name: &str, response: &Response) -> Result<Outcome, StoreError> {
        match response.status {
            StatusCode::OK | StatusCode::CREATED => {
                Ok(Outcome::Done(serde_json::from_slice(&response.body).unwrap_or_default()))
            }
            StatusCode::CONFLICT => Ok(Outcome::Refused),
            _ => Err(self.failed(resource, verb, name, response)),
        }
    }

    fn failed(&self, resource: Resource, verb: &str, name: &str, response: &Response) -> StoreError {
        let status: Json = serde_json::from_slice(&response.body).unwrap_or_default();
        let reason = match status["message"].as_str() {
            Some(message) => format!("HTTP status {}: {message}", response.status.as_u16()),
            None => response.reason(),
        };
        let kind = resource.name();
        let location = format!("{kind} {name:?} in the namespace {:?}", self.namespace);
        match response.status {
            StatusCode::UNAUTHORIZED => StoreError::Unauthenticated {
                service: shown(&self.server),
                reason,
                advice: "Check token, exec, or the user of the context in the kubeconfig.".to_owned(),
            },
            StatusCode::FORBIDDEN => StoreError::AccessDenied {
                resource: location,
                permission: Some(format!("{verb} {kind}")),
                reason,
                advice: format!(
                    "Let an administrator grant what states need: kubectl create role terraform-state -n {0} \
                     --verb=get,list,create,update,delete --resource=secrets,leases.coordination.k8s.io && kubectl create rolebinding \
                     terraform-state -n {0} --role=terraform-state --user=USER",
                    self.namespace
                ),
            },
            StatusCode::NOT_FOUND if status["details"]["kind"] == "namespaces" => StoreError::NotFound {
                what: format!("the namespace {:?}", self.namespace),
                advice: format!("Check namespace, or create it: kubectl create namespace {}", self.namespace),
            },
            StatusCode::PAYLOAD_TOO_LARGE => StoreError::TooLarge { location, reason },
            _ => StoreError::Service { service: shown(&self.server), action: format!("{verb} the {kind}"), reason },
        }
    }
}

/// Whether the API has rejected the credentials of the last attempt.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rejected {
    Yes,
    No,
}

fn invalid(argument: &str, reason: &str) -> StoreError {
    StoreError::InvalidArgument { argument: argument.to_owned(), reason: reason.to_owned() }
}
