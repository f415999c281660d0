//! The plugin protocol: providers that run as processes of their own, and ours as such processes.
//!
//! The modules in their order; each uses only those before it:
//!
//! - [`protocol`]: which version is spoken, limits.
//! - `proto`: the messages of both versions. There is one set of message types, those of version 6; version 5 shares them, because
//!   on the wire the two differ in the schema messages and in the names of calls alone.
//! - `methods`, `raw`: what calls are named in either version, and their messages as bytes: one kind of call does for all of them.
//! - `wire`: from messages to the types of `groma-provider` and back; client and server both use it.
//! - `transport`: a connection to a process, made by launching it or by attaching to a running one.
//! - `client`: a connection as a `groma_provider::Provider`.
//! - `server`: a `groma_provider::Provider` as a process that others connect to.

pub mod client;
mod methods;
pub mod proto;
pub mod protocol;
mod raw;
pub mod server;
pub mod transport;
pub mod wire;

pub use protocol::{MESSAGE_LIMIT, Protocol};
pub use raw::Raw;
pub use server::serve;
