//! Steps that wait for each other: none of them could ever be taken.

use super::ExecutionGraph;

impl ExecutionGraph {
    /// The steps of a cycle; none in a plan that can be applied.
    pub fn cycle(&self) -> Vec<u32> {
        // Most graphs only have edges from one step to a later one.
        let backwards = |step: usize| self.dependents(step).iter().any(|dependent| *dependent as usize <= step);
        if !(0..self.steps.len()).any(backwards) {
            return Vec::new();
        }
        let waiting = self.never_taken();
        match waiting.iter().position(|waiting| *waiting) {
            Some(first) => self.behind(first, &waiting),
            None => Vec::new(),
        }
    }

    /// Whether each step is part of a cycle or waits for one.
    fn never_taken(&self) -> Vec<bool> {
        let mut waiting = self.waiting();
        let mut ready: Vec<usize> = (0..waiting.len()).filter(|step| waiting[*step] == 0).collect();
        while let Some(step) = ready.pop() {
            for dependent in self.dependents(step) {
                let count = &mut waiting[*dependent as usize];
                *count -= 1;
                if *count == 0 {
                    ready.push(*dependent as usize);
                }
            }
        }
        waiting.into_iter().map(|count| count > 0).collect()
    }

    /// The cycle that `step`, which is never taken, is part of or waits for.
    fn behind(&self, step: usize, waiting: &[bool]) -> Vec<u32> {
        let mut awaits = vec![None; waiting.len()];
        for (required, number) in (0..waiting.len()).zip(0_u32..).filter(|(step, _)| waiting[*step]) {
            for dependent in self.dependents(required) {
                awaits[*dependent as usize] = Some(number);
            }
        }
        let mut seen_at = vec![usize::MAX; waiting.len()];
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
