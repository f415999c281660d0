//! Access tokens of Google Cloud, from Application Default Credentials.

use std::path::{Path, PathBuf};

use aws_lc_rs::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use groma_diagnostics::io_reason;
use serde_json::{Value as Json, json};

use super::arguments::ArgumentValues;
use super::network::{Network, NetworkRequest, in_home, or_variable, request_json, string};
use super::{jwt, workload_identity};
use crate::error::KeyError;

/// The OAuth scope of the tokens.
const SCOPE: &str = "https://www.googleapis.com/auth/cloudkms";

/// The lifetime of an assertion, in seconds. Google accepts at most one hour.
const ASSERTION_LIFETIME: u64 = 3600;

/// The credentials that the arguments of a `gcp_kms` key provider configure.
#[derive(Debug)]
pub(super) struct GoogleCredentials {
    arguments: ArgumentValues,
}

impl GoogleCredentials {
    pub(super) fn new(arguments: &ArgumentValues) -> Self {
        Self { arguments: arguments.clone() }
    }

    /// Requests an access token: of the configured account, or of the service account that it impersonates.
    pub(super) fn token(&self, network: &dyn Network) -> Result<String, KeyError> {
        let token = self.base_token(network)?;
        let variables = ["GOOGLE_IMPERSONATE_SERVICE_ACCOUNT", "GOOGLE_BACKEND_IMPERSONATE_SERVICE_ACCOUNT"];
        let argument = self.arguments.string("impersonate_service_account");
        let Some(account) = or_variable(argument, network, &variables) else {
            return Ok(token);
        };
        let delegates = self.arguments.strings("impersonate_service_account_delegates");
        let delegates: Vec<String> =
            delegates.iter().map(|account| format!("projects/-/serviceAccounts/{account}")).collect();
        let accounts = "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts";
        let url = format!("{accounts}/{account}:generateAccessToken");
        let request = NetworkRequest::json("POST", url, &json!({ "scope": [SCOPE], "delegates": delegates }));
        string(&request_json(network, &request.with_bearer_token(&token))?, "accessToken")
    }

    /// Requests the token of the account itself, without impersonation.
    fn base_token(&self, network: &dyn Network) -> Result<String, KeyError> {
        let argument = self.arguments.string("access_token");
        if let Some(token) = or_variable(argument, network, &["GOOGLE_OAUTH_ACCESS_TOKEN"]) {
            return Ok(token);
        }
        match self.credentials(network)? {
            Some(credentials) => token_for(&credentials, network),
            None => metadata_server_token(network),
        }
    }

    /// Reads the credentials document. `credentials` and `GOOGLE_CREDENTIALS` hold a path or the document itself. Returns
    /// `None` if nothing is configured and `gcloud` has stored nothing.
    fn credentials(&self, network: &dyn Network) -> Result<Option<Json>, KeyError> {
        let unreadable = |path: &Path, problem: &str| {
            KeyError::credentials(format!("cannot read the Google Cloud credentials in {}: {problem}", path.display()))
        };
        let value = or_variable(self.arguments.string("credentials"), network, &["GOOGLE_CREDENTIALS"]);
        if let Some(content) = value.as_ref().filter(|value| value.trim_start().starts_with('{')) {
            let invalid = |_| KeyError::argument("credentials must be valid JSON or the path of a file");
            return serde_json::from_str(content).map(Some).map_err(invalid);
        }
        let path = match value.or_else(|| network.variable("GOOGLE_APPLICATION_CREDENTIALS")) {
            Some(path) => in_home(&path, network),
            None => {
                let directory = network.variable("CLOUDSDK_CONFIG").map(PathBuf::from);
                let directory = directory.or_else(|| Some(network.home()?.join(".config/gcloud")));
                let path = directory.map(|directory| directory.join("application_default_credentials.json"));
                match path.filter(|path| path.is_file()) {
                    Some(path) => path,
                    None => return Ok(None),
                }
            }
        };
        let content = std::fs::read(&path).map_err(|error| unreadable(&path, &io_reason(&error)))?;
        serde_json::from_slice(&content).map(Some).map_err(|_| unreadable(&path, "the file is not JSON"))
    }
}

/// Requests a token with a credentials document, by its `type`.
fn token_for(credentials: &Json, network: &dyn Network) -> Result<String, KeyError> {
    let token_uri = credentials["token_uri"].as_str().unwrap_or("https://oauth2.googleapis.com/token").to_owned();
    let field = |name: &str| field(credentials, name);
    let request = match field("type")? {
        "service_account" => {
            let key_id = credentials["private_key_id"].as_str();
            let assertion = assertion(field("client_email")?, key_id, field("private_key")?, &token_uri)?;
            NetworkRequest::form(
                token_uri,
                &[("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"), ("assertion", &assertion)],
            )
        }
        "authorized_user" => NetworkRequest::form(
            token_uri,
            &[
                ("grant_type", "refresh_token"),
                ("client_id", field("client_id")?),
                ("client_secret", field("client_secret")?),
                ("refresh_token", field("refresh_token")?),
            ],
        ),
        "external_account" => return workload_identity::token(credentials, SCOPE, network),
        "external_account_authorized_user" => {
            let url = field("token_url")?.to_owned();
            let basic = BASE64_STANDARD.encode(format!("{}:{}", field("client_id")?, field("client_secret")?));
            NetworkRequest::form(url, &[("grant_type", "refresh_token"), ("refresh_token", field("refresh_token")?)])
                .with_header("authorization", format!("Basic {basic}"))
        }
        "impersonated_service_account" => return impersonated_token(credentials, network),
        other => {
            return Err(KeyError::credentials(format!(
                "Google Cloud credentials of type {other:?} are not supported; set GOOGLE_OAUTH_ACCESS_TOKEN to a token \
                 instead"
            )));
        }
    };
    string(&request_json(network, &request)?, "access_token")
}

/// Returns a required string field of a credentials document.
pub(super) fn field<'a>(credentials: &'a Json, name: &str) -> Result<&'a str, KeyError> {
    let field = credentials[name].as_str();
    field.ok_or_else(|| KeyError::credentials(format!("the Google Cloud credentials have no {name}")))
}

/// Requests the token of a service account with the `source_credentials` of an account that may impersonate it.
fn impersonated_token(credentials: &Json, network: &dyn Network) -> Result<String, KeyError> {
    let url = field(credentials, "service_account_impersonation_url")?;
    let token = token_for(&credentials["source_credentials"], network)?;
    let delegates = credentials["delegates"].as_array().cloned().unwrap_or_default();
    let request = NetworkRequest::json("POST", url.to_owned(), &json!({ "scope": [SCOPE], "delegates": delegates }));
    string(&request_json(network, &request.with_bearer_token(&token))?, "accessToken")
}

/// Signs the assertion with which a service account requests a token.
fn assertion(email: &str, key_id: Option<&str>, key: &str, audience: &str) -> Result<String, KeyError> {
    let unusable = || KeyError::credentials("cannot use the private_key in the Google Cloud credentials");
    let base64: String = key.lines().filter(|line| !line.starts_with("-----")).map(str::trim).collect();
    let der = BASE64_STANDARD.decode(base64).map_err(|_| unusable())?;
    let key_pair = RsaKeyPair::from_pkcs8(&der).map_err(|_| unusable())?;
    let now = jwt::unix_time();
    let mut header = json!({ "alg": "RS256", "typ": "JWT" });
    if let Some(id) = key_id {
        header["kid"] = id.into();
    }
    let claims = json!({ "iss": email, "scope": SCOPE, "aud": audience, "iat": now, "exp": now + ASSERTION_LIFETIME });
    jwt::sign(&header, &claims, &key_pair, &RSA_PKCS1_SHA256).ok_or_else(unusable)
}

/// Requests the token of the machine's service account. Outside of Google Cloud, the error says that there are no
/// credentials at all, because the metadata server is the last source.
fn metadata_server_token(network: &dyn Network) -> Result<String, KeyError> {
    let host = network.variable("GCE_METADATA_HOST").unwrap_or_else(|| "metadata.google.internal".to_owned());
    let url = format!("http://{host}/computeMetadata/v1/instance/service-accounts/default/token");
    // The server rejects requests without this header, as a protection from request forgery.
    let answer = request_json(network, &NetworkRequest::get(url).with_header("metadata-flavor", "Google"));
    answer.and_then(|answer| string(&answer, "access_token")).map_err(|error| {
        KeyError::credentials(format!(
            "no Google Cloud credentials found; set \"credentials\" or the environment variable \
             GOOGLE_APPLICATION_CREDENTIALS, or run gcloud auth application-default login ({error})"
        ))
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use aws_lc_rs::encoding::{AsDer, Pkcs8V1Der};
    use aws_lc_rs::rsa::KeySize;
    use aws_lc_rs::signature::{KeyPair, RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey};

    use base64::prelude::BASE64_URL_SAFE_NO_PAD;

    use super::super::arguments::ArgumentValue;
    use super::super::network::{ConnectionOptions, NetworkAnswer};
    use super::*;

    /// Answers every request with a token, and records the URLs and bodies.
    #[derive(Debug, Default)]
    struct FakeNetwork(Mutex<Vec<(String, String)>>);

    impl Network for FakeNetwork {
        fn send(&self, request: &NetworkRequest, _: &ConnectionOptions) -> Result<NetworkAnswer, KeyError> {
            let body = String::from_utf8_lossy(&request.body).into_owned();
            self.0.lock().unwrap().push((request.url.clone(), body));
            let answer = json!({ "access_token": "own", "accessToken": "of another" });
            Ok(NetworkAnswer { status: 200, body: answer.to_string().into_bytes() })
        }

        fn variable(&self, _: &str) -> Option<String> {
            None
        }

        fn home(&self) -> Option<PathBuf> {
            None
        }
    }

    fn arguments(values: &[(&str, &str)]) -> ArgumentValues {
        values.iter().map(|(name, value)| ((*name).to_owned(), ArgumentValue::String((*value).to_owned()))).collect()
    }

    #[test]
    fn service_account_signs_an_assertion() {
        let pair = RsaKeyPair::generate(KeySize::Rsa2048).unwrap();
        let der: Pkcs8V1Der<'_> = pair.as_der().unwrap();
        let encoded = BASE64_STANDARD.encode(der.as_ref());
        let account = json!({
            "type": "service_account",
            "client_email": "a@b",
            "private_key_id": "id",
            "private_key": format!("-----BEGIN PRIVATE KEY-----\n{encoded}\n-----END PRIVATE KEY-----\n"),
            "token_uri": "https://example.com/token",
        });
        let network = FakeNetwork::default();
        let token = GoogleCredentials::new(&arguments(&[("credentials", &account.to_string())])).token(&network);
        assert_eq!(token, Ok("own".to_owned()));
        let (url, form) = network.0.lock().unwrap()[0].clone();
        assert_eq!(url, "https://example.com/token");
        let assertion = form.split_once("&assertion=").unwrap().1;
        let (signing_input, signature) = assertion.rsplit_once('.').unwrap();
        let signature = BASE64_URL_SAFE_NO_PAD.decode(signature).unwrap();
        let key = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, pair.public_key().as_ref());
        assert!(key.verify(signing_input.as_bytes(), &signature).is_ok());
        let claims = BASE64_URL_SAFE_NO_PAD.decode(signing_input.split_once('.').unwrap().1).unwrap();
        let claims: Json = serde_json::from_slice(&claims).unwrap();
        assert_eq!((&claims["iss"], &claims["aud"]), (&json!("a@b"), &json!("https://example.com/token")));
    }

    #[test]
    fn service_account_is_impersonated() {
        let network = FakeNetwork::default();
        let values = [("access_token", "own"), ("impersonate_service_account", "other@b")];
        assert_eq!(GoogleCredentials::new(&arguments(&values)).token(&network), Ok("of another".to_owned()));
        let (url, body) = network.0.lock().unwrap()[0].clone();
        assert!(url.ends_with("/serviceAccounts/other@b:generateAccessToken"), "{url}");
        assert_eq!(serde_json::from_str::<Json>(&body).unwrap()["scope"], json!([SCOPE]));
    }

    #[test]
    fn workforce_users_and_impersonated_accounts_get_tokens() {
        let network = FakeNetwork::default();
        let user = json!({
            "type": "external_account_authorized_user", "token_url": "https://example.com/oauth", "client_id": "c",
            "client_secret": "s", "refresh_token": "r",
        });
        let another = json!({
            "type": "impersonated_service_account", "source_credentials": user, "delegates": ["projects/-/serviceAccounts/d"],
            "service_account_impersonation_url": "https://example.com/a@b:generateAccessToken",
        });
        let token = |document: &Json| {
            GoogleCredentials::new(&arguments(&[("credentials", &document.to_string())])).token(&network)
        };
        assert_eq!(token(&user), Ok("own".to_owned()));
        assert_eq!(token(&another), Ok("of another".to_owned()));
        let seen = network.0.lock().unwrap();
        assert_eq!(seen[0].1, "grant_type=refresh_token&refresh_token=r");
        assert_eq!(seen[2].0, "https://example.com/a@b:generateAccessToken");
        assert!(seen[2].1.contains("serviceAccounts/d"), "{}", seen[2].1);
    }

    #[test]
    fn unsupported_credential_type_is_named() {
        let network = FakeNetwork::default();
        let document = json!({ "type": "gdch_service_account", "audience": "hush" }).to_string();
        let refused =
            GoogleCredentials::new(&arguments(&[("credentials", &document)])).token(&network).unwrap_err().to_string();
        assert!(refused.contains("\"gdch_service_account\"") && !refused.contains("hush"), "{refused}");
    }
}
