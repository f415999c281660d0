//! `azure_vault`: a key in Azure Key Vault, or in its hardware, seals keys that are made here.

use std::sync::Arc;

use aws_lc_rs::rand;
use base64::Engine;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::entra::Entra;
use super::given::{Argument, Given, Kind};
use super::network::{Network, NetworkRequest, asked, bytes, text};
use crate::key_provider::{FreshKey, KeyService};

pub(super) const ARGUMENTS: &[Argument] = &[
    Argument::required("vault_uri", Kind::Text),
    Argument::required("vault_key_name", Kind::Text),
    Argument::required("key_length", Kind::Number),
    Argument::optional("symmetric", Kind::Flag),
    Argument::optional("symmetric_key_size", Kind::Number),
    Argument::optional("tenant_id", Kind::Text),
    Argument::optional("environment", Kind::Text),
    Argument::optional("client_id", Kind::Text),
    Argument::optional("client_id_file_path", Kind::Text),
    Argument::optional("client_secret", Kind::Text),
    Argument::optional("client_secret_file_path", Kind::Text),
    Argument::optional("use_oidc", Kind::Flag),
    Argument::optional("oidc_token", Kind::Text),
    Argument::optional("oidc_token_file_path", Kind::Text),
    Argument::optional("oidc_request_url", Kind::Text),
    Argument::optional("oidc_request_token", Kind::Text),
    Argument::optional("use_aks_workload_identity", Kind::Flag),
    Argument::optional("use_msi", Kind::Flag),
    Argument::optional("msi_endpoint", Kind::Text),
    Argument::optional("use_cli", Kind::Flag),
    Argument::optional("subscription_id", Kind::NoEffect),
    Argument::optional("metadata_host", Kind::Text),
    Argument::optional("client_certificate", Kind::Text),
    Argument::optional("client_certificate_password", Kind::Text),
    Argument::optional("client_certificate_path", Kind::Text),
];

/// The form of the requests.
const VERSION: &str = "7.4";

/// The longest key; what RSA seals is far shorter.
const LENGTH_LIMIT: i64 = 1024;

#[derive(Debug)]
pub(super) struct AzureVault {
    network: Arc<dyn Network>,
    who: Entra,
    vault: String,
    key: String,
    length: usize,
    algorithm: &'static str,
}

/// What is kept beside what was sealed.
#[derive(Serialize, Deserialize)]
struct Notes {
    ciphertext: String,
    iv: Option<String>,
    authentication_tag: Option<String>,
    additional_authenticated_data: Option<String>,
    #[serde(default)]
    key_version: String,
    #[serde(default)]
    algo: String,
}

impl AzureVault {
    pub(super) fn new(given: &Given, network: Arc<dyn Network>) -> Result<Self, String> {
        let algorithm = match (given.flag("symmetric").unwrap_or(false), given.number("symmetric_key_size")) {
            (false, _) => "RSA-OAEP-256",
            (true, Some(128)) => "A128GCM",
            (true, Some(192)) => "A192GCM",
            (true, Some(256)) => "A256GCM",
            (true, _) => return Err("symmetric_key_size of a symmetric key is 128, 192 or 256".to_owned()),
        };
        let length = given.number("key_length").unwrap_or_default();
        if !(1..=LENGTH_LIMIT).contains(&length) {
            return Err(format!("key_length is from 1 to {LENGTH_LIMIT} bytes, not {length}"));
        }
        let (vault, key) = (given.needed("vault_uri")?, given.needed("vault_key_name")?);
        let host = host_of(&vault)
            .ok_or_else(|| "vault_uri has to be an address such as https://NAME.vault.azure.net".to_owned())?;
        if !(key.len() <= 127 && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')) {
            return Err("vault_key_name has to consist of 1 to 127 letters, digits and hyphens".to_owned());
        }
        let who = Entra::new(given, host);
        let length = usize::try_from(length).unwrap_or_default();
        Ok(Self { vault: vault.trim_end_matches('/').to_owned(), key, length, algorithm, who, network })
    }

    fn ask(&self, place: &str, document: &Json) -> Result<Json, String> {
        let place = format!("{}/keys/{}{place}?api-version={VERSION}", self.vault, self.key);
        let token = self.who.token(&*self.network)?;
        asked(&*self.network, &NetworkRequest::json("POST", place, document).by(&token))
    }
}

/// The host of an address.
fn host_of(address: &str) -> Option<&str> {
    let rest = address.strip_prefix("https://").or_else(|| address.strip_prefix("http://"))?;
    rest.split(['/', ':', '?', '#']).next().filter(|host| !host.is_empty())
}

impl KeyService for AzureVault {
    fn fresh(&self) -> Result<FreshKey, String> {
        let mut key = vec![0; self.length];
        rand::fill(&mut key).map_err(|_| "the system gave no random numbers for a key".to_owned())?;
        let document = json!({ "alg": self.algorithm, "value": BASE64_URL_SAFE_NO_PAD.encode(&key) });
        let sealed = self.ask("/encrypt", &document)?;
        let part = |name: &str| match sealed[name].as_str() {
            Some(_) => bytes(&sealed, name).map(|bytes| Some(BASE64_STANDARD.encode(bytes))),
            None => Ok(None),
        };
        // The versions of a key are at the ends of their addresses; there may be none in the answer of an emulator.
        let id = text(&sealed, "kid").unwrap_or_default();
        let version = id.split_once("/keys/").and_then(|(_, rest)| rest.split('/').nth(1)).unwrap_or_default();
        let notes = Notes {
            ciphertext: BASE64_STANDARD.encode(bytes(&sealed, "value")?),
            iv: part("iv")?,
            authentication_tag: part("tag")?,
            additional_authenticated_data: part("aad")?,
            key_version: version.to_owned(),
            algo: self.algorithm.to_owned(),
        };
        let notes = serde_json::to_vec(&notes).map_err(|problem| problem.to_string())?;
        Ok(FreshKey { key, notes })
    }

    fn noted(&self, notes: Option<&[u8]>) -> Result<Option<Vec<u8>>, String> {
        let notes = notes.and_then(|notes| serde_json::from_slice::<Notes>(notes).ok());
        let Some(notes) = notes.filter(|notes| !notes.ciphertext.is_empty()) else { return Ok(None) };
        let Some(value) = in_addresses(&notes.ciphertext) else { return Ok(None) };
        // The key may be another version by now, or of another kind.
        let algorithm = if notes.algo.is_empty() { self.algorithm } else { &notes.algo };
        let mut document = json!({ "alg": algorithm, "value": value });
        let parts = [("iv", notes.iv), ("tag", notes.authentication_tag), ("aad", notes.additional_authenticated_data)];
        for (name, part) in parts {
            if let Some(part) = part.as_deref().and_then(in_addresses).filter(|part| !part.is_empty()) {
                document[name] = part.into();
            }
        }
        let version = if notes.key_version.is_empty() { String::new() } else { format!("/{}", notes.key_version) };
        bytes(&self.ask(&format!("{version}/decrypt"), &document)?, "value").map(Some)
    }
}

/// Base64 in the alphabet of addresses.
fn in_addresses(base64: &str) -> Option<String> {
    BASE64_STANDARD.decode(base64).ok().map(|bytes| BASE64_URL_SAFE_NO_PAD.encode(bytes))
}
