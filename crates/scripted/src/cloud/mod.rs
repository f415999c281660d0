//! A provider that behaves as clouds do: objects refer to each other by identifier, and the cloud refuses an operation
//! that such a reference forbids.
//!
//! - An object cannot be deleted while another existing object refers to it ("in use").
//! - An object cannot refer to an object that does not exist.
//! - A provider configured with an endpoint reaches nothing while the object that serves the endpoint does not exist.
//!
//! Objects live in a [`Store`], a directory that survives processes, records every operation in order, and takes
//! instructions: operations that are to fail or to wait, and an order in which concurrent operations take place.
//! [`Cloud`] is the provider, in process or served as a plugin.

mod gate;
mod log;
mod object;
mod provider;
mod store;

pub use log::{Event, Outcome};
pub use object::Object;
pub use provider::Cloud;
pub use store::{EVERY, Moment, Operation, Store, StoreError, Times};
