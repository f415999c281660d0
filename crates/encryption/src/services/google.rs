//! Who asks Google Cloud: tokens, for the credentials that its tools leave behind.

use std::path::PathBuf;

use aws_lc_rs::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value as Json, json};

use super::given::Given;
use super::network::{Network, NetworkRequest, asked, or_variable, text};
use super::{google_elsewhere, word};

/// What the tokens are for.
const SCOPE: &str = "https://www.googleapis.com/auth/cloudkms";

/// How long an assertion is good, in seconds.
const ASSERTED: u64 = 3600;

/// Who asks, as the arguments say.
#[derive(Debug)]
pub(super) struct Google {
    given: Given,
}

impl Google {
    pub(super) fn new(given: &Given) -> Self {
        Self { given: given.clone() }
    }

    /// A token, of the account itself or of the one that it stands in for.
    pub(super) fn token(&self, network: &dyn Network) -> Result<String, String> {
        let own = self.own_token(network)?;
        let names = ["GOOGLE_IMPERSONATE_SERVICE_ACCOUNT", "GOOGLE_BACKEND_IMPERSONATE_SERVICE_ACCOUNT"];
        let Some(account) = or_variable(self.given.text("impersonate_service_account"), network, &names) else {
            return Ok(own);
        };
        let delegates: Vec<String> = self.given.texts("impersonate_service_account_delegates");
        let delegates: Vec<String> =
            delegates.iter().map(|account| format!("projects/-/serviceAccounts/{account}")).collect();
        let place = "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts";
        let place = format!("{place}/{account}:generateAccessToken");
        let request = NetworkRequest::json("POST", place, &json!({ "scope": [SCOPE], "delegates": delegates }));
        text(&asked(network, &request.by(&own))?, "accessToken")
    }

    fn own_token(&self, network: &dyn Network) -> Result<String, String> {
        if let Some(token) = or_variable(self.given.text("access_token"), network, &["GOOGLE_OAUTH_ACCESS_TOKEN"]) {
            return Ok(token);
        }
        match self.credentials(network)? {
            Some(credentials) => token_for(&credentials, network),
            None => token_of_machine(network),
        }
    }

    /// The document with the credentials: given, as a file or as its content, or where the tools keep it.
    fn credentials(&self, network: &dyn Network) -> Result<Option<Json>, String> {
        let unreadable = |path: &std::path::Path, problem: &dyn std::fmt::Display| {
            format!("the credentials of Google Cloud in {} cannot be read: {problem}", path.display())
        };
        let given = or_variable(self.given.text("credentials"), network, &["GOOGLE_CREDENTIALS"]);
        if let Some(content) = given.as_ref().filter(|given| given.trim_start().starts_with('{')) {
            let document = serde_json::from_str(content);
            return document.map(Some).map_err(|_| "\"credentials\" is neither JSON nor the path of a file".to_owned());
        }
        let named = given.or_else(|| network.variable("GOOGLE_APPLICATION_CREDENTIALS"));
        let path = match named {
            Some(name) => match (name.strip_prefix("~/"), network.home()) {
                (Some(rest), Some(home)) => home.join(rest),
                _ => PathBuf::from(name),
            },
            None => {
                let folder = network.variable("CLOUDSDK_CONFIG").map(PathBuf::from);
                let folder = folder.or_else(|| Some(network.home()?.join(".config/gcloud")));
                let path = folder.map(|folder| folder.join("application_default_credentials.json"));
                match path.filter(|path| path.is_file()) {
                    Some(path) => path,
                    None => return Ok(None),
                }
            }
        };
        let content = std::fs::read(&path).map_err(|problem| unreadable(&path, &problem))?;
        serde_json::from_slice(&content).map(Some).map_err(|_| unreadable(&path, &"it is no JSON"))
    }
}

/// The token of credentials.
fn token_for(credentials: &Json, network: &dyn Network) -> Result<String, String> {
    let place = credentials["token_uri"].as_str().unwrap_or("https://oauth2.googleapis.com/token").to_owned();
    let field = |name: &str| {
        credentials[name].as_str().ok_or_else(|| format!("the credentials of Google Cloud have no {name}"))
    };
    let request = match field("type")? {
        "service_account" => {
            let assertion = assertion(
                field("client_email")?,
                credentials["private_key_id"].as_str(),
                field("private_key")?,
                &place,
            )?;
            NetworkRequest::form(
                place,
                &[("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"), ("assertion", &assertion)],
            )
        }
        "authorized_user" => NetworkRequest::form(
            place,
            &[
                ("grant_type", "refresh_token"),
                ("client_id", field("client_id")?),
                ("client_secret", field("client_secret")?),
                ("refresh_token", field("refresh_token")?),
            ],
        ),
        "external_account" => return google_elsewhere::token(credentials, SCOPE, network),
        "external_account_authorized_user" => {
            let place = field("token_url")?.to_owned();
            let who = BASE64_STANDARD.encode(format!("{}:{}", field("client_id")?, field("client_secret")?));
            NetworkRequest::form(place, &[("grant_type", "refresh_token"), ("refresh_token", field("refresh_token")?)])
                .with("authorization", format!("Basic {who}"))
        }
        "impersonated_service_account" => return token_of_another(credentials, network),
        kind => {
            return Err(format!(
                "credentials of Google Cloud of the type {kind:?} cannot be used yet; GOOGLE_OAUTH_ACCESS_TOKEN can hold a token"
            ));
        }
    };
    text(&asked(network, &request)?, "access_token")
}

/// The token of an account that another one stands in for, as its credentials say.
fn token_of_another(credentials: &Json, network: &dyn Network) -> Result<String, String> {
    let place = credentials["service_account_impersonation_url"].as_str();
    let place = place.ok_or("the credentials of Google Cloud have no service_account_impersonation_url")?;
    let own = token_for(&credentials["source_credentials"], network)?;
    let delegates = credentials["delegates"].as_array().cloned().unwrap_or_default();
    let request = NetworkRequest::json("POST", place.to_owned(), &json!({ "scope": [SCOPE], "delegates": delegates }));
    text(&asked(network, &request.by(&own))?, "accessToken")
}

/// The word of a service account that it is the one that asks, signed with its key.
fn assertion(email: &str, key_id: Option<&str>, key: &str, audience: &str) -> Result<String, String> {
    let unusable = || "the private key of the service account cannot be used".to_owned();
    let encoded: String = key.lines().filter(|line| !line.starts_with("-----")).map(str::trim).collect();
    let der = BASE64_STANDARD.decode(encoded).map_err(|_| unusable())?;
    let pair = RsaKeyPair::from_pkcs8(&der).map_err(|_| unusable())?;
    let now = word::now();
    let mut header = json!({ "alg": "RS256", "typ": "JWT" });
    if let Some(id) = key_id {
        header["kid"] = id.into();
    }
    let claims = json!({ "iss": email, "scope": SCOPE, "aud": audience, "iat": now, "exp": now + ASSERTED });
    word::signed(&header, &claims, &pair, &RSA_PKCS1_SHA256).ok_or_else(unusable)
}

/// The token of the machine, where it is one of Google Cloud.
fn token_of_machine(network: &dyn Network) -> Result<String, String> {
    let host = network.variable("GCE_METADATA_HOST").unwrap_or_else(|| "metadata.google.internal".to_owned());
    let place = format!("http://{host}/computeMetadata/v1/instance/service-accounts/default/token");
    let answer = asked(network, &NetworkRequest::get(place).with("metadata-flavor", "Google"));
    answer.and_then(|answer| text(&answer, "access_token")).map_err(|problem| {
        format!(
            "there are no credentials of Google Cloud; set \"credentials\" or the environment variable GOOGLE_APPLICATION_CREDENTIALS, or \
             run gcloud auth application-default login ({problem})"
        )
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use aws_lc_rs::encoding::{AsDer, Pkcs8V1Der};
    use aws_lc_rs::rsa::KeySize;
    use aws_lc_rs::signature::{KeyPair, RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey};

    use base64::prelude::BASE64_URL_SAFE_NO_PAD;

    use super::super::given::GivenValue;
    use super::super::network::{NetworkAnswer, Way};
    use super::*;

    /// Answers every request with a token, and keeps them.
    #[derive(Debug, Default)]
    struct Asked(Mutex<Vec<(String, String)>>);

    impl Network for Asked {
        fn send(&self, request: &NetworkRequest, _: &Way) -> Result<NetworkAnswer, String> {
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

    fn given(values: &[(&str, &str)]) -> Given {
        values.iter().map(|(name, value)| ((*name).to_owned(), GivenValue::Text((*value).to_owned()))).collect()
    }

    #[test]
    fn a_service_account_signs_who_it_is() {
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
        let asked = Asked::default();
        let token = Google::new(&given(&[("credentials", &account.to_string())])).token(&asked);
        assert_eq!(token, Ok("own".to_owned()));
        let (place, form) = asked.0.lock().unwrap()[0].clone();
        assert_eq!(place, "https://example.com/token");
        let assertion = form.split_once("&assertion=").unwrap().1;
        let (told, signature) = assertion.rsplit_once('.').unwrap();
        let signature = BASE64_URL_SAFE_NO_PAD.decode(signature).unwrap();
        let key = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, pair.public_key().as_ref());
        assert!(key.verify(told.as_bytes(), &signature).is_ok());
        let claims = BASE64_URL_SAFE_NO_PAD.decode(told.split_once('.').unwrap().1).unwrap();
        let claims: Json = serde_json::from_slice(&claims).unwrap();
        assert_eq!((&claims["iss"], &claims["aud"]), (&json!("a@b"), &json!("https://example.com/token")));
    }

    #[test]
    fn one_account_stands_in_for_another() {
        let asked = Asked::default();
        let arguments = [("access_token", "own"), ("impersonate_service_account", "other@b")];
        assert_eq!(Google::new(&given(&arguments)).token(&asked), Ok("of another".to_owned()));
        let (place, body) = asked.0.lock().unwrap()[0].clone();
        assert!(place.ends_with("/serviceAccounts/other@b:generateAccessToken"), "{place}");
        assert_eq!(serde_json::from_str::<Json>(&body).unwrap()["scope"], json!([SCOPE]));
    }

    #[test]
    fn users_of_elsewhere_and_accounts_that_are_stood_in_for_get_tokens() {
        let asked = Asked::default();
        let user = json!({
            "type": "external_account_authorized_user", "token_url": "https://example.com/oauth", "client_id": "c",
            "client_secret": "s", "refresh_token": "r",
        });
        let another = json!({
            "type": "impersonated_service_account", "source_credentials": user, "delegates": ["projects/-/serviceAccounts/d"],
            "service_account_impersonation_url": "https://example.com/a@b:generateAccessToken",
        });
        let token = |document: &Json| Google::new(&given(&[("credentials", &document.to_string())])).token(&asked);
        assert_eq!(token(&user), Ok("own".to_owned()));
        assert_eq!(token(&another), Ok("of another".to_owned()));
        let seen = asked.0.lock().unwrap();
        assert_eq!(seen[0].1, "grant_type=refresh_token&refresh_token=r");
        assert_eq!(seen[2].0, "https://example.com/a@b:generateAccessToken");
        assert!(seen[2].1.contains("serviceAccounts/d"), "{}", seen[2].1);
    }

    #[test]
    fn credentials_of_another_kind_are_refused_by_name() {
        let asked = Asked::default();
        let document = json!({ "type": "gdch_service_account", "audience": "hush" }).to_string();
        let refused = Google::new(&given(&[("credentials", &document)])).token(&asked).unwrap_err();
        assert!(refused.contains("\"gdch_service_account\"") && !refused.contains("hush"), "{refused}");
    }
}
