//! Validity of an execution graph that was read from a file, and cycles in it.

use super::{ExecutionGraph, Step};

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
        let never_ready = self.dependents.behind_cycles();
        match never_ready.iter().position(|never| *never) {
            Some(first) => self.cycle_before(first, &never_ready),
            None => Vec::new(),
        }
    }

    /// The cycle that `step`, which is never ready, is part of or waits for.
    fn cycle_before(&self, step: usize, never_ready: &[bool]) -> Vec<u32> {
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
        path.split_off(seen_at[current])
    }
}

#[cfg(test)]
mod tests {
    use super::super::adjacency::Adjacency;
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
