//! What OpenTofu calls `external`: programs that give keys, and programs that seal and open.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::key_provider::{FreshKey, KeyService};
use crate::program::Program;

const KEYS_MAGIC: &str = "OpenTofu-External-Key-Provider";
const METHOD_MAGIC: &str = "OpenTofu-External-Encryption-Method";

/// A program that gives keys.
#[derive(Clone, Debug)]
pub struct ExternalKeys {
    /// The program.
    pub program: Program,
}

/// What lies in a file beside what was sealed with a key of such a program, and what it gets to give the key again.
#[derive(Default, Serialize, Deserialize)]
struct Notes {
    external_data: Option<serde_json::Map<String, Json>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Given {
    keys: GivenKeys,
    #[serde(default)]
    meta: Option<Notes>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GivenKeys {
    encryption_key: Option<String>,
    decryption_key: Option<String>,
}

impl ExternalKeys {
    fn ask(&self, notes: &Notes) -> Result<Given, String> {
        // A program that has noted nothing is asked as one that was never asked before.
        let input = match &notes.external_data {
            Some(_) => serde_json::to_vec(notes).map_err(|problem| problem.to_string())?,
            None => b"null".to_vec(),
        };
        answer(&self.program.ask(KEYS_MAGIC, input)?)
    }
}

impl KeyService for ExternalKeys {
    fn fresh(&self) -> Result<FreshKey, String> {
        let given = self.ask(&Notes::default())?;
        let key = key(given.keys.encryption_key)?.ok_or("the answer of the program has no encryption_key")?;
        let notes = serde_json::to_vec(&given.meta.unwrap_or_default()).map_err(|problem| problem.to_string())?;
        Ok(FreshKey { key, notes })
    }

    fn noted(&self, notes: Option<&[u8]>) -> Result<Option<Vec<u8>>, String> {
        let notes = match notes {
            None => Notes::default(),
            Some(notes) => match serde_json::from_slice(notes) {
                Ok(notes) => notes,
                Err(_) => return Ok(None),
            },
        };
        key(self.ask(&notes)?.keys.decryption_key)
    }
}

/// Programs that seal and open.
#[derive(Clone, Debug)]
pub struct ExternalMethod {
    /// The program that seals.
    pub sealing: Program,
    /// The program that opens.
    pub opening: Program,
}

#[derive(Serialize)]
struct Task {
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    payload: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Done {
    payload: String,
}

impl ExternalMethod {
    pub(crate) fn seal(&self, key: Option<&[u8]>, text: &[u8]) -> Result<Vec<u8>, String> {
        run(&self.sealing, key, text)
    }

    pub(crate) fn open(&self, key: Option<&[u8]>, sealed: &[u8]) -> Result<Vec<u8>, String> {
        run(&self.opening, key, sealed)
    }
}

fn run(program: &Program, key: Option<&[u8]>, payload: &[u8]) -> Result<Vec<u8>, String> {
    let task = Task { key: key.map(|key| BASE64_STANDARD.encode(key)), payload: BASE64_STANDARD.encode(payload) };
    let input = serde_json::to_vec(&task).map_err(|problem| problem.to_string())?;
    let done: Done = answer(&program.ask(METHOD_MAGIC, input)?)?;
    base64(&done.payload).ok_or_else(|| "the payload that the program answers is not in Base64".to_owned())
}

/// The first document of an answer. It is not shown: it holds secrets.
fn answer<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    match serde_json::Deserializer::from_slice(bytes).into_iter().next() {
        Some(Ok(answer)) => Ok(answer),
        Some(Err(problem)) => Err(format!(
            "the answer of the program does not follow the protocol (line {}, column {})",
            problem.line(),
            problem.column()
        )),
        None => Err("the program answers nothing".to_owned()),
    }
}

fn key(text: Option<String>) -> Result<Option<Vec<u8>>, String> {
    match text.filter(|text| !text.is_empty()) {
        None => Ok(None),
        Some(text) => {
            base64(&text).map(Some).ok_or_else(|| "the key that the program answers is not in Base64".to_owned())
        }
    }
}

/// Programs like to break long lines.
fn base64(text: &str) -> Option<Vec<u8>> {
    BASE64_STANDARD.decode(text.replace(['\r', '\n'], "")).ok()
}
