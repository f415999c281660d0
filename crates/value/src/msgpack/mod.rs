//! Values as msgpack, as they travel to and from plugins.
//!
//! The bytes mean something only together with the type: both sides know it from the schema. Unknown values are
//! extensions, with what is promised about them inside; a part whose type is left open carries its type along.

mod items;
mod read;
mod refinement;
mod scan;
mod write;

pub use read::decode;
pub use write::encode;
