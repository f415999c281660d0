//! The instances of a resource, whose node ends with the last of them.

use std::sync::Arc;

use groma_address::{Mode as ResourceMode, ResourceInstance};

use super::event::{Instance, Task};
use super::planner::{Open, Planner};
use crate::plan::Mode;
use crate::walk::Outcome;
use crate::world::ModuleId;

impl Planner<'_> {
    /// The instances of a resource are queued; its node ends with the last of them.
    pub(super) fn begin_instances(&mut self, module: ModuleId, resource: u32, positions: Vec<usize>) {
        let lost = self.lost_to_look_at(module, resource);
        if positions.is_empty() && lost.is_empty() {
            return self.end_instances(module, resource, Outcome::Done);
        }
        let left = positions.len() + lost.len();
        self.open.insert((module, resource), Open { left, outcome: Outcome::Done });
        for position in positions {
            self.queue(Task::Instance(Instance { module, resource, position }));
        }
        for address in lost {
            self.lost.insert(address.clone(), (module, resource));
            self.queue(Task::Orphan(address, None));
        }
    }

    /// One instance of a resource is through.
    pub(super) fn end_instance(&mut self, instance: Instance, outcome: Outcome) {
        self.end_one((instance.module, instance.resource), outcome);
    }

    /// Ends an orphan that was refreshed together with the instances of its resource.
    pub(super) fn end_lost(&mut self, address: &ResourceInstance, outcome: Outcome) {
        if let Some(of) = self.lost.get(address) {
            self.end_one(*of, outcome);
        }
    }

    fn end_one(&mut self, key: (ModuleId, u32), outcome: Outcome) {
        let Some(open) = self.open.get_mut(&key) else { return };
        open.left -= 1;
        if outcome == Outcome::Failed || open.outcome == Outcome::Done {
            open.outcome = outcome;
        }
        if open.left == 0 {
            let outcome = open.outcome;
            self.open.remove(&key);
            self.end_instances(key.0, key.1, outcome);
        }
    }

    fn end_instances(&mut self, module: ModuleId, resource: u32, outcome: Outcome) {
        if self.options.mode == Mode::RefreshOnly && outcome == Outcome::Done {
            self.keep_what_is_there(module, resource);
        }
        self.end(self.resource_visit(module, resource), outcome);
    }

    /// A plan without changes shows references the existing instances, not the declared ones.
    fn keep_what_is_there(&mut self, module: ModuleId, resource: u32) {
        let config = Arc::clone(&self.world.static_module(module).config);
        let Some((address, _)) = config.resources.get_index(resource as usize) else { return };
        if address.mode != ResourceMode::Managed {
            return;
        }
        if self.moves.name_instances_of(address) {
            for position in 0..self.world.module(module).resources[resource as usize].expansion.len() {
                self.moves.note_declared(&self.world.instance_address(module, resource, position));
            }
        }
        self.world.module_mut(module).resources[resource as usize].keep_settled();
    }
}
