//! A provider as a plugin process that Terraform, OpenTofu and Groma run.
//!
//! ```no_run
//! # fn my_provider() -> std::sync::Arc<dyn groma_provider::Provider> { unimplemented!() }
//! fn main() -> std::process::ExitCode {
//!     groma_plugin::serve("registry.terraform.io/example/notes", my_provider())
//! }
//! ```
//!
//! The host chooses between the versions 5 and 6 of the protocol. Started by hand, such a program says what it is; started
//! with `-debug` it waits for a host that is told about it by `TF_REATTACH_PROVIDERS`.

mod adapter;
mod listener;
mod log;
mod others;
mod process;
mod resources;
mod run;
mod schemas;
mod services;

pub use log::log;
pub use run::{ServeError, Served, serve, serve_below};
