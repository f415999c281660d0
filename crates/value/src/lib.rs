//! Types and values with unknowns, refinements and marks; conversion and codecs.
//!
//! A [`Value`] is known, null or unknown, always has a [`Type`], and may carry [`Marks`] that propagate to every value
//! derived from it. Values are immutable and shared: cloning is cheap, and facts about the contents, such as whether
//! everything is known, are stored with each aggregate. The crate knows no text syntax, no schemas and no providers.

mod codec;
pub mod convert;
pub mod flat;
pub mod json;
mod marks;
pub mod msgpack;
pub mod number;
pub mod operations;
mod path;
mod redaction;
mod refinement;
mod text;
mod types;
mod value;

pub use groma_diagnostics::Name;

pub use codec::{CodecError, StoredError};
pub use convert::ConversionError;
pub use marks::{Deprecation, Marks};
pub use number::Number;
pub use path::{Path, PathMarks, PathStep};
pub use redaction::Redacted;
pub use refinement::{Bound, Refinement, RefinementError};
pub use text::{normalized, safe_prefix};
pub use types::{MAX_DEPTH, ObjectType, Shape, Type};
pub use value::{IndexError, Kind, Length, MapView, ObjectView, Range, Value};
