//! Who asks Google Cloud from a machine or an account of AWS: a request to the Security Token Service that is signed here and sent by Google.

use std::cell::OnceCell;

use serde_json::{Value as Json, json};

use super::aws_machine::{keys_in, metadata_request, token_request};
use super::aws_signature::signed;
use super::network::{AwsKeys, Network, NetworkRequest, Way, escaped, or_variable, refusal};

/// The identity that a `credential_source` of AWS stands for, for `audience`.
pub(super) fn subject(source: &Json, audience: &str, network: &dyn Network) -> Result<String, String> {
    let version = source["environment_id"].as_str().unwrap_or_default();
    if version != "aws1" {
        return Err(format!(
            "the credential_source is of the form {version:?}, and only \"aws1\" is known; make the credentials anew with gcloud"
        ));
    }
    let machine = Machine { source, network, token: OnceCell::new() };
    let region = match or_variable(None, network, &["AWS_REGION", "AWS_DEFAULT_REGION"]) {
        Some(region) => region,
        None => machine.region()?,
    };
    let keys = match AwsKeys::of_environment(network) {
        Some(keys) => keys,
        None => machine.keys()?,
    };
    let place = source["regional_cred_verification_url"]
        .as_str()
        .ok_or("the credential_source has no regional_cred_verification_url")?
        .replace("{region}", &region);
    let request = NetworkRequest { method: "POST", url: place.clone(), headers: Vec::new(), body: Vec::new() };
    let request = request.with("host", host_of(&place)?).with("x-goog-cloud-target-resource", audience);
    let request = signed(request, "sts", &region, &keys)?;
    let header = |(name, value): &(String, String)| json!({ "key": name, "value": value });
    let headers: Vec<Json> = request.headers.iter().map(header).collect();
    Ok(escaped(&json!({ "url": place, "method": "POST", "headers": headers }).to_string()))
}

fn host_of(place: &str) -> Result<String, String> {
    let rest = place.split_once("://").map(|(_, rest)| rest);
    let host = rest.and_then(|rest| rest.split(['/', '?', '#']).next()).filter(|host| !host.is_empty());
    host.map(str::to_owned).ok_or_else(|| format!("regional_cred_verification_url {place:?} is no address"))
}

/// The machine of AWS that this is, where its credentials say to ask it.
struct Machine<'a> {
    source: &'a Json,
    network: &'a dyn Network,
    token: OnceCell<String>,
}

impl Machine<'_> {
    /// A request with the token that newer machines want, which is asked for once.
    fn request(&self, place: String) -> Result<NetworkRequest, String> {
        if self.token.get().is_none()
            && let Some(place) = self.source["imdsv2_session_token_url"].as_str()
        {
            let token = self.told(token_request(place.to_owned()))?;
            self.token.get_or_init(|| token);
        }
        Ok(metadata_request(place, self.token.get().map(String::as_str)))
    }

    fn told(&self, request: NetworkRequest) -> Result<String, String> {
        let answer = self.network.send(&request, &Way::default())?;
        if answer.status != 200 {
            return Err(format!("the machine of AWS does not say what it is: {}", refusal(answer.status, None)));
        }
        Ok(String::from_utf8_lossy(&answer.body).trim().to_owned())
    }

    /// The region, from the name of a zone in it.
    fn region(&self) -> Result<String, String> {
        let place = self.source["region_url"]
            .as_str()
            .ok_or("no region of AWS is known; set the environment variable AWS_REGION")?;
        let zone = self.told(self.request(place.to_owned())?)?;
        Ok(zone.strip_suffix(|last: char| last.is_ascii_lowercase()).unwrap_or(&zone).to_owned())
    }

    fn keys(&self) -> Result<AwsKeys, String> {
        let place = self.source["url"].as_str().ok_or(
            "there are no keys of AWS; set the environment variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
        )?;
        let role = self.told(self.request(place.to_owned())?)?;
        let request = self.request(format!("{}/{role}", place.trim_end_matches('/')))?;
        keys_in(&self.network.send(&request, &Way::default())?)
            .map_err(|problem| format!("the machine has no role at AWS: {problem}"))
    }
}
