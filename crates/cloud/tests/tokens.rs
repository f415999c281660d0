//! Access tokens of Google Cloud and Azure, and keys of Alibaba Cloud, from doubles of their services on loopback.

#![allow(clippy::unwrap_used)] // the helpers of a test may fail as the test itself may

mod double;

use aws_lc_rs::encoding::{AsDer, Pkcs8V1Der};
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{KeyPair, RSA_PKCS1_2048_8192_SHA256, RsaKeyPair, UnparsedPublicKey};
use base64::Engine;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use double::{Double, ok, status};
use groma_cloud::alibaba::{AlibabaCredentials, AlibabaRole, AlibabaSettings};
use groma_cloud::api::ApiRequest;
use groma_cloud::azure::{
    AuthenticationMethods, AzureCloud, AzureCredentials, AzureSettings, ClientSettings, OidcSettings,
};
use groma_cloud::google::{GoogleCredentials, GoogleSettings};
use groma_cloud::{Environment, Secret, TokenError, background};
use serde_json::{Value as Json, json};

const SCOPE: &str = "https://www.googleapis.com/auth/devstorage.read_write";

/// Answers every request with a token.
fn issuer() -> Double {
    Double::start(|request, number| match request.target.split('?').next().unwrap_or_default() {
        "/refused" => status(400, r#"{"error":"invalid_grant","error_description":"no such account"}"#),
        // A status that is worth another attempt, once.
        "/flaky" if number == 0 => status(503, ""),
        "/identity" => ok(r#"{"value":"oidc"}"#),
        _ => ok(
            r#"{"access_token":"own","accessToken":"of another","expires_in":3600,"expireTime":"2199-01-01T00:00:00Z"}"#,
        ),
    })
}

fn google(credentials: &Json, environment: Environment) -> GoogleCredentials {
    GoogleCredentials::new(GoogleSettings {
        credentials: Some(credentials.to_string().into()),
        scopes: vec![SCOPE.to_owned()],
        environment,
        ..GoogleSettings::default()
    })
    .unwrap()
}

fn user(url: &str) -> Json {
    json!({
        "type": "external_account_authorized_user", "token_url": url, "client_id": "c", "client_secret": "s",
        "refresh_token": "r",
    })
}

#[test]
fn service_account_signs_an_assertion_and_its_token_is_kept() {
    let pair = RsaKeyPair::generate(KeySize::Rsa2048).unwrap();
    let der: Pkcs8V1Der<'_> = pair.as_der().unwrap();
    let encoded = BASE64_STANDARD.encode(der.as_ref());
    let issuer = issuer();
    let url = format!("{}/token", issuer.url);
    let account = json!({
        "type": "service_account",
        "client_email": "a@b",
        "private_key_id": "id",
        "private_key": format!("-----BEGIN PRIVATE KEY-----\n{encoded}\n-----END PRIVATE KEY-----\n"),
        "token_uri": url,
    });
    let credentials = google(&account, Environment::default());
    assert_eq!(credentials.token_blocking().unwrap().reveal(), "own");
    assert_eq!(credentials.token_blocking().unwrap().reveal(), "own");
    let received = issuer.received();
    assert_eq!(received.len(), 1, "the token is kept");
    let assertion = received[0].body.split_once("&assertion=").unwrap().1;
    let (signing_input, signature) = assertion.rsplit_once('.').unwrap();
    let signature = BASE64_URL_SAFE_NO_PAD.decode(signature).unwrap();
    let key = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, pair.public_key().as_ref());
    assert!(key.verify(signing_input.as_bytes(), &signature).is_ok());
    let claims = BASE64_URL_SAFE_NO_PAD.decode(signing_input.split_once('.').unwrap().1).unwrap();
    let claims: Json = serde_json::from_slice(&claims).unwrap();
    assert_eq!((&claims["iss"], &claims["aud"], &claims["scope"]), (&json!("a@b"), &json!(url), &json!(SCOPE)));
}

#[test]
fn google_accounts_are_impersonated_with_the_scopes_of_the_settings() {
    let issuer = issuer();
    let credentials = GoogleCredentials::new(GoogleSettings {
        access_token: Some("own".to_owned().into()),
        impersonate_service_account: Some("other@b".to_owned()),
        delegates: vec!["d@b".to_owned()],
        scopes: vec![SCOPE.to_owned()],
        environment: Environment::default().with("GOOGLE_IAM_CREDENTIALS_CUSTOM_ENDPOINT", &*issuer.url),
        ..GoogleSettings::default()
    });
    assert_eq!(credentials.unwrap().token_blocking().unwrap().reveal(), "of another");
    let received = &issuer.received()[0];
    assert_eq!(received.target, "/projects/-/serviceAccounts/other@b:generateAccessToken");
    assert_eq!(received.header("authorization"), Some("Bearer own"));
    let body: Json = serde_json::from_str(&received.body).unwrap();
    assert_eq!(body, json!({ "scope": [SCOPE], "delegates": ["projects/-/serviceAccounts/d@b"] }));
}

#[test]
fn workforce_users_and_impersonated_accounts_get_tokens() {
    let issuer = issuer();
    let user = user(&format!("{}/oauth", issuer.url));
    let another = json!({
        "type": "impersonated_service_account", "source_credentials": user, "delegates": ["projects/-/serviceAccounts/d"],
        "service_account_impersonation_url": format!("{}/a@b:generateAccessToken", issuer.url),
    });
    let token =
        |document: &Json| google(document, Environment::default()).token_blocking().unwrap().reveal().to_owned();
    assert_eq!(token(&user), "own");
    assert_eq!(token(&another), "of another");
    let received = issuer.received();
    assert_eq!(received[0].body, "grant_type=refresh_token&refresh_token=r");
    // Request 1 is the token of the source credentials, with which request 2 impersonates the other account.
    assert_eq!(received[2].target, "/a@b:generateAccessToken");
    assert!(received[2].body.contains("serviceAccounts/d"), "{}", received[2].body);
}

#[test]
fn google_refusals_are_reported_without_secrets_and_overload_is_retried() {
    let issuer = issuer();
    let refused = google(&user(&format!("{}/refused", issuer.url)), Environment::default()).token_blocking();
    assert_eq!(refused.unwrap_err(), TokenError::Rejected { status: 400, message: Some("no such account".to_owned()) });
    let unsupported = json!({ "type": "gdch_service_account", "audience": "hush" });
    let refused = google(&unsupported, Environment::default()).token_blocking().unwrap_err().to_string();
    assert!(refused.contains("\"gdch_service_account\"") && !refused.contains("hush"), "{refused}");
    // An issuer of its own, because the first request of an issuer is the one that fails.
    let flaky = self::issuer();
    let token = google(&user(&format!("{}/flaky", flaky.url)), Environment::default()).token_blocking();
    assert_eq!((token.unwrap().reveal(), flaky.received().len()), ("own", 2));
}

#[test]
fn missing_google_credentials_differ_from_broken_ones() {
    let settings = |name: &str, value: &str| GoogleSettings {
        environment: Environment::default().with(name, value),
        ..GoogleSettings::default()
    };
    let token = |settings| GoogleCredentials::new(settings).unwrap().token_blocking();
    // Nothing listens on port 9, as outside of Google Cloud.
    let missing = token(settings("GCE_METADATA_HOST", "127.0.0.1:9")).unwrap_err();
    assert!(matches!(missing, TokenError::Missing(_)), "{missing}");
    let broken = token(settings("GOOGLE_APPLICATION_CREDENTIALS", "/no/such/file")).unwrap_err();
    assert!(matches!(broken, TokenError::Credentials(_)), "{broken}");
}

#[test]
fn azure_applications_get_tokens_for_any_resource() {
    let issuer = issuer();
    let environment = Environment::default().with("AZURE_AUTHORITY_HOST", &*issuer.url);
    let settings = AzureSettings {
        tenant_id: Some("tenant".to_owned()),
        client: ClientSettings {
            id: Some("app".to_owned()),
            secret: Some("hush".to_owned().into()),
            ..ClientSettings::default()
        },
        environment,
        ..AzureSettings::default()
    };
    let credentials = AzureCredentials::new(settings.clone()).unwrap();
    assert_eq!(credentials.token_blocking(|cloud| &cloud.vault).unwrap().reveal(), "own");
    assert_eq!(credentials.token_blocking(|cloud| &cloud.vault).unwrap().reveal(), "own");
    let storage = credentials.clone();
    background::block_on(async move { storage.token(AzureCloud::STORAGE).await }).unwrap().unwrap();
    let received = issuer.received();
    assert_eq!(received.len(), 2, "tokens are kept for each resource");
    assert_eq!(received[0].target, "/tenant/oauth2/v2.0/token");
    assert!(received[0].body.contains("scope=https%3A%2F%2Fvault.azure.net%2F.default"), "{}", received[0].body);
    assert!(received[1].body.contains("scope=https%3A%2F%2Fstorage.azure.com%2F.default"), "{}", received[1].body);
    let federated = AzureSettings {
        client: ClientSettings { id: Some("app".to_owned()), ..ClientSettings::default() },
        oidc: OidcSettings {
            request_url: Some(format!("{}/identity", issuer.url)),
            request_token: Some("job".to_owned().into()),
            ..OidcSettings::default()
        },
        methods: AuthenticationMethods { oidc: Some(true), ..AuthenticationMethods::default() },
        ..settings
    };
    AzureCredentials::new(federated).unwrap().token_blocking(|cloud| &cloud.vault).unwrap();
    let received = issuer.received();
    assert_eq!(received[2].header("authorization"), Some("Bearer job"));
    // The token of the job is exchanged for one of Entra ID.
    assert!(received[3].body.contains("client_assertion=oidc"), "{}", received[3].body);
}

#[test]
fn azure_managed_identities_and_clouds() {
    let issuer = issuer();
    let settings = AzureSettings {
        methods: AuthenticationMethods { managed_identity: Some(true), ..AuthenticationMethods::default() },
        msi_endpoint: Some(format!("{}/msi", issuer.url)),
        environment_name: Some("usgovernment".to_owned()),
        ..AzureSettings::default()
    };
    let credentials = AzureCredentials::new(settings.clone()).unwrap();
    credentials.token_blocking(|cloud| &cloud.managed_hsm).unwrap();
    let target = &issuer.received()[0].target;
    assert!(target.contains("resource=https%3A%2F%2Fmanagedhsm.usgovcloudapi.net"), "{target}");
    let unknown = AzureSettings { environment_name: Some("mars".to_owned()), ..settings };
    let problem = AzureCredentials::new(unknown).unwrap().token_blocking(|cloud| &cloud.vault).unwrap_err();
    assert!(matches!(&problem, TokenError::Setting(text) if text.contains("\"mars\"")), "{problem}");
}

#[test]
fn repeated_request_for_a_role_has_a_nonce_and_a_signature_of_its_own() {
    let sts = Double::start(|_, number| match number {
        0 => status(503, ""),
        _ => ok(r#"{"Credentials":{"AccessKeyId":"t","AccessKeySecret":"s","SecurityToken":"x"}}"#),
    });
    let credentials = AlibabaCredentials::new(AlibabaSettings {
        access_key: Some("id".to_owned()),
        secret_key: Some(Secret::new("key")),
        role: Some(AlibabaRole { arn: "acs:ram::1:role/ci".to_owned(), ..AlibabaRole::default() }),
        sts_endpoint: Some(sts.url.clone()),
        ..AlibabaSettings::default()
    });
    let credentials = credentials.unwrap();
    let signing = async move { credentials.sign_object_request(ApiRequest::get("http://127.0.0.1/"), "/").await };
    assert!(background::block_on(signing).unwrap().is_ok());
    let received = sts.received();
    let value = |name: &str| -> Vec<String> {
        let in_query =
            |target: &str| target.split(['?', '&']).find_map(|pair| pair.strip_prefix(name)).map(str::to_owned);
        received.iter().map(|request| in_query(&request.target).unwrap()).collect()
    };
    for name in ["SignatureNonce=", "Signature="] {
        let values = value(name);
        assert!(values.len() == 2 && values[0] != values[1], "{name}: {values:?}");
    }
}
