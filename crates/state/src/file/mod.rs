//! The state file, format version 4: the layout that Terraform 1.15 writes, byte for byte. Older formats are read, too.

mod in_turn;
mod layout;
mod legacy;
mod objects;
mod paths;
mod read;
mod refusal;
mod resources;
mod write;

pub(crate) use in_turn::Take;
pub(crate) use read::{decode_check_results, decode_outputs, parse_paths};
pub use read::{is_blank, read};
pub(crate) use write::{
    Written, has_own_layout, is_content_of, write_check_results, write_outputs, write_parts, write_paths_json,
    write_pieces,
};
pub use write::{write, write_exact, write_to};

/// The format version that is written.
pub const FORMAT_VERSION: u64 = 4;

#[cfg(test)]
mod tests;
