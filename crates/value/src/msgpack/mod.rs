//! The msgpack codec of the plugin protocol.
//!
//! The bytes are meaningful only with the type, which both sides know from the schema. Unknown values are extensions
//! that contain their refinements; a value of dynamic type is an array of its type and the value.

mod items;
mod read;
mod refinement;
mod scan;
mod write;

pub use read::decode;
pub use write::encode;
