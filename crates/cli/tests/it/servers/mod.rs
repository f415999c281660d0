//! The program against servers on loopback: TLS, logging in, mirrors that fail, are slow or send elsewhere.

pub mod https;
mod login;
mod mirror;
mod oci;
