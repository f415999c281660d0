//! What a conversation about one managed object is given, and what it finds out.

use std::sync::Arc;

use groma_address::ResourceInstance;
use groma_diagnostics::{Diagnostics, Span};
use groma_plan::{ActionReason, DeferralReason, Importing};
use groma_provider::{BodyDecoder, Checked, PlanPurpose, Schema};
use groma_state::{DeposedKey, ObjectRecord};
use groma_value::Value;

use super::draft::Draft;
use super::ignore::Ignore;
use crate::hooks::Hooks;
use crate::options::{Deferral, Refresh};
use crate::record::Object;

/// What is to be found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// What it takes to make the object match its configuration.
    Change,
    /// What it takes to delete it, and why it is to go.
    Delete(Option<ActionReason>),
    /// What it is like now; no more.
    Look,
}

/// What becomes of an object that is not managed any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parting {
    /// It is destroyed.
    Destroyed,
    /// It stays outside, and who says so.
    Kept(ActionReason),
}

/// What the lifecycle of an object says of destroying it (PL-24).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prevention {
    /// It may go.
    None,
    /// It may not, as the block with this header says.
    Forbidden(Span),
    /// It is not known before apply, as this expression is not.
    Undecided(Span),
}

/// One object to plan.
pub struct Conversation {
    /// The instance.
    pub address: ResourceInstance,
    /// Set for a deposed object of the instance.
    pub deposed: Option<DeposedKey>,
    /// The provider, configured.
    pub provider: Arc<Checked>,
    /// The schema of the resource type.
    pub schema: Arc<Schema>,
    /// The block, where there is one.
    pub body: Option<Arc<BodyDecoder>>,
    /// The block's header.
    pub span: Span,
    /// What is to be found out.
    pub purpose: Purpose,
    /// The configuration; null without one.
    pub config: Value,
    /// What the module tells the provider; null where it tells nothing.
    pub meta: Value,
    /// The object as recorded, if there is one.
    pub record: Option<Arc<ObjectRecord>>,
    /// Whether it is read first.
    pub refresh: Refresh,
    /// Which changes are left alone.
    pub ignore: Ignore,
    /// Why it must be replaced, if something other than its attributes says so.
    pub forced: Option<ActionReason>,
    /// Whether a replacement creates first.
    pub create_before_destroy: bool,
    /// Whether it may be destroyed (PL-24).
    pub prevention: Prevention,
    /// What becomes of it where it is to go.
    pub parting: Parting,
    /// Where the configuration is written from the object that is taken over: its `provider` argument.
    pub generating: Option<Generating>,
    /// The object to take over, where there is none yet.
    pub importing: Option<Importing>,
    /// Whether the provider may leave the change to a later run.
    pub deferral: Deferral,
    /// Why the change is left to a later run, whatever the provider says.
    pub left: Option<DeferralReason>,
    /// Why a creation is planned.
    pub creates: PlanPurpose,
    /// Who is told about progress.
    pub hooks: Arc<dyn Hooks>,
}

/// How a block is written.
pub struct Generating {
    /// The value of the argument `provider`, if it is to have one.
    pub provider: Option<String>,
}

/// What a conversation found out.
pub struct Conversed {
    /// The block that was written.
    pub generated: Option<String>,
    /// The object as the last run left it, in today's shape; null if there was none.
    pub previous: Value,
    /// The object now, if it is there.
    pub prior: Option<Object>,
    /// What names an object that is gone, as reading told it last.
    pub gone: Option<Value>,
    /// The change; none after an error, and where none was asked for.
    pub draft: Option<Draft>,
    /// What went wrong, and warnings.
    pub diagnostics: Diagnostics,
}
