//! The value type and its operations.

mod build;
mod children;
mod compare;
mod index;
mod kind;
mod refine;
mod repr;
mod set;

pub use index::{IndexError, Length};
pub use kind::{Kind, MapView, ObjectView};
pub use refine::Range;
pub use repr::Value;
