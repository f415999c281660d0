//! Encryption with the first method, decryption with any of them.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use groma_diagnostics::json_reason;

use crate::cipher::Method;
use crate::envelope::{Envelope, Lineage, is_sealed};
use crate::error::EncryptionError;
use crate::key_provider::Metadata;
use crate::keyring::{Keyring, OpenFailure};

/// The configured methods for one kind of file: state or plan.
///
/// The first method encrypts. All of them, in order, are tried to decrypt, so that a method can be replaced: the old
/// one becomes a fallback until the file has been written once. Keys are generated or recovered on first use and kept
/// for the run, because key derivation takes a noticeable fraction of a second and key services need requests.
pub struct Encryption {
    methods: Arc<[Method]>,
    current: OnceLock<Result<Arc<Keyring>, EncryptionError>>,
    known: Mutex<Vec<Arc<Keyring>>>,
}

/// The decrypted content of a file.
#[derive(Debug, PartialEq, Eq)]
pub struct Opened {
    /// The content in plaintext.
    pub content: Vec<u8>,
    /// Whether the first method encrypted it, so that the file need not be written again.
    pub is_current: bool,
    /// The serial and lineage in the envelope of a state.
    pub lineage: Option<Lineage>,
}

impl fmt::Debug for Encryption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encryption").field("methods", &self.methods).finish_non_exhaustive()
    }
}

impl Encryption {
    /// Creates an encryption that encrypts with `first`, and decrypts with `first` or one of `fallbacks`.
    pub fn new(first: Method, fallbacks: Vec<Method>) -> Self {
        let methods = std::iter::once(first).chain(fallbacks).collect();
        Self { methods, current: OnceLock::new(), known: Mutex::default() }
    }

    /// Whether files are encrypted when they are written.
    pub fn seals(&self) -> bool {
        !matches!(self.methods.first(), Some(Method::Unencrypted) | None)
    }

    /// Returns the keys that encrypt, or `None` if files stay in plaintext. Generates them once in a run; the caller
    /// does that before it changes anything, so that writing cannot fail later for lack of a key.
    ///
    /// # Errors
    /// Fails if a key provider does not provide a key, or provides one that the method cannot use.
    pub fn current_keyring(&self) -> Result<Option<Arc<Keyring>>, EncryptionError> {
        if !self.seals() {
            return Ok(None);
        }
        // An error is kept too: a key service that refuses is asked once in a run, not for each write.
        self.current.get_or_init(|| self.generate()).clone().map(Some)
    }

    fn generate(&self) -> Result<Arc<Keyring>, EncryptionError> {
        let keyring = Arc::new(Keyring::generate(&self.methods)?);
        // Files that this run writes carry this metadata, so reading them again derives no key.
        self.known().push(Arc::clone(&keyring));
        Ok(keyring)
    }

    /// Returns the keys for a file with this metadata. Decrypting state and backup must not derive the same key twice.
    fn keyring(&self, metadata: &Metadata) -> Arc<Keyring> {
        // Locked only for the lookup: recovering keys, which is slow, happens in the keyring on first use.
        let mut known = self.known();
        if let Some(known) = known.iter().find(|keyring| keyring.metadata() == metadata) {
            return Arc::clone(known);
        }
        let keyring = Arc::new(Keyring::for_metadata(&self.methods, metadata.clone()));
        known.push(Arc::clone(&keyring));
        keyring
    }

    fn known(&self) -> std::sync::MutexGuard<'_, Vec<Arc<Keyring>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Encrypts the content of a file. The envelope of a state shows `lineage` in plaintext.
    ///
    /// # Errors
    /// Fails if there is no key.
    pub fn seal(&self, content: &[u8], lineage: Option<&Lineage>) -> Result<Vec<u8>, EncryptionError> {
        match self.current_keyring()? {
            None => Ok(content.to_owned()),
            Some(keyring) => Envelope::write(lineage, keyring.metadata(), &keyring.seal_file(content)?),
        }
    }

    /// Decrypts a file. Messages call it `file_kind`, for example `state`.
    ///
    /// # Errors
    /// Fails if no method decrypts it, or if it is in plaintext and `unencrypted` is not among the methods.
    pub fn open(&self, bytes: &[u8], file_kind: &str) -> Result<Opened, EncryptionError> {
        // Decided by the content and not by the methods, so that a plaintext state can be read while encryption is
        // introduced.
        if !is_sealed(bytes) {
            return self.plaintext(bytes, file_kind);
        }
        let envelope = Envelope::read(bytes)?;
        let keyring = self.keyring(&envelope.meta);
        let sealed = envelope.content()?;
        let (method, content) = keyring.open_file(&sealed).map_err(|failure| undecryptable(&failure, file_kind))?;
        Ok(Opened { content, is_current: method == 0, lineage: envelope.lineage })
    }

    fn plaintext(&self, bytes: &[u8], file_kind: &str) -> Result<Opened, EncryptionError> {
        let index = self.methods.iter().position(|method| matches!(method, Method::Unencrypted));
        let index = index.ok_or_else(|| {
            EncryptionError::new(
                "Unencrypted content without unencrypted method",
                format!(
                    "The {file_kind} is not encrypted, and the encryption block does not allow that. To encrypt an existing file, add a method \
                     \"unencrypted\" and use it as a fallback until the file has been written once."
                ),
            )
        })?;
        Ok(Opened { content: bytes.to_owned(), is_current: index == 0, lineage: None })
    }

    /// Returns the keys for chunks, from [`Keyring::metadata_json`] of the keyring that encrypted them.
    ///
    /// # Errors
    /// Fails if the metadata is damaged.
    pub fn chunk_keyring(&self, metadata: &[u8]) -> Result<Arc<Keyring>, EncryptionError> {
        let metadata: Metadata = serde_json::from_slice(metadata).map_err(|error| {
            EncryptionError::new(
                "Invalid encrypted content",
                format!("The key metadata is damaged: {error}.", error = json_reason(&error)),
            )
        })?;
        // Not shared by metadata, because only keyrings for chunks hold the wrapped data key.
        Ok(Arc::new(Keyring::for_chunks(&self.methods, metadata)))
    }
}

fn undecryptable(failure: &OpenFailure, file_kind: &str) -> EncryptionError {
    let cause = match failure.problems.as_slice() {
        [] if failure.had_key => {
            "None of the keys fits: the passphrase is different, or the file was modified after it was encrypted.".to_owned()
        }
        [] => "The file has no metadata of the key providers in the encryption block: it was encrypted with key providers of other \
               names. Restore the old names, or set encrypted_metadata_alias to them."
            .to_owned(),
        problems => problems.iter().map(|problem| capitalized(problem)).collect::<Vec<_>>().join(" "),
    };
    EncryptionError::new(
        "Decryption failed for all provided methods",
        format!(
            "The {file_kind} is encrypted and cannot be decrypted. {cause} If the key has changed, add the old method as a fallback."
        ),
    )
}

/// Turns a clause into a sentence.
fn capitalized(problem: &str) -> String {
    let mut letters = problem.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    let end = if problem.ends_with('.') { "" } else { "." };
    first.chain(letters).chain(end.chars()).collect()
}

/// The `remote_state_data_sources` block: the encryption of states that `terraform_remote_state` reads.
#[derive(Clone, Debug, Default)]
pub struct RemoteEncryption {
    /// The `default` block, for data sources without a block of their own.
    pub default: Option<Arc<Encryption>>,
    /// By data source, in OpenTofu's short form: `name`, `module.name`, `module.name[0]`.
    pub named: BTreeMap<String, Arc<Encryption>>,
}

impl RemoteEncryption {
    /// Returns the encryption for the data source at `address`, or `None` if its state is in plaintext.
    pub fn of(&self, address: &str) -> Option<&Arc<Encryption>> {
        // The type occurs once in an address, after the module path, which OpenTofu's short form keeps.
        let name = address.replacen("data.terraform_remote_state.", "", 1);
        let name = name.strip_prefix("module.").unwrap_or(&name);
        self.named.get(name).or(self.default.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key_provider::{KeyProvider, KeySource, Secret};
    use crate::pbkdf2::Pbkdf2;

    fn provider(name: &str, secret: Secret) -> KeyProvider {
        // The fewest iterations allowed, so that the tests are fast.
        let settings = Pbkdf2::default().with_iterations(200_000).unwrap();
        KeyProvider { name: format!("key_provider.pbkdf2.{name}"), source: KeySource::Pbkdf2 { secret, settings } }
    }

    fn method(passphrase: &str) -> Method {
        Method::AesGcm { keys: provider("main", Secret::Passphrase(passphrase.to_owned())), associated: Vec::new() }
    }

    const OLD: &str = "the passphrase of old";
    const NEW: &str = "the passphrase of now";

    #[test]
    fn file_is_decrypted_only_by_the_method_that_encrypted_it() {
        let old = Encryption::new(method(OLD), Vec::new());
        let lineage = Lineage { serial: Some(7), lineage: "l".into() };
        let sealed = old.seal(b"{\"secret\":1}", Some(&lineage)).unwrap();
        let text = String::from_utf8(sealed.clone()).unwrap();
        assert!(
            // The order of fields and the names are OpenTofu's; other tools find serial and lineage without a key.
            text.starts_with("{\"serial\":7,\"lineage\":\"l\",\"meta\":{\"key_provider.pbkdf2.main\":\""),
            "{text}"
        );
        assert!(text.ends_with("\",\"encryption_version\":\"v0\"}"), "{text}");
        assert!(!text.contains("secret"));
        let opened = Encryption::new(method(OLD), Vec::new()).open(&sealed, "state").unwrap();
        assert_eq!(opened, Opened { content: b"{\"secret\":1}".to_vec(), is_current: true, lineage: Some(lineage) });
        let error = Encryption::new(method(NEW), Vec::new()).open(&sealed, "state").unwrap_err();
        assert!(error.detail.contains("passphrase is different"), "{error:?}");
        let moved = Encryption::new(method(NEW), vec![method(OLD)]);
        // The fallback decrypts, and the caller learns that the file should be written again.
        assert!(!moved.open(&sealed, "state").unwrap().is_current);
        let resealed = moved.seal(b"x", None).unwrap();
        assert!(moved.open(&resealed, "state").unwrap().is_current);
        // After the rotation the old passphrase is of no use.
        assert!(old.open(&resealed, "state").is_err());
    }

    #[test]
    fn plaintext_requires_the_unencrypted_method() {
        let strict = Encryption::new(method(OLD), Vec::new());
        assert!(strict.open(b"{}", "state").unwrap_err().summary.starts_with("Unencrypted content"));
        let moving = Encryption::new(method(OLD), vec![Method::Unencrypted]);
        assert!(!moving.open(b"{}", "state").unwrap().is_current);
        assert!(moving.seals());
        // The migration to plaintext: the encrypted file is still readable, and new files are not encrypted.
        let leaving = Encryption::new(Method::Unencrypted, vec![method(OLD)]);
        assert!(leaving.open(b"{}", "state").unwrap().is_current);
        assert_eq!(leaving.seal(b"{}", None).unwrap(), b"{}");
        assert!(!leaving.open(&moving.seal(b"{}", None).unwrap(), "state").unwrap().is_current);
    }

    #[test]
    fn chain_stores_the_metadata_of_every_provider() {
        let chained = |passphrase: &str| {
            let first = provider("first", Secret::Passphrase(passphrase.to_owned()));
            let keys = provider("second", Secret::Chain(Box::new(first)));
            Encryption::new(Method::AesGcm { keys, associated: vec![1, 2] }, Vec::new())
        };
        let sealed = chained(OLD).seal(b"text", None).unwrap();
        assert!(crate::is_sealed_plan(&sealed));
        assert_eq!(chained(OLD).open(&sealed, "plan").unwrap().content, b"text");
        assert!(chained(NEW).open(&sealed, "plan").is_err());
        // Both providers of the chain have one name, so the metadata of one would overwrite that of the other.
        let same = provider("main", Secret::Chain(Box::new(provider("main", Secret::Passphrase(OLD.into())))));
        let error = Encryption::new(Method::AesGcm { keys: same, associated: Vec::new() }, Vec::new()).seal(b"", None);
        assert_eq!(error.unwrap_err().summary, "Duplicate metadata key");
    }

    #[test]
    fn chunks_are_decrypted_with_the_stored_key_metadata() {
        let keyring = Encryption::new(method(OLD), Vec::new()).current_keyring().unwrap().unwrap();
        let sealed = keyring.seal(b"piece").unwrap();
        let again = Encryption::new(method(OLD), Vec::new()).chunk_keyring(&keyring.metadata_json()).unwrap();
        assert_eq!(again.open(&sealed).unwrap(), (0, b"piece".to_vec()));
        assert!(
            Encryption::new(method(NEW), Vec::new())
                .chunk_keyring(&keyring.metadata_json())
                .unwrap()
                .open(&sealed)
                .is_none()
        );
        assert!(Encryption::new(method(OLD), Vec::new()).chunk_keyring(b"[").is_err());
    }

    /// Created with Python's hashlib and cryptography from the documented format.
    #[test]
    fn file_of_another_implementation_is_decrypted() {
        let secret = Secret::Passphrase("a-passphrase-of-others".into());
        let source = KeySource::Pbkdf2 { secret, settings: Pbkdf2::default() };
        let keys = KeyProvider { name: "key_provider.pbkdf2.k".into(), source };
        let encryption = Encryption::new(Method::AesGcm { keys, associated: Vec::new() }, Vec::new());
        let opened = encryption.open(include_bytes!("../testdata/foreign.json"), "state").unwrap();
        assert_eq!(opened.content, br#"{"version":4,"serial":3,"lineage":"abc"}"#);
        assert_eq!(opened.lineage, Some(Lineage { serial: Some(3), lineage: "abc".into() }));
    }
}
