//! Workload identity federation of Google Cloud: exchanges the token of another identity provider for one of Google.

use std::process::Command;
use std::time::Duration;

use groma_diagnostics::io_reason;
use serde_json::{Value as Json, json};

use super::field;
use crate::api::{AccessToken, ApiClient, ApiRequest, string, url_encoded};
use crate::aws::{AwsClient, AwsService, AwsSettings, MetadataService};
use crate::command_output::command_output;
use crate::error::TokenError;
use crate::http::{HttpRequest, Method, Url};
use crate::jwt;
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
    // A workforce identity belongs to no project, so the credentials name the one that quota is counted for.
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
    super::impersonated(&api.json(&request.with_bearer_token(&token)).await?)
}

/// Returns the token of the other identity provider, from the `credential_source`.
async fn subject_token(credentials: &Json, audience: &str, api: &ApiClient) -> Result<String, TokenError> {
    let source = &credentials["credential_source"];
    // The kinds of sources exclude each other; the first one present is the source.
    if source["executable"].is_object() {
        return executable_subject_token(credentials, api).await;
    }
    if source["environment_id"].is_string() {
        return aws_subject_token(source, audience, api).await;
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
                // The body is left out, because this server is none of Google's and may print a token in it.
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
    // The default format is the bare token.
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

/// Builds the subject token for a `credential_source` with an `environment_id`.
async fn aws_subject_token(source: &Json, audience: &str, api: &ApiClient) -> Result<String, TokenError> {
    let environment_id = source["environment_id"].as_str().unwrap_or_default();
    if environment_id != "aws1" {
        return Err(TokenError::credentials(format!(
            "the credential_source has environment_id {environment_id:?}, and only \"aws1\" is supported; create the \
             credentials again with gcloud"
        )));
    }
    // The subject token is a signed `GetCallerIdentity` request, which Google sends to AWS to verify the identity.
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

/// The variable that must be "1" before an executable runs: a credentials file from elsewhere must not run programs.
const ALLOW_EXECUTABLES: &str = "GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES";

/// The default and the limits of `timeout_millis`.
const DEFAULT_TIMEOUT: u64 = 30_000;
const TIMEOUT_LIMITS: std::ops::RangeInclusive<u64> = 5_000..=120_000;

/// Returns the subject token that the executable of the `credential_source` prints, or has stored in its output file.
async fn executable_subject_token(credentials: &Json, api: &ApiClient) -> Result<String, TokenError> {
    let source = &credentials["credential_source"]["executable"];
    let line = source["command"].as_str().filter(|line| !line.trim().is_empty());
    let line = line.ok_or_else(|| TokenError::credentials("the executable of the credential_source has no command"))?;
    if api.variable(ALLOW_EXECUTABLES).as_deref() != Some("1") {
        return Err(TokenError::credentials(format!(
            "the Google Cloud credentials run the program {line:?}; set the environment variable {ALLOW_EXECUTABLES}=1 if you \
             trust them"
        )));
    }
    let output_file = source["output_file"].as_str();
    let now = jwt::unix_time();
    // An output file that is missing, invalid or expired is no error: the executable writes it again.
    if let Some(token) =
        output_file.and_then(|path| std::fs::read(path).ok()).and_then(|stored| unexpired_token(&stored, now))
    {
        return Ok(token);
    }
    let timeout = source["timeout_millis"].as_u64().unwrap_or(DEFAULT_TIMEOUT);
    if !TIMEOUT_LIMITS.contains(&timeout) {
        return Err(TokenError::credentials(format!(
            "timeout_millis of the executable must be from {} to {}, not {timeout}",
            TIMEOUT_LIMITS.start(),
            TIMEOUT_LIMITS.end()
        )));
    }
    // Google's libraries split the command at spaces too, and run no shell.
    let mut words = line.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or_default());
    // With 0 the executable must not prompt for input.
    command.args(words).env("GOOGLE_EXTERNAL_ACCOUNT_INTERACTIVE", "0");
    let account = credentials["service_account_impersonation_url"].as_str().and_then(account_in);
    let variables = [
        ("GOOGLE_EXTERNAL_ACCOUNT_AUDIENCE", credentials["audience"].as_str()),
        ("GOOGLE_EXTERNAL_ACCOUNT_TOKEN_TYPE", credentials["subject_token_type"].as_str()),
        ("GOOGLE_EXTERNAL_ACCOUNT_IMPERSONATED_EMAIL", account),
        ("GOOGLE_EXTERNAL_ACCOUNT_OUTPUT_FILE", output_file),
    ];
    for (name, value) in variables {
        if let Some(value) = value {
            command.env(name, value);
        }
    }
    let printed = command_output(command, Duration::from_millis(timeout)).await?;
    let response = parse(&printed)?;
    // Without an expiration time an outdated output file could not be detected.
    if output_file.is_some() && response.expiration_time.is_none() {
        return Err(TokenError::response(
            "the executable of the credential_source has an output_file but its response has no expiration_time",
        ));
    }
    // Caught here, because Google's answer to an expired token does not name the executable.
    if response.expiration_time.is_some_and(|expiration| expiration <= now) {
        return Err(TokenError::response("the token of the credential_source's executable has expired"));
    }
    Ok(response.subject_token)
}

/// Returns the email address of the account in a `service_account_impersonation_url`.
fn account_in(url: &str) -> Option<&str> {
    url.rsplit('/').next()?.strip_suffix(":generateAccessToken")
}

/// The response of an executable. Errors never quote it, because the token is a secret.
struct Response {
    subject_token: String,
    /// In seconds since the Unix epoch.
    expiration_time: Option<u64>,
}

fn unexpired_token(stored: &[u8], now: u64) -> Option<String> {
    let response = parse(stored).ok()?;
    response.expiration_time.is_some_and(|expiration| expiration > now).then_some(response.subject_token)
}

fn parse(printed: &[u8]) -> Result<Response, TokenError> {
    let invalid =
        |problem: &str| TokenError::response(format!("the output of the credential_source's executable {problem}"));
    let document: Json = serde_json::from_slice(printed).map_err(|_| invalid("is not JSON"))?;
    if document["version"] != 1 {
        return Err(invalid("does not have version 1"));
    }
    if document["success"] != true {
        // Cut to a length that fits a message: the text comes from a program of unknown origin.
        let quoted = |name: &str| document[name].as_str().unwrap_or("none").chars().take(300).collect::<String>();
        return Err(TokenError::program(format!(
            "the credential_source's executable failed with code {} and message {:?}",
            quoted("code"),
            quoted("message")
        )));
    }
    let token_type = document["token_type"].as_str().unwrap_or_default();
    let name = match token_type {
        "urn:ietf:params:oauth:token-type:jwt" | "urn:ietf:params:oauth:token-type:id_token" => "id_token",
        "urn:ietf:params:oauth:token-type:saml2" => "saml_response",
        _ => return Err(invalid(&format!("has the unsupported token_type {token_type:?}"))),
    };
    let token = document[name].as_str().filter(|token| !token.is_empty());
    let subject_token = token.ok_or_else(|| invalid(&format!("has no {name}")))?.to_owned();
    Ok(Response { subject_token, expiration_time: document["expiration_time"].as_u64() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn response_is_parsed_and_errors_contain_no_secrets() {
        let parsed = |text: &str| parse(text.as_bytes()).map(|response| response.subject_token);
        let prefix = "urn:ietf:params:oauth:token-type:";
        let good = format!(
            r#"{{"version":1,"success":true,"token_type":"{prefix}jwt","id_token":"hush","expiration_time":9}}"#
        );
        assert_eq!(parsed(&good), Ok("hush".to_owned()));
        assert_eq!(
            (unexpired_token(good.as_bytes(), 8).as_deref(), unexpired_token(good.as_bytes(), 9)),
            (Some("hush"), None)
        );
        let saml = format!(r#"{{"version":1,"success":true,"token_type":"{prefix}saml2","saml_response":"hush"}}"#);
        assert_eq!(parsed(&saml), Ok("hush".to_owned()));
        assert_eq!(unexpired_token(saml.as_bytes(), 0), None);
        for (text, what) in [
            (good.replace("version\":1", "version\":2"), "version"),
            (good.replace("jwt", "word"), "unsupported token_type"),
            (good.replace("\"id_token\"", "\"word\""), "no id_token"),
            (r#"{"version":1,"success":false,"code":"401","message":"no"}"#.to_owned(), "code 401"),
            ("hush".to_owned(), "not JSON"),
        ] {
            let refused = parsed(&text).unwrap_err().to_string();
            assert!(refused.contains(what) && !refused.contains("hush"), "{refused}");
        }
    }

    #[test]
    fn impersonated_account_is_read_from_the_url() {
        let url = "https://iam/v1/projects/-/serviceAccounts/a@b:generateAccessToken";
        assert_eq!(account_in(url), Some("a@b"));
        assert_eq!(account_in("https://iam/x"), None);
    }
}
