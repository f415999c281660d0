//! `-target`: the chosen addresses with what they depend on (PL-64). `-exclude`: all but what is named and what depends on it.

mod aim;
mod along;
mod included;
mod told;

pub use included::Included;
pub(super) use told::{moved, partial};
