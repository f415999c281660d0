//! The serialized form of a plan.

use groma_state::{CheckResult, CheckStatus, CheckedObject};
use serde::{Deserialize, Serialize};

use super::changes::Changes;
use super::changes::Left;
use super::tables::Key;
use super::tables::Kind;
use super::value::{StoredPath, StoredValue};
use crate::execution::ExecutionGraph;
use crate::expansion::Expansions;

/// The head of the file: it is read first, because the configuration is loaded with it.
#[derive(Serialize, Deserialize)]
pub(super) struct Head<'a> {
    #[serde(borrow)]
    pub(super) variables: Vec<Variable<'a>>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Form<'a> {
    pub(super) mode: String,
    pub(super) timestamp: String,
    pub(super) errored: bool,
    /// Resources that changes mean by number.
    pub(super) resources: Vec<String>,
    /// Provider configurations that changes mean by number.
    pub(super) providers: Vec<String>,
    /// The tables that changes refer to by number.
    pub(super) kinds: Vec<Kind>,
    #[serde(borrow)]
    pub(super) changes: Changes<'a>,
    pub(super) drift: Changes<'a>,
    pub(super) deferred: Vec<Left<'a>>,
    /// Data sources that go from the state: the number of the resource, and the key.
    pub(super) disposal: Vec<(u32, Key<'a>)>,
    pub(super) outputs: Vec<Output<'a>>,
    pub(super) relevant: Vec<Relevant<'a>>,
    pub(super) targets: Vec<String>,
    pub(super) excludes: Vec<String>,
    pub(super) replace: Vec<String>,
    pub(super) checks: Vec<Check>,
    #[serde(borrow)]
    pub(super) invocations: Vec<Invoked<'a>>,
    /// The deferred invocations: the reason, whether the instance is known, and the invocation.
    /// Why, whether the instance is known, and what.
    pub(super) deferred_invocations: Vec<(String, bool, Invoked<'a>)>,
    pub(super) expansions: Expansions,
    pub(super) execution: ExecutionGraph,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Invoked<'a> {
    pub(super) module: String,
    pub(super) type_name: String,
    pub(super) name: String,
    #[serde(borrow)]
    pub(super) key: Key<'a>,
    pub(super) provider: u32,
    pub(super) config: StoredValue<'a>,
    /// The instance that changes, the event, and the places of the block and of the element.
    pub(super) trigger: Option<(String, String, u32, u32)>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Output<'a> {
    pub(super) name: String,
    pub(super) action: String,
    #[serde(borrow)]
    pub(super) before: StoredValue<'a>,
    pub(super) after: StoredValue<'a>,
    pub(super) sensitive: bool,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Variable<'a> {
    pub(super) name: String,
    #[serde(borrow)]
    pub(super) value: StoredValue<'a>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Relevant<'a> {
    pub(super) resource: String,
    #[serde(borrow)]
    pub(super) path: StoredPath<'a>,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_that_is_cut_off_is_no_form() {
        let form = Form {
            mode: "normal".to_owned(),
            timestamp: String::new(),
            errored: false,
            resources: vec!["a.b".to_owned()],
            providers: Vec::new(),
            kinds: Vec::new(),
            changes: Changes::default(),
            drift: Changes::default(),
            deferred: Vec::new(),
            disposal: Vec::new(),
            outputs: Vec::new(),
            relevant: Vec::new(),
            targets: vec!["a.b".to_owned()],
            excludes: Vec::new(),
            replace: Vec::new(),
            checks: Vec::new(),
            invocations: Vec::new(),
            deferred_invocations: Vec::new(),
            expansions: Expansions::default(),
            execution: ExecutionGraph::default(),
        };
        let bytes = postcard::to_allocvec(&form).unwrap();
        assert!(postcard::from_bytes::<Form<'_>>(&bytes).is_ok_and(|form| form.resources == ["a.b"]));
        for end in 0..bytes.len() {
            assert!(postcard::from_bytes::<Form<'_>>(&bytes[..end]).is_err(), "cut at {end}");
        }
    }
}
