//! Schemas, the provider trait, configuration decoding, the proposed new state and the provider contract.
//!
//! Everything that manages objects implements [`Provider`]: builtin providers, plugin connections, scripted test
//! providers. The engine calls providers through [`Checked`], which enforces the contract. This crate depends neither
//! on transports nor on the engine.

mod answer;
mod checked;
pub mod contract;
mod correlate;
mod decode;
mod diagnostic;
mod functions;
mod proposed;
mod protocol;
mod provider;
mod schema;
#[cfg(test)]
mod testing;
mod trail;

pub use answer::Answer;
pub use checked::{
    ActionSubject, Applied, ApplyInput, Checked, ConfigSubject, DataInput, Found, ImportInput, Imported, ListInput,
    LogHook, MoveInput, Moved, Opened, PlanInput, PlanPurpose, Planned, Read, ReadData, ReadInput, StoredIdentity,
    StoredState, Subject, kept_action_config,
};
pub use decode::BodyDecoder;
pub use diagnostic::{CallFate, ProviderDiagnostic, ProviderDiagnostics};
pub use functions::LocalFunctions;
pub use groma_value::Name;
pub use proposed::{collection_like, match_set_elements, planned_unknown, proposed_new_state};
pub use protocol::*;
pub use provider::{Provider, SchemaLookup};
pub use schema::{
    Attribute, AttributeType, Block, DeprecatedPart, Deprecation, Description, IdentityAttribute, IdentityImport,
    IdentitySchema, Item, NestedBlock, Nesting, ObjectNesting, ObjectSchema, PartKind, Schema, SchemaProblem, Slot,
    TextFormat, Use,
};
