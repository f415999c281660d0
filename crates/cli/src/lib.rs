//! The command line groma: arguments, settings, commands and views.
//!
//! Of the engine's crates this one alone prints, reads the environment and knows the home folder.

mod account;
pub mod arguments;
pub mod clock;
mod commands;
pub mod environment;
pub mod log;
pub mod settings;
pub mod terminal;
pub mod views;

pub use commands::run;
