//! The blocks of actions: which one a list names, and what an instance's configuration is.

use std::collections::HashMap;
use std::sync::Arc;

use groma_address::InstanceKey;
use groma_config::Module;
use groma_diagnostics::{Diagnostic, Span};
use groma_hcl::{Expression, ExpressionKind, Step};
use groma_lang::{instance_key, instance_key_of, observing};
use groma_value::Value;

use crate::config_graph::narrow;
use crate::deprecation::report_deprecated_body;
use crate::evaluation::Evaluation;
use crate::options::Deferral;
use crate::repetition::{Arguments, expand_or_defer};
use crate::templates::Template;
use crate::world::{Expansion, InstanceScope, ModuleId, Repetition, World};

/// An action block that a list names, or a person, with the key of the instance.
pub(crate) struct Named {
    pub(crate) block: u32,
    pub(crate) key: NamedKey,
    /// The element of the list.
    pub(crate) named_at: Option<Span>,
}

/// The key of an instance that a list names.
pub(crate) enum NamedKey {
    Known(InstanceKey),
    /// A later run will know it.
    Open,
}

/// Returns the action that an element of `actions` refers to; `None` after an error, which is recorded. An unknown key is an error,
/// unless `deferral` leaves it to
/// a later run.
pub(crate) fn named(
    expression: &Expression,
    config: &Module,
    scope: &InstanceScope<'_>,
    evaluation: &mut Evaluation,
    deferral: Deferral,
) -> Option<Named> {
    let (source, key) = match &expression.kind {
        ExpressionKind::Index(index) => (&index.source, Some(&index.key)),
        _ => (expression, None),
    };
    let traversal = source.as_traversal()?;
    let [Step::Attribute { name: type_name, .. }, Step::Attribute { name, .. }, rest @ ..] = traversal.steps() else {
        return None;
    };
    if &*traversal.root.name != "action" {
        return None;
    }
    let block = narrow(config.actions.get_index_of(&(type_name.clone(), name.clone()))?);
    let key = match (key, rest.first()) {
        (Some(expression), _) => evaluated_key(expression, scope, evaluation, deferral)?,
        (None, Some(Step::Index { key, .. })) => NamedKey::Known(instance_key(key)?),
        (None, _) => NamedKey::Known(InstanceKey::None),
    };
    Some(Named { block, key, named_at: Some(expression.span) })
}

fn evaluated_key(
    expression: &Expression,
    scope: &InstanceScope<'_>,
    evaluation: &mut Evaluation,
    deferral: Deferral,
) -> Option<NamedKey> {
    let value = evaluation.value(expression, scope)?;
    if deferral == Deferral::Allowed && !value.is_known() {
        return Some(NamedKey::Open);
    }
    let key = instance_key_of(&value).map(NamedKey::Known);
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
    deferral: Deferral,
    expansions: HashMap<(ModuleId, u32), Option<Expansion>>,
}

impl ActionBlocks {
    /// Creates an evaluation in which unknown repetition of action blocks may be deferred, if `deferral` allows it.
    pub(crate) fn with(deferral: Deferral) -> Self {
        Self { deferral, ..Self::default() }
    }

    /// Whether how often an action block repeats is left to a later run; none after an error, which is noted.
    pub(crate) fn is_open(
        &mut self,
        world: &World,
        evaluation: &mut Evaluation,
        module: ModuleId,
        block: u32,
    ) -> Option<bool> {
        Some(matches!(self.expansion(world, evaluation, module, block)?, Expansion::Unknown))
    }

    /// The configuration of one instance of an action block; none after an error, which is noted.
    pub(crate) fn config(
        &mut self,
        world: &World,
        evaluation: &mut Evaluation,
        template: &Template,
        module: ModuleId,
        named: &Named,
    ) -> Option<Value> {
        let repetition = self.repetition(world, evaluation, module, named)?;
        let functions = Arc::clone(&evaluation.functions);
        let scope = InstanceScope::new(world, module, &functions).repeated(&repetition);
        let (value, mut problems) = template.body.evaluate(&scope);
        let value = report_deprecated_body(value, &template.body, &mut problems);
        let failed = problems.has_errors();
        evaluation.diagnostics.append(problems);
        (!failed).then_some(value)
    }

    /// Returns the values of `each` and `count` for one instance of an action block; `None` after an error, which is recorded.
    pub(crate) fn repetition(
        &mut self,
        world: &World,
        evaluation: &mut Evaluation,
        module: ModuleId,
        named: &Named,
    ) -> Option<Repetition> {
        let config = &world.static_module(module).config;
        let (_, block) = config.actions.get_index(named.block as usize)?;
        let expansion = self.expansion(world, evaluation, module, named.block)?;
        if matches!(expansion, Expansion::Unknown) {
            return Some(expansion.repetition(0));
        }
        let NamedKey::Known(key) = &named.key else {
            return Some(Expansion::Unknown.repetition(0));
        };
        let Some(position) = expansion.position(key) else {
            let name = format!("action.{}.{}", block.type_name, block.name);
            let detail =
                format!("The instance {name}{key} does not exist. Use a key that its count or for_each produces.");
            let problem = match named.named_at {
                Some(span) => Diagnostic::error("Reference to non-existent action instance", detail).at(span),
                None => Diagnostic::error("Invalid action", detail).at(block.span),
            };
            evaluation.diagnostics.push(problem);
            return None;
        };
        Some(expansion.repetition(position))
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
        let deferral = self.deferral;
        let expansion = self.expansions.entry((module, block)).or_insert_with(|| {
            let functions = Arc::clone(&evaluation.functions);
            let scope = InstanceScope::new(world, module, &functions);
            let arguments =
                Arguments { count: written.count.as_ref(), for_each: written.for_each.as_ref(), enabled: None };
            expand_or_defer(arguments, deferral, &scope, &mut evaluation.diagnostics)
        });
        expansion.as_ref()
    }
}
