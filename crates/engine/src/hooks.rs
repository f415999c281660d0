//! Progress reports to the user interface.

use std::time::Duration;

use groma_address::ResourceInstance;
use groma_diagnostics::Diagnostics;
use groma_plan::{Action, Importing, Invocation};
use groma_state::DeposedKey;
use groma_value::Value;

/// An object that something happens to.
#[derive(Clone, Debug)]
pub struct Subject {
    /// The address of the instance.
    pub address: ResourceInstance,
    /// Set when the object is a deposed one.
    pub deposed: Option<DeposedKey>,
    /// The name and value of the attribute that people know the object by (`id`, else `name`), if known and not sensitive.
    pub identifier: Option<(&'static str, String)>,
}

/// One step of an apply: a replacement is two of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// A new object is created.
    Create,
    /// A change in place.
    Update,
    /// An object is deleted.
    Delete,
    /// A data resource is read.
    Read,
}

impl Operation {
    /// The action of a plan that this operation alone would be.
    pub fn action(self) -> Action {
        match self {
            Self::Create => Action::Create,
            Self::Update => Action::Update,
            Self::Delete => Action::Delete,
            Self::Read => Action::Read,
        }
    }
}

/// The phase of an ephemeral resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EphemeralPhase {
    /// The provider opens it.
    Open,
    /// Its lifetime is extended.
    Renew,
    /// The provider closes it.
    Close,
}

/// Receives progress reports. Called from the thread that walks, and from others only where a method says that; must return quickly.
pub trait Hooks: Send + Sync {
    /// While planning, a provider is about to be asked for an object to take over.
    fn import_planned(&self, _address: &ResourceInstance, _importing: &Importing) {}
    /// The provider has found the object to take over; it is read next.
    fn import_prepared(&self, _address: &ResourceInstance) {}
    /// While applying, an object that was taken over goes into the state.
    fn imported(&self, _address: &ResourceInstance, _importing: &Importing) {}
    /// The object is about to be read.
    fn refresh_start(&self, _subject: &Subject) {}
    /// The object was read.
    fn refresh_complete(&self, _subject: &Subject) {}
    /// A data resource is about to be read while planning.
    fn read_start(&self, _address: &ResourceInstance) {}
    /// A data resource was read while planning.
    fn read_complete(&self, _address: &ResourceInstance, _value: &Value) {}
    /// A search is about to begin; `config` is what is searched for, if the block says.
    fn list_start(&self, _address: &ResourceInstance, _config: Option<&Value>) {}
    /// A search has ended.
    fn list_complete(&self, _searched: &Searched) {}
    /// A provisioner of an instance begins.
    fn provision_start(&self, _address: &ResourceInstance, _provisioner: &str) {}
    /// A line that a provisioner prints. Called on a thread of the provisioner's own.
    fn provision_output(&self, _address: &ResourceInstance, _provisioner: &str, _line: &str) {}
    /// A provisioner ended well.
    fn provision_complete(&self, _address: &ResourceInstance, _provisioner: &str) {}
    /// Reports a failed provisioner.
    fn provision_errored(&self, _address: &ResourceInstance, _provisioner: &str) {}
    /// An ephemeral resource is about to be opened, renewed or closed. It is renewed beside everything else.
    fn ephemeral_start(&self, _address: &ResourceInstance, _phase: EphemeralPhase) {}
    /// An ephemeral resource was opened, renewed or closed.
    fn ephemeral_complete(&self, _address: &ResourceInstance, _phase: EphemeralPhase, _elapsed: Duration) {}
    /// An ephemeral resource could not be opened, renewed or closed.
    fn ephemeral_errored(&self, _address: &ResourceInstance, _phase: EphemeralPhase, _elapsed: Duration) {}
    /// An action is about to be invoked.
    fn action_start(&self, _invocation: &Invocation) {}
    /// Reports a progress message of an action. Called from a thread of the provider.
    fn action_progress(&self, _invocation: &Invocation, _message: &str) {}
    /// An action ended well.
    fn action_complete(&self, _invocation: &Invocation) {}
    /// Reports a failed action.
    fn action_errored(&self, _invocation: &Invocation, _problems: &Diagnostics) {}
    /// Reports the start of an operation.
    fn apply_start(&self, _subject: &Subject, _operation: Operation) {}
    /// An operation ended well; `value` is the new object, null after a deletion.
    fn apply_complete(&self, _subject: &Subject, _operation: Operation, _value: &Value, _elapsed: Duration) {}
    /// Reports a failed operation.
    fn apply_errored(&self, _subject: &Subject, _operation: Operation, _problems: &Diagnostics, _elapsed: Duration) {}
}

/// Hooks that report nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Hooks for Silent {}

impl Subject {
    /// An object with its current value.
    pub fn of(address: &ResourceInstance, deposed: Option<DeposedKey>, value: &Value) -> Self {
        Self { address: address.clone(), deposed, identifier: identifier(value) }
    }

    /// Reports the start of an operation. `before` identifies the object that is changed; it is not used for creations.
    pub fn begun(
        operation: Operation,
        address: &ResourceInstance,
        deposed: Option<DeposedKey>,
        before: &Value,
    ) -> Self {
        match operation {
            Operation::Create | Operation::Read => Self { address: address.clone(), deposed, identifier: None },
            Operation::Update | Operation::Delete => Self::of(address, deposed, before),
        }
    }
}

/// The attribute that people know an object by.
fn identifier(value: &Value) -> Option<(&'static str, String)> {
    let object = value.as_object()?;
    ["id", "name"].into_iter().find_map(|name| {
        let attribute = object.get(name)?;
        let text = attribute.as_str().filter(|text| !text.is_empty())?;
        (!attribute.has_marks()).then(|| (name, text.to_owned()))
    })
}

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
