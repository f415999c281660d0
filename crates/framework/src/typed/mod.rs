//! Providers on models, the shortest way to write one.
//!
//! A [`ModelResource`] gets and returns structs, and so do a [`ModelDataSource`], a [`ModelEphemeralResource`], a
//! [`ModelListResource`], a [`ModelAction`] and a [`ModelStateStore`]; a [`Bundle`] collects them, functions and the
//! provider's configuration. Everything that is not said has a default. Where that is not enough,
//! [`Resource`](crate::Resource), [`DataSource`](crate::DataSource) and [`Definition`](crate::Definition) work on
//! values, and both ways mix in one provider.

mod action;
mod bundle;
mod call;
mod data_source;
mod ephemeral;
mod function;
mod list;
mod resource;
mod state_store;

pub use action::{Acting, Invoked, ModelAction};
pub use bundle::Bundle;
pub use call::Call;
pub use data_source::{ModelDataSource, Reading, Sourced};
pub use ephemeral::{EphemeralModel, Lease, ModelEphemeralResource};
pub use function::{Accepted, Callable, Function};
pub use list::{ModelListResource, Search, Searching};
pub use resource::{ModelResource, Modelled};
pub use state_store::{Keeping, ModelStateStore, States};
