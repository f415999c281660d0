//! Provider and module packages: sources, verification and installation.
//!
//! [`http::Http`] sends requests, [`discovery::Discovery`] finds the services of a host, [`credentials::Credentials`]
//! holds tokens. Nothing here reads the environment or the home directory: the command line passes them in. (One
//! exception: the HTTP client takes proxies and certificate authorities from the usual variables.)

pub mod answers;
pub mod archive;
pub mod credentials;
pub mod discovery;
pub mod http;
pub mod login;
pub mod modules;
mod oci;
pub mod providers;
pub mod settings;

/// Encodes bytes as lowercase hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
