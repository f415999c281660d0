//! Inputs and results of the provider calls that plan one managed object.

use std::sync::Arc;

use groma_address::ResourceInstance;
use groma_diagnostics::{Diagnostics, Span};
use groma_provider::{BodyDecoder, Checked, PlanPurpose, Schema};
use groma_state::{DeposedKey, ObjectRecord};
use groma_value::Value;

use super::draft::Draft;
use super::ignore::Ignore;
use crate::hooks::Hooks;
use crate::options::{Deferral, Refresh};
use crate::plan::{ActionReason, DeferralReason, Importing};
use crate::record::Object;

/// The question that the provider calls answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The change that makes the object match its configuration.
    Change,
    /// The deletion of the object, with the reason for it.
    Delete(Option<ActionReason>),
    /// The current object, without any change.
    Look,
}

/// The treatment of an object that is no longer managed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parting {
    /// The object is destroyed.
    Destroyed,
    /// The object stays and is forgotten, for this reason.
    Kept(ActionReason),
}

/// Protection against destruction by `prevent_destroy` (PL-24).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prevention {
    /// The object may be destroyed.
    None,
    /// It may not, as the block with this header says.
    Forbidden(Span),
    /// The argument's value is unknown until apply; this is its expression.
    Undecided(Span),
}

/// One object to plan.
pub struct Conversation {
    /// The address of the instance.
    pub address: ResourceInstance,
    /// Set for a deposed object of the instance.
    pub deposed: Option<DeposedKey>,
    /// The configured provider.
    pub provider: Arc<Checked>,
    /// The schema of the resource type.
    pub schema: Arc<Schema>,
    /// The block, where there is one.
    pub body: Option<Arc<BodyDecoder>>,
    /// The header of the resource block.
    pub span: Span,
    /// The question to answer.
    pub purpose: Purpose,
    /// The configuration; null without one.
    pub config: Value,
    /// The module's `provider_meta` value; null without such a block.
    pub meta: Value,
    /// The object as recorded, if there is one.
    pub record: Option<Arc<ObjectRecord>>,
    /// Whether it is read first.
    pub refresh: Refresh,
    /// Changes that `ignore_changes` ignores.
    pub ignore: Ignore,
    /// The reason for a forced replacement, if there is one.
    pub forced: Option<ActionReason>,
    /// Whether a replacement creates first.
    pub create_before_destroy: bool,
    /// Whether it may be destroyed (PL-24).
    pub prevention: Prevention,
    /// The treatment of the object if it is no longer managed.
    pub parting: Parting,
    /// The `provider` argument for generated configuration of an imported object.
    pub generating: Option<Generating>,
    /// The import target, if there is no object yet.
    pub importing: Option<Importing>,
    /// Whether the provider may leave the change to a later run.
    pub deferral: Deferral,
    /// The reason for deferring the change, regardless of the provider's answers.
    pub left: Option<DeferralReason>,
    /// The purpose of the plan of a creation.
    pub creates: PlanPurpose,
    /// The receiver of progress reports.
    pub hooks: Arc<dyn Hooks>,
}

/// Settings of generated configuration.
pub struct Generating {
    /// The value of the argument `provider`, if it is to have one.
    pub provider: Option<String>,
}

/// The result of planning one object.
pub struct Conversed {
    /// The block that was written.
    pub generated: Option<String>,
    /// The object as the last run left it, in today's shape; null if there was none.
    pub previous: Value,
    /// The object now, if it is there.
    pub prior: Option<Object>,
    /// The identity of an object that no longer exists, from its last read.
    pub gone: Option<Value>,
    /// The change; none after an error, and where none was asked for.
    pub draft: Option<Draft>,
    /// Errors and warnings of the provider and of the checks of its answers.
    pub diagnostics: Diagnostics,
}
