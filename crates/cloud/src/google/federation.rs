//! Workload identity federation of Google Cloud: exchanges the token of another identity provider for one of Google.

use groma_diagnostics::io_reason;
use serde_json::{Value as Json, json};

use super::credentials::field;
use super::{federation_aws, federation_executable};
use crate::api::{AccessToken, ApiClient, ApiRequest, string};
use crate::error::TokenError;
use crate::http::Method;
use crate::secret::Secret;

/// Requests a token with credentials of type `external_account`.
pub(super) async fn token(credentials: &Json, scopes: &[String], api: &ApiClient) -> Result<AccessToken, TokenError> {
    let field = |name: &str| field(credentials, name);
    let subject_token_type = field("subject_token_type")?;
    let subject_token = subject_token(credentials, field("audience")?, api).await?;
    let impersonation_url = credentials["service_account_impersonation_url"].as_str();
    // With impersonation, the federated token only calls the IAM API; the service account's token has the real scope.
    let federated_scope = if impersonation_url.is_some() {
        "https://www.googleapis.com/auth/cloud-platform".to_owned()
    } else {
        scopes.join(" ")
    };
    let mut fields = vec![
        ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
        ("audience", field("audience")?),
        ("scope", &federated_scope),
        ("requested_token_type", "urn:ietf:params:oauth:token-type:access_token"),
        ("subject_token_type", subject_token_type),
        ("subject_token", &subject_token),
    ];
    let project = credentials["workforce_pool_user_project"].as_str();
    let options = project.map(|project| json!({ "userProject": project }).to_string());
    fields.extend(options.as_deref().map(|options| ("options", options)));
    let token_url = credentials["token_url"].as_str().unwrap_or("https://sts.googleapis.com/v1/token").to_owned();
    let answer = api.json(&ApiRequest::form(token_url, &fields)).await?;
    let Some(impersonation_url) = impersonation_url else { return AccessToken::in_response(&answer, "access_token") };
    let token = Secret::new(string(&answer, "access_token")?);
    let mut document = json!({ "scope": scopes });
    if let Some(seconds) = credentials["service_account_impersonation"]["token_lifetime_seconds"].as_u64() {
        document["lifetime"] = format!("{seconds}s").into();
    }
    let request = ApiRequest::json(Method::POST, impersonation_url, &document);
    super::credentials::impersonated(&api.json(&request.with_bearer_token(&token)).await?)
}

/// Returns the token of the other identity provider, from the `credential_source`.
async fn subject_token(credentials: &Json, audience: &str, api: &ApiClient) -> Result<String, TokenError> {
    let source = &credentials["credential_source"];
    if source["executable"].is_object() {
        return federation_executable::subject_token(credentials, api).await;
    }
    if source["environment_id"].is_string() {
        return federation_aws::subject_token(source, audience, api).await;
    }
    let content = match (source["file"].as_str(), source["url"].as_str()) {
        (Some(path), _) => std::fs::read_to_string(path).map_err(|error| {
            TokenError::credentials(format!("cannot read the identity token in {path:?}: {}", io_reason(&error)))
        })?,
        (None, Some(url)) => {
            let headers = source["headers"].as_object().into_iter().flatten();
            let request = headers.fold(ApiRequest::get(url), |request, (name, value)| {
                request.with_header(name, value.as_str().unwrap_or_default())
            });
            let answer = api.send(&request).await?;
            if !answer.status.is_success() {
                let rejected = TokenError::rejected(answer.status.as_u16(), None);
                return Err(rejected.context(format!("cannot get the identity token for Google Cloud from {url}")));
            }
            String::from_utf8(answer.body).map_err(|_| TokenError::response("the identity token is not UTF-8 text"))?
        }
        (None, None) => {
            return Err(TokenError::credentials(
                "the credential_source of the Google Cloud credentials is not supported; use a file, a url, an executable \
                 or an environment_id of AWS, or set GOOGLE_OAUTH_ACCESS_TOKEN",
            ));
        }
    };
    let format = &source["format"];
    if format["type"].as_str() != Some("json") {
        return Ok(content.trim().to_owned());
    }
    let name = format["subject_token_field_name"].as_str().unwrap_or("access_token");
    let document: Json = serde_json::from_str(&content).map_err(|_| {
        TokenError::response("the identity token for Google Cloud is not JSON, as the credentials promise")
    })?;
    let token = document[name].as_str().map(str::to_owned);
    token.ok_or_else(|| TokenError::response(format!("the identity document for Google Cloud has no {name}")))
}
