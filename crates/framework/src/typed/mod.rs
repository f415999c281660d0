//! Providers on structs, the shortest way to write one.
//!
//! A [`ModelResource`] takes and returns structs, and so do a [`ModelDataSource`], a [`ModelEphemeralResource`], a
//! [`ModelListResource`], a [`ModelAction`] and a [`ModelStateStore`]. A [`Bundle`] collects them with the functions and the
//! configuration of the provider. Adapters such as [`ResourceAdapter`] make them the value-based
//! [`Resource`](crate::Resource), [`DataSource`](crate::DataSource) and so on, which a provider can also implement directly.

mod action;
mod bundle;
mod call;
mod data_source;
mod ephemeral;
mod function;
mod list;
mod resource;
mod state_store;

pub use action::{ActionAdapter, ActionContext, ModelAction};
pub use bundle::Bundle;
pub use call::Call;
pub use data_source::{DataSourceAdapter, ModelDataSource, ReadContext};
pub use ephemeral::{EphemeralResourceAdapter, Lease, ModelEphemeralResource};
pub use function::{Callable, Function, ParameterType};
pub use list::{ListContext, ListResourceAdapter, ModelListResource};
pub use resource::{ModelResource, ResourceAdapter};
pub use state_store::{ModelStateStore, StateStoreAdapter, States};
