//! The values of the root module's variables: where they come from, and what becomes of them.
//!
//! [`collect`] combines the given values, the later source taking precedence; [`Variable::accept`](crate::Variable::accept) converts one
//! to the variable's type. From weak to strong: environment, `terraform.tfvars`, `terraform.tfvars.json`, `*.auto.tfvars` and
//! `*.auto.tfvars.json` by name, then `-var` and `-var-file` in the order of the command line.

mod accept;
mod collect;
mod input;
mod read;
pub(crate) mod sources;

pub use accept::{Unsuitable, missing};
pub use collect::{check_options, collect, settings_file};
pub use input::{InputValue, Origin};
pub use sources::{VariableOption, VariableSources};
