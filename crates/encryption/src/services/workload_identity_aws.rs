//! Workload identity federation from AWS. The subject token is a signed `GetCallerIdentity` request, which Google sends
//! to AWS to verify the identity.

use std::cell::OnceCell;

use serde_json::{Value as Json, json};

use super::aws_imds::{keys_in, metadata_request, token_request};
use super::aws_sigv4::signed;
use super::network::{AwsKeys, ConnectionOptions, Network, NetworkRequest, or_variable, url_encoded};
use crate::error::KeyError;

/// Builds the subject token for a `credential_source` with an `environment_id`.
pub(super) fn subject_token(source: &Json, audience: &str, network: &dyn Network) -> Result<String, KeyError> {
    let environment_id = source["environment_id"].as_str().unwrap_or_default();
    if environment_id != "aws1" {
        return Err(KeyError::credentials(format!(
            "the credential_source has environment_id {environment_id:?}, and only \"aws1\" is supported; create the \
             credentials again with gcloud"
        )));
    }
    let imds = Imds { source, network, token: OnceCell::new() };
    let region = match or_variable(None, network, &["AWS_REGION", "AWS_DEFAULT_REGION"]) {
        Some(region) => region,
        None => imds.region()?,
    };
    let keys = match AwsKeys::from_environment(network) {
        Some(keys) => keys,
        None => imds.keys()?,
    };
    let url = source["regional_cred_verification_url"].as_str();
    let url =
        url.ok_or_else(|| KeyError::credentials("the credential_source has no regional_cred_verification_url"))?;
    let url = url.replace("{region}", &region);
    let request = NetworkRequest { method: "POST", url: url.clone(), headers: Vec::new(), body: Vec::new() };
    // Google requires both headers to be part of the signature; the second binds it to this identity pool.
    let request = request.with_header("host", host_of(&url)?).with_header("x-goog-cloud-target-resource", audience);
    let request = signed(request, "sts", &region, &keys)?;
    let header = |(name, value): &(String, String)| json!({ "key": name, "value": value });
    let headers: Vec<Json> = request.headers.iter().map(header).collect();
    Ok(url_encoded(&json!({ "url": url, "method": "POST", "headers": headers }).to_string()))
}

fn host_of(url: &str) -> Result<String, KeyError> {
    let rest = url.split_once("://").map(|(_, rest)| rest);
    let host = rest.and_then(|rest| rest.split(['/', '?', '#']).next()).filter(|host| !host.is_empty());
    let invalid = || KeyError::credentials(format!("regional_cred_verification_url {url:?} is not a valid URL"));
    host.map(str::to_owned).ok_or_else(invalid)
}

/// The instance metadata service, at the URLs of a `credential_source`.
struct Imds<'a> {
    source: &'a Json,
    network: &'a dyn Network,
    /// The session token of IMDSv2, requested once.
    token: OnceCell<String>,
}

impl Imds<'_> {
    /// Builds a metadata request, with a session token if the credentials name an endpoint for it.
    fn request(&self, url: String) -> Result<NetworkRequest, KeyError> {
        if self.token.get().is_none()
            && let Some(url) = self.source["imdsv2_session_token_url"].as_str()
        {
            let token = self.send(token_request(url.to_owned()))?;
            self.token.get_or_init(|| token);
        }
        Ok(metadata_request(url, self.token.get().map(String::as_str)))
    }

    fn send(&self, request: NetworkRequest) -> Result<String, KeyError> {
        let answer = self.network.send(&request, &ConnectionOptions::default())?;
        if answer.status != 200 {
            let rejected = KeyError::rejected(answer.status, None);
            return Err(rejected.context("cannot read the metadata of this AWS instance"));
        }
        Ok(String::from_utf8_lossy(&answer.body).trim().to_owned())
    }

    /// Returns the region. The service names the availability zone, which is the region and a letter.
    fn region(&self) -> Result<String, KeyError> {
        let url = self.source["region_url"]
            .as_str()
            .ok_or_else(|| KeyError::credentials("no AWS region is set; set the environment variable AWS_REGION"))?;
        let zone = self.send(self.request(url.to_owned())?)?;
        Ok(zone.strip_suffix(|last: char| last.is_ascii_lowercase()).unwrap_or(&zone).to_owned())
    }

    fn keys(&self) -> Result<AwsKeys, KeyError> {
        let url = self.source["url"].as_str().ok_or_else(|| {
            KeyError::credentials(
                "no AWS credentials found; set the environment variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
            )
        })?;
        let role = self.send(self.request(url.to_owned())?)?;
        let request = self.request(format!("{}/{role}", url.trim_end_matches('/')))?;
        keys_in(&self.network.send(&request, &ConnectionOptions::default())?)
            .map_err(|error| error.context("cannot get the AWS keys of this instance"))
    }
}
