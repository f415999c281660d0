//! Sealing by the first method, opening by any.

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::cipher::{Cipher, KEY_LENGTHS};
use crate::envelope::{Envelope, Lineage, is_sealed};
use crate::error::EncryptionError;
use crate::key_provider::{KeyProvider, Metadata};

/// A way to seal.
#[derive(Debug)]
pub enum Method {
    /// Nothing is sealed.
    Unencrypted,
    /// AES in Galois/Counter Mode.
    AesGcm {
        /// Where the keys come from.
        keys: KeyProvider,
        /// What is authenticated along with the content.
        associated: Vec<u8>,
    },
}

/// The methods for one kind of file. Keys are made when they are needed first, which takes a while.
pub struct Encryption {
    /// The first seals.
    methods: Vec<Method>,
    current: OnceLock<Result<Arc<Keyring>, EncryptionError>>,
    known: Mutex<Vec<(Metadata, Arc<Keyring>)>>,
}

/// Ciphers with what is needed to make them again: the first seals, the others only open.
pub struct Keyring {
    metadata: Metadata,
    /// By method; none for one whose key cannot be made from these notes.
    ciphers: Vec<Option<Cipher>>,
}

/// What was in a file.
#[derive(Debug, PartialEq, Eq)]
pub struct Opened {
    /// The content in clear.
    pub content: Vec<u8>,
    /// Whether it was sealed as the first method seals, so that it can stay as it is.
    pub is_current: bool,
    /// What the envelope of a state says of it.
    pub lineage: Option<Lineage>,
}

impl fmt::Debug for Encryption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encryption").field("methods", &self.methods).finish_non_exhaustive()
    }
}

impl Encryption {
    /// The methods in their order: the first seals, all of them open.
    pub fn new(first: Method, fallbacks: Vec<Method>) -> Self {
        let methods = std::iter::once(first).chain(fallbacks).collect();
        Self { methods, current: OnceLock::new(), known: Mutex::default() }
    }

    /// Whether nothing is sealed, but perhaps opened.
    pub fn seals(&self) -> bool {
        !matches!(self.methods.first(), Some(Method::Unencrypted) | None)
    }

    /// The keys that seal, made once a run, so that sealing cannot fail later for want of a key; none where nothing is
    /// sealed.
    ///
    /// # Errors
    /// When a key provider gives no key, or one that the method cannot use.
    pub fn current(&self) -> Result<Option<Arc<Keyring>>, EncryptionError> {
        if !self.seals() {
            return Ok(None);
        }
        self.current.get_or_init(|| self.make()).clone().map(Some)
    }

    fn make(&self) -> Result<Arc<Keyring>, EncryptionError> {
        let mut metadata = Metadata::new();
        let mut ciphers = Vec::new();
        if let Some(Method::AesGcm { keys, associated }) = self.methods.first() {
            ciphers.push(Some(Cipher::new(&keys.fresh(&mut metadata)?, associated)?));
        }
        let keyring = Arc::new(Keyring { metadata: metadata.clone(), ciphers });
        self.known().push((metadata, Arc::clone(&keyring)));
        Ok(keyring)
    }

    /// The keys for what was sealed with these notes.
    fn keyring(&self, metadata: &Metadata) -> Arc<Keyring> {
        if let Some((_, known)) = self.known().iter().find(|(notes, _)| notes == metadata) {
            return Arc::clone(known);
        }
        let cipher = |method: &Method| match method {
            Method::Unencrypted => None,
            Method::AesGcm { keys, associated } => {
                let key = keys.noted(metadata).filter(|key| KEY_LENGTHS.contains(&key.len()))?;
                Cipher::new(&key, associated).ok()
            }
        };
        let ciphers = self.methods.iter().map(cipher).collect();
        let keyring = Arc::new(Keyring { metadata: metadata.clone(), ciphers });
        self.known().push((metadata.clone(), Arc::clone(&keyring)));
        keyring
    }

    fn known(&self) -> std::sync::MutexGuard<'_, Vec<(Metadata, Arc<Keyring>)>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The bytes of a file with this content; `lineage` stands outside of the envelope of a state.
    ///
    /// # Errors
    /// When there is no key.
    pub fn seal(&self, content: &[u8], lineage: Option<&Lineage>) -> Result<Vec<u8>, EncryptionError> {
        match self.current()? {
            None => Ok(content.to_owned()),
            Some(keyring) => Envelope::write(lineage, &keyring.metadata, &keyring.seal(content)?),
        }
    }

    /// The content of a file; `what` names it in messages: `state`.
    ///
    /// # Errors
    /// When no method opens it, or it is in clear and no method allows that.
    pub fn open(&self, bytes: &[u8], what: &str) -> Result<Opened, EncryptionError> {
        if !is_sealed(bytes) {
            return self.in_clear(bytes, what);
        }
        let envelope = Envelope::read(bytes)?;
        let keyring = self.keyring(&envelope.meta);
        let opened = envelope.content().and_then(|sealed| keyring.open(&sealed));
        let (method, content) = opened.ok_or_else(|| self.unopened(&keyring, what))?;
        Ok(Opened { content, is_current: method == 0, lineage: envelope.lineage })
    }

    fn in_clear(&self, bytes: &[u8], what: &str) -> Result<Opened, EncryptionError> {
        let place = self.methods.iter().position(|method| matches!(method, Method::Unencrypted));
        let place = place.ok_or_else(|| {
            EncryptionError::new(
                "Unencrypted content without unencrypted method",
                format!(
                    "The {what} is not encrypted, and the encryption block does not allow that. If it was not encrypted so far, add a \
                     method \"unencrypted\" and a fallback with it until it has been written once."
                ),
            )
        })?;
        Ok(Opened { content: bytes.to_owned(), is_current: place == 0, lineage: None })
    }

    fn unopened(&self, keyring: &Keyring, what: &str) -> EncryptionError {
        let has_key = keyring.ciphers.iter().any(Option::is_some);
        let why = if has_key {
            "None of the keys fits: the passphrase is another one, or the file has been changed since."
        } else {
            "The file does not hold what the key providers of the encryption block noted: it was encrypted with key providers of other \
             names. Name them as they were, or set encrypted_metadata_alias."
        };
        EncryptionError::new(
            "Decryption failed for all provided methods",
            format!(
                "The {what} is encrypted and cannot be read. {why} If the key has changed, add the old method as a fallback."
            ),
        )
    }

    /// The keys for pieces that were sealed by a [`Keyring`] with these notes.
    ///
    /// # Errors
    /// When they are none.
    pub fn noted(&self, notes: &[u8]) -> Result<Arc<Keyring>, EncryptionError> {
        let metadata: Metadata = serde_json::from_slice(notes).map_err(|error| {
            EncryptionError::new("Invalid encrypted content", format!("The notes about the key are damaged: {error}."))
        })?;
        Ok(self.keyring(&metadata))
    }
}

impl Keyring {
    /// What [`Encryption::noted`] needs to make these keys again. Nothing in it is secret.
    pub fn notes(&self) -> Vec<u8> {
        serde_json::to_vec(&self.metadata).unwrap_or_default()
    }

    /// Seals a piece.
    ///
    /// # Errors
    /// When the system gives no random numbers.
    pub fn seal(&self, piece: &[u8]) -> Result<Vec<u8>, EncryptionError> {
        match self.ciphers.first() {
            Some(Some(cipher)) => cipher.seal(piece),
            _ => Err(EncryptionError::new("Encryption failed", "There is no key.")),
        }
    }

    /// Opens a piece, and says which method has sealed it; none if it was sealed with other keys or damaged.
    pub fn open(&self, sealed: &[u8]) -> Option<(usize, Vec<u8>)> {
        let opened = |(method, cipher): (usize, &Option<Cipher>)| Some((method, cipher.as_ref()?.open(sealed)?));
        self.ciphers.iter().enumerate().find_map(opened)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pbkdf2::{Pbkdf2, Secret};

    fn provider(name: &str, secret: Secret) -> KeyProvider {
        let settings = Pbkdf2::new(secret).unwrap().with_iterations(200_000).unwrap();
        KeyProvider { name: format!("key_provider.pbkdf2.{name}"), settings }
    }

    fn method(passphrase: &str) -> Method {
        Method::AesGcm { keys: provider("main", Secret::Passphrase(passphrase.to_owned())), associated: Vec::new() }
    }

    const OLD: &str = "the passphrase of old";
    const NEW: &str = "the passphrase of now";

    #[test]
    fn a_file_is_opened_by_the_method_that_sealed_it_and_by_no_other() {
        let old = Encryption::new(method(OLD), Vec::new());
        let lineage = Lineage { serial: Some(7), lineage: "l".into() };
        let sealed = old.seal(b"{\"secret\":1}", Some(&lineage)).unwrap();
        let text = String::from_utf8(sealed.clone()).unwrap();
        assert!(
            text.starts_with("{\"serial\":7,\"lineage\":\"l\",\"meta\":{\"key_provider.pbkdf2.main\":\""),
            "{text}"
        );
        assert!(text.ends_with("\",\"encryption_version\":\"v0\"}"), "{text}");
        assert!(!text.contains("secret"));
        let opened = Encryption::new(method(OLD), Vec::new()).open(&sealed, "state").unwrap();
        assert_eq!(opened, Opened { content: b"{\"secret\":1}".to_vec(), is_current: true, lineage: Some(lineage) });
        let error = Encryption::new(method(NEW), Vec::new()).open(&sealed, "state").unwrap_err();
        assert!(error.detail.contains("passphrase is another one"), "{error:?}");
        let moved = Encryption::new(method(NEW), vec![method(OLD)]);
        assert!(!moved.open(&sealed, "state").unwrap().is_current);
        let resealed = moved.seal(b"x", None).unwrap();
        assert!(moved.open(&resealed, "state").unwrap().is_current);
        assert!(old.open(&resealed, "state").is_err());
    }

    #[test]
    fn what_is_in_clear_needs_a_method_that_allows_it() {
        let strict = Encryption::new(method(OLD), Vec::new());
        assert!(strict.open(b"{}", "state").unwrap_err().summary.starts_with("Unencrypted content"));
        let moving = Encryption::new(method(OLD), vec![Method::Unencrypted]);
        assert!(!moving.open(b"{}", "state").unwrap().is_current);
        assert!(moving.seals());
        let leaving = Encryption::new(Method::Unencrypted, vec![method(OLD)]);
        assert!(leaving.open(b"{}", "state").unwrap().is_current);
        assert_eq!(leaving.seal(b"{}", None).unwrap(), b"{}");
        assert!(!leaving.open(&moving.seal(b"{}", None).unwrap(), "state").unwrap().is_current);
    }

    #[test]
    fn a_chain_notes_what_every_provider_needs() {
        let chained = |passphrase: &str| {
            let first = provider("first", Secret::Passphrase(passphrase.to_owned()));
            let keys = provider("second", Secret::Chain(Box::new(first)));
            Encryption::new(Method::AesGcm { keys, associated: vec![1, 2] }, Vec::new())
        };
        let sealed = chained(OLD).seal(b"text", None).unwrap();
        assert!(crate::is_sealed_plan(&sealed));
        assert_eq!(chained(OLD).open(&sealed, "plan").unwrap().content, b"text");
        assert!(chained(NEW).open(&sealed, "plan").is_err());
        let same = provider("main", Secret::Chain(Box::new(provider("main", Secret::Passphrase(OLD.into())))));
        let error = Encryption::new(Method::AesGcm { keys: same, associated: Vec::new() }, Vec::new()).seal(b"", None);
        assert_eq!(error.unwrap_err().summary, "Duplicate metadata key");
    }

    #[test]
    fn pieces_are_opened_again_with_the_notes_about_their_key() {
        let keyring = Encryption::new(method(OLD), Vec::new()).current().unwrap().unwrap();
        let sealed = keyring.seal(b"piece").unwrap();
        let again = Encryption::new(method(OLD), Vec::new()).noted(&keyring.notes()).unwrap();
        assert_eq!(again.open(&sealed).unwrap(), (0, b"piece".to_vec()));
        assert!(Encryption::new(method(NEW), Vec::new()).noted(&keyring.notes()).unwrap().open(&sealed).is_none());
        assert!(Encryption::new(method(OLD), Vec::new()).noted(b"[").is_err());
    }

    /// Made with other tools (Python's hashlib and cryptography), from what the format is said to be.
    #[test]
    fn a_file_of_another_program_is_read() {
        let settings = Pbkdf2::new(Secret::Passphrase("a-passphrase-of-others".into())).unwrap();
        let keys = KeyProvider { name: "key_provider.pbkdf2.k".into(), settings };
        let encryption = Encryption::new(Method::AesGcm { keys, associated: Vec::new() }, Vec::new());
        let opened = encryption.open(include_bytes!("../testdata/foreign.json"), "state").unwrap();
        assert_eq!(opened.content, br#"{"version":4,"serial":3,"lineage":"abc"}"#);
        assert_eq!(opened.lineage, Some(Lineage { serial: Some(3), lineage: "abc".into() }));
    }
}
