//! Output for programs.

mod objects;
mod planned;
mod stream;
mod streamed;
mod text;
mod values;

pub(crate) use objects::{action_json, importing_json, resource_json};
pub use planned::Counted;
pub(crate) use planned::told_drift;
pub use stream::{Message, Stream};
pub use streamed::Streamed;
pub use text::{compact, pretty, write_compact};
pub(crate) use values::key_json;
pub use values::{sensitive_json, type_json, unknown_json, value_json};
