//! What is planned next: nodes of the graph, and the instances of resources.

use std::collections::{HashMap, VecDeque};

use groma_address::ResourceInstance;

use super::event::{Instance, Task};
use crate::walk::{Outcome, Visit, Walk};
use crate::world::{ModuleId, World};

/// A resource of a module instance, by number.
type ResourceId = (ModuleId, u32);

/// The order in which planning comes by nodes and instances.
///
/// Owns the walk over the nodes of the graph, the queue of tasks, and for each resource that is being planned the number of
/// instances that have not ended. A node that expands into instances ends with the last of them, with the worst of their
/// outcomes; orphans that are refreshed together with the declared instances of their resource count as instances. Tasks
/// come before nodes, so that a resource is through before others begin.
///
/// It starts nothing and knows no provider: the planner takes the next task or node out and says here how it ended.
pub(super) struct Schedule {
    walk: Walk,
    tasks: VecDeque<Task>,
    open: HashMap<ResourceId, OpenResource>,
    /// Orphans that are refreshed together with the declared instances of their resource.
    orphans: HashMap<ResourceInstance, ResourceId>,
    had_errors_before_orphans: bool,
}

/// The instances of a resource that have not ended.
#[derive(Debug)]
struct OpenResource {
    left: usize,
    outcome: Outcome,
}

impl Schedule {
    pub(super) fn new(world: &World) -> Self {
        Self {
            walk: Walk::new(world),
            tasks: VecDeque::new(),
            open: HashMap::new(),
            orphans: HashMap::new(),
            had_errors_before_orphans: false,
        }
    }

    pub(super) fn push(&mut self, task: Task) {
        self.tasks.push_back(task);
    }

    pub(super) fn next_task(&mut self) -> Option<Task> {
        self.tasks.pop_front()
    }

    /// The next node whose requirements have ended, and how.
    pub(super) fn next_node(&mut self) -> Option<(Visit, Outcome)> {
        self.walk.next()
    }

    pub(super) fn end_node(&mut self, world: &World, visit: Visit, outcome: Outcome) {
        self.walk.end(world, visit, outcome);
    }

    /// Takes in the instances of a module call, whose node is to end after that.
    pub(super) fn expand_call(&mut self, world: &World, caller: ModuleId, call: u32, instances: &[ModuleId]) {
        self.walk.expanded(world, caller, call, instances);
    }

    /// Whether a node is left to a later run.
    pub(super) fn is_deferred(&self, visit: Visit) -> bool {
        self.walk.is_deferred(visit)
    }

    /// Queues the instances of a resource at `positions`, and its orphans.
    pub(super) fn begin_resource(
        &mut self,
        resource: ResourceId,
        positions: Vec<usize>,
        orphans: Vec<ResourceInstance>,
    ) {
        // Counted before the tasks are queued: the last of them ends the resource.
        let left = positions.len() + orphans.len();
        self.open.insert(resource, OpenResource { left, outcome: Outcome::Done });
        for position in positions {
            self.push(Task::Instance(Instance { module: resource.0, resource: resource.1, position }));
        }
        for address in orphans {
            self.orphans.insert(address.clone(), resource);
            self.push(Task::Orphan(address, None));
        }
    }

    /// Ends one instance of a resource; gives the outcome of the resource with the last one.
    pub(super) fn end_instance(&mut self, resource: ResourceId, outcome: Outcome) -> Option<Outcome> {
        let open = self.open.get_mut(&resource)?;
        // A failure outweighs a deferral, which outweighs success.
        open.left -= 1;
        if outcome == Outcome::Failed || open.outcome == Outcome::Done {
            open.outcome = outcome;
        }
        if open.left > 0 {
            return None;
        }
        // Removed with the last instance, so that the memory does not grow with the number of resources.
        self.open.remove(&resource).map(|ended| ended.outcome)
    }

    /// The resource that an orphan is refreshed with; none for those that come at the end.
    pub(super) fn resource_of_orphan(&self, address: &ResourceInstance) -> Option<ResourceId> {
        self.orphans.get(address).copied()
    }

    /// Notes that the configuration could not be planned as a whole before the orphans were collected.
    pub(super) fn note_errors_before_orphans(&mut self) {
        self.had_errors_before_orphans = true;
    }

    pub(super) fn had_errors_before_orphans(&self) -> bool {
        self.had_errors_before_orphans
    }

    /// All nodes that have ended, each after what it waited for: for the end of the walk.
    pub(super) fn take_order(&mut self) -> Vec<Visit> {
        self.walk.take_order()
    }

    /// The walk, which is of no use any more and takes time to release.
    pub(super) fn into_spent(self) -> Walk {
        self.walk
    }
}
