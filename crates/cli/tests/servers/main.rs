//! The program against servers on loopback: TLS, logging in, mirrors that fail, are slow or send elsewhere.
#![allow(clippy::unwrap_used)] // a test may fail where it is surprised

#[path = "../common/mod.rs"]
mod common;
mod https;
mod login;
mod mirror;
mod oci;
