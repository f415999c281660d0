//! The library for writing providers.
//!
//! A provider author writes a [`Definition`] (the provider), a [`Resource`] for each resource type and a [`DataSource`] for
//! each data source, with schemas from a [`SchemaBuilder`]; a [`Server`] makes a provider of them that the engine, or a
//! plugin server, can use. Objects are dynamic values of the schema's type. The framework applies defaults, leaves open
//! what may change, runs plan modifiers, keeps the author's form of values that mean the same, checks its own results
//! before the engine does, and turns panics into errors.

mod data_source;
mod definition;
mod equality;
mod frozen;
mod matching;
pub mod modifier;
mod private;
pub mod resource;
mod rewrite;
pub mod schema;
mod server;
mod stored;

pub use data_source::{DataSource, ReadDataRequest, ReadDataResponse};
pub use definition::Definition;
pub use matching::match_by_attributes;
pub use modifier::PlanModifier;
pub use private::PrivateData;
pub use resource::{
    CreateRequest, DeleteRequest, ImportRequest, ModifyPlanRequest, ModifyPlanResponse, ObjectResponse, ReadRequest,
    Resource, UpdateRequest, UpgradeRequest, ValidateRequest,
};
pub use schema::{Attribute, DefaultValue, NestedBlock, ResourceSchema, SchemaBuilder};
pub use server::Server;
pub use stored::decode_stored;

// What every provider needs of the layer below.
pub use groma_provider::{
    Answer, ConfigureRequest, ImportTarget, MoveRequest, Nesting, ObjectNesting, ProviderDiagnostic,
    ProviderDiagnostics, SchemaProblem, TypeNames, Use,
};

/// An identifier, shared.
pub type Name = std::sync::Arc<str>;
