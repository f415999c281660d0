//! A provider for tests, whose every response can be scripted.
//!
//! Without a script it is a good provider: it keeps its objects in a [`World`] in memory, plans what it does and does what
//! it planned. A [`ResourceScript`] changes single responses, fails, panics, waits, or answers nonsense; every call is
//! recorded in order.
//!
//! ```
//! use groma_provider::{Attribute, Block, NestedBlock, Schema};
//! use groma_scripted::{Fault, Operation, ResourceScript, Scripted};
//! use groma_value::Type;
//!
//! let schema = Schema::new(Block::new(
//!     [("id", Attribute::computed(Type::String)), ("name", Attribute::optional(Type::String))],
//!     Vec::<(&str, NestedBlock)>::new(),
//! ));
//! let script = ResourceScript::new(schema).fault(Operation::Apply, Fault::Error("the disk is full"));
//! let provider = Scripted::new("test").resource("test_object", script);
//! assert!(provider.calls().is_empty());
//! ```

mod call;
pub mod cloud;
mod delay;
mod fault;
mod good;
mod provider;
mod script;
mod world;

pub use call::{Call, Operation};
pub use fault::Fault;
pub use provider::Scripted;
pub use script::{ActionScript, DataScript, EphemeralScript, Good, ListScript, ResourceScript};
pub use world::World;
