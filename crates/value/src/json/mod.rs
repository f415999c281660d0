//! Values as JSON: the form of state files, and the one of `jsonencode` and `jsondecode`.
//!
//! Numbers keep all their digits. Where the type leaves a part open, the state's form holds it as
//! `{"value":…,"type":…}`.

mod fit;
mod read;
mod scan;
mod simple;
mod text;
mod types;
mod write;

pub use fit::from_stored;
pub use read::from_json;
pub use simple::{decode, implied_type};
pub use write::{encode, encode_into, to_json, write_json};
