//! The execution graph: the actions of a plan with their order. Apply walks it and adds nothing to it (LC-06).

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

/// A step of an apply. Module instances, blocks and changes are meant by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Step {
    /// The value of an input variable.
    Variable(u32, u32),
    /// Validation rules of a variable that refer to other objects.
    Validation(u32, u32),
    /// A local value of a module instance.
    Local(u32, u32),
    /// An output value of a module instance.
    Output(u32, u32),
    /// The assertions of a check block.
    Check(u32, u32),
    /// The values of `each.value` in the instances of a module call.
    ExpandCall(u32, u32),
    /// The values of `each.value` in the instances of a resource.
    ExpandResource(u32, u32),
    /// A provider configuration of a module instance.
    Provider(u32, u32),
    /// Conditions of an unchanged instance that were unknown at plan time.
    Conditions(u32),
    /// The object of a change comes into being.
    Create(u32),
    /// The object of a change changes in place.
    Update(u32),
    /// The object of a change goes.
    Delete(u32),
    /// The data resource of a change is read.
    Read(u32),
    /// An ephemeral resource is opened.
    Open(u32, u32),
    /// The object of a change is no longer managed.
    Forget(u32),
    /// An action is invoked.
    Invoke(u32),
    /// Nothing: many steps wait for many others through it.
    Join,
}

/// Steps, and which of them wait for which.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecutionGraph {
    steps: Vec<Step>,
    /// The steps that wait for each step.
    dependents: Adjacency,
}

impl ExecutionGraph {
    /// A graph of steps with their edges, whose numbers are positions in `steps`.
    pub fn new(steps: Vec<Step>, edges: Vec<Edge>) -> Self {
        let dependents = Adjacency::new(steps.len(), edges.into_iter());
        Self { steps, dependents }
    }

    /// Returns the steps, in the order of their numbers.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Returns the number of steps that create, update or delete an object.
    pub fn changes(&self) -> usize {
        let changes = |step: &&Step| matches!(step, Step::Create(_) | Step::Update(_) | Step::Delete(_));
        self.steps.iter().filter(changes).count()
    }

    /// The steps that wait for `step`.
    pub fn dependents(&self, step: usize) -> &[u32] {
        self.dependents.of(step)
    }

    /// For each step, how many others it waits for.
    pub fn waiting(&self) -> Vec<u32> {
        let mut waiting = self.dependents.incoming();
        // The last steps can have no edges, so the counts may end earlier.
        waiting.resize(self.steps.len(), 0);
        waiting
    }
}

/// An edge: the step that comes first, and the one that waits for it.
pub type Edge = (u32, u32);

/// The neighbors of each step: those that its edges lead to.
///
/// A graph that was read from a file may have any numbers; [`Adjacency::is_valid`] is asked before it is walked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Adjacency {
    /// The position of the first neighbor of each step in `neighbors`; one more at the end.
    starts: Vec<u32>,
    neighbors: Vec<u32>,
}

impl Adjacency {
    /// Arranges `edges`, each from a step to a neighbor of it. There are `steps` steps.
    pub fn new(steps: usize, edges: impl Iterator<Item = Edge> + Clone) -> Self {
        let mut starts = vec![0_u32; steps + 1];
        for (from, _) in edges.clone() {
            starts[from as usize + 1] += 1;
        }
        // Sums of the counts are the positions at which the lists start.
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut next = starts.clone();
        let mut neighbors = vec![0; starts.last().map_or(0, |count| *count as usize)];
        for (from, to) in edges {
            let at = &mut next[from as usize];
            neighbors[*at as usize] = to;
            *at += 1;
        }
        Self { starts, neighbors }
    }

    /// The arrangement as a file has it, whether it makes sense or not.
    #[cfg(test)]
    pub fn from_parts(starts: &[u32], neighbors: &[u32]) -> Self {
        Self { starts: starts.to_vec(), neighbors: neighbors.to_vec() }
    }

    /// Whether the edges lead from and to `steps` steps only.
    pub fn is_valid(&self, steps: usize) -> bool {
        // An empty graph may be stored without the end position.
        if steps == 0 {
            return self.neighbors.is_empty();
        }
        let first = self.starts.first().is_some_and(|start| *start == 0);
        // All conditions together guarantee that no lookup leaves the list.
        let last = self.starts.last().is_some_and(|end| *end as usize == self.neighbors.len());
        let is_complete = self.starts.len() == steps + 1 && first && last;
        is_complete && self.starts.is_sorted() && self.neighbors.iter().all(|step| (*step as usize) < steps)
    }

    /// The neighbors of a step.
    pub fn of(&self, step: usize) -> &[u32] {
        // A file may contain anything, so positions are checked again here.
        let range = self.starts.get(step).zip(self.starts.get(step + 1));
        range.and_then(|(from, to)| self.neighbors.get(*from as usize..*to as usize)).unwrap_or_default()
    }

    /// For each step, how many edges lead to it.
    pub fn incoming(&self) -> Vec<u32> {
        let mut incoming = vec![0; self.starts.len().saturating_sub(1)];
        for neighbor in &self.neighbors {
            if let Some(count) = incoming.get_mut(*neighbor as usize) {
                *count += 1;
            }
        }
        incoming
    }

    /// Whether each step is part of a cycle or behind one.
    pub fn behind_cycles(&self) -> Vec<bool> {
        let mut incoming = self.incoming();
        // Kahn's algorithm: what never becomes ready is on a cycle or behind one.
        let mut ready: Vec<usize> = (0..incoming.len()).filter(|step| incoming[*step] == 0).collect();
        while let Some(step) = ready.pop() {
            for neighbor in self.of(step) {
                let count = &mut incoming[*neighbor as usize];
                *count -= 1;
                if *count == 0 {
                    ready.push(*neighbor as usize);
                }
            }
        }
        incoming.into_iter().map(|count| count > 0).collect()
    }

    /// The steps that can be reached from a step.
    pub fn reachable(&self, from: u32) -> HashSet<u32> {
        let mut reached = HashSet::new();
        let mut open = vec![from];
        while let Some(step) = open.pop() {
            for next in self.of(step as usize) {
                // Inserting first makes the search end on cycles.
                if reached.insert(*next) {
                    open.push(*next);
                }
            }
        }
        reached
    }
}

impl ExecutionGraph {
    /// Whether every number in the graph means something in a plan with so many changes and invocations, and no step waits for
    /// itself. A file may hold anything.
    pub fn is_valid(&self, changes: usize, invocations: usize) -> bool {
        self.dependents.is_valid(self.steps.len())
            && self.steps.iter().all(|step| step.is_within(changes, invocations))
            && self.cycle().is_empty()
    }
}

impl Step {
    /// Whether the change or the invocation of the step is one of so many.
    fn is_within(&self, changes: usize, invocations: usize) -> bool {
        match self {
            Self::Conditions(change)
            | Self::Create(change)
            | Self::Update(change)
            | Self::Delete(change)
            | Self::Read(change)
            | Self::Forget(change) => (*change as usize) < changes,
            Self::Invoke(invocation) => (*invocation as usize) < invocations,
            // These mean nodes of the configuration, which is not known here: see `World::has_step`.
            Self::Variable(..)
            | Self::Validation(..)
            | Self::Local(..)
            | Self::Output(..)
            | Self::Check(..)
            | Self::ExpandCall(..)
            | Self::ExpandResource(..)
            | Self::Provider(..)
            | Self::Open(..)
            | Self::Join => true,
        }
    }
}

impl ExecutionGraph {
    /// The steps of a cycle; none in a plan that can be applied.
    pub fn cycle(&self) -> Vec<u32> {
        // Most graphs only have edges from one step to a later one.
        let backwards = |step: usize| self.dependents(step).iter().any(|dependent| *dependent as usize <= step);
        if !(0..self.steps.len()).any(backwards) {
            return Vec::new();
        }
        // Backward edges are rare, and only they can close a cycle.
        let never_ready = self.dependents.behind_cycles();
        match never_ready.iter().position(|never| *never) {
            Some(first) => self.cycle_before(first, &never_ready),
            None => Vec::new(),
        }
    }

    /// The cycle that `step`, which is never ready, is part of or waits for.
    fn cycle_before(&self, step: usize, never_ready: &[bool]) -> Vec<u32> {
        // One required step for each is enough: following any of them leads into the cycle.
        let mut awaits = vec![None; never_ready.len()];
        for (required, number) in (0..never_ready.len()).zip(0_u32..).filter(|(step, _)| never_ready[*step]) {
            for dependent in self.dependents(required) {
                awaits[*dependent as usize] = Some(number);
            }
        }
        let mut seen_at = vec![usize::MAX; never_ready.len()];
        let mut path = Vec::new();
        let mut current = step;
        while seen_at[current] == usize::MAX {
            seen_at[current] = path.len();
            let Some(next) = awaits[current] else { return Vec::new() };
            path.push(next);
            current = next as usize;
        }
        // The path may begin outside of the cycle; only its end is part of it.
        path.split_off(seen_at[current])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(steps: &[Step], starts: &[u32], dependents: &[u32]) -> ExecutionGraph {
        ExecutionGraph { steps: steps.to_vec(), dependents: Adjacency::from_parts(starts, dependents) }
    }

    #[test]
    fn numbers_out_of_range_are_refused() {
        let steps = [Step::Create(0), Step::Invoke(0), Step::Join];
        assert!(graph(&steps, &[0, 1, 2, 2], &[1, 2]).is_valid(1, 1));
        assert!(graph(&[], &[], &[]).is_valid(0, 0));
        assert!(graph(&[], &[0], &[]).is_valid(0, 0));
        assert!(!graph(&steps, &[0, 1, 2, 2], &[1, 2]).is_valid(0, 1), "no such change");
        assert!(!graph(&steps, &[0, 1, 2, 2], &[1, 2]).is_valid(1, 0), "no such invocation");
        assert!(!graph(&steps, &[0, 1, 2, 2], &[1, 3]).is_valid(1, 1), "no such step");
        for starts in [&[0, 1, 2][..], &[0, 2, 1, 2], &[1, 1, 2, 2], &[0, 1, 2, 1], &[0, 1, 2, 9], &[]] {
            assert!(!graph(&steps, starts, &[1, 2]).is_valid(1, 1), "{starts:?}");
        }
    }

    #[test]
    fn steps_that_wait_for_each_other_are_refused() {
        let steps = [Step::Join, Step::Join];
        assert!(!graph(&steps, &[0, 1, 2], &[1, 0]).is_valid(0, 0));
        assert!(!graph(&steps[..1], &[0, 1], &[0]).is_valid(0, 0));
    }
}
