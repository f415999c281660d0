//! What a run gave besides objects: the values of outputs, and what became of conditions.

use groma_address::Name;
use groma_value::{Type, Value};

/// The value of a root module output.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputValue {
    /// The value, without marks.
    pub value: Value,
    /// Its type.
    pub ty: Type,
    /// Whether it must not be shown.
    pub sensitive: bool,
    /// OpenTofu's note that the output is deprecated.
    pub deprecated: Option<Name>,
}

/// What became of the conditions of one checkable object of the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckResult {
    /// `resource`, `output`, `check` or `var`.
    pub object_kind: String,
    /// Its address as written.
    pub config_addr: String,
    /// All its instances together.
    pub status: CheckStatus,
    /// Its instances; none when they are not known.
    pub objects: Option<Vec<CheckedObject>>,
}

/// What became of the conditions of one instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedObject {
    /// Its address.
    pub object_addr: String,
    /// Whether the conditions hold.
    pub status: CheckStatus,
    /// What the failed ones said.
    pub failure_messages: Vec<String>,
}

/// Whether conditions hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CheckStatus {
    /// All hold.
    Pass,
    /// One does not hold.
    Fail,
    /// One could not be evaluated.
    Error,
    /// Not known yet.
    Unknown,
}
