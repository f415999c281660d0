//! Immutable values of the language.

mod build;
mod children;
mod compare;
mod equals;
mod index;
mod kind;
mod marking;
mod refine;
mod repr;
mod walk;

pub(crate) use build::found_type;
pub use index::{IndexError, Length};
pub use kind::{Kind, MapView, ObjectView};
pub use refine::Range;
pub use repr::Value;
