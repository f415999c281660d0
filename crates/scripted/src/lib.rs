//! A test provider whose every response can be scripted.
//!
//! Without a script it obeys the contract: it stores its objects in an in-memory [`World`], plans what it does, and
//! does what it planned. A [`ResourceScript`] can replace single responses, fail, panic, delay, or return invalid data.
//! All calls are recorded in order.
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
mod default_behavior;
mod fault;
mod provider;
mod script;
mod world;

pub use call::{Call, Operation};
pub use fault::Fault;
pub use provider::Scripted;
pub use script::{ActionScript, DataScript, EphemeralScript, Good, ListScript, ResourceScript};
pub use world::World;
