//! The values of the root module's variables: where they come from, and what becomes of them.
//!
//! [`collect`] gathers what was given, the later source winning; [`finalize`] converts it to the variables' types and
//! fills in defaults. From weak to strong: environment, `terraform.tfvars`, `terraform.tfvars.json`, `*.auto.tfvars` and
//! `*.auto.tfvars.json` by name, then `-var` and `-var-file` in the order of the command line.

mod collect;
mod finalize;
mod input;
mod read;
pub(crate) mod sources;

pub use collect::collect;
pub(crate) use finalize::missing;
pub use finalize::{Finalized, Unsuitable, finalize};
pub use input::{InputValue, Origin};
pub use sources::{VariableOption, VariableSources};
