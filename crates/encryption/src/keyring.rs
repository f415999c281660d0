//! The keys for what was sealed with one set of notes.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use aws_lc_rs::rand;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use crate::cipher::{Cipher, KEY_LENGTHS};
use crate::error::EncryptionError;
use crate::key_provider::Metadata;
use crate::method::{Method, Sealer};

/// Under this name the notes about pieces keep their own key, sealed by the method. No key provider has it: their names have dots, and
/// aliases are not spread over what is no file of a user.
const PIECES: &str = "key of pieces";

/// The methods of an encryption with the keys that they have for what was sealed with certain notes. The first method seals, all
/// of them open.
pub struct Keyring {
    methods: Arc<[Method]>,
    metadata: Metadata,
    /// By method, made when they are needed: keys take a while, and others may have to be asked for them.
    sealers: Vec<OnceLock<Result<Option<Sealer>, EncryptionError>>>,
    /// What pieces are sealed with where each would cost the run of a program.
    pieces: Option<Pieces>,
}

/// A key of our own, and how it is kept.
struct Pieces {
    cipher: Cipher,
    /// The key, sealed by the method.
    sealed: Vec<u8>,
    /// Which method that was.
    method: usize,
}

/// Why something stays shut.
pub(crate) struct Shut {
    /// Whether there was a key at all.
    pub(crate) had_key: bool,
    /// What kept methods from trying.
    pub(crate) problems: Vec<String>,
}

impl Keyring {
    /// With keys that were never used before.
    pub(crate) fn fresh(methods: &Arc<[Method]>) -> Result<Self, EncryptionError> {
        let mut metadata = Metadata::new();
        let first = methods.first().map_or(Ok(None), |method| method.fresh(&mut metadata))?;
        let pieces = match &first {
            Some(sealer) if sealer.is_dear() => Some(Pieces::new(sealer)?),
            _ => None,
        };
        let mut keyring = Self::noted(methods, metadata);
        if let Some(place) = keyring.sealers.first_mut() {
            *place = OnceLock::from(Ok(first));
        }
        keyring.pieces = pieces;
        Ok(keyring)
    }

    /// With the keys for what was sealed with these notes.
    pub(crate) fn noted(methods: &Arc<[Method]>, metadata: Metadata) -> Self {
        let sealers = methods.iter().map(|_| OnceLock::new()).collect();
        Self { methods: Arc::clone(methods), metadata, sealers, pieces: None }
    }

    /// With the keys of pieces whose [`Self::notes`] these are.
    pub(crate) fn of_pieces(methods: &Arc<[Method]>, mut notes: BTreeMap<String, String>) -> Self {
        let sealed = notes.remove(PIECES).and_then(|sealed| BASE64_STANDARD.decode(sealed).ok());
        let mut keyring = Self::noted(methods, notes);
        keyring.pieces = sealed.and_then(|sealed| {
            let (method, key) = keyring.open_file(&sealed).ok()?;
            Some(Pieces { cipher: Cipher::new(&key, &[]).ok()?, sealed, method })
        });
        keyring
    }

    pub(crate) fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// What makes these keys again, for [`crate::Encryption::noted`]. Nothing in it is secret.
    pub fn notes(&self) -> Vec<u8> {
        let mut notes = self.metadata.clone();
        if let Some(pieces) = &self.pieces {
            notes.insert(PIECES.to_owned(), BASE64_STANDARD.encode(&pieces.sealed));
        }
        serde_json::to_vec(&notes).unwrap_or_default()
    }

    /// Seals a piece.
    ///
    /// # Errors
    /// When the system gives no random numbers.
    pub fn seal(&self, piece: &[u8]) -> Result<Vec<u8>, EncryptionError> {
        match &self.pieces {
            Some(pieces) => pieces.cipher.seal(piece),
            None => self.seal_file(piece),
        }
    }

    /// Opens a piece, and says which method has sealed it; none if it was sealed with other keys or damaged.
    pub fn open(&self, sealed: &[u8]) -> Option<(usize, Vec<u8>)> {
        match &self.pieces {
            Some(pieces) => Some((pieces.method, pieces.cipher.open(sealed)?)),
            None => self.open_file(sealed).ok(),
        }
    }

    pub(crate) fn seal_file(&self, content: &[u8]) -> Result<Vec<u8>, EncryptionError> {
        match self.sealer(0) {
            Some(Ok(Some(sealer))) => sealer.seal(content),
            Some(Err(problem)) => Err(problem.clone()),
            _ => Err(EncryptionError::new("Encryption failed", "There is no key.")),
        }
    }

    pub(crate) fn open_file(&self, sealed: &[u8]) -> Result<(usize, Vec<u8>), Shut> {
        let mut shut = Shut { had_key: false, problems: Vec::new() };
        for method in 0..self.methods.len() {
            match self.sealer(method) {
                Some(Ok(Some(sealer))) => {
                    shut.had_key = true;
                    match sealer.open(sealed) {
                        Ok(Some(content)) => return Ok((method, content)),
                        Ok(None) => {}
                        Err(problem) => shut.problems.push(problem),
                    }
                }
                Some(Err(problem)) => shut.problems.push(problem.detail.clone()),
                _ => {}
            }
        }
        Err(shut)
    }

    fn sealer(&self, method: usize) -> Option<&Result<Option<Sealer>, EncryptionError>> {
        let place = self.sealers.get(method)?;
        Some(place.get_or_init(|| self.methods[method].noted(&self.metadata)))
    }
}

impl Pieces {
    fn new(sealer: &Sealer) -> Result<Self, EncryptionError> {
        let mut key = [0; KEY_LENGTHS[2]];
        rand::fill(&mut key)
            .map_err(|_| EncryptionError::new("Encryption failed", "The system gave no random numbers for a key."))?;
        Ok(Self { cipher: Cipher::new(&key, &[])?, sealed: sealer.seal(&key)?, method: 0 })
    }
}
