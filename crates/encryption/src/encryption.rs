//! Sealing by the first method, opening by any.

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use groma_diagnostics::json_reason;

use crate::envelope::{Envelope, Lineage, is_sealed};
use crate::error::EncryptionError;
use crate::key_provider::Metadata;
use crate::keyring::{Keyring, Shut};
use crate::method::Method;

/// The methods for one kind of file. Keys are made when they are needed first, which takes a while.
pub struct Encryption {
    /// The first seals.
    methods: Arc<[Method]>,
    current: OnceLock<Result<Arc<Keyring>, EncryptionError>>,
    known: Mutex<Vec<Arc<Keyring>>>,
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
        let keyring = Arc::new(Keyring::fresh(&self.methods)?);
        self.known().push(Arc::clone(&keyring));
        Ok(keyring)
    }

    /// The keys for what was sealed with these notes.
    fn keyring(&self, metadata: &Metadata) -> Arc<Keyring> {
        let mut known = self.known();
        if let Some(known) = known.iter().find(|keyring| keyring.metadata() == metadata) {
            return Arc::clone(known);
        }
        let keyring = Arc::new(Keyring::noted(&self.methods, metadata.clone()));
        known.push(Arc::clone(&keyring));
        keyring
    }

    fn known(&self) -> std::sync::MutexGuard<'_, Vec<Arc<Keyring>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The bytes of a file with this content; `lineage` stands outside of the envelope of a state.
    ///
    /// # Errors
    /// When there is no key.
    pub fn seal(&self, content: &[u8], lineage: Option<&Lineage>) -> Result<Vec<u8>, EncryptionError> {
        match self.current()? {
            None => Ok(content.to_owned()),
            Some(keyring) => Envelope::write(lineage, keyring.metadata(), &keyring.seal_file(content)?),
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
        let sealed = envelope.content()?;
        let (method, content) = keyring.open_file(&sealed).map_err(|shut| unopened(&shut, what))?;
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

    /// The keys for pieces that were sealed by a [`Keyring`] with these notes.
    ///
    /// # Errors
    /// When they are none.
    pub fn noted(&self, notes: &[u8]) -> Result<Arc<Keyring>, EncryptionError> {
        let metadata: Metadata = serde_json::from_slice(notes).map_err(|error| {
            EncryptionError::new(
                "Invalid encrypted content",
                format!("The notes about the key are damaged: {error}.", error = json_reason(&error)),
            )
        })?;
        Ok(Arc::new(Keyring::of_pieces(&self.methods, metadata)))
    }
}

fn unopened(shut: &Shut, what: &str) -> EncryptionError {
    let why = match shut.problems.as_slice() {
        [] if shut.had_key => {
            "None of the keys fits: the passphrase is another one, or the file has been changed since.".to_owned()
        }
        [] => "The file does not hold what the key providers of the encryption block noted: it was encrypted with key providers of other \
               names. Name them as they were, or set encrypted_metadata_alias."
            .to_owned(),
        problems => problems.iter().map(|problem| capitalized(problem)).collect::<Vec<_>>().join(" "),
    };
    EncryptionError::new(
        "Decryption failed for all provided methods",
        format!(
            "The {what} is encrypted and cannot be read. {why} If the key has changed, add the old method as a fallback."
        ),
    )
}

/// A sentence.
fn capitalized(problem: &str) -> String {
    let mut letters = problem.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    let end = if problem.ends_with('.') { "" } else { "." };
    first.chain(letters).chain(end.chars()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key_provider::{KeyProvider, KeySource, Secret};
    use crate::pbkdf2::Pbkdf2;

    fn provider(name: &str, secret: Secret) -> KeyProvider {
        let settings = Pbkdf2::default().with_iterations(200_000).unwrap();
        KeyProvider { name: format!("key_provider.pbkdf2.{name}"), source: KeySource::Pbkdf2 { secret, settings } }
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
        let secret = Secret::Passphrase("a-passphrase-of-others".into());
        let source = KeySource::Pbkdf2 { secret, settings: Pbkdf2::default() };
        let keys = KeyProvider { name: "key_provider.pbkdf2.k".into(), source };
        let encryption = Encryption::new(Method::AesGcm { keys, associated: Vec::new() }, Vec::new());
        let opened = encryption.open(include_bytes!("../testdata/foreign.json"), "state").unwrap();
        assert_eq!(opened.content, br#"{"version":4,"serial":3,"lineage":"abc"}"#);
        assert_eq!(opened.lineage, Some(Lineage { serial: Some(3), lineage: "abc".into() }));
    }
}
