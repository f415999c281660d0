//! Identities of elsewhere at Google Cloud: workload identity federation.

use groma_diagnostics::io_reason;
use serde_json::{Value as Json, json};

use super::network::{Network, NetworkRequest, Way, asked, refusal, text};
use super::{google_aws, google_program};

/// The token for credentials of the type `external_account`: what somebody else says of who asks is exchanged for it.
pub(super) fn token(credentials: &Json, scope: &str, network: &dyn Network) -> Result<String, String> {
    let field = |name: &str| {
        credentials[name].as_str().ok_or_else(|| format!("the credentials of Google Cloud have no {name}"))
    };
    let kind = field("subject_token_type")?;
    let subject = subject(credentials, field("audience")?, network)?;
    // Who stands in for a service account needs no more than to be allowed that.
    let account = credentials["service_account_impersonation_url"].as_str();
    let wanted = if account.is_some() { "https://www.googleapis.com/auth/cloud-platform" } else { scope };
    let mut fields = vec![
        ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
        ("audience", field("audience")?),
        ("scope", wanted),
        ("requested_token_type", "urn:ietf:params:oauth:token-type:access_token"),
        ("subject_token_type", kind),
        ("subject_token", &subject),
    ];
    let project = credentials["workforce_pool_user_project"].as_str();
    let options = project.map(|project| json!({ "userProject": project }).to_string());
    fields.extend(options.as_deref().map(|options| ("options", options)));
    let place = credentials["token_url"].as_str().unwrap_or("https://sts.googleapis.com/v1/token").to_owned();
    let own = text(&asked(network, &NetworkRequest::form(place, &fields))?, "access_token")?;
    let Some(account) = account else { return Ok(own) };
    let mut wanted = json!({ "scope": [scope] });
    if let Some(seconds) = credentials["service_account_impersonation"]["token_lifetime_seconds"].as_u64() {
        wanted["lifetime"] = format!("{seconds}s").into();
    }
    let request = NetworkRequest::json("POST", account.to_owned(), &wanted);
    text(&asked(network, &request.by(&own))?, "accessToken")
}

/// What somebody else says of who asks: in a file, at an address, by a program, or as AWS knows it.
fn subject(credentials: &Json, audience: &str, network: &dyn Network) -> Result<String, String> {
    let source = &credentials["credential_source"];
    if source["executable"].is_object() {
        return google_program::subject(credentials, network);
    }
    if source["environment_id"].is_string() {
        return google_aws::subject(source, audience, network);
    }
    let content = match (source["file"].as_str(), source["url"].as_str()) {
        (Some(path), _) => std::fs::read_to_string(path).map_err(|problem| {
            format!("the file {path:?} with the identity cannot be read: {problem}", problem = io_reason(&problem))
        })?,
        (None, Some(url)) => {
            let headers = source["headers"].as_object().into_iter().flatten();
            let request = headers.fold(NetworkRequest::get(url.to_owned()), |request, (name, value)| {
                request.with(name, value.as_str().unwrap_or_default())
            });
            let answer = network.send(&request, &Way::default())?;
            if !(200..300).contains(&answer.status) {
                return Err(format!("nobody says who asks Google Cloud: {}", refusal(answer.status, None)));
            }
            String::from_utf8(answer.body).map_err(|_| "the identity is no text".to_owned())?
        }
        (None, None) => {
            return Err("this identity cannot be used for Google Cloud; name a file, a url, an executable or an environment_id of AWS as \
                        the credential_source, or set GOOGLE_OAUTH_ACCESS_TOKEN"
                .to_owned());
        }
    };
    let form = &source["format"];
    if form["type"].as_str() != Some("json") {
        return Ok(content.trim().to_owned());
    }
    let name = form["subject_token_field_name"].as_str().unwrap_or("access_token");
    let document: Json = serde_json::from_str(&content).map_err(|_| "the identity is no JSON".to_owned())?;
    document[name].as_str().map(str::to_owned).ok_or_else(|| format!("the identity has no {name}"))
}
