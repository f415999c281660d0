//! The requirements of one node, without repetition.

use std::collections::HashMap;

use groma_address::InstanceKey;
use groma_diagnostics::Span;

use super::place::{Place, Requirement};

/// Up to this many requirements, looking at each of them is the quickest.
const FEW: usize = 16;

/// Requirements in the order in which they are met.
#[derive(Default)]
pub(super) struct Collected {
    found: Vec<Requirement>,
    /// The index of each target in `found`, once there are many.
    positions: HashMap<Place, usize>,
}

impl Collected {
    /// Drains the requirements that were collected since the last call.
    pub(super) fn take(&mut self) -> std::vec::Drain<'_, Requirement> {
        self.positions.clear();
        self.found.drain(..)
    }

    /// Adds a place. One that is met with other keys matters as a whole.
    pub(super) fn add(&mut self, place: Place, key: Option<&InstanceKey>, span: Span) {
        let known = match self.found.len() {
            ..FEW => self.found.iter().position(|known| known.place == place),
            _ => self.position(place),
        };
        match known {
            Some(at) => {
                let known = &mut self.found[at];
                if known.key.as_deref() != key {
                    known.key = None;
                }
            }
            None => self.found.push(Requirement { place, key: key.cloned().map(Box::new), span }),
        }
    }

    fn position(&mut self, place: Place) -> Option<usize> {
        let noted = self.positions.len();
        let later = self.found.iter().enumerate().skip(noted);
        self.positions.extend(later.map(|(at, known)| (known.place, at)));
        self.positions.get(&place).copied()
    }
}
