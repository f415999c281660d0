//! Changes of a saved plan that are left to a later run.

use groma_value::CodecError;
use serde::{Deserialize, Serialize};

use super::change::Change;
use super::tables::{Known, Numbered, narrow};
use crate::deferral::{DeferralReason, DeferredChange, Source};

#[derive(Serialize, Deserialize)]
pub(super) struct Left<'a> {
    reason: String,
    #[serde(borrow)]
    change: Change<'a>,
    open_steps: Vec<u32>,
    is_known: bool,
}

impl<'a> Left<'a> {
    pub(super) fn of(deferred: &'a DeferredChange, numbered: &mut Numbered<'a>) -> Result<Self, CodecError> {
        Ok(Self {
            reason: deferred.reason.name().to_owned(),
            change: Change::of(&deferred.change, numbered)?,
            open_steps: deferred.open_steps.iter().copied().map(narrow).collect(),
            is_known: deferred.source == Source::Known,
        })
    }

    /// The change; none where it is damaged.
    pub(super) fn read(self, known: &Known) -> Option<DeferredChange> {
        Some(DeferredChange {
            reason: DeferralReason::from_name(&self.reason)?,
            change: self.change.read(known)?,
            open_steps: self.open_steps.into_iter().map(|step| step as usize).collect(),
            source: if self.is_known { Source::Known } else { Source::Unknown },
        })
    }
}
