//! What programs read.

mod stream;
mod text;

pub(crate) use stream::resource_json;
pub use stream::{Counted, Message, Stream};
pub use text::{compact, pretty, write_compact};
