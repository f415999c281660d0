//! Workload identity federation from AWS. The subject token is a signed `GetCallerIdentity` request, which Google sends
//! to AWS to verify the identity.

use serde_json::{Value as Json, json};

use crate::api::{ApiClient, url_encoded};
use crate::aws::{AwsClient, AwsService, AwsSettings, MetadataService};
use crate::error::TokenError;
use crate::http::{HttpRequest, Method, Url};

/// Builds the subject token for a `credential_source` with an `environment_id`.
pub(super) async fn subject_token(source: &Json, audience: &str, api: &ApiClient) -> Result<String, TokenError> {
    let environment_id = source["environment_id"].as_str().unwrap_or_default();
    if environment_id != "aws1" {
        return Err(TokenError::credentials(format!(
            "the credential_source has environment_id {environment_id:?}, and only \"aws1\" is supported; create the \
             credentials again with gcloud"
        )));
    }
    let client = AwsClient::new(AwsSettings {
        metadata: MetadataService { endpoint: metadata_endpoint(source), ..MetadataService::default() },
        environment: api.environment().clone(),
        ..AwsSettings::default()
    });
    let unusable = |error: crate::aws::AwsError| TokenError::credentials(error.to_string());
    let client = client.map_err(unusable)?;
    let region = client.region().await.map_err(unusable)?;
    let url = source["regional_cred_verification_url"].as_str();
    let url =
        url.ok_or_else(|| TokenError::credentials("the credential_source has no regional_cred_verification_url"))?;
    let url = url.replace("{region}", &region);
    let invalid = || TokenError::credentials(format!("regional_cred_verification_url {url:?} is not a valid URL"));
    let parsed = Url::parse(&url).map_err(|_| invalid())?;
    let host = parsed.host_str().ok_or_else(invalid)?.to_owned();
    let mut request = HttpRequest::new(Method::POST, parsed);
    // Google requires both headers to be part of the signature; the second binds it to this identity pool.
    for (name, value) in [("host", host.as_str()), ("x-goog-cloud-target-resource", audience)] {
        let value = value.parse().map_err(|_| TokenError::credentials(format!("{value:?} is not a valid audience")))?;
        request.headers.insert(name, value);
    }
    client.sign(&mut request, AwsService::STS, &region).await.map_err(unusable)?;
    let header = |(name, value): (&crate::http::HeaderName, &crate::http::HeaderValue)| {
        Some(json!({ "key": name.as_str(), "value": value.to_str().ok()? }))
    };
    let headers: Vec<Json> = request.headers.iter().filter_map(header).collect();
    Ok(url_encoded(&json!({ "url": url, "method": "POST", "headers": headers }).to_string()))
}

/// Returns the origin of the metadata URLs in the source, which the chain of AWS completes itself.
fn metadata_endpoint(source: &Json) -> Option<String> {
    let url = Url::parse(source["url"].as_str()?).ok()?;
    Some(url.origin().ascii_serialization())
}
