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
    /// The `count` argument.
    pub count: Option<Expression>,
    /// One instance per element.
    pub for_each: Option<Expression>,
    /// The provider configuration written; without one, the default configuration of the provider that the type's name
    /// begins with.
    pub provider: Option<LocalProviderRef>,
    /// Explicit dependencies, in addition to references.
    pub depends_on: Vec<Traversal>,
    /// The `lifecycle` block; resources without one share one.
    pub lifecycle: Arc<Lifecycle>,
    /// Provisioners to run at creation or destruction.
    pub provisioners: Vec<Provisioner>,
    /// The default connection of provisioners.
    pub connection: Option<Connection>,
    /// The check block it belongs to: its errors are only warnings then.
    pub check: Option<Name>,
    /// The search settings of a `list` block. Boxed because it is rare.
    pub search: Option<Box<Search>>,
    /// The location of the whole block.
    pub span: Span,
    /// The block's header: keyword and labels.
    pub header_span: Span,
    /// The label that says its type.
    pub type_span: Span,
}

impl Resource {
    /// The meta-arguments of such a block.
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

/// The search settings of a `list` block.
#[derive(Clone, Debug)]
pub struct Search {
    /// Whether objects come with all of their attributes.
    pub include_resource: Option<Expression>,
    /// The maximal number of results.
    pub limit: Option<Expression>,
    /// The start of the block's body.
    pub beginning: Span,
}

impl Resource {
    /// Whether it has `count` or `for_each`: there are as many instances as that says, perhaps none.
    pub fn is_repeated(&self) -> bool {
        self.count.is_some() || self.for_each.is_some()
    }

    /// Returns the connection of provisioners. Without provisioners the block is not checked.
    pub fn used_connection(&self) -> Option<&Connection> {
        self.connection.as_ref().filter(|_| !self.provisioners.is_empty())
    }

    /// Returns the location for problems with the body as a whole.
    pub fn beginning(&self) -> Span {
        self.search.as_ref().map_or_else(|| self.body.missing_item_span(), |search| search.beginning)
    }
}

/// A decoded `lifecycle` block.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lifecycle {
    /// Whether a replacement is created before the old object is destroyed.
    pub create_before_destroy: Option<Expression>,
    /// Whether a plan that would destroy the object is an error.
    pub prevent_destroy: Option<Expression>,
    /// Changes that are left alone.
    pub ignore_changes: IgnoreChanges,
    /// References whose changes replace the object.
    pub replace_triggered_by: Vec<Expression>,
    /// Conditions that must hold before the object is planned.
    pub preconditions: Vec<Condition>,
    /// Conditions that must hold once the object is known.
    pub postconditions: Vec<Condition>,
    /// Whether there is an instance at all.
    pub enabled: Option<Expression>,
    /// Whether the object is destroyed when it goes; if not it is only forgotten.
    pub destroy: Option<Expression>,
    /// Actions invoked around changes.
    pub action_triggers: Vec<ActionTrigger>,
    /// The location of the block's header.
    pub span: Span,
}

impl Lifecycle {
    /// The one that all resources without a `lifecycle` block share.
    pub fn none() -> Arc<Self> {
        static NONE: LazyLock<Arc<Lifecycle>> = LazyLock::new(Arc::default);
        Arc::clone(&NONE)
    }
}

/// The value of the `ignore_changes` argument.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum IgnoreChanges {
    /// No change is ignored.
    #[default]
    None,
    /// No change counts: `all`.
    All,
    /// Changes at these places do not count; each is relative to the resource.
    Paths(Vec<Traversal>),
    /// An expression that yields the list of paths as strings, to be evaluated by the planner.
    Expression(Expression),
}

/// A decoded `action_trigger` block.
#[derive(Clone, Debug, PartialEq)]
pub struct ActionTrigger {
    /// The events, as written.
    pub events: Vec<Expression>,
    /// The condition for invoking the actions.
    pub condition: Option<Expression>,
    /// The actions to invoke.
    pub actions: Vec<Expression>,
    /// The location of the block's header.
    pub span: Span,
}

/// A decoded `provisioner` block.
#[derive(Clone, Debug)]
pub struct Provisioner {
    /// The provisioner type.
    pub kind: Name,
    /// The time of the run.
    pub when: ProvisionerWhen,
    /// The treatment of a failure.
    pub on_failure: OnFailure,
    /// The arguments of the provisioner.
    pub body: Body,
    /// The connection of this provisioner.
    pub connection: Option<Connection>,
    /// The location of the block's header.
    pub span: Span,
}

impl Provisioner {
    /// The meta-arguments of such a block.
    pub const WORDS: &[&str] = &["when", "on_failure", "connection"];
}

/// The time when a provisioner runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProvisionerWhen {
    /// After the object is created.
    #[default]
    Create,
    /// Before it is destroyed.
    Destroy,
}

/// The treatment of a provisioner's failure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnFailure {
    /// The failure fails the operation.
    #[default]
    Fail,
    /// The operation goes on.
    Continue,
}

/// A decoded `connection` block.
#[derive(Clone, Debug)]
pub struct Connection {
    /// The arguments of the connection.
    pub body: Body,
    /// The location of the block's header.
    pub span: Span,
}
