//! Steps that wait for each other, so that none of them can be the first.

use super::ExecutionGraph;

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
