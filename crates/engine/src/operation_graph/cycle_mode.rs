//! Graphs with circles, for those who want to see where they are.

/// The treatment of reference cycles in drawn graphs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CycleMode {
    /// Cycles are reported as errors.
    Refused,
    /// Cycles are drawn. Edges that follow from others then stay in: a cycle does not determine which of them those are.
    Drawn,
}

/// Of the edges of each node those that are part of a circle; nodes are positions.
pub(super) fn circular(edges: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let groups = groups(edges);
    let nodes = edges.iter().enumerate();
    let inside = |node: usize, direct: &Vec<usize>| -> Vec<usize> {
        direct.iter().copied().filter(|next| groups[*next] == groups[node]).collect()
    };
    nodes.map(|(node, direct)| inside(node, direct)).collect()
}

/// Returns the strongly connected component of each node, as one of its members (Kosaraju's algorithm; it visits each edge twice).
fn groups(edges: &[Vec<usize>]) -> Vec<usize> {
    let mut back = vec![Vec::new(); edges.len()];
    for (node, direct) in edges.iter().enumerate() {
        direct.iter().for_each(|next| back[*next].push(node));
    }
    let mut groups = vec![usize::MAX; edges.len()];
    for first in ended(edges).into_iter().rev() {
        let mut pending = vec![first];
        while let Some(node) = pending.pop() {
            if groups[node] == usize::MAX {
                groups[node] = first;
                pending.extend(&back[node]);
            }
        }
    }
    groups
}

/// All nodes, each after those that are only reached through it.
fn ended(edges: &[Vec<usize>]) -> Vec<usize> {
    let mut order = Vec::with_capacity(edges.len());
    let mut begun = vec![false; edges.len()];
    for start in 0..edges.len() {
        let mut path = Vec::new();
        if !std::mem::replace(&mut begun[start], true) {
            path.push((start, edges[start].iter()));
        }
        while let Some((node, left)) = path.last_mut() {
            match left.next() {
                Some(next) if std::mem::replace(&mut begun[*next], true) => {}
                Some(next) => path.push((*next, edges[*next].iter())),
                None => {
                    order.push(*node);
                    path.pop();
                }
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_that_only_lead_to_a_cycle_are_not_part_of_it() {
        assert_eq!(circular(&[vec![1], vec![2, 3], vec![1], vec![]]), [vec![], vec![2], vec![1], vec![]]);
    }

    #[test]
    fn touching_cycles_are_one_and_a_self_reference_is_a_cycle() {
        let two = [vec![1], vec![0, 2], vec![3], vec![1], vec![4, 0]];
        assert_eq!(circular(&two), [vec![1], vec![0, 2], vec![3], vec![1], vec![4]]);
        assert_eq!(circular(&[vec![1, 2], vec![2], vec![]]), [vec![], vec![], Vec::<usize>::new()]);
    }
}
