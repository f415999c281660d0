//! Managed, data and ephemeral resources with their meta-arguments.

use std::sync::{Arc, LazyLock};

use groma_address::{Mode, Name, Resource as ResourceAddress};
use groma_diagnostics::Span;
use groma_hcl::{Body, Expression, Traversal};

use super::block::Condition;
use super::provider::{LocalProvider, LocalProviderRef};

/// A `resource`, `data`, `ephemeral` or `list` block.
#[derive(Clone, Debug)]
pub struct Resource {
    /// Mode, type and name.
    pub address: ResourceAddress,
    /// The arguments proper: the block without its meta-arguments.
    pub body: Body,
    /// How many instances.
    pub count: Option<Expression>,
    /// One instance per element.
    pub for_each: Option<Expression>,
    /// The provider configuration written; without one, the default configuration of the provider that the type's name
    /// begins with.
    pub provider: Option<LocalProviderRef>,
    /// What must be done before, beside what it refers to.
    pub depends_on: Vec<Traversal>,
    /// The `lifecycle` block; resources without one share one.
    pub lifecycle: Arc<Lifecycle>,
    /// What is run on creation or destruction.
    pub provisioners: Vec<Provisioner>,
    /// How provisioners reach the object, unless they say otherwise.
    pub connection: Option<Connection>,
    /// The check block it belongs to: its errors are only warnings then.
    pub check: Option<Name>,
    /// How objects are searched for, where it is a `list` block. Boxed because it is rare.
    pub search: Option<Box<Search>>,
    /// The whole block.
    pub span: Span,
    /// The block's header: keyword and labels.
    pub header_span: Span,
    /// The label that says its type.
    pub type_span: Span,
}

impl Resource {
    /// The words of the language in such a block, beside the arguments proper.
    pub fn words(&self) -> &'static [&'static str] {
        match self.address.mode {
            Mode::Managed => &["count", "for_each", "provider", "depends_on", "lifecycle", "provisioner", "connection"],
            Mode::Data | Mode::Ephemeral => &["count", "for_each", "provider", "depends_on", "lifecycle"],
            Mode::List => &[],
        }
    }

    /// The provider configuration it uses, in its module's names.
    pub fn local_provider(&self) -> LocalProvider {
        match &self.provider {
            Some(reference) => reference.provider.clone(),
            None => LocalProvider::default_of(implied_provider(&self.address.type_name)),
        }
    }
}

/// The provider that a resource type's name implies: all before the first underscore.
pub(crate) fn implied_provider(type_name: &Name) -> Name {
    match type_name.split_once('_') {
        Some((provider, _)) => provider.into(),
        None => Name::clone(type_name),
    }
}

/// What a `list` block says beside what is searched for.
#[derive(Clone, Debug)]
pub struct Search {
    /// Whether objects come with all of their attributes.
    pub include_resource: Option<Expression>,
    /// How many objects are wanted at most.
    pub limit: Option<Expression>,
    /// Where the block begins, behind its header.
    pub beginning: Span,
}

impl Resource {
    /// Whether it has `count` or `for_each`: there are as many instances as that says, perhaps none.
    pub fn is_repeated(&self) -> bool {
        self.count.is_some() || self.for_each.is_some()
    }

    /// How provisioners reach the object. Where there are none, nobody looks at the block.
    pub fn used_connection(&self) -> Option<&Connection> {
        self.connection.as_ref().filter(|_| !self.provisioners.is_empty())
    }

    /// Where something is shown that is about the content of the block as a whole.
    pub fn beginning(&self) -> Span {
        self.search.as_ref().map_or_else(|| self.body.missing_item_span(), |search| search.beginning)
    }
}

/// A `lifecycle` block.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lifecycle {
    /// Whether a replacement is created before the old object is destroyed.
    pub create_before_destroy: Option<Expression>,
    /// Whether a plan that would destroy the object is an error.
    pub prevent_destroy: Option<Expression>,
    /// Changes that are left alone.
    pub ignore_changes: IgnoreChanges,
    /// What, when changed, has the object replaced.
    pub replace_triggered_by: Vec<Expression>,
    /// What must hold before the object is planned.
    pub preconditions: Vec<Condition>,
    /// What must hold once it is known.
    pub postconditions: Vec<Condition>,
    /// Whether there is an instance at all.
    pub enabled: Option<Expression>,
    /// Whether the object is destroyed when it goes; if not it is only forgotten.
    pub destroy: Option<Expression>,
    /// Actions invoked around changes.
    pub action_triggers: Vec<ActionTrigger>,
    /// The block's header.
    pub span: Span,
}

impl Lifecycle {
    /// The one that all resources without a `lifecycle` block share.
    pub fn none() -> Arc<Self> {
        static NONE: LazyLock<Arc<Lifecycle>> = LazyLock::new(Arc::default);
        Arc::clone(&NONE)
    }
}

/// The `ignore_changes` argument.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum IgnoreChanges {
    /// Every change counts.
    #[default]
    None,
    /// No change counts: `all`.
    All,
    /// Changes at these places do not count; each is relative to the resource.
    Paths(Vec<Traversal>),
    /// An expression that yields the list of paths as strings, to be evaluated by the planner.
    Expression(Expression),
}

/// An `action_trigger` block.
#[derive(Clone, Debug, PartialEq)]
pub struct ActionTrigger {
    /// The events, as written.
    pub events: Vec<Expression>,
    /// Whether it fires.
    pub condition: Option<Expression>,
    /// What is invoked.
    pub actions: Vec<Expression>,
    /// The block's header.
    pub span: Span,
}

/// A `provisioner` block.
#[derive(Clone, Debug)]
pub struct Provisioner {
    /// Its label.
    pub kind: Name,
    /// When it runs.
    pub when: ProvisionerWhen,
    /// What a failure means.
    pub on_failure: OnFailure,
    /// The arguments proper.
    pub body: Body,
    /// How it reaches the object.
    pub connection: Option<Connection>,
    /// The block's header.
    pub span: Span,
}

impl Provisioner {
    /// The words of the language in such a block, beside the arguments proper.
    pub const WORDS: &[&str] = &["when", "on_failure", "connection"];
}

/// When a provisioner runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProvisionerWhen {
    /// After the object is created.
    #[default]
    Create,
    /// Before it is destroyed.
    Destroy,
}

/// What a provisioner's failure means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnFailure {
    /// The operation fails.
    #[default]
    Fail,
    /// The operation goes on.
    Continue,
}

/// A `connection` block.
#[derive(Clone, Debug)]
pub struct Connection {
    /// Its arguments.
    pub body: Body,
    /// The block's header.
    pub span: Span,
}
