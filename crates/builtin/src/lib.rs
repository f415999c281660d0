//! The provider that comes with the program: `terraform.io/builtin/terraform`, known as `terraform`.
//!
//! It has the resource type `terraform_data`, which keeps values and nothing else, and functions that write values as text
//! of the language and read them. It answers at once, without input or
//! output. Its data source `terraform_remote_state` is declared, so that configurations with it can be checked; reading
//! it is an error that says what to do instead.

mod data;
mod functions;
mod provider;
mod remote_state;

pub use provider::Terraform;
