//! Encrypted state and plan files, in the format of OpenTofu's state encryption.
//!
//! An [`Encryption`] is an ordered list of methods: the first one seals, all of them open. What is sealed lies in an
//! envelope of JSON, beside what the key providers need to make the same key again (a salt, never a secret).

mod cipher;
mod encryption;
mod envelope;
mod error;
mod external;
mod key_provider;
mod keyring;
mod method;
mod pbkdf2;
mod pfx;
mod program;
mod remote;
mod services;

pub use encryption::{Encryption, Opened};
pub use envelope::{Lineage, is_sealed, is_sealed_plan};
pub use error::EncryptionError;
pub use external::{ExternalKeys, ExternalMethod};
pub use key_provider::{FreshKey, KeyProvider, KeyService, KeySource, Secret, WrittenKeys};
pub use keyring::Keyring;
pub use method::Method;
pub use pbkdf2::{HashFunction, Pbkdf2};
pub use program::Program;
pub use remote::RemoteEncryption;
pub use services::{
    Argument, AwsFiles, AwsKeys, AwsProfile, Given, GivenValue, Kind, Need, Network, NetworkAnswer, NetworkRequest,
    SERVICES, Trust, Way, service, service_arguments,
};
