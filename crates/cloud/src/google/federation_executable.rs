//! Workload identity federation with an executable that prints the token of another identity provider.

use std::process::Command;
use std::time::Duration;

use serde_json::Value as Json;

use crate::api::ApiClient;
use crate::command_output::command_output;
use crate::error::TokenError;
use crate::jwt;

/// The variable that must be "1" before an executable runs: a credentials file from elsewhere must not run programs.
const ALLOW_EXECUTABLES: &str = "GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES";

/// The default and the limits of `timeout_millis`.
const DEFAULT_TIMEOUT: u64 = 30_000;
const TIMEOUT_LIMITS: std::ops::RangeInclusive<u64> = 5_000..=120_000;

/// Returns the subject token that the executable of the `credential_source` prints, or has stored in its output file.
pub(super) async fn subject_token(credentials: &Json, api: &ApiClient) -> Result<String, TokenError> {
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
    // Without an expiration time nobody could ever tell that the output file is out of date.
    if output_file.is_some() && response.expiration_time.is_none() {
        return Err(TokenError::response(
            "the executable of the credential_source has an output_file but its response has no expiration_time",
        ));
    }
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
