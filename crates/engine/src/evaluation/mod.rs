//! Evaluating variables, locals, outputs and checks into the world: the same when planning and when applying.

mod conditions;
mod list_arguments;
mod values;
mod variables;

pub use conditions::outcome_of;
pub(crate) use list_arguments::{ListArguments, unknown_list_argument};
pub use values::marked_as_declared;
pub use values::{Evaluation, Truth, repetition_of};
