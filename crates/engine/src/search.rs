//! Searches for objects that nobody manages yet: what `list` blocks ask for and what they find.

use groma_address::ResourceInstance;
use groma_value::Value;

/// The results of one instance of a list block.
#[derive(Clone, Debug)]
pub struct Searched {
    /// The address of the instance.
    pub address: ResourceInstance,
    /// The version of the schema of the identities.
    pub identity_version: u64,
    /// The objects, in the order in which the provider named them.
    pub found: Vec<FoundObject>,
}

/// An object that was found.
#[derive(Clone, Debug)]
pub struct FoundObject {
    /// The human-readable name of the object.
    pub display_name: String,
    /// The identity of the object.
    pub identity: Value,
    /// The object, if it was asked for; sensitive parts are marked.
    pub object: Option<Value>,
    /// The blocks that manage it, if they were asked for.
    pub written: Option<WrittenBlocks>,
}

/// Blocks for a found object, without line feeds at their ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenBlocks {
    /// The generated `resource` block.
    pub resource: String,
    /// The generated `import` block.
    pub import: String,
}
