//! Renders states as text and JSON.

mod checks;
mod json;
mod text;

pub(crate) use checks::checks_json;
pub use json::{StoredObject, objects_json, output_flags_json, state_json};
pub(crate) use json::{address_json, document, mode_word, modules_json, outputs_json};
pub use text::{state_text, write_object};
