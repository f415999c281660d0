//! Conversion between types.

mod conform;

pub use conform::{conforms, type_conforms};
