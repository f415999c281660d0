//! An emulator of AWS Cloud Control, kept in one file (CC-60 to CC-63).

mod computed;
mod embedded;
mod faults;
pub mod http;
mod index;
mod log;
mod operations;
mod store;
mod view;

pub use embedded::Embedded;
pub use faults::{FailingRequests, FaultError, Faults, Hook, HookResult};
pub use http::Server;
pub use log::LogError;
pub use store::{Location, Settings, Store};
