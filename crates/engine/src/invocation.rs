//! Invocations of actions: what providers do beside the objects, before or after changes, or because a person asks.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use groma_address::{InstanceKey, ModuleInstance, Name, ProviderConfig, ResourceInstance};
use groma_config::Module;
use groma_diagnostics::Diagnostic;
use groma_hcl::{Expression, ExpressionKind, Step};
use groma_lang::{instance_key, instance_key_of, observing};
use groma_provider::Schema;
use groma_value::Value;

use crate::config_graph::narrow;
use crate::evaluation::Evaluation;
use crate::plan::Action;
use crate::repetition::{Arguments, expand};
use crate::templates::Template;
use crate::world::{Expansion, InstanceScope, ModuleId, World};

/// An instance of an action block.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ActionInstance {
    /// The module instance that it belongs to.
    pub module: ModuleInstance,
    /// The action type.
    pub type_name: Name,
    /// The name of the block.
    pub name: Name,
    /// Which of the block's instances.
    pub key: InstanceKey,
}

impl ActionInstance {
    /// The address inside its module.
    pub fn local(&self) -> String {
        format!("action.{}.{}{}", self.type_name, self.name, self.key)
    }
}

impl fmt::Display for ActionInstance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.module.is_root() {
            write!(f, "{}.", self.module)?;
        }
        f.write_str(&self.local())
    }
}

/// What a change does that has actions invoked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ActionEvent {
    /// A new object is about to be made.
    BeforeCreate,
    /// A new object was made.
    AfterCreate,
    /// An object is about to be changed in place.
    BeforeUpdate,
    /// An object was changed in place.
    AfterUpdate,
}

impl ActionEvent {
    const ALL: [(Self, &'static str, &'static str); 4] = [
        (Self::BeforeCreate, "before_create", "BeforeCreate"),
        (Self::AfterCreate, "after_create", "AfterCreate"),
        (Self::BeforeUpdate, "before_update", "BeforeUpdate"),
        (Self::AfterUpdate, "after_update", "AfterUpdate"),
    ];

    /// The event that a configuration calls `keyword`.
    pub fn of_keyword(keyword: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known, _)| *known == keyword).map(|(event, ..)| *event)
    }

    /// The event with this name in documents.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(.., known)| *known == name).map(|(event, ..)| *event)
    }

    /// Its name in documents.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(event, ..)| *event == self).map_or("", |(.., name)| name)
    }

    /// Whether it comes before the change.
    pub fn is_before(self) -> bool {
        matches!(self, Self::BeforeCreate | Self::BeforeUpdate)
    }

    /// Whether a change of this kind has it.
    pub fn is_of(self, action: Action) -> bool {
        match self {
            Self::BeforeCreate | Self::AfterCreate => action == Action::Create || action.is_replace(),
            Self::BeforeUpdate | Self::AfterUpdate => action == Action::Update,
        }
    }
}

/// What has an action invoked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A person asks.
    Request,
    /// An `action_trigger` block of a resource.
    Trigger {
        /// The instance that changes.
        resource: ResourceInstance,
        /// When.
        event: ActionEvent,
        /// Which block of the resource, from 0.
        block: u32,
        /// Which element of its list of actions, from 0.
        entry: u32,
    },
}

/// One invocation of an action.
#[derive(Clone, Debug)]
pub struct Invocation {
    /// What is invoked.
    pub action: ActionInstance,
    /// Why.
    pub cause: Cause,
    /// Who does it.
    pub provider: ProviderConfig,
    /// The schema of its type.
    pub schema: Arc<Schema>,
    /// The configuration as far as it was known when planning; sensitive parts are marked.
    pub config: Value,
}

impl Invocation {
    /// The event and the changed instance, unless a person asked.
    pub fn trigger(&self) -> Option<(&ResourceInstance, ActionEvent)> {
        match &self.cause {
            Cause::Request => None,
            Cause::Trigger { resource, event, .. } => Some((resource, *event)),
        }
    }

    /// Their order in a plan: as the blocks list them, for one resource after the other.
    pub(crate) fn order(&self) -> (Option<(&ResourceInstance, u32, u32, ActionEvent)>, String) {
        match &self.cause {
            Cause::Request => (None, self.action.to_string()),
            Cause::Trigger { resource, event, block, entry } => {
                (Some((resource, *block, *entry, *event)), String::new())
            }
        }
    }
}

/// An action block that a list names, with the key of the instance.
pub(crate) struct Named {
    pub(crate) block: u32,
    pub(crate) key: InstanceKey,
}

/// What an element of `actions` names: none after an error, which is noted.
pub(crate) fn named(
    expression: &Expression,
    config: &Module,
    scope: &InstanceScope<'_>,
    evaluation: &mut Evaluation,
) -> Option<Named> {
    let (source, key) = match &expression.kind {
        ExpressionKind::Index(index) => (&index.source, Some(&index.key)),
        _ => (expression, None),
    };
    let traversal = source.as_traversal()?;
    let [Step::Attribute { name: type_name, .. }, Step::Attribute { name, .. }, rest @ ..] = &*traversal.steps else {
        return None;
    };
    if &*traversal.root.name != "action" {
        return None;
    }
    let block = narrow(config.actions.get_index_of(&(type_name.clone(), name.clone()))?);
    let key = match (key, rest.first()) {
        (Some(expression), _) => evaluated_key(expression, scope, evaluation)?,
        (None, Some(Step::Index { key, .. })) => instance_key(key)?,
        (None, _) => InstanceKey::None,
    };
    Some(Named { block, key })
}

fn evaluated_key(
    expression: &Expression,
    scope: &InstanceScope<'_>,
    evaluation: &mut Evaluation,
) -> Option<InstanceKey> {
    let value = evaluation.value(expression, scope)?;
    let key = instance_key_of(&value);
    if key.is_none() {
        let detail = "The key of an instance must be a whole number or a string, and known when the plan is made.";
        let problem = Diagnostic::error("Invalid action instance key", detail).at(expression.span);
        evaluation.diagnostics.push(observing(problem, expression, scope));
    }
    key
}

/// Evaluates the blocks of actions; how often each repeats is worked out once.
#[derive(Debug, Default)]
pub(crate) struct ActionBlocks {
    expansions: HashMap<(ModuleId, u32), Option<Expansion>>,
}

impl ActionBlocks {
    /// The configuration of one instance of an action block; none after an error, which is noted.
    pub(crate) fn config(
        &mut self,
        world: &World,
        evaluation: &mut Evaluation,
        template: &Template,
        module: ModuleId,
        named: &Named,
    ) -> Option<Value> {
        let config = &world.static_module(module).config;
        let (_, block) = config.actions.get_index(named.block as usize)?;
        let expansion = self.expansion(world, evaluation, module, named.block)?;
        let Some(position) = expansion.position(&named.key) else {
            let name = format!("action.{}.{}", block.type_name, block.name);
            let detail = format!(
                "There is no instance {name}{}. Its count or for_each says which instances there are, and what names one must give the key \
                 of one that there is.",
                named.key
            );
            evaluation.diagnostics.push(Diagnostic::error("Invalid action instance key", detail).at(block.span));
            return None;
        };
        let repetition = expansion.repetition(position);
        let functions = Arc::clone(&evaluation.functions);
        let scope = InstanceScope::new(world, module, &functions).repeated(&repetition);
        let (value, problems) = template.body.evaluate(&scope);
        let failed = problems.has_errors();
        evaluation.diagnostics.append(problems);
        (!failed).then_some(value)
    }

    /// The keys of the instances of an action block; none after an error, which is noted.
    pub(crate) fn keys(
        &mut self,
        world: &World,
        evaluation: &mut Evaluation,
        module: ModuleId,
        block: u32,
    ) -> Option<Vec<InstanceKey>> {
        let expansion = self.expansion(world, evaluation, module, block)?;
        Some((0..expansion.len()).map(|position| expansion.key(position)).collect())
    }

    fn expansion(
        &mut self,
        world: &World,
        evaluation: &mut Evaluation,
        module: ModuleId,
        block: u32,
    ) -> Option<&Expansion> {
        let (_, written) = world.static_module(module).config.actions.get_index(block as usize)?;
        let expansion = self.expansions.entry((module, block)).or_insert_with(|| {
            let functions = Arc::clone(&evaluation.functions);
            let scope = InstanceScope::new(world, module, &functions);
            let arguments =
                Arguments { count: written.count.as_ref(), for_each: written.for_each.as_ref(), enabled: None };
            expand(arguments, &scope, &mut evaluation.diagnostics)
        });
        expansion.as_ref()
    }
}
