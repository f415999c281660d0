//! Provider and module packages: where they come from, whether they are what they claim to be, where they are kept.
//!
//! [`http::Http`] speaks with servers, [`discovery::Discovery`] finds what a host offers, [`credentials::Credentials`] know the tokens.
//! Nothing here reads the environment or the home folder: the command line hands in what they say. (One exception: the HTTP client
//! takes proxies and certificate authorities from the usual variables.)

pub mod answers;
pub mod archive;
pub mod credentials;
pub mod discovery;
mod hex;
pub mod http;
pub mod login;
pub mod modules;
mod oci;
pub mod providers;
pub mod settings;
mod versions;
