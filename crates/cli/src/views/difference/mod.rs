//! Computes and renders differences between two values.
//!
//! [`compare`] and [`schema`] compare two values, guided by a schema if there is one, and return a [`Difference`] tree.
//! [`Writer`] renders the tree as lines. Pairing of elements, hiding of unchanged parts and placement of remarks follow
//! Terraform's plans exactly, because wrappers and people compare both.

mod align;
mod compare;
mod pair;
mod schema;
mod text;
mod tree;
mod write;
mod writer;

pub use compare::{compare_unchanged, compare_values};
pub use pair::{Paths, Relevance};
pub use schema::compare_objects;
pub use tree::{Block, Change, Content, Difference, Group, Sensitivity, Style};
pub use write::attribute_key;
pub use writer::{RenderOptions, Writer};
