//! Objects that no block describes: those that the configuration has lost, and deposed ones.

use std::sync::Arc;

use groma_address::{ProviderConfig, ResourceInstance};
use groma_diagnostics::Span;
use groma_provider::{Checked, PlanPurpose, Schema};
use groma_state::{DeposedKey, ObjectRecord};

use super::conversation::{Conversation, Parting, Prevention, Purpose};
use super::event::ManagedSubject;
use super::ignore::Ignore;
use crate::client::no_meta;
use crate::hooks::Hooks;
use crate::options::{Deferral, Refresh};
use crate::plan::DeferralReason;
use crate::walk::Outcome;

/// An object that no block describes.
pub(super) struct LeftOver {
    pub(super) address: ResourceInstance,
    pub(super) deposed: Option<DeposedKey>,
    pub(super) record: Arc<ObjectRecord>,
    pub(super) config: Arc<ProviderConfig>,
    pub(super) provider: Arc<Checked>,
    pub(super) schema: Arc<Schema>,
    /// Whether the order of its replacement matters to those around it.
    pub(super) create_before_destroy: bool,
    pub(super) span: Span,
    pub(super) purpose: Purpose,
    pub(super) parting: Parting,
    /// Whether it may be destroyed.
    pub(super) prevention: Prevention,
    pub(super) refresh: Refresh,
    pub(super) deferral: Deferral,
    /// The reason for deferring the change.
    pub(super) left: Option<DeferralReason>,
}

impl LeftOver {
    /// Splits it into the call to the provider and the subject that is kept meanwhile.
    pub(super) fn into_talk(self, hooks: Arc<dyn Hooks>) -> (ManagedSubject, Conversation) {
        let subject = ManagedSubject {
            instance: None,
            address: self.address.clone(),
            deposed: self.deposed.clone(),
            provider: self.config,
            schema: Arc::clone(&self.schema),
            create_before_destroy: self.create_before_destroy,
            is_kept: false,
            undecided: false,
            outcome: Outcome::Done,
            importing: None,
        };
        let talk = Conversation {
            address: self.address,
            deposed: self.deposed,
            provider: self.provider,
            config: self.schema.block.null_value(),
            meta: no_meta(),
            schema: self.schema,
            body: None,
            span: self.span,
            purpose: self.purpose,
            record: Some(self.record),
            refresh: self.refresh,
            ignore: Ignore::Nothing,
            forced: None,
            create_before_destroy: false,
            prevention: self.prevention,
            parting: self.parting,
            importing: None,
            generating: None,
            deferral: self.deferral,
            left: self.left,
            creates: PlanPurpose::Change,
            hooks,
        };
        (subject, talk)
    }
}
