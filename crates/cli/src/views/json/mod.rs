//! What programs read.

mod stream;
mod text;
mod values;

pub use stream::{Counted, Message, Stream};
pub(crate) use stream::{action_json, importing_json, resource_json, told_drift};
pub use text::{compact, pretty, write_compact};
pub use values::{sensitive_json, type_json, unknown_json, value_json};
