//! The `external` key provider and the `external` method: programs that supply keys, or that encrypt and decrypt.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::error::KeyError;
use crate::key_provider::{GeneratedKey, KeyService, encode_metadata};
use crate::program::Program;

const KEYS_MAGIC: &str = "OpenTofu-External-Key-Provider";
const METHOD_MAGIC: &str = "OpenTofu-External-Encryption-Method";

/// The `external` key provider: a program that supplies keys.
#[derive(Clone, Debug)]
pub struct ExternalKeys {
    /// Run once for each key, with the metadata on its standard input.
    pub program: Program,
}

/// The metadata in an encrypted file. The program gets it back as input to supply the same key again.
#[derive(Default, Serialize, Deserialize)]
struct KeyMetadata {
    external_data: Option<serde_json::Map<String, Json>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Output {
    keys: OutputKeys,
    #[serde(default)]
    meta: Option<KeyMetadata>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OutputKeys {
    encryption_key: Option<String>,
    decryption_key: Option<String>,
}

impl ExternalKeys {
    fn run(&self, metadata: &KeyMetadata) -> Result<Output, KeyError> {
        // The protocol sends null when there is no metadata, so that a program can tell encryption from decryption.
        let input = match &metadata.external_data {
            Some(_) => encode_metadata(metadata)?,
            None => b"null".to_vec(),
        };
        parse(&self.program.run(KEYS_MAGIC, input)?)
    }
}

impl KeyService for ExternalKeys {
    fn generate(&self) -> Result<GeneratedKey, KeyError> {
        let output = self.run(&KeyMetadata::default())?;
        let key = key(output.keys.encryption_key)?
            .ok_or_else(|| KeyError::response("the output of the program has no encryption_key"))?;
        Ok(GeneratedKey { key, metadata: encode_metadata(&output.meta.unwrap_or_default())? })
    }

    fn recover(&self, metadata: Option<&[u8]>) -> Result<Option<Vec<u8>>, KeyError> {
        let metadata = match metadata {
            None => KeyMetadata::default(),
            Some(metadata) => match serde_json::from_slice(metadata) {
                Ok(metadata) => metadata,
                Err(_) => return Ok(None),
            },
        };
        key(self.run(&metadata)?.keys.decryption_key)
    }
}

/// The `external` method: programs that encrypt and decrypt whole files.
#[derive(Clone, Debug)]
pub struct ExternalMethod {
    /// Encrypts its standard input.
    pub encrypt: Program,
    /// Decrypts its standard input.
    pub decrypt: Program,
}

#[derive(Serialize)]
struct MethodInput {
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    payload: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MethodOutput {
    payload: String,
}

impl ExternalMethod {
    pub(crate) fn seal(&self, key: Option<&[u8]>, text: &[u8]) -> Result<Vec<u8>, KeyError> {
        run(&self.encrypt, key, text)
    }

    pub(crate) fn open(&self, key: Option<&[u8]>, sealed: &[u8]) -> Result<Vec<u8>, KeyError> {
        run(&self.decrypt, key, sealed)
    }
}

fn run(program: &Program, key: Option<&[u8]>, payload: &[u8]) -> Result<Vec<u8>, KeyError> {
    let input =
        MethodInput { key: key.map(|key| BASE64_STANDARD.encode(key)), payload: BASE64_STANDARD.encode(payload) };
    let output: MethodOutput = parse(&program.run(METHOD_MAGIC, encode_metadata(&input)?)?)?;
    base64(&output.payload).ok_or_else(|| KeyError::response("the payload in the output of the program is not Base64"))
}

/// Parses the first JSON document of an output. Errors never quote it, because it holds secrets.
fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, KeyError> {
    match serde_json::Deserializer::from_slice(bytes).into_iter().next() {
        Some(Ok(answer)) => Ok(answer),
        Some(Err(error)) => Err(KeyError::response(format!(
            "the output of the program does not follow the protocol (line {}, column {})",
            error.line(),
            error.column()
        ))),
        None => Err(KeyError::response("the program printed no output after its header")),
    }
}

fn key(text: Option<String>) -> Result<Option<Vec<u8>>, KeyError> {
    match text.filter(|text| !text.is_empty()) {
        None => Ok(None),
        Some(text) => {
            let invalid = || KeyError::response("the key in the output of the program is not Base64");
            base64(&text).map(Some).ok_or_else(invalid)
        }
    }
}

/// Decodes Base64 with line breaks, which tools such as `base64` insert.
fn base64(text: &str) -> Option<Vec<u8>> {
    BASE64_STANDARD.decode(text.replace(['\r', '\n'], "")).ok()
}
