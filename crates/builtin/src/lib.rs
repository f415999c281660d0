//! The provider that comes with the program: `terraform.io/builtin/terraform`, known as `terraform`.
//!
//! It has the resource type `terraform_data`, which keeps values and nothing else, and functions that write values as text
//! of the language and read them. It answers at once. Its data source
//! `terraform_remote_state` reads the outputs in a local state file; other backends are an error that says what to do.

mod data;
mod functions;
mod identifiers;
mod provider;
mod remote_settings;
mod remote_state;

pub use provider::Terraform;
