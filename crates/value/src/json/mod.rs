//! Values as JSON.

mod text;

pub(crate) use text::write_string;
