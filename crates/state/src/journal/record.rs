//! The records of a journal.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use groma_address::{ProviderConfig, ResourceInstance};

use crate::content::Content;
use crate::dependencies::Dependencies;
use crate::object::{DeposedKey, Fingerprint, ObjectRecord, ObjectStatus};

/// The operation that a provider is about to perform.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Make a new object.
    Create,
    /// Update an existing object.
    Update,
    /// Delete an existing object.
    Delete,
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Delete => "delete",
        })
    }
}

/// A provider call that changes something and is about to be made.
///
/// It holds what the next run needs if this one is killed, and nothing else: the values of a configuration are on the disk
/// only while a creation can be repeated with them, and write-only and ephemeral values never are.
#[derive(Clone, PartialEq, Eq)]
pub struct Begin {
    /// The address of the instance.
    pub address: ResourceInstance,
    /// The deposed key; `None` for the current object.
    pub deposed: Option<DeposedKey>,
    /// The requested operation.
    pub operation: Operation,
    /// The provider configuration that is asked.
    pub provider: ProviderConfig,
    /// The request to repeat after a crash; none for a call that cannot be repeated.
    pub request: Option<CreateRequest>,
    /// The recorded dependencies of the new object.
    pub dependencies: Dependencies,
    /// The recorded replacement order of the new object.
    pub create_before_destroy: bool,
    /// Whether the new object will be forgotten instead of destroyed.
    pub is_kept: bool,
    /// The status of the new object after success: tainted if further steps have to follow.
    pub status: ObjectStatus,
}

/// A creation as its provider is asked for it. Values are in the caller's encoding.
#[derive(Clone, PartialEq, Eq)]
pub struct CreateRequest {
    /// The schema version of the values.
    pub schema_version: u64,
    /// The provider's private data of the plan, which may hold an idempotency token.
    pub planned_private: Arc<[u8]>,
    /// The planned new state.
    pub planned_state: Arc<[u8]>,
    /// The configuration, which has neither write-only nor ephemeral values.
    pub config: Arc<[u8]>,
    /// The module's `provider_meta`; empty if it has none.
    pub meta: Arc<[u8]>,
}

/// The values may be secret: only what identifies the call is shown.
impl fmt::Debug for Begin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Begin({} {}", self.operation, self.address)?;
        self.deposed.iter().try_for_each(|key| write!(f, " deposed {key}"))?;
        f.write_str(")")
    }
}

/// The new content of an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The object exists with this record.
    Present(Arc<ObjectRecord>),
    /// The object no longer exists.
    Gone,
}

/// The content of an address before a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Prior {
    pub fingerprint: Fingerprint,
    /// The attribute `id`, as JSON.
    pub id: Option<String>,
}

impl Prior {
    pub fn of(object: &ObjectRecord) -> Self {
        Self { fingerprint: object.fingerprint(), id: object.id_json() }
    }
}

/// The address of an object: an instance, and the deposed key of one of its objects.
pub(crate) type Place = (ResourceInstance, Option<DeposedKey>);

/// The beginning of a run: what came before is in the state file, apart from calls still under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RunHeader {
    pub lineage: String,
    pub serial: u64,
    /// Whether there was no state yet.
    pub from_nothing: bool,
}

/// One record as it is read.
#[derive(Debug)]
pub(super) enum Record<'a> {
    Run(RunHeader),
    /// Numbers a resource, which may have a rank among resources, or a provider configuration.
    Text {
        number: u64,
        rank: Option<u32>,
        text: &'a str,
    },
    /// Numbers a list of dependencies.
    List {
        number: u64,
        resources: Vec<u64>,
    },
    /// Numbers a list of these resources and all in other lists; all of them have ranks.
    Union {
        number: u64,
        own: Vec<u64>,
        lists: Vec<u64>,
    },
    Begin(Box<Begin>),
    Finished(Box<Finished>),
    /// A call under way has been dealt with otherwise.
    Settled(Place),
    Outputs {
        outputs: &'a str,
        check_results: &'a str,
    },
    Snapshot {
        lineage: &'a str,
        serial: u64,
        bytes: &'a [u8],
    },
    /// The content of the state file before the first checkpoint of the run.
    Base(&'a [u8]),
    /// The state file is about to get this content, which has all results before.
    Checkpoint(Content),
    /// The state file has the content of the last checkpoint or snapshot.
    Written,
    /// These bytes of the file cannot be read.
    Lost(Range<u64>),
    /// The user has accepted the loss of whatever cannot be read before.
    Accepted,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finished {
    pub place: Place,
    pub provider: ProviderConfig,
    pub prior: Option<Prior>,
    pub outcome: Outcome,
}
