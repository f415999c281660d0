//! Whether an execution graph that was read from a file can be walked.

use super::{ExecutionGraph, Step};

impl ExecutionGraph {
    /// Whether every number in the graph means something in a plan with so many changes and invocations, and no step waits for
    /// itself: what was read from a file may be anything.
    pub fn is_sound(&self, changes: usize, invocations: usize) -> bool {
        self.has_sound_edges() && self.steps.iter().all(|step| step.is_within(changes, invocations)) && self.ends()
    }

    fn has_sound_edges(&self) -> bool {
        let count = self.steps.len();
        if count == 0 {
            return self.dependents.is_empty();
        }
        let first = self.starts.first().is_some_and(|start| *start == 0);
        let last = self.starts.last().is_some_and(|end| *end as usize == self.dependents.len());
        let is_complete = self.starts.len() == count + 1 && first && last;
        is_complete && self.starts.is_sorted() && self.dependents.iter().all(|step| (*step as usize) < count)
    }

    /// Whether a walk comes to its end: every step is ready once.
    fn ends(&self) -> bool {
        let mut waiting = self.waiting();
        let mut ready: Vec<usize> = (0..self.steps.len()).filter(|step| waiting[*step] == 0).collect();
        let mut ended = 0;
        while let Some(step) = ready.pop() {
            ended += 1;
            for dependent in self.dependents(step) {
                let dependent = *dependent as usize;
                waiting[dependent] -= 1;
                if waiting[dependent] == 0 {
                    ready.push(dependent);
                }
            }
        }
        ended == self.steps.len()
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
    use super::*;

    fn graph(steps: &[Step], starts: &[u32], dependents: &[u32]) -> ExecutionGraph {
        ExecutionGraph { steps: steps.to_vec(), starts: starts.to_vec(), dependents: dependents.to_vec() }
    }

    #[test]
    fn numbers_out_of_range_are_not_sound() {
        let steps = [Step::Create(0), Step::Invoke(0), Step::Join];
        assert!(graph(&steps, &[0, 1, 2, 2], &[1, 2]).is_sound(1, 1));
        assert!(graph(&[], &[], &[]).is_sound(0, 0));
        assert!(graph(&[], &[0], &[]).is_sound(0, 0));
        assert!(!graph(&steps, &[0, 1, 2, 2], &[1, 2]).is_sound(0, 1), "no such change");
        assert!(!graph(&steps, &[0, 1, 2, 2], &[1, 2]).is_sound(1, 0), "no such invocation");
        assert!(!graph(&steps, &[0, 1, 2, 2], &[1, 3]).is_sound(1, 1), "no such step");
        for starts in [&[0, 1, 2][..], &[0, 2, 1, 2], &[1, 1, 2, 2], &[0, 1, 2, 1], &[0, 1, 2, 9], &[]] {
            assert!(!graph(&steps, starts, &[1, 2]).is_sound(1, 1), "{starts:?}");
        }
    }

    #[test]
    fn steps_that_wait_for_each_other_are_not_sound() {
        let steps = [Step::Join, Step::Join];
        assert!(!graph(&steps, &[0, 1, 2], &[1, 0]).is_sound(0, 0));
        assert!(!graph(&steps[..1], &[0, 1], &[0]).is_sound(0, 0));
    }
}
