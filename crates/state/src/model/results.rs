//! Results of a run besides objects: output values and check results.

use groma_address::Name;
use groma_value::{Type, Value};

/// The value of a root module output.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputValue {
    /// The value, without marks.
    pub value: Value,
    /// The type of the value.
    pub ty: Type,
    /// Whether it must not be shown.
    pub sensitive: bool,
    /// OpenTofu's note that the output is deprecated.
    pub deprecated: Option<Name>,
}

/// The results of the conditions of one checkable object in the configuration.
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

/// The results of the conditions of one instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedObject {
    /// The address of the instance.
    pub object_addr: String,
    /// Whether the conditions hold.
    pub status: CheckStatus,
    /// The messages of the failed conditions.
    pub failure_messages: Vec<String>,
}

/// The combined result of conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CheckStatus {
    /// All conditions hold.
    Pass,
    /// One does not hold.
    Fail,
    /// One could not be evaluated.
    Error,
    /// The result is not known yet.
    Unknown,
}
