//! `replace_triggered_by`: a planned change elsewhere replaces an instance (PL-21).

use std::sync::Arc;

use groma_address::InstanceKey;
use groma_config::Module;
use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_hcl::{Expression, ExpressionKind, Step, Traversal};
use groma_lang::{Binding, instance_key, instance_key_of};
use groma_value::{Path, Value};

use super::event::Instance;
use super::ignore::steps_path;
use super::planner::Planner;
use crate::plan::{Action, ResourceChange};
use crate::static_references;
use crate::world::InstanceScope;

/// What an entry of the list names: an object, or the part of it that `steps` lead to.
struct Trigger<'a> {
    resource: u32,
    key: Option<InstanceKey>,
    steps: &'a [Step],
}

impl Planner<'_> {
    /// Whether something that the instance is to be replaced after changes.
    pub(super) fn triggered(&mut self, instance: Instance) -> bool {
        let config = Arc::clone(&self.world.static_module(instance.module).config);
        let Some((_, resource)) = config.resources.get_index(instance.resource as usize) else { return false };
        let entries = &resource.lifecycle.replace_triggered_by;
        let mut triggered = false;
        for entry in entries {
            let Some(trigger) = self.trigger(instance, entry) else { continue };
            match self.fires(instance, &trigger) {
                Ok(fires) => triggered |= fires,
                Err(problem) => self.evaluation.diagnostics.push(problem.within(entry.span)),
            }
        }
        triggered
    }

    fn trigger<'a>(&self, instance: Instance, entry: &'a Expression) -> Option<Trigger<'a>> {
        let config = &self.world.static_module(instance.module).config;
        match &entry.kind {
            ExpressionKind::Traversal(traversal) => plain(config, traversal),
            ExpressionKind::Index(index) => {
                let ExpressionKind::Traversal(traversal) = &index.source.kind else { return None };
                Some(Trigger { key: Some(self.key(instance, &index.key)?), ..plain(config, traversal)? })
            }
            ExpressionKind::Relative(relative) => {
                let inner = self.trigger(instance, &relative.source)?;
                Some(Trigger { steps: &relative.steps, ..inner })
            }
            _ => None,
        }
    }

    fn key(&self, instance: Instance, expression: &Expression) -> Option<InstanceKey> {
        let repetition = self.repetition(instance);
        let scope = InstanceScope::new(&self.world, instance.module, &self.evaluation.functions).repeated(&repetition);
        let value = groma_lang::evaluate(expression, &scope, &mut Diagnostics::new());
        instance_key_of(&value)
    }

    /// Whether what `trigger` names changes. That there is no such thing matters when its object does, as in Terraform.
    fn fires(&self, instance: Instance, trigger: &Trigger<'_>) -> Result<bool, Diagnostic> {
        let number = trigger.resource;
        let module = self.world.module(instance.module);
        let Some(data) = module.resources.get(number as usize) else { return Ok(false) };
        let positions = match &trigger.key {
            Some(key) => data.expansion.position(key).map_or(0..0, |at| at..at + 1),
            None => 0..data.expansion.len(),
        };
        let changes: Vec<&ResourceChange> = positions
            .filter_map(|position| {
                let other = Instance { module: instance.module, resource: number, position };
                self.change_of.get(&other).and_then(|at| self.changes.get(*at))
            })
            .filter(|change| change.action == Action::Update || change.action.is_replace())
            .collect();
        if let (false, Some(template)) = (changes.is_empty(), self.templates.resource(module.of, number)) {
            static_references::in_block(&template.schema.block, trigger.steps)?;
        }
        let path = steps_path(trigger.steps);
        Ok(changes.iter().any(|change| path.is_empty() || differs(&change.before, &change.after, &path)))
    }
}

fn differs(before: &Value, after: &Value, path: &Path) -> bool {
    match (before.path_get(path), after.path_get(path)) {
        (Ok(before), Ok(after)) => before.unmark_deep().0 != after.unmark_deep().0,
        (Err(_), Err(_)) => false,
        _ => true,
    }
}

fn plain<'a>(config: &Module, traversal: &'a Traversal) -> Option<Trigger<'a>> {
    let binding = config.binding(traversal)?;
    let (Binding::Resource(resource) | Binding::PrefixedResource(resource)) = binding else { return None };
    let index = binding.index(traversal);
    let steps = traversal.steps().get(binding.steps() + usize::from(index.is_some())..).unwrap_or_default();
    Some(Trigger { resource, key: index.and_then(instance_key), steps })
}
