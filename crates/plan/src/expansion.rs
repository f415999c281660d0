//! How everything in a plan repeats.

use groma_address::Name;
use serde::{Deserialize, Serialize};

/// More instances than any plan has, and fewer than the memory of a machine.
const INSTANCES: u64 = 50_000_000;

/// The keys of the instances of a resource or module call: what a plan keeps of an expansion.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExpansionKeys {
    /// The block was not reached.
    #[default]
    Pending,
    /// One instance without a key.
    Single,
    /// The block is disabled and has no instance.
    Absent,
    /// That many instances, numbered from 0.
    Count(u64),
    /// One instance for each key.
    ForEach(Vec<Name>),
    /// Left to a later run.
    Unknown,
}

/// The expansions of all blocks in one module instance.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModuleExpansions {
    /// The calling module instance, the call in it, and which of its instances this is; nothing for the root module.
    pub caller: Option<(u32, u32, u32)>,
    /// The expansions of module calls.
    pub calls: Vec<ExpansionKeys>,
    /// The expansions of resources.
    pub resources: Vec<ExpansionKeys>,
}

/// The expansions of all module instances, by number.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expansions {
    /// In the order in which module instances came into being.
    pub modules: Vec<ModuleExpansions>,
}

impl Expansions {
    /// Whether a world can be built from them: the number of instances is possible, and keys are sorted.
    pub fn are_valid(&self) -> bool {
        let keys = || self.modules.iter().flat_map(|module| module.calls.iter().chain(&module.resources));
        // Saturating, because a damaged file may claim any numbers.
        let instances = keys().fold(0_u64, |sum, keys| sum.saturating_add(keys.count()));
        let calls = self.modules.iter().flat_map(|module| &module.calls);
        let called = calls.fold(0_u64, |sum, keys| sum.saturating_add(keys.count()));
        // Sorted keys allow a binary search, and a duplicate would be two objects of one instance.
        instances <= INSTANCES && called <= self.modules.len() as u64 && keys().all(ExpansionKeys::are_in_order)
    }
}

impl ExpansionKeys {
    fn count(&self) -> u64 {
        match self {
            Self::Pending | Self::Absent => 0,
            Self::Single | Self::Unknown => 1,
            Self::Count(count) => *count,
            Self::ForEach(keys) => keys.len() as u64,
        }
    }

    fn are_in_order(&self) -> bool {
        match self {
            Self::ForEach(keys) => keys.is_sorted_by(|one, next| one < next),
            _ => true,
        }
    }
}
