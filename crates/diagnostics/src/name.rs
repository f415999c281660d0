/// A name or another short text that many things share: one pointer wide, cheap to clone.
pub type Name = arcstr::ArcStr;
