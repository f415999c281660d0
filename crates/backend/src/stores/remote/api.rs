//! The API of HCP Terraform, as far as states and locks need it.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use groma_cloud::Secret;
use groma_cloud::api::url_encoded;
use md5::{Digest, Md5};
use reqwest::header::CONTENT_TYPE;
use reqwest::{Client, Method, StatusCode, Url};
use serde::Deserialize;
use serde_json::{Value as Json, json};
use tokio::sync::OnceCell;

use super::settings::Tags;
use crate::error::StoreError;
use crate::host::Tokens;
use crate::stores::requests::{self, Response, RetryPolicy, shown};

const RETRIES: RetryPolicy =
    RetryPolicy { attempts: 4, shortest: Duration::from_millis(500), longest: Duration::from_secs(8) };

const MEDIA_TYPE: &str = "application/vnd.api+json";

/// The API of an organization.
pub(super) struct Api {
    pub client: Client,
    pub hostname: String,
    /// The address of the host: `https://HOST`.
    pub base: Url,
    pub organization: String,
    /// The project of new workspaces; the default one of the organization without it.
    pub project: Option<String>,
    /// The token, once it was looked up.
    pub token: OnceCell<Option<Secret>>,
    pub tokens: Tokens,
    /// The address of the API, once the host has named it.
    pub service: OnceCell<Url>,
}

/// A workspace of the organization.
#[derive(Clone, Debug)]
pub(super) struct Workspace {
    pub id: String,
    pub name: String,
    /// `remote`, `local` or `agent`.
    pub execution_mode: String,
    pub is_locked: bool,
    /// The user, team or run that has locked it.
    pub locked_by: Option<String>,
}

/// The members of a state that the service expects next to it.
#[derive(Default, Deserialize)]
struct Identity {
    serial: Json,
    lineage: Json,
}

/// The version of a state.
pub(super) struct StateVersion {
    pub id: String,
    download: String,
}

impl Api {
    /// Returns the address of the API.
    async fn service(&self) -> Result<&Url, StoreError> {
        self.service.get_or_try_init(|| self.discover()).await
    }

    async fn discover(&self) -> Result<Url, StoreError> {
        let mut url = self.base.clone();
        url.set_path("/.well-known/terraform.json");
        let response = requests::send(&self.client, &Method::GET, &url, RETRIES, |request| request).await?;
        let document: Json = serde_json::from_slice(&response.body).unwrap_or_default();
        let path = ["tfe.v2.1", "tfe.v2"].iter().find_map(|name| document[*name].as_str());
        let found = path.and_then(|path| self.base.join(path).ok());
        found.ok_or_else(|| StoreError::Service {
            service: self.hostname.clone(),
            action: "name its API for workspaces".to_owned(),
            reason: format!(
                "{url} does not have the service tfe.v2 (HTTP status {}); check hostname",
                response.status.as_u16()
            ),
        })
    }

    async fn call(&self, method: Method, path: &str, body: Option<&Json>) -> Result<Response, StoreError> {
        let service = self.service().await?;
        let url = service
            .join(path)
            .map_err(|problem| StoreError::Network { service: self.hostname.clone(), reason: problem.to_string() })?;
        let token = self.token.get_or_try_init(|| self.tokens.token(&self.hostname)).await?;
        let Some(token) = token else { return Err(self.no_token()) };
        let body = body.map(Json::to_string);
        let build = |request: reqwest::RequestBuilder| {
            // The download address of a state may be on another host; it is signed and needs no token.
            let is_own_host = url.origin() == self.base.origin();
            let request = if is_own_host { request.bearer_auth(token.reveal()) } else { request };
            match &body {
                Some(body) => request.header(CONTENT_TYPE, MEDIA_TYPE).body(body.clone()),
                None => request,
            }
        };
        let response = requests::send(&self.client, &method, &url, RETRIES, build).await?;
        if response.status == StatusCode::UNAUTHORIZED {
            return Err(self.unauthenticated(response.reason()));
        }
        Ok(response)
    }

    fn no_token(&self) -> StoreError {
        self.unauthenticated("no token is configured".to_owned())
    }

    fn unauthenticated(&self, reason: String) -> StoreError {
        let variable = self.hostname.replace('-', "__").replace(['.', ':'], "_");
        StoreError::Unauthenticated {
            service: self.hostname.clone(),
            reason,
            advice: format!(
                "Run groma login {}, set token or TF_TOKEN_{variable}, or add credentials to the CLI configuration.",
                self.hostname
            ),
        }
    }

    fn organization_path(&self) -> String {
        format!("organizations/{}", url_encoded(&self.organization))
    }

    /// Returns a workspace; `None` if it does not exist.
    pub async fn workspace(&self, name: &str) -> Result<Option<Workspace>, StoreError> {
        let path = format!("{}/workspaces/{}?include=locked_by", self.organization_path(), url_encoded(name));
        let response = self.call(Method::GET, &path, None).await?;
        match response.status {
            StatusCode::OK => {
                let document: Json = serde_json::from_slice(&response.body).unwrap_or_default();
                Ok(Some(workspace(&document["data"], &document["included"])))
            }
            StatusCode::NOT_FOUND => Ok(None),
            _ => Err(self.failed("read the workspace", &response)),
        }
    }

    /// Creates a workspace whose runs are executed here.
    pub async fn create(&self, name: &str, tags: Option<&Tags>) -> Result<Workspace, StoreError> {
        let mut attributes = json!({ "name": name, "execution-mode": "local" });
        let mut relationships = json!({});
        match tags {
            None => {}
            Some(Tags::Names(names)) => attributes["tag-names"] = json!(names),
            Some(Tags::Pairs(pairs)) => {
                let binding = |(key, value): &(String, String)| json!({ "type": "tag-bindings", "attributes": { "key": key, "value": value } });
                relationships["tag-bindings"] = json!({ "data": pairs.iter().map(binding).collect::<Vec<_>>() });
            }
        }
        if let Some(project) = &self.project {
            let id = self.project_id(project).await?;
            relationships["project"] = json!({ "data": { "type": "projects", "id": id } });
        }
        let data = json!({ "type": "workspaces", "attributes": attributes, "relationships": relationships });
        let body = json!({ "data": data });
        let path = format!("{}/workspaces", self.organization_path());
        let response = self.call(Method::POST, &path, Some(&body)).await?;
        match response.status {
            StatusCode::CREATED | StatusCode::OK => {
                let document: Json = serde_json::from_slice(&response.body).unwrap_or_default();
                Ok(workspace(&document["data"], &Json::Null))
            }
            // The service gives this answer to everybody who may not see the organization.
            StatusCode::NOT_FOUND => Err(StoreError::NotFound {
                what: format!("the organization {:?} on {}", self.organization, self.hostname),
                advice: "Check organization. If it exists, the token lacks the right to create workspaces in it."
                    .to_owned(),
            }),
            _ => Err(self.failed("create the workspace", &response)),
        }
    }

    /// Deletes a workspace. A missing one is not an error.
    pub async fn delete(&self, name: &str) -> Result<(), StoreError> {
        let path = format!("{}/workspaces/{}", self.organization_path(), url_encoded(name));
        let response = self.call(Method::DELETE, &path, None).await?;
        match response.status {
            status if status.is_success() || status == StatusCode::NOT_FOUND => Ok(()),
            _ => Err(self.failed("delete the workspace", &response)),
        }
    }

    /// Returns the ID of a project.
    async fn project_id(&self, name: &str) -> Result<String, StoreError> {
        let path = format!("{}/projects?filter%5Bnames%5D={}", self.organization_path(), url_encoded(name));
        let response = self.call(Method::GET, &path, None).await?;
        if response.status != StatusCode::OK {
            return Err(self.failed("find the project of a new workspace", &response));
        }
        let document: Json = serde_json::from_slice(&response.body).unwrap_or_default();
        let mut projects = document["data"].as_array().into_iter().flatten();
        let found = projects.find(|project| project["attributes"]["name"] == name);
        found.and_then(|project| project["id"].as_str()).map(str::to_owned).ok_or_else(|| StoreError::NotFound {
            what: format!("the project {name:?} in the organization {:?} on {}", self.organization, self.hostname),
            advice: "Create it, or correct \"project\" in the workspaces block.".to_owned(),
        })
    }

    /// Lists the names of workspaces that fit a query.
    pub async fn list(&self, query: &str) -> Result<Vec<String>, StoreError> {
        let mut names = Vec::new();
        let mut page = 1;
        loop {
            let path =
                format!("{}/workspaces?{query}&page%5Bsize%5D=100&page%5Bnumber%5D={page}", self.organization_path(),);
            let response = self.call(Method::GET, &path, None).await?;
            if response.status != StatusCode::OK {
                return Err(self.failed("list the workspaces", &response));
            }
            let document: Json = serde_json::from_slice(&response.body).unwrap_or_default();
            let found = document["data"].as_array().into_iter().flatten();
            names.extend(found.filter_map(|one| one["attributes"]["name"].as_str().map(str::to_owned)));
            match document["meta"]["pagination"]["next-page"].as_u64() {
                Some(next) if next > page => page = next,
                _ => return Ok(names),
            }
        }
    }

    /// Returns the current version of the state; `None` without one.
    pub async fn current_version(&self, workspace: &str) -> Result<Option<StateVersion>, StoreError> {
        let path = format!("workspaces/{workspace}/current-state-version");
        let response = self.call(Method::GET, &path, None).await?;
        match response.status {
            StatusCode::OK => {
                let document: Json = serde_json::from_slice(&response.body).unwrap_or_default();
                let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
                let data = &document["data"];
                Ok(Some(StateVersion {
                    id: text(&data["id"]),
                    download: text(&data["attributes"]["hosted-state-download-url"]),
                }))
            }
            StatusCode::NOT_FOUND => Ok(None),
            _ => Err(self.failed("read the state", &response)),
        }
    }

    /// Downloads the bytes of a version.
    pub async fn download(&self, version: &StateVersion) -> Result<Vec<u8>, StoreError> {
        let response = self.call(Method::GET, &version.download, None).await?;
        match response.status {
            StatusCode::OK => Ok(response.body),
            StatusCode::NO_CONTENT | StatusCode::NOT_FOUND => Ok(Vec::new()),
            _ => Err(self.failed("download the state", &response)),
        }
    }

    /// Creates a version of the state. Returns its ID; `None` if the service refuses its serial or lineage, or if the workspace is not
    /// locked by this user.
    pub async fn upload(&self, workspace: &str, bytes: &Bytes) -> Result<Option<String>, StoreError> {
        let Identity { serial, lineage } = serde_json::from_slice(bytes).unwrap_or_default();
        let digest: String = Md5::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        let attributes = json!({ "serial": serial, "lineage": lineage, "md5": digest });
        let mut body = json!({ "data": { "type": "state-versions", "attributes": attributes } });
        let path = format!("workspaces/{workspace}/state-versions");
        let mut response = self.call(Method::POST, &path, Some(&body)).await?;
        if matches!(response.status, StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY) {
            // Older servers have no upload address and want the state itself.
            body["data"]["attributes"]["state"] = json!(STANDARD.encode(bytes));
            response = self.call(Method::POST, &path, Some(&body)).await?;
        }
        match response.status {
            StatusCode::CREATED | StatusCode::OK => {}
            StatusCode::CONFLICT => return Ok(None),
            _ => return Err(self.failed("write the state", &response)),
        }
        let created: Json = serde_json::from_slice(&response.body).unwrap_or_default();
        let attributes = &created["data"]["attributes"];
        if let Some(url) = attributes["hosted-state-upload-url"].as_str()
            && body["data"]["attributes"]["state"].is_null()
        {
            self.put(url, bytes).await?;
        }
        Ok(Some(created["data"]["id"].as_str().unwrap_or_default().to_owned()))
    }

    /// Uploads bytes to a signed address, which needs no token.
    async fn put(&self, url: &str, bytes: &Bytes) -> Result<(), StoreError> {
        let url = self
            .base
            .join(url)
            .map_err(|problem| StoreError::Network { service: self.hostname.clone(), reason: problem.to_string() })?;
        let build = |request: reqwest::RequestBuilder| {
            request.header(CONTENT_TYPE, "application/octet-stream").body(bytes.clone())
        };
        let response = requests::send(&self.client, &Method::PUT, &url, RETRIES, build).await?;
        if response.status.is_success() {
            return Ok(());
        }
        let action = "upload the state".to_owned();
        Err(StoreError::Service { service: shown(&self.base), action, reason: response.reason() })
    }

    /// Locks, unlocks or force-unlocks a workspace. Returns false if its lock does not allow that.
    pub async fn act(&self, workspace: &str, action: Action<'_>) -> Result<bool, StoreError> {
        let (name, body) = match action {
            Action::Lock(reason) => ("lock", Some(json!({ "reason": reason }))),
            Action::Unlock => ("unlock", None),
            Action::ForceUnlock => ("force-unlock", None),
        };
        let path = format!("workspaces/{workspace}/actions/{name}");
        let response = self.call(Method::POST, &path, body.as_ref()).await?;
        match response.status {
            StatusCode::OK => Ok(true),
            StatusCode::CONFLICT => Ok(false),
            _ => Err(self.failed("change the lock of the workspace", &response)),
        }
    }

    fn failed(&self, action: &str, response: &Response) -> StoreError {
        let document: Json = serde_json::from_slice(&response.body).unwrap_or_default();
        let error = &document["errors"][0];
        let message = error["detail"].as_str().or(error["title"].as_str());
        let reason = match message {
            Some(message) => format!("HTTP status {}: {message}", response.status.as_u16()),
            None => response.reason(),
        };
        match response.status {
            StatusCode::FORBIDDEN | StatusCode::NOT_FOUND => StoreError::AccessDenied {
                resource: format!("the organization {:?} on {}", self.organization, self.hostname),
                permission: None,
                reason,
                advice: format!(
                    "The token does not let you {action}. Ask an owner of the organization for the right to write states and to lock \
                     workspaces."
                ),
            },
            StatusCode::PAYLOAD_TOO_LARGE => StoreError::TooLarge { location: self.hostname.clone(), reason },
            _ => StoreError::Service { service: self.hostname.clone(), action: action.to_owned(), reason },
        }
    }
}

/// A change of a workspace's lock.
#[derive(Clone, Copy, Debug)]
pub(super) enum Action<'a> {
    /// Locks, with a reason for people.
    Lock(&'a str),
    Unlock,
    ForceUnlock,
}

fn workspace(data: &Json, included: &Json) -> Workspace {
    let attributes = &data["attributes"];
    let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
    let holder = included
        .as_array()
        .into_iter()
        .flatten()
        .find(|one| one["id"] == data["relationships"]["locked-by"]["data"]["id"]);
    let holder = holder.and_then(|holder| {
        let names = ["username", "email", "name"];
        names.iter().find_map(|name| holder["attributes"][*name].as_str().map(str::to_owned))
    });
    let holder_id = data["relationships"]["locked-by"]["data"]["id"].as_str().map(str::to_owned);
    Workspace {
        id: text(&data["id"]),
        name: text(&attributes["name"]),
        execution_mode: text(&attributes["execution-mode"]),
        is_locked: attributes["locked"].as_bool().unwrap_or_default(),
        locked_by: holder.or(holder_id),
    }
}
