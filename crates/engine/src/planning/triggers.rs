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
use crate::world::{InstanceScope, ModuleId};

/// The object or attribute that an entry of `replace_triggered_by` names.
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

    /// Whether the object that `trigger` names changes. A missing attribute only matters when its object changes, as in Terraform.
    fn fires(&mut self, instance: Instance, trigger: &Trigger<'_>) -> Result<bool, Diagnostic> {
        let number = trigger.resource;
        let Some(key) = &trigger.key else {
            if trigger.steps.is_empty() {
                return Ok(self.acts(instance.module, number));
            }
            return self.fires_at(instance.module, number, 0, trigger.steps);
        };
        let data = self.world.module(instance.module).resources.get(number as usize);
        let position = data.and_then(|data| data.expansion.position(key));
        position.map_or(Ok(false), |position| self.fires_at(instance.module, number, position, trigger.steps))
    }

    /// Whether `steps` lead to something in the object of an instance that changes.
    fn fires_at(&self, module: ModuleId, number: u32, at: usize, steps: &[Step]) -> Result<bool, Diagnostic> {
        let Some(change) = self.acting(Instance { module, resource: number, position: at }) else { return Ok(false) };
        if let Some(template) = self.templates.resource(self.world.module(module).of, number) {
            static_references::in_block(&template.schema.block, steps)?;
        }
        let path = steps_path(steps);
        Ok(path.is_empty() || differs(&change.before, &change.after, &path))
    }

    /// Whether any instance of a resource is updated or replaced.
    fn acts(&mut self, module: ModuleId, number: u32) -> bool {
        if let Some(known) = self.acts.get(&(module, number)) {
            return *known;
        }
        let data = self.world.module(module).resources.get(number as usize);
        let mut positions = 0..data.map_or(0, |data| data.expansion.len());
        let acts = positions.any(|position| self.acting(Instance { module, resource: number, position }).is_some());
        self.acts.insert((module, number), acts);
        acts
    }

    /// The change of an instance, if it is an update or a replacement.
    fn acting(&self, instance: Instance) -> Option<&ResourceChange> {
        let change = self.changes.get(*self.change_of.get(&instance)?)?;
        (change.action == Action::Update || change.action.is_replace()).then_some(change)
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
