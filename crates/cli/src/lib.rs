//! The command-line interface: arguments, settings, commands and views.
//!
//! Only this crate prints, reads environment variables and knows the home directory. It parses the command line
//! ([`arguments`]), runs a command over the engine ([`commands`]) and renders the results ([`views`]).

mod arguments;
mod clock;
mod commands;
mod environment;
mod log;
mod persona;
mod settings;
pub mod terminal;
pub mod views;

pub use commands::{Finished, run};
