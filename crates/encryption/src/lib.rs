//! Encrypted state and plan files, in the format of OpenTofu's state encryption.
//!
//! An [`Encryption`] is an ordered list of methods: the first one encrypts, all of them are tried to decrypt. An
//! encrypted file is a JSON envelope: the ciphertext, and the metadata from which the key providers derive or request
//! the same key again (a salt or a wrapped key, never a secret).

mod cipher;
mod encryption;
mod envelope;
mod error;
mod key_provider;
mod keyring;
mod pbkdf2;
mod program;
mod services;

pub use cipher::Method;
pub use encryption::{Encryption, Opened, RemoteEncryption};
pub use envelope::{Lineage, is_sealed, is_sealed_plan};
pub use error::{EncryptionError, KeyError};
pub use key_provider::{GeneratedKey, KeyProvider, KeyService, KeySource, Secret, StaticKeys};
pub use keyring::Keyring;
pub use pbkdf2::{HashFunction, Pbkdf2};
pub use program::{ExternalKeys, ExternalMethod, Program};
pub use services::{
    Argument, ArgumentType, ArgumentValue, ArgumentValues, KeyServices, Need, SERVICES, service_arguments,
};
