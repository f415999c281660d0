//! JSON output: the message stream, values, types and streamed documents.

mod objects;
mod stream;
mod text;
mod values;

pub use objects::Counted;
pub(crate) use objects::{action_json, importing_json, reported_drift, resource_json};
pub use stream::{Message, Stream};
pub use text::{Streamed, compact, pretty, write_compact};
pub(crate) use values::key_json;
pub use values::{sensitive_json, type_json, unknown_json, value_json};
