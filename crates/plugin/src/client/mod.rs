//! A plugin process as a provider.

mod actions;
mod ephemeral;
mod methods;
mod objects;
mod remote;
mod runtime;
mod schemas;
mod session;

pub use remote::{Plugin, Start, end_all};
