//! Invocations of actions in a plan, and their configurations.

pub(super) mod drafting;
pub(super) mod triggered;

use crate::action_blocks::ActionBlocks;
use crate::options::Deferral;

/// The action blocks evaluated so far, and the action requested with `-invoke`.
///
/// It owns the repetition of action blocks, which is evaluated once for each module instance, and the information whether
/// the block of the requested action was found. The plan builder holds the invocations themselves.
pub(super) struct ActionRequests {
    blocks: ActionBlocks,
    is_request_met: bool,
}

impl ActionRequests {
    pub(super) fn with(deferral: Deferral) -> Self {
        Self { blocks: ActionBlocks::with(deferral), is_request_met: false }
    }

    pub(super) fn blocks(&mut self) -> &mut ActionBlocks {
        &mut self.blocks
    }

    /// Notes that the configuration has the action that a person asks for.
    pub(super) fn note_request_met(&mut self) {
        self.is_request_met = true;
    }

    pub(super) fn is_request_met(&self) -> bool {
        self.is_request_met
    }
}
