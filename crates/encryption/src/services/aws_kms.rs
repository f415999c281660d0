//! `aws_kms`: the Key Management Service of AWS makes keys for data, and opens them again.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::aws_role::{ENDPOINTS, ROLE, Roles, WEB_ROLE};
use super::aws_signature::signed;
use super::given::{Argument, Given, Kind};
use super::network::{Network, NetworkRequest, Trust, Way, asked_over, bytes, in_home, or_variable, text};
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
    Argument::optional("skip_metadata_api_check", Kind::Flag),
    Argument::optional("sts_region", Kind::Text),
    Argument::optional("allowed_account_ids", Kind::Texts),
    Argument::optional("forbidden_account_ids", Kind::Texts),
    Argument::optional("assume_role", Kind::Object(ROLE)),
    Argument::optional("assume_role_with_web_identity", Kind::Object(WEB_ROLE)),
    Argument::optional("endpoints", Kind::Object(ENDPOINTS)),
    Argument::optional("custom_ca_bundle", Kind::Text),
    Argument::optional("http_proxy", Kind::Text),
    Argument::optional("https_proxy", Kind::Text),
    Argument::optional("no_proxy", Kind::Text),
    Argument::optional("insecure", Kind::Flag),
    Argument::optional("shared_config_files", Kind::Texts),
    Argument::optional("shared_credentials_files", Kind::Texts),
    Argument::optional("ec2_metadata_service_endpoint", Kind::Text),
    Argument::optional("ec2_metadata_service_endpoint_mode", Kind::Text),
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
    roles: Roles,
    way: Way,
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
        let (roles, way) = (Roles::new(given, &*network)?, way(given, &*network));
        Ok(Self { key, spec, context, roles, way, given: given.clone(), network })
    }

    fn region(&self) -> Result<String, String> {
        or_variable(self.given.text("region"), &*self.network, &["AWS_REGION", "AWS_DEFAULT_REGION"])
            .ok_or_else(|| "no region is known; set \"region\" or the environment variable AWS_REGION".to_owned())
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
        let keys = self.roles.keys(&self.given, &region, &*self.network, &self.way)?;
        asked_over(&*self.network, &signed(request, "kms", &region, &keys)?, &self.way)
    }
}

/// How the services are got at.
fn way(given: &Given, network: &dyn Network) -> Way {
    let authorities = or_variable(given.text("custom_ca_bundle"), network, &["AWS_CA_BUNDLE"]);
    Way {
        http_proxy: given.text("http_proxy"),
        https_proxy: given.text("https_proxy"),
        no_proxy: given.text("no_proxy"),
        authorities: authorities.map(|path| in_home(&path, network)),
        trust: if given.flag("insecure").unwrap_or(false) { Trust::Anybody } else { Trust::Proven },
        patience: None,
    }
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
