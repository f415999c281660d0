//! What services answer that keep keys, and what was noted of their keys.

use std::path::PathBuf;
use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use groma_encryption::{
    ArgumentValue, ArgumentValues, ConnectionOptions, KeyError, Network, NetworkAnswer, NetworkRequest, SERVICES,
    service,
};

/// Answers every request with the same bytes.
#[derive(Debug)]
struct Answers {
    status: u16,
    body: Vec<u8>,
}

impl Network for Answers {
    fn send(&self, request: &NetworkRequest, _way: &ConnectionOptions) -> Result<NetworkAnswer, KeyError> {
        // Whoever has to log in first gets a token, or else nothing would be asked.
        let is_token = request.url.ends_with("/token");
        let body = if is_token { br#"{"access_token":"t"}"#.to_vec() } else { self.body.clone() };
        Ok(NetworkAnswer { status: if is_token { 200 } else { self.status }, body })
    }

    fn variable(&self, name: &str) -> Option<String> {
        (name == "AWS_REGION").then(|| "eu-west-1".to_owned())
    }

    fn home(&self) -> Option<PathBuf> {
        None
    }
}

fn text(name: &str, value: &str) -> (String, ArgumentValue) {
    (name.to_owned(), ArgumentValue::String(value.to_owned()))
}

/// Whoever has to ask somebody else first, for the keys of a role or of a machine, or for who it is; and whoever has a certificate.
fn given_through_others(bytes: &[u8]) -> [(&'static str, ArgumentValues); 4] {
    let role = ArgumentValue::Object(ArgumentValues::from_iter([text("role_arn", "r")]));
    let role = aws_keys().into_iter().chain([("assume_role".to_owned(), role)]).chain(aws());
    let elsewhere = r#"{"type":"external_account","audience":"a","subject_token_type":"t","credential_source":{"url":"https://u",
        "format":{"type":"json"}}}"#;
    let google = [text("kms_encryption_key", "k"), length(), text("credentials", elsewhere)];
    let certificate = azure().into_iter().chain([text("client_certificate", &BASE64_STANDARD.encode(bytes))]);
    [
        ("aws_kms", role.collect()),
        ("aws_kms", aws().into_iter().collect()),
        ("gcp_kms", google.into_iter().collect()),
        ("azure_vault", certificate.collect()),
    ]
}

type Argument = (String, ArgumentValue);

fn length() -> Argument {
    ("key_length".to_owned(), ArgumentValue::Number(32))
}

fn aws() -> [Argument; 2] {
    [text("kms_key_id", "k"), text("key_spec", "AES_256")]
}

fn aws_keys() -> [Argument; 2] {
    [text("access_key", "A"), text("secret_key", "s")]
}

fn azure() -> [Argument; 5] {
    [
        text("vault_uri", "https://v.vault.azure.net"),
        text("vault_key_name", "k"),
        text("tenant_id", "t"),
        text("client_id", "c"),
        length(),
    ]
}

/// What each service needs to be asked.
fn given(kind: &str) -> ArgumentValues {
    match kind {
        "aws_kms" => aws().into_iter().chain(aws_keys()).collect(),
        "gcp_kms" => {
            let user = r#"{"type":"authorized_user","client_id":"c","client_secret":"s","refresh_token":"r"}"#;
            [text("kms_encryption_key", "k"), length(), text("credentials", user)].into_iter().collect()
        }
        "azure_vault" => azure().into_iter().chain([text("client_secret", "s")]).collect(),
        _ => [text("key_name", "k"), text("token", "t")].into_iter().collect(),
    }
}

/// Every answer is a key or a refusal, every note leads to a key or to none; what a service makes can be noted.
pub fn key_services(bytes: &[u8]) {
    for status in [200, 400] {
        let direct = SERVICES.map(|kind| (kind, given(kind)));
        for (kind, given) in direct.into_iter().chain(given_through_others(bytes)) {
            let network = Arc::new(Answers { status, body: bytes.to_vec() });
            let service = service(kind, &given, network).unwrap_or_else(|problem| panic!("{kind}: {problem}"));
            let _ = service.recover(Some(bytes));
            let made = service.generate();
            assert!(status == 200 || made.is_err(), "{kind}");
            let Ok(made) = made else { continue };
            assert!(made.metadata.starts_with(b"{") && made.metadata.ends_with(b"}"), "{kind}");
            let _ = service.recover(Some(&made.metadata));
        }
    }
}
