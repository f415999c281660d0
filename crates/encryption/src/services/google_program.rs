//! Who asks Google Cloud, as a program says that the credentials name.

use std::process::Command;
use std::time::Duration;

use serde_json::Value as Json;

use super::network::Network;
use super::output::output;
use super::word;

/// What allows that programs are run; credentials may come from anywhere.
const ALLOWED: &str = "GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES";

/// How long a program may take: where nothing is said, and at all. In milliseconds.
const PATIENCE: u64 = 30_000;
const LIMITS: std::ops::RangeInclusive<u64> = 5_000..=120_000;

/// The identity that the program of a `credential_source` tells, for the credentials that have it.
pub(super) fn subject(credentials: &Json, network: &dyn Network) -> Result<String, String> {
    let source = &credentials["credential_source"]["executable"];
    let line = source["command"].as_str().filter(|line| !line.trim().is_empty());
    let line = line.ok_or("the executable of the credential_source has no command")?;
    if network.variable(ALLOWED).as_deref() != Some("1") {
        return Err(format!(
            "the credentials of Google Cloud want the program {line:?} to be run; set the environment variable {ALLOWED}=1 if you trust them"
        ));
    }
    let kept = source["output_file"].as_str();
    let now = word::now();
    // What the program has kept is good until it ends; whatever else is wrong with it, the program is asked again.
    if let Some(subject) = kept.and_then(|path| std::fs::read(path).ok()).and_then(|kept| still_good(&kept, now)) {
        return Ok(subject);
    }
    let patience = source["timeout_millis"].as_u64().unwrap_or(PATIENCE);
    if !LIMITS.contains(&patience) {
        return Err(format!("timeout_millis of the executable is from {} to {}", LIMITS.start(), LIMITS.end()));
    }
    let mut words = line.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words).env("GOOGLE_EXTERNAL_ACCOUNT_INTERACTIVE", "0");
    let account = credentials["service_account_impersonation_url"].as_str().and_then(account_in);
    let told = [
        ("GOOGLE_EXTERNAL_ACCOUNT_AUDIENCE", credentials["audience"].as_str()),
        ("GOOGLE_EXTERNAL_ACCOUNT_TOKEN_TYPE", credentials["subject_token_type"].as_str()),
        ("GOOGLE_EXTERNAL_ACCOUNT_IMPERSONATED_EMAIL", account),
        ("GOOGLE_EXTERNAL_ACCOUNT_OUTPUT_FILE", kept),
    ];
    for (name, value) in told {
        if let Some(value) = value {
            command.env(name, value);
        }
    }
    let printed = output(command, Duration::from_millis(patience))?;
    let answer = answer(&printed)?;
    if kept.is_some() && answer.end.is_none() {
        return Err("the program of the credential_source has an output_file, and tells no expiration_time".to_owned());
    }
    if answer.end.is_some_and(|end| end <= now) {
        return Err("the identity that the program of the credential_source tells has expired".to_owned());
    }
    Ok(answer.subject)
}

/// The account in the address by which somebody stands in for it.
fn account_in(place: &str) -> Option<&str> {
    place.rsplit('/').next()?.strip_suffix(":generateAccessToken")
}

/// What a program tells. It is never shown: it is a secret.
struct Answer {
    subject: String,
    end: Option<u64>,
}

fn still_good(kept: &[u8], now: u64) -> Option<String> {
    let answer = answer(kept).ok()?;
    answer.end.is_some_and(|end| end > now).then_some(answer.subject)
}

fn answer(printed: &[u8]) -> Result<Answer, String> {
    let wrong = |what: &str| format!("the program of the credential_source {what}");
    let document: Json = serde_json::from_slice(printed).map_err(|_| wrong("answers no JSON"))?;
    if document["version"] != 1 {
        return Err(wrong("answers in another version than 1"));
    }
    if document["success"] != true {
        let said = |name: &str| document[name].as_str().unwrap_or("nothing").chars().take(300).collect::<String>();
        return Err(wrong(&format!("refuses, with the code {} and the message {:?}", said("code"), said("message"))));
    }
    let kind = document["token_type"].as_str().unwrap_or_default();
    let name = match kind {
        "urn:ietf:params:oauth:token-type:jwt" | "urn:ietf:params:oauth:token-type:id_token" => "id_token",
        "urn:ietf:params:oauth:token-type:saml2" => "saml_response",
        _ => return Err(wrong(&format!("tells a token of the unknown type {kind:?}"))),
    };
    let subject = document[name].as_str().filter(|subject| !subject.is_empty());
    let subject = subject.ok_or_else(|| wrong(&format!("tells no {name}")))?.to_owned();
    Ok(Answer { subject, end: document["expiration_time"].as_u64() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_or_refused_and_never_shown() {
        let answered = |text: &str| answer(text.as_bytes()).map(|answer| answer.subject);
        let kind = "urn:ietf:params:oauth:token-type:";
        let good =
            format!(r#"{{"version":1,"success":true,"token_type":"{kind}jwt","id_token":"hush","expiration_time":9}}"#);
        assert_eq!(answered(&good), Ok("hush".to_owned()));
        assert_eq!((still_good(good.as_bytes(), 8).as_deref(), still_good(good.as_bytes(), 9)), (Some("hush"), None));
        let saml = format!(r#"{{"version":1,"success":true,"token_type":"{kind}saml2","saml_response":"hush"}}"#);
        assert_eq!(answered(&saml), Ok("hush".to_owned()));
        assert_eq!(still_good(saml.as_bytes(), 0), None);
        for (text, what) in [
            (good.replace("version\":1", "version\":2"), "another version"),
            (good.replace("jwt", "word"), "unknown type"),
            (good.replace("\"id_token\"", "\"word\""), "no id_token"),
            (r#"{"version":1,"success":false,"code":"401","message":"no"}"#.to_owned(), "the code 401"),
            ("hush".to_owned(), "no JSON"),
        ] {
            let refused = answered(&text).unwrap_err();
            assert!(refused.contains(what) && !refused.contains("hush"), "{refused}");
        }
    }

    #[test]
    fn the_account_is_in_the_address() {
        let place = "https://iam/v1/projects/-/serviceAccounts/a@b:generateAccessToken";
        assert_eq!(account_in(place), Some("a@b"));
        assert_eq!(account_in("https://iam/x"), None);
    }
}
