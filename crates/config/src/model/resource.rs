//! Managed, data and ephemeral resources with their meta-arguments.

use std::sync::{Arc, LazyLock};

use groma_address::{Mode, Name, Resource as ResourceAddress};
use groma_diagnostics::Span;
use groma_hcl::{Body, Expression, Traversal};

use super::named_value::Condition;
use super::provider::{LocalProvider, LocalProviderRef};

/// A `resource`, `data`, `ephemeral` or `list` block.
#[derive(Clone, Debug)]
pub struct Resource {
    /// Mode, type and name of the resource.
    pub address: ResourceAddress,
    /// Resource-specific arguments: the block without its meta-arguments.
    pub body: Body,
    /// `count`: the number of instances.
    pub count: Option<Expression>,
    /// `for_each`: one instance for each element.
    pub for_each: Option<Expression>,
    /// The `provider` argument. Without one, the resource uses the default configuration of the provider that its type
    /// implies.
    pub provider: Option<LocalProviderRef>,
    /// Explicit dependencies, in addition to the references in the block.
    pub depends_on: Vec<Traversal>,
    /// The `lifecycle` block. Resources without one share an empty one.
    pub lifecycle: Arc<Lifecycle>,
    /// `provisioner` blocks in source order.
    pub provisioners: Vec<Provisioner>,
    /// The resource's `connection` block, the default of its provisioners.
    pub connection: Option<Connection>,
    /// The check block that contains this data block. Errors of such a resource are warnings.
    pub check: Option<Name>,
    /// Search options of a `list` block. Boxed because they are rare.
    pub search: Option<Box<Search>>,
    /// Span of the whole block.
    pub span: Span,
    /// Span of the block's header: keyword and labels.
    pub header_span: Span,
    /// Span of the type label.
    pub type_span: Span,
}

impl Resource {
    /// Returns the meta-arguments and nested blocks that the language defines for the resource's mode.
    pub fn meta_arguments(&self) -> &'static [&'static str] {
        match self.address.mode {
            Mode::Managed => &["count", "for_each", "provider", "depends_on", "lifecycle", "provisioner", "connection"],
            Mode::Data | Mode::Ephemeral => &["count", "for_each", "provider", "depends_on", "lifecycle"],
            Mode::List => &[],
        }
    }

    /// Returns the local name of the provider configuration that the resource uses.
    pub fn local_provider(&self) -> LocalProvider {
        match &self.provider {
            Some(reference) => reference.provider.clone(),
            None => LocalProvider::default_of(implied_provider(&self.address.type_name)),
        }
    }
}

/// Returns the local provider name that a resource type implies: everything before the first underscore.
pub(crate) fn implied_provider(type_name: &Name) -> Name {
    match type_name.split_once('_') {
        Some((provider, _)) => provider.into(),
        None => Name::clone(type_name),
    }
}

/// Search options of a `list` block.
#[derive(Clone, Debug)]
pub struct Search {
    /// `include_resource`: whether results include all attributes.
    pub include_resource: Option<Expression>,
    /// `limit`: the maximum number of results.
    pub limit: Option<Expression>,
    /// Span after the header, the start of the block's body.
    pub body_start: Span,
}

impl Resource {
    /// Whether `count` or `for_each` is set, so the number of instances may be any, including zero.
    pub fn is_repeated(&self) -> bool {
        self.count.is_some() || self.for_each.is_some()
    }

    /// Returns the connection if a provisioner can use it. Without provisioners the block is never evaluated.
    pub fn used_connection(&self) -> Option<&Connection> {
        self.connection.as_ref().filter(|_| !self.provisioners.is_empty())
    }

    /// Returns the span for errors about the body as a whole, such as a missing argument.
    pub fn body_start(&self) -> Span {
        self.search.as_ref().map_or_else(|| self.body.missing_item_span(), |search| search.body_start)
    }
}

/// A `lifecycle` block of a resource.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lifecycle {
    /// Whether a replacement is created before the old object is destroyed.
    pub create_before_destroy: Option<Expression>,
    /// Whether a plan that would destroy the object fails.
    pub prevent_destroy: Option<Expression>,
    /// Attributes whose changes in the configuration are ignored.
    pub ignore_changes: IgnoreChanges,
    /// References whose changes force a replacement.
    pub replace_triggered_by: Vec<Expression>,
    /// Conditions that must hold before the object is planned.
    pub preconditions: Vec<Condition>,
    /// Conditions that must hold once the object is known.
    pub postconditions: Vec<Condition>,
    /// `enabled`: whether the resource has an instance at all.
    pub enabled: Option<Expression>,
    /// Whether the object is destroyed once it is no longer declared; otherwise it is only removed from the state.
    pub destroy: Option<Expression>,
    /// `action_trigger` blocks in source order.
    pub action_triggers: Vec<ActionTrigger>,
    /// Span of the block's header.
    pub span: Span,
}

impl Lifecycle {
    /// Returns the shared empty block of resources without a `lifecycle` block.
    pub fn none() -> Arc<Self> {
        static NONE: LazyLock<Arc<Lifecycle>> = LazyLock::new(Arc::default);
        Arc::clone(&NONE)
    }
}

/// The `ignore_changes` argument.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum IgnoreChanges {
    /// No changes are ignored.
    #[default]
    None,
    /// All changes are ignored: `all`.
    All,
    /// Changes of these attributes are ignored; each path is relative to the resource.
    Paths(Vec<Traversal>),
    /// Expression that yields the list of paths as strings, evaluated by the planner.
    Expression(Expression),
}

/// An `action_trigger` block: actions to invoke before or after a change.
#[derive(Clone, Debug, PartialEq)]
pub struct ActionTrigger {
    /// `events`: the changes that trigger the actions, as written.
    pub events: Vec<Expression>,
    /// `condition`: whether the trigger is active.
    pub condition: Option<Expression>,
    /// `actions`: references to the actions to invoke.
    pub actions: Vec<Expression>,
    /// Span of the block's header.
    pub span: Span,
}

/// A `provisioner` block: a program to run on creation or destruction.
#[derive(Clone, Debug)]
pub struct Provisioner {
    /// The provisioner type: the block's label.
    pub kind: Name,
    /// Creation or destruction.
    pub when: ProvisionerWhen,
    /// Effect of a failure on the operation.
    pub on_failure: OnFailure,
    /// Arguments of the provisioner type.
    pub body: Body,
    /// The provisioner's own `connection` block.
    pub connection: Option<Connection>,
    /// Span of the block's header.
    pub span: Span,
}

impl Provisioner {
    /// Meta-arguments and nested blocks that the language defines in a `provisioner` block.
    pub const META_ARGUMENTS: &[&str] = &["when", "on_failure", "connection"];
}

/// The event that a provisioner runs at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProvisionerWhen {
    /// After the object is created.
    #[default]
    Create,
    /// Before the object is destroyed.
    Destroy,
}

/// The effect of a failing provisioner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnFailure {
    /// The operation fails and the object becomes tainted.
    #[default]
    Fail,
    /// The failure is logged and the operation continues.
    Continue,
}

/// A `connection` block: how provisioners connect to the object.
#[derive(Clone, Debug)]
pub struct Connection {
    /// Arguments, such as the host and the credentials.
    pub body: Body,
    /// Span of the block's header.
    pub span: Span,
}
