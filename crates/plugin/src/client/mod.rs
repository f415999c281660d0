//! The client: a plugin process as a [`Provider`](groma_provider::Provider).

mod actions;
mod cache;
mod cancellation;
mod ephemeral;
mod lazy_process;
mod lists;
mod plugin;
mod resources;
mod runtime;
mod schemas;
mod session;
mod stores;

pub use cache::SchemaCache;
pub use cancellation::cancel_all;
pub use lazy_process::{Start, begin_shutdown_all, shutdown_all};
pub use plugin::Plugin;
pub use runtime::plugin_runtime;
