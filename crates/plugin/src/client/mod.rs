//! The client: a plugin process as a [`Provider`](groma_provider::Provider).

mod actions;
mod cache;
mod ephemeral;
mod host;
mod lazy_process;
mod lists;
mod plugin;
mod resources;
mod schemas;
mod session;
mod stores;

pub use cache::SchemaCache;
pub use host::PluginHost;
pub use lazy_process::Start;
pub use plugin::Plugin;
