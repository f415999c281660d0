//! The keys of all methods for one set of key provider metadata.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use aws_lc_rs::rand;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use crate::cipher::{Cipher, KEY_LENGTHS, Method, Sealer};
use crate::error::EncryptionError;
use crate::key_provider::Metadata;

/// The entry of [`Keyring::metadata_json`] that holds the wrapped data key. No key provider has this name: addresses
/// contain dots, and aliases do not apply to files that are internal to the tool.
const DATA_KEY: &str = "key of pieces";

/// The methods of an [`crate::Encryption`], with their keys for one set of key provider metadata. The first method
/// encrypts, all of them are tried to decrypt.
///
/// Encrypts whole files for [`crate::Encryption`], and many small chunks (records of the journal) for the state store.
/// Where the method runs a program, chunks are encrypted with a data key that the method has wrapped once.
pub struct Keyring {
    methods: Arc<[Method]>,
    metadata: Metadata,
    /// By method; created on first use, because key derivation is slow and key services need requests.
    sealers: Vec<OnceLock<Result<Option<Sealer>, EncryptionError>>>,
    /// Encrypts chunks if the method is too slow for each of them.
    data_key: Option<DataKey>,
}

/// A randomly generated AES key, with its wrapped form (envelope encryption).
struct DataKey {
    cipher: Cipher,
    /// The key, encrypted by the method.
    wrapped: Vec<u8>,
    /// The index of that method.
    method: usize,
}

/// The reasons why no method could decrypt a file.
pub(crate) struct OpenFailure {
    /// Whether any method had a key.
    pub(crate) had_key: bool,
    /// The errors of methods that could not be tried.
    pub(crate) problems: Vec<String>,
}

impl Keyring {
    /// Generates a key with the first method. The other methods get no keys for what it encrypts.
    pub(crate) fn generate(methods: &Arc<[Method]>) -> Result<Self, EncryptionError> {
        let mut metadata = Metadata::new();
        let first = methods.first().map_or(Ok(None), |method| method.generate(&mut metadata))?;
        let data_key = match &first {
            // Generated along with the key, so that a run that cannot wrap it fails before it changes anything.
            Some(sealer) if sealer.is_expensive() => Some(DataKey::new(sealer)?),
            _ => None,
        };
        let mut keyring = Self::for_metadata(methods, metadata);
        if let Some(slot) = keyring.sealers.first_mut() {
            // The generated key is in the slot already; recovering it from its metadata would ask the key service
            // again.
            *slot = OnceLock::from(Ok(first));
        }
        keyring.data_key = data_key;
        Ok(keyring)
    }

    /// Creates the keyring of a file with this metadata. Recovers keys only when they are needed.
    pub(crate) fn for_metadata(methods: &Arc<[Method]>, metadata: Metadata) -> Self {
        let sealers = methods.iter().map(|_| OnceLock::new()).collect();
        Self { methods: Arc::clone(methods), metadata, sealers, data_key: None }
    }

    /// Creates the keyring for chunks from [`Self::metadata_json`].
    pub(crate) fn for_chunks(methods: &Arc<[Method]>, mut metadata: BTreeMap<String, String>) -> Self {
        let wrapped = metadata.remove(DATA_KEY).and_then(|wrapped| BASE64_STANDARD.decode(wrapped).ok());
        let mut keyring = Self::for_metadata(methods, metadata);
        // A data key that cannot be unwrapped is dropped; its chunks then fail to decrypt.
        keyring.data_key = wrapped.and_then(|wrapped| {
            let (method, key) = keyring.open_file(&wrapped).ok()?;
            Some(DataKey { cipher: Cipher::new(&key, &[]).ok()?, wrapped, method })
        });
        keyring
    }

    pub(crate) fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// Returns the metadata that [`crate::Encryption::chunk_keyring`] needs to recover these keys. Contains no secrets.
    pub fn metadata_json(&self) -> Vec<u8> {
        let mut metadata = self.metadata.clone();
        if let Some(data_key) = &self.data_key {
            metadata.insert(DATA_KEY.to_owned(), BASE64_STANDARD.encode(&data_key.wrapped));
        }
        // A map of strings can always be encoded.
        serde_json::to_vec(&metadata).unwrap_or_default()
    }

    /// Encrypts a chunk, with the data key if there is one.
    ///
    /// # Errors
    /// Fails if the operating system provides no random numbers, or if the key provider fails.
    pub fn seal(&self, chunk: &[u8]) -> Result<Vec<u8>, EncryptionError> {
        match &self.data_key {
            Some(data_key) => data_key.cipher.seal(chunk),
            None => self.seal_file(chunk),
        }
    }

    /// Decrypts a chunk. Returns it with the index of the method, or `None` if no key fits or the chunk is damaged.
    pub fn open(&self, sealed: &[u8]) -> Option<(usize, Vec<u8>)> {
        match &self.data_key {
            Some(data_key) => Some((data_key.method, data_key.cipher.open(sealed)?)),
            None => self.open_file(sealed).ok(),
        }
    }

    pub(crate) fn seal_file(&self, content: &[u8]) -> Result<Vec<u8>, EncryptionError> {
        // The first method encrypts, whatever other methods have keys for the metadata.
        match self.sealer(0) {
            Some(Ok(Some(sealer))) => sealer.seal(content),
            Some(Err(problem)) => Err(problem.clone()),
            _ => Err(EncryptionError::new("Encryption failed", "The first method has no key.")),
        }
    }

    pub(crate) fn open_file(&self, sealed: &[u8]) -> Result<(usize, Vec<u8>), OpenFailure> {
        let mut failure = OpenFailure { had_key: false, problems: Vec::new() };
        for method in 0..self.methods.len() {
            match self.sealer(method) {
                Some(Ok(Some(sealer))) => {
                    failure.had_key = true;
                    match sealer.open(sealed) {
                        Ok(Some(content)) => return Ok((method, content)),
                        // The key does not fit: the file was encrypted by another method, which comes later.
                        Ok(None) => {}
                        Err(problem) => failure.problems.push(problem.to_string()),
                    }
                }
                Some(Err(problem)) => failure.problems.push(problem.detail.clone()),
                _ => {}
            }
        }
        Err(failure)
    }

    fn sealer(&self, method: usize) -> Option<&Result<Option<Sealer>, EncryptionError>> {
        let sealer = self.sealers.get(method)?;
        Some(sealer.get_or_init(|| self.methods[method].recover(&self.metadata)))
    }
}

impl DataKey {
    fn new(sealer: &Sealer) -> Result<Self, EncryptionError> {
        let mut key = [0; KEY_LENGTHS[2]];
        rand::fill(&mut key).map_err(|_| {
            EncryptionError::new("Encryption failed", "The operating system provides no random numbers.")
        })?;
        Ok(Self { cipher: Cipher::new(&key, &[])?, wrapped: sealer.seal(&key)?, method: 0 })
    }
}
