//! Checks that a plan from a file fits the configuration.

use super::expansion::ExpansionKeys;
use super::{Expansion, Expansions, ModuleId, World};
use crate::execution::Step;

/// More instances than any plan has, and fewer than the memory of a machine.
const INSTANCES: u64 = 50_000_000;

impl Expansions {
    /// Whether a world can be built from them: the number of instances is possible, and keys are sorted.
    pub(super) fn are_valid(&self) -> bool {
        let keys = || self.modules.iter().flat_map(|module| module.calls.iter().chain(&module.resources));
        let instances = keys().fold(0_u64, |sum, keys| sum.saturating_add(keys.count()));
        let calls = self.modules.iter().flat_map(|module| &module.calls);
        let called = calls.fold(0_u64, |sum, keys| sum.saturating_add(keys.count()));
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

impl World {
    /// Whether each call has all module instances of its expansion.
    pub(super) fn is_complete(&self, expansions: &Expansions) -> bool {
        let is_whole = |(_, module): (ModuleId, &super::ModuleData)| {
            module.calls.iter().enumerate().all(|(at, call)| {
                let child = self.graph.module(module.of).children.get(at).copied().flatten();
                call.instances.len() == if child.is_some() { call.expansion.len() } else { 0 }
            })
        };
        self.modules.len() == expansions.modules.len() && self.modules().all(is_whole)
    }

    /// Whether the configuration has the node of a step.
    pub fn has_step(&self, step: &Step) -> bool {
        let (Step::Variable(module, at)
        | Step::Validation(module, at)
        | Step::Local(module, at)
        | Step::Output(module, at)
        | Step::Check(module, at)
        | Step::ExpandCall(module, at)
        | Step::ExpandResource(module, at)
        | Step::Provider(module, at)
        | Step::Open(module, at)) = *step
        else {
            return true;
        };
        let Some(data) = self.modules.get(module as usize) else { return false };
        let at = at as usize;
        let is_repeated = |expansion: &Expansion| matches!(expansion, Expansion::ForEach(_));
        let config = &self.graph.module(data.of).config;
        match step {
            Step::Variable(..) | Step::Validation(..) => at < data.variables.len(),
            Step::Local(..) => at < data.locals.len(),
            Step::Output(..) => at < data.outputs.len(),
            Step::Check(..) => at < config.checks.len(),
            Step::ExpandCall(..) => data.calls.get(at).is_some_and(|call| is_repeated(&call.expansion)),
            Step::ExpandResource(..) => data.resources.get(at).is_some_and(|data| is_repeated(&data.expansion)),
            Step::Open(..) => at < data.resources.len(),
            // A block without a template has nothing to configure.
            _ => true,
        }
    }
}
