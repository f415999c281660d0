//! Authorization of requests to a storage account.

use std::time::SystemTime;

use groma_cloud::Secret;
use groma_cloud::api::{ApiRequest, url_encoded};
use groma_cloud::azure::{AzureCloud, AzureCredentials, StorageKey};
use groma_cloud::http::{HttpResponse, Method};
use serde_json::Value as Json;
use tokio::sync::OnceCell;

use crate::error::StoreError;
use crate::stores::token_errors::token_error;

/// The way in which requests are authorized.
pub(super) enum Access {
    /// An access key of the account.
    Key(StorageKey),
    /// A shared access signature, which is part of the query.
    Sas(Secret),
    /// An access token of Entra ID for the account's data.
    Entra,
    /// An access key that the management API returns to holders of an access token.
    LookedUp(KeyLookup),
}

/// The account whose key is looked up, with the key once it is known.
pub(super) struct KeyLookup {
    subscription: String,
    resource_group: String,
    account: String,
    key: OnceCell<StorageKey>,
}

impl Access {
    /// Adds what authorizes a request. All headers must be set before.
    pub async fn authorize(
        &self,
        request: ApiRequest,
        url: &str,
        credentials: &AzureCredentials,
    ) -> Result<ApiRequest, StoreError> {
        let signed = |key: &StorageKey, request| {
            key.sign(request, SystemTime::now()).map_err(|problem| token_error("Azure Storage", &problem))
        };
        match self {
            Self::Key(key) => signed(key, request),
            Self::Sas(token) => {
                let separator = if url.contains('?') { '&' } else { '?' };
                Ok(request.with_url(format!("{url}{separator}{}", token.reveal())))
            }
            Self::Entra => {
                let token = credentials.token(AzureCloud::STORAGE).await;
                Ok(request.with_bearer_token(&token.map_err(|problem| token_error("Entra ID", &problem))?))
            }
            Self::LookedUp(lookup) => signed(lookup.key(credentials).await?, request),
        }
    }

    /// Returns the advice for an identity without a right on the data.
    pub fn advice(&self) -> &'static str {
        match self {
            Self::Key(_) => {
                "Check access_key or ARM_ACCESS_KEY. If the account forbids shared keys, remove it and set use_azuread_auth = true."
            }
            Self::Sas(_) => {
                "The SAS token needs the permissions read, write, delete, list, add and create (sp=rwdlac) on the container, and \
                 must not have expired (se)."
            }
            Self::Entra => {
                "Assign the role Storage Blob Data Contributor on the container to this identity; Owner and Contributor of the \
                 subscription do not include it."
            }
            Self::LookedUp(_) => {
                "If the account forbids shared keys, set use_azuread_auth = true and assign the role Storage Blob Data Contributor to \
                 this identity."
            }
        }
    }
}

impl KeyLookup {
    pub fn new(subscription: String, resource_group: String, account: &str) -> Self {
        Self { subscription, resource_group, account: account.to_owned(), key: OnceCell::new() }
    }

    async fn key(&self, credentials: &AzureCredentials) -> Result<&StorageKey, StoreError> {
        // One request for the run; a failed one is repeated with the next access.
        self.key.get_or_try_init(|| self.look_up(credentials)).await
    }

    async fn look_up(&self, credentials: &AzureCredentials) -> Result<StorageKey, StoreError> {
        let failed = |problem| token_error("Azure", &problem);
        let cloud = credentials.cloud().await.map_err(failed)?;
        let token = credentials.token(&cloud.resource_manager).await.map_err(failed)?;
        let url = format!(
            "{}/subscriptions/{}/resourceGroups/{}/providers/Microsoft.Storage/storageAccounts/{}/listKeys?api-version=2023-01-01",
            cloud.resource_manager.trim_end_matches('/'),
            url_encoded(&self.subscription),
            url_encoded(&self.resource_group),
            self.account
        );
        // The API wants a length even for an empty body.
        let request = ApiRequest::json(Method::POST, url, &Json::Object(serde_json::Map::new()));
        let response = credentials.api().send(&request.with_bearer_token(&token)).await.map_err(failed)?;
        if !response.status.is_success() {
            return Err(self.refused(&response));
        }
        let document: Json = serde_json::from_slice(&response.body).unwrap_or_default();
        let key = document["keys"][0]["value"].as_str().unwrap_or_default();
        StorageKey::new(&*self.account, key).map_err(failed)
    }

    fn refused(&self, response: &HttpResponse) -> StoreError {
        const PERMISSION: &str = "Microsoft.Storage/storageAccounts/listKeys/action";
        let document: Json = serde_json::from_slice(&response.body).unwrap_or_default();
        let status = response.status.as_u16();
        let message = document["error"]["message"].as_str().unwrap_or_default();
        let reason = format!("HTTP status {status}: {message}").trim_end_matches([':', ' ', '.']).to_owned();
        let account = format!("the storage account {:?}", self.account);
        match status {
            401 => StoreError::Unauthenticated { service: "Azure".to_owned(), reason, advice: String::new() },
            404 => StoreError::NotFound {
                what: account,
                advice: format!(
                    "Check storage_account_name, subscription_id and resource_group_name ({:?}).",
                    self.resource_group
                ),
            },
            403 | 409 => StoreError::AccessDenied {
                resource: account,
                permission: Some(PERMISSION.to_owned()),
                reason,
                advice: "Better than this right, set use_azuread_auth = true and assign the role Storage Blob Data Contributor on the \
                         container to this identity: then no key is needed."
                    .to_owned(),
            },
            _ => StoreError::Service { service: "Azure".to_owned(), action: "return the access keys".to_owned(), reason },
        }
    }
}
