//! The builtin provider `terraform.io/builtin/terraform`, with the local name `terraform`.
//!
//! It has the resource type `terraform_data`, which stores values; the data source `terraform_remote_state`, which
//! reads outputs from a local state file (other backends are an error with advice); and functions that convert between
//! values and configuration syntax. All calls are answered immediately.

mod data;
mod functions;
mod provider;
mod remote_state;

pub use provider::Terraform;
