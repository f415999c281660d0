//! JSON codecs: the typed format of state files, and the untyped one of `jsonencode` and `jsondecode`.
//!
//! Numbers keep all their digits. In the typed format, a value of dynamic type is stored as
//! `{"value":…,"type":…}`.

mod read;
mod scan;
mod simple;
mod stored;
mod types;
mod write;

pub use read::from_json;
pub use simple::{decode, implied_type};
pub use stored::from_stored;
pub use write::{encode, encode_into, to_json, write_json};
