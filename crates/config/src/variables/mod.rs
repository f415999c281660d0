//! Values of the root module's variables.
//!
//! [`collect`] gathers the values from all sources, and [`Variable::accept`](crate::Variable::accept) converts them to
//! the variables' types. Later sources override earlier ones: environment, `terraform.tfvars`,
//! `terraform.tfvars.json`, `*.auto.tfvars` and `*.auto.tfvars.json` by name, then `-var` and `-var-file` in
//! command-line order.

mod accept;
mod collect;
mod read;

pub use crate::options::{VariableOption, VariableSources};
pub use accept::{Unsuitable, missing};
pub use collect::{check_options, collect, settings_file};
pub use read::{InputValue, Origin};
