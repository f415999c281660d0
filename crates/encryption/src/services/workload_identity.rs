//! Workload identity federation of Google Cloud: exchanges the token of another identity provider for one of Google.

use groma_diagnostics::io_reason;
use serde_json::{Value as Json, json};

use super::google_credentials::field;
use super::network::{ConnectionOptions, Network, NetworkRequest, request_json, string};
use super::{workload_identity_aws, workload_identity_executable};
use crate::error::KeyError;

/// Requests a token with credentials of type `external_account`.
pub(super) fn token(credentials: &Json, scope: &str, network: &dyn Network) -> Result<String, KeyError> {
    let field = |name: &str| field(credentials, name);
    let subject_token_type = field("subject_token_type")?;
    let subject_token = subject_token(credentials, field("audience")?, network)?;
    let impersonation_url = credentials["service_account_impersonation_url"].as_str();
    // With impersonation, the federated token only calls the IAM API; the service account's token has the real scope.
    let federated_scope =
        if impersonation_url.is_some() { "https://www.googleapis.com/auth/cloud-platform" } else { scope };
    let mut fields = vec![
        ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
        ("audience", field("audience")?),
        ("scope", federated_scope),
        ("requested_token_type", "urn:ietf:params:oauth:token-type:access_token"),
        ("subject_token_type", subject_token_type),
        ("subject_token", &subject_token),
    ];
    let project = credentials["workforce_pool_user_project"].as_str();
    let options = project.map(|project| json!({ "userProject": project }).to_string());
    fields.extend(options.as_deref().map(|options| ("options", options)));
    let token_url = credentials["token_url"].as_str().unwrap_or("https://sts.googleapis.com/v1/token").to_owned();
    let token = string(&request_json(network, &NetworkRequest::form(token_url, &fields))?, "access_token")?;
    let Some(impersonation_url) = impersonation_url else { return Ok(token) };
    let mut document = json!({ "scope": [scope] });
    if let Some(seconds) = credentials["service_account_impersonation"]["token_lifetime_seconds"].as_u64() {
        document["lifetime"] = format!("{seconds}s").into();
    }
    let request = NetworkRequest::json("POST", impersonation_url.to_owned(), &document);
    string(&request_json(network, &request.with_bearer_token(&token))?, "accessToken")
}

/// Returns the token of the other identity provider, from the `credential_source`.
fn subject_token(credentials: &Json, audience: &str, network: &dyn Network) -> Result<String, KeyError> {
    let source = &credentials["credential_source"];
    if source["executable"].is_object() {
        return workload_identity_executable::subject_token(credentials, network);
    }
    if source["environment_id"].is_string() {
        return workload_identity_aws::subject_token(source, audience, network);
    }
    let content = match (source["file"].as_str(), source["url"].as_str()) {
        (Some(path), _) => std::fs::read_to_string(path).map_err(|error| {
            KeyError::credentials(format!("cannot read the identity token in {path:?}: {}", io_reason(&error)))
        })?,
        (None, Some(url)) => {
            let headers = source["headers"].as_object().into_iter().flatten();
            let request = headers.fold(NetworkRequest::get(url.to_owned()), |request, (name, value)| {
                request.with_header(name, value.as_str().unwrap_or_default())
            });
            let answer = network.send(&request, &ConnectionOptions::default())?;
            if !(200..300).contains(&answer.status) {
                let rejected = KeyError::rejected(answer.status, None);
                return Err(rejected.context(format!("cannot get the identity token for Google Cloud from {url}")));
            }
            String::from_utf8(answer.body).map_err(|_| KeyError::response("the identity token is not UTF-8 text"))?
        }
        (None, None) => {
            return Err(KeyError::credentials(
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
        KeyError::response("the identity token for Google Cloud is not JSON, as the credentials promise")
    })?;
    let token = document[name].as_str().map(str::to_owned);
    token.ok_or_else(|| KeyError::response(format!("the identity document for Google Cloud has no {name}")))
}
