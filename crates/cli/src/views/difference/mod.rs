//! Differences between two values, and how they read.
//!
//! [`compare`] holds two values against each other, guided by a schema or, where there is none, by the values
//! themselves; [`write`] turns the tree into lines. The rules of what is paired with what, what is hidden and where
//! remarks stand are those that people know from Terraform's plans.

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
