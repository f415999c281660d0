//! `aws_kms`: the Key Management Service of AWS makes keys for data, and opens them again.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use aws_credential_types::Credentials;
use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningSettings, sign};
use aws_sigv4::sign::v4;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::given::{Argument, Given, Kind};
use super::network::{AwsKeys, Network, NetworkRequest, asked, bytes, or_variable, text};
use crate::key_provider::{FreshKey, KeyService};

pub(super) const ARGUMENTS: &[Argument] = &[
    Argument::required("kms_key_id", Kind::Text),
    Argument::required("key_spec", Kind::Text),
    Argument::optional("encryption_context", Kind::Map),
    Argument::optional("region", Kind::Text),
    Argument::optional("profile", Kind::Text),
    Argument::optional("access_key", Kind::Text),
    Argument::optional("secret_key", Kind::Text),
    Argument::optional("token", Kind::Text),
    Argument::optional("use_fips_endpoint", Kind::Flag),
    Argument::optional("use_dualstack_endpoint", Kind::Flag),
    Argument::optional("max_retries", Kind::NoEffect),
    Argument::optional("retry_mode", Kind::NoEffect),
    Argument::optional("skip_credentials_validation", Kind::NoEffect),
    Argument::optional("skip_requesting_account_id", Kind::NoEffect),
    Argument::optional("skip_metadata_api_check", Kind::NoEffect),
    Argument::optional("sts_region", Kind::NoEffect),
    Argument::optional("allowed_account_ids", Kind::Absent),
    Argument::optional("assume_role", Kind::Absent),
    Argument::optional("assume_role_with_web_identity", Kind::Absent),
    Argument::optional("custom_ca_bundle", Kind::Absent),
    Argument::optional("ec2_metadata_service_endpoint", Kind::Absent),
    Argument::optional("ec2_metadata_service_endpoint_mode", Kind::Absent),
    Argument::optional("forbidden_account_ids", Kind::Absent),
    Argument::optional("http_proxy", Kind::Absent),
    Argument::optional("https_proxy", Kind::Absent),
    Argument::optional("insecure", Kind::Absent),
    Argument::optional("no_proxy", Kind::Absent),
    Argument::optional("shared_config_files", Kind::Absent),
    Argument::optional("shared_credentials_files", Kind::Absent),
];

/// The keys for data that the service makes.
const SPECS: [&str; 2] = ["AES_256", "AES_128"];

#[derive(Debug)]
pub(super) struct AwsKms {
    network: Arc<dyn Network>,
    given: Given,
    key: String,
    spec: String,
    context: BTreeMap<String, String>,
}

/// What is kept beside what was sealed.
#[derive(Serialize, Deserialize)]
struct Notes {
    ciphertext_blob: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    encryption_context: BTreeMap<String, String>,
}

impl AwsKms {
    pub(super) fn new(given: &Given, network: Arc<dyn Network>) -> Result<Self, String> {
        let spec = given.needed("key_spec")?;
        if !SPECS.contains(&spec.as_str()) {
            return Err(format!("key_spec is {}, not {spec:?}", SPECS.join(" or ")));
        }
        let (key, context) = (given.needed("kms_key_id")?, given.map("encryption_context"));
        Ok(Self { key, spec, context, given: given.clone(), network })
    }

    fn region(&self) -> Result<String, String> {
        or_variable(self.given.text("region"), &*self.network, &["AWS_REGION", "AWS_DEFAULT_REGION"])
            .ok_or_else(|| "no region is known; set \"region\" or the environment variable AWS_REGION".to_owned())
    }

    fn keys(&self) -> Result<AwsKeys, String> {
        if let (Some(id), Some(secret)) = (self.given.text("access_key"), self.given.text("secret_key")) {
            return Ok(AwsKeys { id, secret, session: self.given.text("token") });
        }
        self.network.aws_keys(self.given.text("profile").as_deref()).ok_or_else(|| {
            "there are no keys of AWS; set the environment variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or name a profile \
             of the shared files that has them"
                .to_owned()
        })
    }

    /// Where the service of a region is.
    fn place(&self, region: &str) -> String {
        if let Some(place) = or_variable(None, &*self.network, &["AWS_ENDPOINT_URL_KMS", "AWS_ENDPOINT_URL"]) {
            return place;
        }
        let is_set = |name: &str, variable: &str| {
            self.given.flag(name).unwrap_or_else(|| self.network.variable(variable).as_deref() == Some("true"))
        };
        let service = if is_set("use_fips_endpoint", "AWS_USE_FIPS_ENDPOINT") { "kms-fips" } else { "kms" };
        let dual = is_set("use_dualstack_endpoint", "AWS_USE_DUALSTACK_ENDPOINT");
        let domain = match (region.starts_with("cn-"), dual) {
            (true, true) => "api.amazonwebservices.com.cn",
            (true, false) => "amazonaws.com.cn",
            (false, true) => "api.aws",
            (false, false) => "amazonaws.com",
        };
        format!("https://{service}.{region}.{domain}/")
    }

    fn ask(&self, action: &str, document: Json) -> Result<Json, String> {
        let region = self.region()?;
        let place = self.place(&region);
        // What is signed has a path, and what is sent the same one.
        let place = if place.matches('/').count() < 3 { format!("{place}/") } else { place };
        let request = NetworkRequest {
            method: "POST",
            url: place,
            headers: vec![
                ("content-type".to_owned(), "application/x-amz-json-1.1".to_owned()),
                ("x-amz-target".to_owned(), format!("TrentService.{action}")),
            ],
            body: document.to_string().into_bytes(),
        };
        asked(&*self.network, &signed(request, &region, &self.keys()?)?)
    }
}

/// The request with headers that say who asks (Signature Version 4).
fn signed(mut request: NetworkRequest, region: &str, keys: &AwsKeys) -> Result<NetworkRequest, String> {
    let failed = |error: &dyn std::fmt::Display| format!("the request cannot be signed: {error}");
    let identity = Credentials::new(&*keys.id, &*keys.secret, keys.session.clone(), None, "key provider").into();
    let parameters = v4::SigningParams::builder()
        .identity(&identity)
        .region(region)
        .name("kms")
        .time(SystemTime::now())
        .settings(SigningSettings::default())
        .build()
        .map_err(|error| failed(&error))?
        .into();
    let headers = request.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let signable =
        SignableRequest::new(request.method, request.url.as_str(), headers, SignableBody::Bytes(&request.body))
            .map_err(|error| failed(&error))?;
    let (instructions, _) = sign(signable, &parameters).map_err(|error| failed(&error))?.into_parts();
    let more: Vec<_> = instructions.headers().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    request.headers.extend(more);
    Ok(request)
}

impl KeyService for AwsKms {
    fn fresh(&self) -> Result<FreshKey, String> {
        let mut document = json!({ "KeyId": self.key, "KeySpec": self.spec });
        if !self.context.is_empty() {
            document["EncryptionContext"] = json!(self.context);
        }
        let made = self.ask("GenerateDataKey", document)?;
        let notes = Notes { ciphertext_blob: text(&made, "CiphertextBlob")?, encryption_context: self.context.clone() };
        let notes = serde_json::to_vec(&notes).map_err(|problem| problem.to_string())?;
        Ok(FreshKey { key: bytes(&made, "Plaintext")?, notes })
    }

    fn noted(&self, notes: Option<&[u8]>) -> Result<Option<Vec<u8>>, String> {
        let notes = notes.and_then(|notes| serde_json::from_slice::<Notes>(notes).ok());
        let Some(notes) = notes.filter(|notes| !notes.ciphertext_blob.is_empty()) else { return Ok(None) };
        let mut document = json!({ "KeyId": self.key, "CiphertextBlob": notes.ciphertext_blob });
        if !notes.encryption_context.is_empty() {
            document["EncryptionContext"] = json!(notes.encryption_context);
        }
        bytes(&self.ask("Decrypt", document)?, "Plaintext").map(Some)
    }
}
