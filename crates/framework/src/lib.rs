//! The library for writing providers.
//!
//! A provider author writes a [`Definition`] (the provider), a [`Resource`] for each resource type and a [`DataSource`]
//! for each data source, with schemas from a [`SchemaBuilder`]; a [`Server`] makes a provider of them that the engine,
//! or a plugin server, can use. Objects are dynamic values of the schema's type. The framework applies defaults, plans unknown values for
//! computed attributes, runs plan modifiers, keeps the prior form of equivalent values, checks plans and results against the contract
//! before the engine does, and turns panics into errors.
//!
//! ```
//! use std::sync::Arc;
//!
//! use groma_framework::{
//!     Answer, Attribute, CreateRequest, Definition, DeleteRequest, ObjectResponse, ProviderDiagnostics, ReadRequest,
//!     Resource, ResourceSchema, SchemaBuilder, SchemaProblem, Server, TypeNames,
//! };
//! use groma_value::Value;
//!
//! /// A pet with a name, which cannot be renamed.
//! struct Pet(ResourceSchema);
//!
//! impl Pet {
//!     fn new() -> Result<Self, Vec<SchemaProblem>> {
//!         let schema = SchemaBuilder::new()
//!             .attribute("id", Attribute::string().computed().use_state_for_unknown())
//!             .attribute("name", Attribute::string().required().requires_replace());
//!         schema.build().map(Self)
//!     }
//! }
//!
//! impl Resource for Pet {
//!     fn schema(&self) -> &ResourceSchema {
//!         &self.0
//!     }
//!
//!     fn create(&self, request: CreateRequest) -> Answer<'_, ObjectResponse> {
//!         let name = request.plan.attribute("name").unwrap_or(Value::NULL);
//!         let pet = Value::object([("id", Value::string("pet-1")), ("name", name)]);
//!         Answer::ready(ObjectResponse::found(pet, request.private))
//!     }
//!
//!     fn read(&self, request: ReadRequest) -> Answer<'_, ObjectResponse> {
//!         Answer::ready(ObjectResponse::found(request.state, request.private))
//!     }
//!
//!     fn delete(&self, _: DeleteRequest) -> Answer<'_, ProviderDiagnostics> {
//!         Answer::ready(ProviderDiagnostics::new())
//!     }
//! }
//!
//! struct Shelter {
//!     config: ResourceSchema,
//! }
//!
//! impl Definition for Shelter {
//!     fn schema(&self) -> &ResourceSchema {
//!         &self.config
//!     }
//!
//!     fn type_names(&self) -> TypeNames {
//!         TypeNames { resources: vec!["shelter_pet".into()], ..TypeNames::default() }
//!     }
//!
//!     fn resource(&self, type_name: &str) -> Result<Option<Arc<dyn Resource>>, ProviderDiagnostics> {
//!         match (type_name, Pet::new()) {
//!             ("shelter_pet", Ok(pet)) => Ok(Some(Arc::new(pet))),
//!             _ => Ok(None),
//!         }
//!     }
//! }
//!
//! # fn main() -> Result<(), Vec<SchemaProblem>> {
//! let shelter = Shelter { config: SchemaBuilder::new().build()? };
//! let provider = Server::new(Arc::new(shelter));
//! # use groma_provider::Provider;
//! assert!(provider.resource_schema("shelter_pet").is_ok_and(|schema| schema.is_some()));
//! # Ok(())
//! # }
//! ```

mod definition;
mod matching;
pub mod model;
pub mod modifier;
mod private;
pub mod resource;
mod rewrite;
pub mod schema;
mod server;
mod stopping;
pub mod typed;

pub use definition::{
    Action, DataSource, Definition, EphemeralResource, ListResource, OpenResponse, ReadDataRequest, ReadDataResponse,
    RenewResponse, StateStore,
};
pub use matching::match_by_attributes;
pub use model::{Field, Maybe, Model};
pub use modifier::PlanModifier;
pub use private::PrivateData;
pub use resource::{
    CreateRequest, Deferral, DeleteRequest, ImportRequest, ModifyPlanRequest, ModifyPlanResponse, MoveRequest,
    ObjectResponse, ReadRequest, Resource, UpdateRequest, UpgradeRequest, ValidateRequest, decode_stored,
};
pub use schema::{Attribute, DefaultValue, NestedBlock, ResourceSchema, SchemaBuilder};
pub use server::Server;
pub use stopping::{StopSignal, StopSignals};
pub use typed::{
    ActionContext, Bundle, Call, Function, Lease, ListContext, ModelAction, ModelDataSource, ModelEphemeralResource,
    ModelListResource, ModelResource, ModelStateStore, ReadContext, States,
};

pub use groma_framework_derive::Model;
#[cfg(feature = "serve")]
pub use groma_plugin::serve;
/// Lines in the log of the host, which shows them to those who ask for it with `TF_LOG` (FW-22).
#[cfg(feature = "serve")]
pub use groma_plugin::{server::log, transport::LogLevel};
/// Values and their types, as providers meet them.
pub use groma_value as value;

// The types of the lower layer that every provider needs.
pub use groma_provider::Name;
pub use groma_provider::{
    ActionProgress, Answer, CallFate, CallFunctionRequest, ClientCapabilities, ConfigureRequest,
    ConfigureStateStoreRequest, ConfigureStateStoreResponse, Deferred, Description, FunctionError, FunctionSignature,
    IdentityAttribute, IdentityImport, IdentitySchema, ImportTarget, InvokeActionRequest, ListControl, ListDetail,
    ListRequest, ListSink, Listed, LockStateRequest, LockStateResponse, Nesting, ObjectNesting, Parameter,
    PlanActionRequest, PlanActionResponse, ProviderDiagnostic, ProviderDiagnostics, ReadStateResponse, SchemaProblem,
    StateRequest, StatesResponse, TypeNames, UnlockStateRequest, Use, WriteStateRequest,
};
