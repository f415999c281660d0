//! Differences between two values, and how they read.
//!
//! [`compare`] compares two values, guided by a schema or, without one, by the values
//! themselves; [`write`] renders the tree as lines. The rules of pairing, of redaction and of
//! remarks are those that people know from Terraform's plans.

mod align;
mod blocks;
mod compare;
mod json_text;
mod pair;
mod same;
mod schema;
mod text;
mod tree;
mod warnings;
mod write;
mod writer;

pub use compare::{compare_unchanged, compare_values};
pub use pair::{Paths, Relevance};
pub use schema::compare_objects;
pub use tree::{Block, Change, Content, Difference, Group, Secrecy, Style};
pub use write::attribute_key;
pub use writer::{Manner, Writer};
