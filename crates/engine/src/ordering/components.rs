//! Strongly connected components: which steps lie on a cycle together.

use groma_plan::{Adjacency, Edge};

use crate::config_graph::narrow;

/// The number of the component of each step: two steps have the same one exactly where each can be reached from the other.
///
/// Tarjan's algorithm with a stack of its own, since graphs are deeper than the stack of a thread.
pub(super) fn strong_components(steps: usize, edges: &[Edge]) -> Vec<u32> {
    let mut search = Search {
        graph: Adjacency::new(steps, edges.iter().copied()),
        index: vec![UNSEEN; steps],
        low: vec![0; steps],
        component: vec![UNSEEN; steps],
        path: Vec::new(),
        next_index: 0,
        next_component: 0,
    };
    for step in 0..narrow(steps) {
        if search.index[step as usize] == UNSEEN {
            search.visit(step);
        }
    }
    search.component
}

const UNSEEN: u32 = u32::MAX;

struct Search {
    graph: Adjacency,
    /// The order in which steps were found.
    index: Vec<u32>,
    /// The earliest step of the path that is known to be reachable.
    low: Vec<u32>,
    component: Vec<u32>,
    /// The steps found whose component is not complete.
    path: Vec<u32>,
    next_index: u32,
    next_component: u32,
}

impl Search {
    fn visit(&mut self, root: u32) {
        // An explicit stack with the position of the next neighbor replaces recursion.
        let mut open: Vec<(u32, usize)> = vec![(root, 0)];
        self.enter(root);
        while let Some((step, position)) = open.last_mut() {
            let step = *step;
            if let Some(next) = self.graph.of(step as usize).get(*position).copied() {
                *position += 1;
                if self.index[next as usize] == UNSEEN {
                    self.enter(next);
                    open.push((next, 0));
                } else if self.component[next as usize] == UNSEEN {
                    // A complete component cannot reach back to this step.
                    self.low[step as usize] = self.low[step as usize].min(self.index[next as usize]);
                }
                continue;
            }
            open.pop();
            self.leave(step);
            // What a step can reach, its parent on the path can reach too.
            if let Some((parent, _)) = open.last() {
                self.low[*parent as usize] = self.low[*parent as usize].min(self.low[step as usize]);
            }
        }
    }

    fn enter(&mut self, step: u32) {
        self.index[step as usize] = self.next_index;
        self.low[step as usize] = self.next_index;
        self.next_index += 1;
        self.path.push(step);
    }

    /// Completes the component that begins with a step, if one does.
    fn leave(&mut self, step: u32) {
        // The component begins with an earlier step, which will complete it.
        if self.low[step as usize] != self.index[step as usize] {
            return;
        }
        while let Some(member) = self.path.pop() {
            self.component[member as usize] = self.next_component;
            if member == step {
                break;
            }
        }
        self.next_component += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::strong_components;

    #[test]
    fn steps_of_one_cycle_share_a_component() {
        let component = strong_components(6, &[(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 3)]);
        assert!(component[0] == component[1] && component[1] == component[2]);
        assert_eq!(component[3], component[4]);
        assert_ne!(component[0], component[3]);
        assert!(component[..5].iter().all(|other| *other != component[5]));
    }

    #[test]
    fn a_long_chain_needs_no_deep_stack() {
        let edges: Vec<_> = (0..200_000).map(|step| (step, step + 1)).collect();
        let component = strong_components(200_001, &edges);
        assert!(component.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
