//! Settings of `terraform` blocks: backend, cloud, required version.

use groma_address::Name;
use groma_diagnostics::{Diagnostics, Span};
use groma_hcl::{Attribute, Block, Body, BodySchema};
use groma_value::Value;
use indexmap::IndexMap;

use crate::version::Constraints;

/// A `backend` block: type and arguments of the state storage. A `cloud` block is the backend `cloud`.
#[derive(Clone, Debug)]
pub struct Backend {
    /// The backend type: the block's label, or `cloud`.
    pub kind: Name,
    /// Arguments, to be decoded by the backend.
    pub body: Body,
    /// Values of the arguments that are known before planning: constants, and expressions of local values and
    /// variables with a value. A nested block type has a tuple with an object for each of its blocks.
    pub known: IndexMap<Name, Value>,
    /// For each argument with an unknown value, by the span of its expression: the variable that makes it unknown.
    pub unusable: IndexMap<Span, UnusableVariable>,
    /// Span of the label; of the header of a `cloud` block.
    pub kind_span: Span,
    /// Span of the block's header.
    pub span: Span,
}

/// A variable that cannot be used before planning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnusableVariable {
    /// The name of the variable.
    pub name: Name,
    /// The reason.
    pub reason: UnusableReason,
}

/// The reason why a variable cannot be used before planning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnusableReason {
    /// Nothing sets it, and it has no default.
    NoValue,
    /// It is declared as sensitive.
    Sensitive,
    /// It is declared as ephemeral.
    Ephemeral,
}

/// The nested block types of all backends. The schema of each backend decides which of them it has.
const NESTED_BLOCKS: [&str; 3] = ["assume_role", "exec", "workspaces"];

impl Backend {
    /// The type of the backend that a `cloud` block configures.
    pub const CLOUD: &'static str = "cloud";

    /// Returns the arguments of the block and its nested blocks, whatever their names.
    pub fn items(&self) -> (Vec<Attribute>, Vec<Block>, Diagnostics) {
        let schema = NESTED_BLOCKS.iter().fold(BodySchema::new(), |schema, kind| schema.block(*kind, &[]));
        // In JSON an object may be the value of an argument, and the schema that knows is not here.
        if self.body.is_json() {
            let (attributes, problems) = self.body.attributes();
            return (attributes, Vec::new(), problems);
        }
        let (content, rest, mut problems) = self.body.partial_content(&schema);
        let (attributes, found) = rest.attributes();
        problems.append(found);
        (attributes, content.blocks, problems)
    }
}

/// A `required_version` argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionRequirement {
    /// The allowed versions of the program.
    pub constraints: Constraints,
    /// Span of the constraints.
    pub span: Span,
}
