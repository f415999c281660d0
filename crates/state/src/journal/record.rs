//! What a journal's records say.

use std::fmt;
use std::sync::Arc;

use groma_address::{ProviderConfig, ResourceInstance};

use crate::dependencies::Dependencies;
use crate::object::{DeposedKey, Fingerprint, ObjectRecord, ObjectStatus};

/// What a provider is about to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Make a new object.
    Create,
    /// Change an object.
    Update,
    /// Delete an object.
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

/// A provider call that changes something and is about to be made: all that is needed to ask again after a crash.
#[derive(Clone, PartialEq, Eq)]
pub struct Begin {
    /// The instance.
    pub address: ResourceInstance,
    /// Which of its deposed objects; none for the current one.
    pub deposed: Option<DeposedKey>,
    /// What is asked for.
    pub operation: Operation,
    /// The provider configuration that is asked.
    pub provider: ProviderConfig,
    /// The schema version of the values below.
    pub schema_version: u64,
    /// What the provider noted while planning: an idempotency token may be in it.
    pub planned_private: Arc<[u8]>,
    /// The planned new state, in the caller's encoding.
    pub planned_state: Arc<[u8]>,
    /// The configuration, in the caller's encoding.
    pub config: Arc<[u8]>,
    /// What the module tells the provider, in the caller's encoding; empty where it tells nothing.
    pub meta: Arc<[u8]>,
    /// What the new object's record will say about its dependencies.
    pub dependencies: Dependencies,
    /// What the new object's record will say about the order of its replacement.
    pub create_before_destroy: bool,
    /// What the new object's record will say about being forgotten where it would be destroyed.
    pub is_kept: bool,
    /// What the new object is when the call comes to a good end: tainted if something has still to be done to it then.
    pub status: ObjectStatus,
}

/// The values may be secret: only what identifies the call is shown.
impl fmt::Debug for Begin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Begin({} {}", self.operation, self.address)?;
        self.deposed.iter().try_for_each(|key| write!(f, " deposed {key}"))?;
        f.write_str(")")
    }
}

/// What is now at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// This object.
    Present(Arc<ObjectRecord>),
    /// Nothing.
    Gone,
}

/// What was at a place before.
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

/// Where an object is: an instance, and which of its objects.
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
    /// Names a resource or a provider configuration by the next number.
    Text(&'a str),
    /// The same of a resource that has a place in the order of its likes.
    RankedText(u32, &'a str),
    /// Names a list of dependencies by the next number.
    List(Vec<u64>),
    /// Names a list of these resources and all in other lists by the next number; all of them have ranks.
    Union {
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
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finished {
    pub place: Place,
    pub provider: ProviderConfig,
    pub prior: Option<Prior>,
    pub outcome: Outcome,
}
