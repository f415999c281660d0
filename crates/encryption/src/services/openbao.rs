//! `openbao`: the transit engine of OpenBao makes keys for data, and opens them again.

use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::given::{Argument, Given, Kind};
use super::network::{Network, NetworkRequest, asked, bytes, escaped, or_variable, text};
use crate::key_provider::{FreshKey, KeyService};

pub(super) const ARGUMENTS: &[Argument] = &[
    Argument::required("key_name", Kind::Text),
    Argument::optional("address", Kind::Text),
    Argument::optional("token", Kind::Text),
    Argument::optional("key_length", Kind::Number),
    Argument::optional("transit_engine_path", Kind::Text),
    Argument::optional("associated_data", Kind::Text),
];

/// Where a server is that nobody names.
const ADDRESS: &str = "https://127.0.0.1:8200";

#[derive(Debug)]
pub(super) struct OpenBao {
    network: Arc<dyn Network>,
    given: Given,
    key: String,
    bits: i64,
    engine: String,
    associated: Option<String>,
}

/// What is kept beside what was sealed.
#[derive(Serialize, Deserialize)]
struct Notes {
    /// The text of the server, in Base64.
    ciphertext: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    associated_data: String,
}

impl OpenBao {
    pub(super) fn new(given: &Given, network: Arc<dyn Network>) -> Result<Self, String> {
        let length = given.number("key_length").filter(|length| *length != 0).unwrap_or(32);
        if ![16, 32, 64].contains(&length) {
            return Err(format!("key_length is 16, 32 or 64 bytes, not {length}"));
        }
        let associated = given.text("associated_data");
        if associated.as_ref().is_some_and(|data| BASE64_STANDARD.decode(data).is_err()) {
            return Err("associated_data has to be in Base64".to_owned());
        }
        let engine = given.text("transit_engine_path").unwrap_or_else(|| "transit".to_owned());
        Ok(Self {
            key: given.needed("key_name")?,
            bits: length * 8,
            engine: engine.split('/').filter(|part| !part.is_empty()).map(escaped).collect::<Vec<String>>().join("/"),
            associated,
            given: given.clone(),
            network,
        })
    }

    /// What the engine answers to a document.
    fn ask(&self, action: &str, mut document: Json, associated: Option<&str>) -> Result<Json, String> {
        let network = &*self.network;
        let address = or_variable(self.given.text("address"), network, &["BAO_ADDR", "VAULT_ADDR"]);
        let address = address.unwrap_or_else(|| ADDRESS.to_owned());
        let token = or_variable(self.given.text("token"), network, &["BAO_TOKEN", "VAULT_TOKEN"]);
        let token = token.or_else(|| {
            let kept = std::fs::read_to_string(network.home()?.join(".vault-token")).ok()?;
            Some(kept.trim().to_owned()).filter(|token| !token.is_empty())
        });
        if let Some(associated) = associated {
            document["associated_data"] = associated.into();
        }
        let place = format!("{}/v1/{}/{action}/{}", address.trim_end_matches('/'), self.engine, escaped(&self.key));
        let mut request = NetworkRequest::json("PUT", place, &document).with("x-vault-request", "true");
        if let Some(token) = token {
            request = request.with("x-vault-token", token);
        }
        if let Some(namespace) = or_variable(None, network, &["BAO_NAMESPACE", "VAULT_NAMESPACE"]) {
            request = request.with("x-vault-namespace", namespace);
        }
        let mut answer = asked(network, &request)?;
        Ok(answer.get_mut("data").map(Json::take).unwrap_or_default())
    }
}

impl KeyService for OpenBao {
    fn fresh(&self) -> Result<FreshKey, String> {
        let made = self.ask("datakey/plaintext", json!({ "bits": self.bits }), self.associated.as_deref())?;
        let notes = Notes {
            ciphertext: BASE64_STANDARD.encode(text(&made, "ciphertext")?),
            associated_data: self.associated.clone().unwrap_or_default(),
        };
        let notes = serde_json::to_vec(&notes).map_err(|problem| problem.to_string())?;
        Ok(FreshKey { key: bytes(&made, "plaintext")?, notes })
    }

    fn noted(&self, notes: Option<&[u8]>) -> Result<Option<Vec<u8>>, String> {
        let Some(notes) = notes.and_then(|notes| serde_json::from_slice::<Notes>(notes).ok()) else {
            return Ok(None);
        };
        let ciphertext = BASE64_STANDARD.decode(&notes.ciphertext).ok().and_then(|text| String::from_utf8(text).ok());
        let Some(ciphertext) = ciphertext.filter(|text| !text.is_empty()) else { return Ok(None) };
        let associated = Some(notes.associated_data.as_str()).filter(|data| !data.is_empty());
        bytes(&self.ask("decrypt", json!({ "ciphertext": ciphertext }), associated)?, "plaintext").map(Some)
    }
}
