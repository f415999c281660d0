//! Renders states as text and JSON.

mod address;
mod checks;
mod json;
mod modules;
mod text;

pub use address::StoredObject;
pub(crate) use address::{address_json, mode_word};
pub(crate) use checks::checks_json;
pub(crate) use json::{document, outputs_json};
pub use json::{objects_json, output_flags_json, state_json};
pub(crate) use modules::modules_json;
pub use text::{state_text, write_object};
