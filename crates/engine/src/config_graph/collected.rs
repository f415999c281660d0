//! The requirements of one node, without repetition.

use std::collections::HashMap;

use groma_address::InstanceKey;
use groma_diagnostics::Span;

use super::node_ref::{NodeRef, Requirement};

/// Up to this many requirements, looking at each of them is the quickest.
const FEW: usize = 16;

/// Requirements in the order in which they are met.
#[derive(Default)]
pub(super) struct Collected {
    found: Vec<Requirement>,
    /// The index of each target in `found`, once there are many.
    positions: HashMap<NodeRef, usize>,
}

impl Collected {
    /// Drains the requirements that were collected since the last call.
    pub(super) fn take(&mut self) -> std::vec::Drain<'_, Requirement> {
        self.positions.clear();
        self.found.drain(..)
    }

    /// Adds a place. One that is met with other keys matters as a whole.
    pub(super) fn add(&mut self, node_ref: NodeRef, key: Option<&InstanceKey>, span: Span) {
        let known = match self.found.len() {
            ..FEW => self.found.iter().position(|known| known.node_ref == node_ref),
            _ => self.position(node_ref),
        };
        match known {
            Some(at) => {
                let known = &mut self.found[at];
                if known.key.as_deref() != key {
                    known.key = None;
                }
            }
            None => self.found.push(Requirement { node_ref, key: key.cloned().map(Box::new), span }),
        }
    }

    fn position(&mut self, node_ref: NodeRef) -> Option<usize> {
        let noted = self.positions.len();
        let later = self.found.iter().enumerate().skip(noted);
        self.positions.extend(later.map(|(at, known)| (known.node_ref, at)));
        self.positions.get(&node_ref).copied()
    }
}
