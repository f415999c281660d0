//! The plugin protocol: providers in processes of their own, both the client and the server side.
//!
//! The modules in dependency order; each uses only the ones above it:
//!
//! - `proto`: the generated messages. Version 5 shares the message types of version 6, because on the wire the versions
//!   differ only in schema messages and method names.
//! - [`protocol`]: protocol versions with their method names, and size limits.
//! - `raw`: a codec that leaves messages encoded.
//! - `wire`: conversion between messages and the types of `groma-provider`, for client and server.
//! - `transport`: connections to plugin processes, by launching or by attaching.
//! - `client`: a connection as a `groma_provider::Provider`.
//! - `server`: a `groma_provider::Provider` as a plugin process.

pub mod client;
pub mod proto;
pub mod protocol;
mod raw;
pub mod server;
pub mod transport;
pub mod wire;

pub use protocol::{MESSAGE_LIMIT, Protocol};
pub use raw::Raw;
pub use server::serve;
