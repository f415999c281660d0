//! Checks that a plan from a file fits the configuration.

use groma_plan::{Expansions, Step};

use super::{Expansion, ModuleId, World};

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
