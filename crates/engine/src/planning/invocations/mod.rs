//! Invocations of actions in a plan, and their configurations.

pub(super) mod drafting;
pub(super) mod triggered;

use crate::action_blocks::ActionBlocks;
use crate::options::Deferral;

/// The action blocks that are looked at, and the action that a person asks for.
///
/// Owns what is known of the repetition of action blocks, which is evaluated once for each module instance, and whether the
/// block of a requested action was found. The invocations themselves are in the plan builder.
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
