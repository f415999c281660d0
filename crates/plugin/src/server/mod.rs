//! The server: a provider as a plugin process for Terraform, OpenTofu and Groma.
//!
//! ```no_run
//! use groma_provider::{Attribute, Block, NestedBlock, Schema};
//! use groma_scripted::{DataScript, Scripted};
//! use groma_value::{Type, Value};
//!
//! fn main() -> std::process::ExitCode {
//!     let greeting = Block::new(
//!         [("name", Attribute::required(Type::String)), ("text", Attribute::computed(Type::String))],
//!         [] as [(&str, NestedBlock); 0],
//!     );
//!     let greet = DataScript::new(Schema::new(greeting)).returning(|config| {
//!         let name = config.attribute("name").and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default();
//!         vec![("text", Value::string(format!("Good morning, {name}.")))]
//!     });
//!     let provider = Scripted::new("hello").data("hello_greeting", greet);
//!     groma_plugin::serve("registry.terraform.io/example/hello", std::sync::Arc::new(provider))
//! }
//! ```
//!
//! The host selects protocol version 5 or 6. Started by hand, the program explains its purpose; started with `-debug`,
//! it waits for a host that attaches through `TF_REATTACH_PROVIDERS`.

mod adapter;
mod configuration;
mod listener;
mod log;
mod process;
mod resources;
mod run;
mod schemas;
mod services;
mod stores;
mod streams;

pub use log::log;
pub use run::{ServeError, Served, serve, serve_below};
