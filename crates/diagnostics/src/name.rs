//! Names, of which there is one kind for all crates.

/// A name or another short text that many things share: one pointer wide, cheap to clone.
pub type Name = arcstr::ArcStr;
