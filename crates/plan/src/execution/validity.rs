//! Checks of an execution graph that was read from a file, before it is walked.

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
