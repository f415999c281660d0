//! A plugin process as a provider.

mod actions;
mod cache;
mod ephemeral;
mod giving_up;
mod lists;
mod objects;
mod remote;
mod running;
mod runtime;
mod schemas;
mod session;
mod stores;

pub use cache::SchemaCache;
pub use giving_up::give_up;
pub use remote::Plugin;
pub use running::{Start, end_ahead, end_all};
pub use runtime::beside_processes;
