//! What is written of a plan.

use groma_state::{CheckResult, CheckStatus, CheckedObject};
use serde::{Deserialize, Serialize};

use super::value::{StoredPath, StoredValue};
use crate::execution::ExecutionGraph;
use crate::world::Expansions;

/// The part that every version has.
#[derive(Deserialize)]
pub(super) struct OnlyVersion {
    pub(super) version: u32,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Form {
    pub(super) version: u32,
    pub(super) mode: String,
    pub(super) timestamp: String,
    pub(super) errored: bool,
    pub(super) changes: Vec<Change>,
    pub(super) drift: Vec<Change>,
    pub(super) outputs: Vec<Output>,
    pub(super) variables: Vec<Variable>,
    pub(super) relevant: Vec<Relevant>,
    pub(super) targets: Vec<String>,
    pub(super) replace: Vec<String>,
    pub(super) checks: Vec<Check>,
    pub(super) expansions: Expansions,
    pub(super) execution: ExecutionGraph,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Change {
    pub(super) address: String,
    pub(super) previous: Option<String>,
    pub(super) deposed: Option<String>,
    pub(super) provider: String,
    pub(super) action: String,
    pub(super) reason: Option<String>,
    pub(super) before: StoredValue,
    /// The same as before where nothing changes.
    pub(super) after: Option<StoredValue>,
    pub(super) replace: Vec<StoredPath>,
    pub(super) private: String,
    pub(super) create_before_destroy: bool,
    pub(super) importing: Option<Import>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Import {
    pub(super) id: Option<String>,
    pub(super) identity: Option<StoredValue>,
    pub(super) generated: Option<String>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Output {
    pub(super) name: String,
    pub(super) action: String,
    pub(super) before: StoredValue,
    pub(super) after: StoredValue,
    pub(super) sensitive: bool,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) value: StoredValue,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Relevant {
    pub(super) resource: String,
    pub(super) path: StoredPath,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Check {
    kind: String,
    config: String,
    status: Status,
    objects: Option<Vec<Checked>>,
}

#[derive(Serialize, Deserialize)]
struct Checked {
    address: String,
    status: Status,
    messages: Vec<String>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
enum Status {
    Pass,
    Fail,
    Error,
    Unknown,
}

impl From<CheckStatus> for Status {
    fn from(status: CheckStatus) -> Self {
        match status {
            CheckStatus::Pass => Self::Pass,
            CheckStatus::Fail => Self::Fail,
            CheckStatus::Error => Self::Error,
            CheckStatus::Unknown => Self::Unknown,
        }
    }
}

impl From<Status> for CheckStatus {
    fn from(status: Status) -> Self {
        match status {
            Status::Pass => Self::Pass,
            Status::Fail => Self::Fail,
            Status::Error => Self::Error,
            Status::Unknown => Self::Unknown,
        }
    }
}

impl Check {
    pub(super) fn of(result: &CheckResult) -> Self {
        let object = |object: &CheckedObject| Checked {
            address: object.object_addr.clone(),
            status: object.status.into(),
            messages: object.failure_messages.clone(),
        };
        Self {
            kind: result.object_kind.clone(),
            config: result.config_addr.clone(),
            status: result.status.into(),
            objects: result.objects.as_ref().map(|objects| objects.iter().map(object).collect()),
        }
    }

    pub(super) fn result(self) -> CheckResult {
        let object = |object: Checked| CheckedObject {
            object_addr: object.address,
            status: object.status.into(),
            failure_messages: object.messages,
        };
        CheckResult {
            object_kind: self.kind,
            config_addr: self.config,
            status: self.status.into(),
            objects: self.objects.map(|objects| objects.into_iter().map(object).collect()),
        }
    }
}
