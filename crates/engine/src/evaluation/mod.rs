//! Evaluating variables, locals, outputs and checks into the world: the same when planning and when applying.

mod conditions;
mod outputs;
mod values;
mod variables;

pub use conditions::outcome_of;
pub use outputs::marked_as_declared;
pub use values::{Evaluation, Truth, repetition_of};
