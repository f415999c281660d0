//! The steps of a plan in progress, and the results of their provider calls.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use groma_diagnostics::Diagnostics;
use groma_plan::{ExecutionGraph, Invocation, Step};
use groma_state::{DeposedKey, ObjectRecord};
use groma_value::Value;

use super::apply_call::ApplyCallResult;
use crate::hooks::Operation;
use crate::provider_setup::Configuring;
use crate::read_call::ReadResult;
use crate::walk::Outcome;
use crate::world::ModuleId;

/// A conversation that came to its end.
pub(super) enum Event {
    Change(Box<ChangeEvent>),
    Data(u32, Box<ReadResult>),
    Providers(Vec<Configuring>),
    Provisioned(Box<Provisioned>),
    Opened(Box<OpenedInstances>),
    Invoked(Arc<Invocation>, Diagnostics),
}

pub(super) struct ChangeEvent {
    pub(super) change: u32,
    pub(super) deposed: Option<DeposedKey>,
    pub(super) operation: Operation,
    pub(super) before: Option<Arc<ObjectRecord>>,
    pub(super) started: Instant,
    pub(super) elapsed: Duration,
    pub(super) done: ApplyCallResult,
}

/// The end of the provisioners of a new object.
pub(super) struct Provisioned {
    pub(super) change: u32,
    pub(super) started: Instant,
    pub(super) value: Value,
    pub(super) diagnostics: Diagnostics,
}

/// The instances of a resource that were opened, by position.
pub(super) struct OpenedInstances {
    pub(super) module: ModuleId,
    pub(super) resource: u32,
    pub(super) reads: Vec<(usize, ReadResult)>,
}

/// The walk over the execution graph: which steps are ready, and which have failed.
///
/// A step is ready when all steps that it waits for have ended. A step whose requirements failed is ready too, and marked
/// as failed, so that the failure reaches everything that depends on it, and nothing else. Ready steps come in the order
/// of their numbers, which is the order in which planning went and in which their objects lie in memory.
///
/// It carries nothing out, and never adds a step or an edge to what the plan has (LC-06).
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
