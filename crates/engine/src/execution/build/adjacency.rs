//! Edges by the step that they begin at.

use std::collections::HashSet;

/// An edge: the step that comes first, and the one that waits for it.
pub(super) type Edge = (u32, u32);

/// The neighbors of each step.
pub(super) struct Adjacency {
    /// Where the neighbors of each step begin; one more at the end.
    starts: Vec<u32>,
    neighbors: Vec<u32>,
}

impl Adjacency {
    /// Sorts `edges`, each from one step to a neighbor of it.
    pub(super) fn new(steps: usize, edges: impl Iterator<Item = Edge> + Clone) -> Self {
        let mut starts = vec![0_u32; steps + 1];
        for (from, _) in edges.clone() {
            starts[from as usize + 1] += 1;
        }
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

    /// The neighbors of a step.
    pub(super) fn of(&self, step: u32) -> &[u32] {
        let at = step as usize;
        &self.neighbors[self.starts[at] as usize..self.starts[at + 1] as usize]
    }

    /// The steps that can be reached from a step.
    pub(super) fn reachable(&self, from: u32) -> HashSet<u32> {
        let mut reached = HashSet::new();
        let mut open = vec![from];
        while let Some(step) = open.pop() {
            for next in self.of(step) {
                if reached.insert(*next) {
                    open.push(*next);
                }
            }
        }
        reached
    }
}
