//! The shape of a world in a plan, and the same world again.

use std::sync::Arc;

use groma_plan::{Expansions, ModuleExpansions, Step};

use super::{Expansion, ModuleData, ModuleId, SharedContext, World};
use crate::config_graph::{ConfigGraph, narrow};

impl World {
    /// Returns all expansions, from which apply rebuilds the same module instances.
    pub fn expansions(&self) -> Expansions {
        let modules = self.modules.iter().map(|module| ModuleExpansions {
            caller: module.caller.and_then(|caller| {
                let site = self.graph.module(module.of).caller?;
                let key = &module.address.steps().last()?.key;
                let position = match &self.module(caller).calls[site.call as usize].expansion {
                    Expansion::Unknown => 0,
                    known => known.position(key)?,
                };
                Some((caller.0, site.call, narrow(position)))
            }),
            calls: module.calls.iter().map(|call| call.expansion.keys()).collect(),
            resources: module.resources.iter().map(|resource| resource.expansion.keys()).collect(),
        });
        Expansions { modules: modules.collect() }
    }

    /// The world of a plan again, with the same numbers; none when the plan is not of this configuration.
    pub fn restore(graph: Arc<ConfigGraph>, shared_context: SharedContext, expansions: &Expansions) -> Option<Self> {
        if !expansions.are_valid() {
            return None;
        }
        let mut world = Self::new(graph, shared_context);
        for (at, recorded) in expansions.modules.iter().enumerate() {
            if let Some((caller, call, position)) = recorded.caller {
                world.restore_instance(ModuleId(caller), call, position)?;
            }
            let data = world.modules.get_mut(at)?;
            if data.calls.len() != recorded.calls.len() || data.resources.len() != recorded.resources.len() {
                return None;
            }
            for (call, keys) in data.calls.iter_mut().zip(&recorded.calls) {
                call.expansion = Expansion::of_keys(keys);
                call.instances = Vec::with_capacity(call.expansion.len());
            }
            for (resource, keys) in data.resources.iter_mut().zip(&recorded.resources) {
                resource.expand(Expansion::of_keys(keys));
            }
        }
        world.is_complete(expansions).then_some(world)
    }

    fn restore_instance(&mut self, caller: ModuleId, call: u32, position: u32) -> Option<()> {
        let data = self.modules.get(caller.at())?;
        let child = (*self.graph.module(data.of).children.get(call as usize)?)?;
        let (name, _) = self.graph.module(data.of).config.calls.get_index(call as usize)?;
        let expansion = &data.calls.get(call as usize)?.expansion;
        let at = position as usize;
        // Instances of one call are numbered in the order of their keys.
        if at >= expansion.len() || data.calls.get(call as usize)?.instances.len() != at {
            return None;
        }
        let (address, repetition) = (data.address.child(name.clone(), expansion.key(at)), expansion.repetition(at));
        let id = self.add(child, address, Some(caller), repetition);
        self.modules[caller.at()].calls[call as usize].instances.push(id);
        Some(())
    }

    /// Whether each call has all module instances of its expansion.
    pub(super) fn is_complete(&self, expansions: &Expansions) -> bool {
        let is_whole = |(_, module): (ModuleId, &ModuleData)| {
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
