//! `replace_triggered_by`: a planned change elsewhere replaces an instance (PL-21).

use std::sync::Arc;

use groma_address::InstanceKey;
use groma_config::Module;
use groma_hcl::{Expression, ExpressionKind, Traversal};
use groma_lang::{Binding, instance_key, instance_key_of};
use groma_value::{Path, Value};

use super::event::Instance;
use super::ignore::steps_path;
use super::planner::Planner;
use crate::plan::Action;
use crate::world::InstanceScope;

/// What an entry of the list names.
struct Trigger {
    resource: u32,
    key: Option<InstanceKey>,
    path: Path,
}

impl Planner<'_> {
    /// Whether something that the instance is to be replaced after changes.
    pub(super) fn triggered(&mut self, instance: Instance) -> bool {
        let config = Arc::clone(&self.world.static_module(instance.module).config);
        let Some((_, resource)) = config.resources.get_index(instance.resource as usize) else { return false };
        let entries = &resource.lifecycle.replace_triggered_by;
        entries.iter().filter_map(|entry| self.trigger(instance, entry)).any(|trigger| self.fires(instance, &trigger))
    }

    fn trigger(&self, instance: Instance, entry: &Expression) -> Option<Trigger> {
        let config = &self.world.static_module(instance.module).config;
        match &entry.kind {
            ExpressionKind::Traversal(traversal) => plain(config, traversal),
            ExpressionKind::Index(index) => {
                let ExpressionKind::Traversal(traversal) = &index.source.kind else { return None };
                Some(Trigger { key: Some(self.key(instance, &index.key)?), ..plain(config, traversal)? })
            }
            ExpressionKind::Relative(relative) => {
                let inner = self.trigger(instance, &relative.source)?;
                Some(Trigger { path: steps_path(&relative.steps), ..inner })
            }
            _ => None,
        }
    }

    fn key(&self, instance: Instance, expression: &Expression) -> Option<InstanceKey> {
        let repetition = self.repetition(instance);
        let scope = InstanceScope::new(&self.world, instance.module, &self.evaluation.functions).repeated(&repetition);
        let value = groma_lang::evaluate(expression, &scope, &mut groma_diagnostics::Diagnostics::new());
        instance_key_of(&value)
    }

    fn fires(&self, instance: Instance, trigger: &Trigger) -> bool {
        let number = trigger.resource;
        let Some(data) = self.world.module(instance.module).resources.get(number as usize) else { return false };
        let positions = match &trigger.key {
            Some(key) => data.expansion.position(key).map_or(0..0, |at| at..at + 1),
            None => 0..data.expansion.len(),
        };
        positions.into_iter().any(|position| {
            let other = Instance { module: instance.module, resource: number, position };
            let change = self.change_of.get(&other).and_then(|at| self.changes.get(*at));
            change.is_some_and(|change| {
                let acts = change.action == Action::Update || change.action.is_replace();
                acts && (trigger.path.is_empty() || differs(&change.before, &change.after, &trigger.path))
            })
        })
    }
}

fn differs(before: &Value, after: &Value, path: &Path) -> bool {
    match (before.path_get(path), after.path_get(path)) {
        (Ok(before), Ok(after)) => before.unmark_deep().0 != after.unmark_deep().0,
        (Err(_), Err(_)) => false,
        _ => true,
    }
}

fn plain(config: &Module, traversal: &Traversal) -> Option<Trigger> {
    let binding = config.binding(traversal)?;
    let (Binding::Resource(resource) | Binding::PrefixedResource(resource)) = binding else { return None };
    let index = binding.index(traversal);
    let rest = traversal.steps().get(binding.steps() + usize::from(index.is_some())..).unwrap_or_default();
    Some(Trigger { resource, key: index.and_then(instance_key), path: steps_path(rest) })
}
