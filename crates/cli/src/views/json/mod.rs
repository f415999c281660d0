//! What programs read.

mod document;
mod stream;
mod text;
mod values;

pub use document::{plan_json, provider_json};
pub(crate) use stream::resource_json;
pub use stream::{Counted, Message, Stream};
pub use text::{compact, pretty, write_compact};
pub use values::{sensitive_json, type_json, unknown_json, value_json};
