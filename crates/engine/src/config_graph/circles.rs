//! Graphs with circles, for those who want to see where they are.

/// What becomes of references that lead in a circle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Circles {
    /// They are errors.
    Refused,
    /// They are drawn. Edges that follow from others are then left in: which of those these are, a circle does not tell.
    Drawn,
}

/// Of the edges of each node those that are part of a circle; nodes are positions.
pub(super) fn circular(edges: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let on_circle = |node: usize, next: &&usize| leads(edges, **next, node);
    let nodes = edges.iter().enumerate();
    nodes.map(|(node, direct)| direct.iter().filter(|next| on_circle(node, next)).copied().collect()).collect()
}

/// Whether there is a way from one to the other, of no step at least.
fn leads(edges: &[Vec<usize>], from: usize, to: usize) -> bool {
    let mut seen = vec![false; edges.len()];
    let mut pending = vec![from];
    while let Some(node) = pending.pop() {
        if node == to {
            return true;
        }
        if !std::mem::replace(&mut seen[node], true) {
            pending.extend(&edges[node]);
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_leads_to_a_circle_is_no_part_of_it() {
        assert_eq!(circular(&[vec![1], vec![2, 3], vec![1], vec![]]), [vec![], vec![2], vec![1], vec![]]);
    }
}
