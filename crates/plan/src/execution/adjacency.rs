//! Edges by the step that they begin at.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

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
        if steps == 0 {
            return self.neighbors.is_empty();
        }
        let first = self.starts.first().is_some_and(|start| *start == 0);
        let last = self.starts.last().is_some_and(|end| *end as usize == self.neighbors.len());
        let is_complete = self.starts.len() == steps + 1 && first && last;
        is_complete && self.starts.is_sorted() && self.neighbors.iter().all(|step| (*step as usize) < steps)
    }

    /// The neighbors of a step.
    pub fn of(&self, step: usize) -> &[u32] {
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
                if reached.insert(*next) {
                    open.push(*next);
                }
            }
        }
        reached
    }
}
