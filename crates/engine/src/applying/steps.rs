//! The progress of the steps of a plan.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use groma_plan::{ExecutionGraph, Step};

use crate::walk::Outcome;

/// The walk over the execution graph: which steps are ready, and which have failed.
///
/// A step is ready when all steps that it waits for have ended. A step whose requirements failed is ready too, and marked
/// as failed, so that the failure reaches everything that depends on it, and nothing else. Ready steps come in the order
/// of their numbers, which is the order of planning and of their objects in memory.
///
/// It executes nothing, and never adds a step or an edge to those of the plan (LC-06).
pub(super) struct Steps {
    graph: ExecutionGraph,
    waiting: Vec<u32>,
    failed: Vec<bool>,
    ready: BinaryHeap<Reverse<u32>>,
    ended: usize,
}

impl Steps {
    pub(super) fn new(graph: ExecutionGraph) -> Self {
        let waiting = graph.waiting();
        let ready = (0_u32..).zip(&waiting).filter(|(_, count)| **count == 0).map(|(step, _)| Reverse(step)).collect();
        Self { failed: vec![false; waiting.len()], waiting, ready, ended: 0, graph }
    }

    pub(super) fn step(&self, number: u32) -> Step {
        self.graph.steps()[number as usize]
    }

    /// The number of the ready step that comes first.
    pub(super) fn first_ready(&self) -> Option<u32> {
        self.ready.peek().map(|Reverse(step)| *step)
    }

    /// Takes the ready step that comes first.
    pub(super) fn take_ready(&mut self) -> Option<u32> {
        self.ready.pop().map(|Reverse(step)| step)
    }

    /// Whether a step that this one waits for has failed.
    pub(super) fn has_failed(&self, number: u32) -> bool {
        self.failed[number as usize]
    }

    pub(super) fn end(&mut self, number: u32, outcome: Outcome) {
        self.ended += 1;
        let failed = outcome == Outcome::Failed || self.failed[number as usize];
        for dependent in self.graph.dependents(number as usize) {
            let at = *dependent as usize;
            // The failure is passed on before the step becomes ready, so that a ready step knows about all its
            // requirements.
            self.failed[at] |= failed;
            self.waiting[at] -= 1;
            if self.waiting[at] == 0 {
                self.ready.push(Reverse(*dependent));
            }
        }
    }

    /// Whether all steps have ended.
    pub(super) fn is_complete(&self) -> bool {
        self.ended == self.graph.steps().len()
    }

    /// The graph, which is of no use any more and takes time to release.
    pub(super) fn into_spent(self) -> ExecutionGraph {
        self.graph
    }
}
