//! `gcp_kms`: the Key Management Service of Google Cloud seals keys that are made here.

use std::sync::Arc;

use aws_lc_rs::rand;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::given::{Argument, Given, Kind};
use super::google::Google;
use super::network::{Network, NetworkRequest, asked, bytes, text};
use crate::key_provider::{FreshKey, KeyService};

pub(super) const ARGUMENTS: &[Argument] = &[
    Argument::required("kms_encryption_key", Kind::Text),
    Argument::required("key_length", Kind::Number),
    Argument::optional("additional_authenticated_data", Kind::Text),
    Argument::optional("credentials", Kind::Text),
    Argument::optional("access_token", Kind::Text),
    Argument::optional("impersonate_service_account", Kind::Text),
    Argument::optional("impersonate_service_account_delegates", Kind::Texts),
];

/// Where the service is, unless `GOOGLE_KMS_CUSTOM_ENDPOINT` names another place.
const PLACE: &str = "https://cloudkms.googleapis.com/v1/";

/// The longest data that the service seals as associated.
const ASSOCIATED_LIMIT: usize = 64 * 1024;

#[derive(Debug)]
pub(super) struct GcpKms {
    network: Arc<dyn Network>,
    who: Google,
    key: String,
    length: usize,
    associated: Option<String>,
}

/// What is kept beside what was sealed.
#[derive(Serialize, Deserialize)]
struct Notes {
    ciphertext: String,
}

impl GcpKms {
    pub(super) fn new(given: &Given, network: Arc<dyn Network>) -> Result<Self, String> {
        let length = given.number("key_length").unwrap_or_default();
        let length = usize::try_from(length)
            .ok()
            .filter(|length| (1..=1024).contains(length))
            .ok_or_else(|| format!("key_length is from 1 to 1024 bytes, not {length}"))?;
        let associated = given.text("additional_authenticated_data");
        match associated.as_ref().map(|data| BASE64_STANDARD.decode(data)) {
            Some(Err(_)) => return Err("additional_authenticated_data has to be in Base64".to_owned()),
            Some(Ok(data)) if data.len() > ASSOCIATED_LIMIT => {
                return Err("additional_authenticated_data has more than 64 KiB".to_owned());
            }
            _ => {}
        }
        Ok(Self { key: given.needed("kms_encryption_key")?, length, associated, who: Google::new(given), network })
    }

    fn ask(&self, action: &str, mut document: Json) -> Result<Json, String> {
        if let Some(associated) = &self.associated {
            document["additionalAuthenticatedData"] = associated.as_str().into();
        }
        let place = self.network.variable("GOOGLE_KMS_CUSTOM_ENDPOINT").unwrap_or_else(|| PLACE.to_owned());
        let place = format!("{}/{}:{action}", place.trim_end_matches('/'), self.key.trim_matches('/'));
        let token = self.who.token(&*self.network)?;
        asked(&*self.network, &NetworkRequest::json("POST", place, &document).by(&token))
    }
}

impl KeyService for GcpKms {
    fn fresh(&self) -> Result<FreshKey, String> {
        let mut key = vec![0; self.length];
        rand::fill(&mut key).map_err(|_| "the system gave no random numbers for a key".to_owned())?;
        let sealed = self.ask("encrypt", json!({ "plaintext": BASE64_STANDARD.encode(&key) }))?;
        let notes = Notes { ciphertext: text(&sealed, "ciphertext")? };
        let notes = serde_json::to_vec(&notes).map_err(|problem| problem.to_string())?;
        Ok(FreshKey { key, notes })
    }

    fn noted(&self, notes: Option<&[u8]>) -> Result<Option<Vec<u8>>, String> {
        let notes = notes.and_then(|notes| serde_json::from_slice::<Notes>(notes).ok());
        let Some(notes) = notes.filter(|notes| !notes.ciphertext.is_empty()) else { return Ok(None) };
        bytes(&self.ask("decrypt", json!({ "ciphertext": notes.ciphertext }))?, "plaintext").map(Some)
    }
}
