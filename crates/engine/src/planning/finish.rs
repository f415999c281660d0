//! The end of a plan: outputs, order, and everything in its place.

use std::collections::HashSet;

use groma_address::Name;
use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_state::Dependencies;
use groma_value::{Marks, Type, Value};

use super::Spent;
use super::order::sort_by_address;
use super::planner::Planner;
use super::relevant;
use crate::checks::Checkable;
use crate::execution;
use crate::search::Searched;
use crate::plan::{Action, Mode, OutputChange, Plan, PlannedVariable, ResourceChange};

impl Planner<'_> {
    pub(super) fn finish(mut self) -> (Plan, Diagnostics, Spent) {
        in_order(&mut self.changes);
        in_order(&mut self.drift);
        self.warn_of_unknown_replacements();
        self.declare_checks();
        let outputs = self.output_changes();
        let variables = self.planned_variables();
        let relevant = relevant::attributes(&self.world, self.templates, &self.changes, &outputs);
        let errored = self.evaluation.diagnostics.has_errors();
        let undecided: HashSet<_> = self.undecided.into_iter().collect();
        let undecided: Vec<u32> = self
            .changes
            .iter()
            .enumerate()
            .filter(|(_, change)| change.deposed.is_none() && undecided.contains(&change.address))
            .map(|(at, _)| crate::config_graph::narrow(at))
            .collect();
        let mut invocations = self.invocations;
        invocations.sort_by(|one, other| one.order().cmp(&other.order()));
        let order = self.walk.into_order();
        let state = &self.state;
        let changes = &self.changes;
        let dependencies = |at: usize| -> Dependencies {
            let change: Option<&ResourceChange> = changes.get(at);
            let record = change.and_then(|change| state.object(&change.address, change.deposed.as_ref()));
            record.map(|record| record.dependencies.clone()).unwrap_or_default()
        };
        let inputs = execution::Inputs {
            world: &self.world,
            order: &order,
            changes,
            dependencies: &dependencies,
            undecided: &undecided,
            invocations: &invocations,
            mode: self.options.mode,
        };
        let execution = if errored { execution::ExecutionGraph::default() } else { execution::build(&inputs) };
        let plan = Plan {
            mode: self.options.mode,
            expansions: self.world.expansions(),
            changes: self.changes,
            drift: self.drift,
            outputs,
            prior_state: self.state,
            variables,
            targets: self.options.targets.clone(),
            replace: self.options.replace.clone(),
            checks: self.evaluation.checks.results(),
            relevant_attributes: relevant,
            invocations,
            generated: self.generated,
            timestamp: self.session.timestamp.clone(),
            errored,
            execution,
        };
        let spent = Box::new((self.world, order, self.change_of));
        (plan, self.evaluation.diagnostics, spent)
    }

    /// The end of a search: nothing is to be done.
    pub(super) fn finish_search(mut self) -> (Vec<Searched>, Diagnostics, Spent) {
        sort_by_address(
            &mut self.searched,
            |searched| (&searched.address.module, &searched.address.resource),
            |one, other| one.address.key.cmp(&other.address.key),
        );
        let spent = Box::new((self.world, self.walk.into_order(), self.change_of));
        (self.searched, self.evaluation.diagnostics, spent)
    }

    /// A replace option that names nothing is a slip (PL-60).
    fn warn_of_unknown_replacements(&mut self) {
        for address in &self.options.replace {
            if self.changes.iter().any(|change| change.address == *address) {
                continue;
            }
            let names: Vec<String> = self.changes.iter().map(|change| change.address.to_string()).collect();
            let wanted = address.to_string();
            let hint = groma_diagnostics::suggest(&wanted, names.iter().map(String::as_str));
            let hint = hint.map(|name| format!(" Did you mean {name}?")).unwrap_or_default();
            let detail = format!(
                "The -replace option names {wanted}, but there is no such instance, so it has no effect.{hint}"
            );
            self.evaluation
                .diagnostics
                .push(Diagnostic::warning("Incompletely-matched force-replace resource instance", detail));
        }
    }

    /// Blocks with conditions of which no instance was met are known, but not decided.
    fn declare_checks(&mut self) {
        for (_, module) in self.graph.modules() {
            let config = &module.config;
            let within = |name: String| if config.path.is_root() { name } else { format!("{}.{name}", config.path) };
            for (address, resource) in &config.resources {
                let lifecycle = &resource.lifecycle;
                if !lifecycle.preconditions.is_empty() || !lifecycle.postconditions.is_empty() {
                    self.evaluation.checks.declare(Checkable::Resource, within(address.to_string()));
                }
            }
            for (name, output) in &config.outputs {
                if !output.preconditions.is_empty() {
                    self.evaluation.checks.declare(Checkable::Output, within(format!("output.{name}")));
                }
            }
            for name in config.checks.keys() {
                self.evaluation.checks.declare(Checkable::Check, within(format!("check.{name}")));
            }
            for (name, variable) in &config.variables {
                if !variable.validations.is_empty() {
                    self.evaluation.checks.declare(Checkable::Variable, within(format!("var.{name}")));
                }
            }
        }
    }

    fn output_changes(&self) -> Vec<OutputChange> {
        let root = self.world.module(crate::world::ModuleId::ROOT);
        let config = &self.graph.module(root.of).config;
        let mut changes = Vec::new();
        for (at, (name, output)) in config.outputs.iter().enumerate() {
            let before = self.recorded_output(name);
            let after = match self.options.mode {
                // What was never there does not go.
                Mode::Destroy if before.is_none() => continue,
                Mode::Destroy => None,
                Mode::Normal | Mode::RefreshOnly => match root.outputs.get(at).cloned().flatten() {
                    Some(value) => Some(value),
                    // Left out of a partial plan, or not worked out: it stays as it is.
                    None => continue,
                },
            };
            let action = compare(before.as_ref(), after.as_ref());
            let sensitive = output.sensitive || before.as_ref().is_some_and(|value| value.marks().is_sensitive());
            changes.push(OutputChange {
                name: name.clone(),
                action,
                before: before.unwrap_or(Value::null(Type::Dynamic)),
                after: after.unwrap_or(Value::null(Type::Dynamic)),
                sensitive,
            });
        }
        for (name, known) in &self.state.outputs {
            if !config.outputs.contains_key(name) {
                changes.push(OutputChange {
                    name: name.clone(),
                    action: Action::Delete,
                    before: self.recorded_output(name).unwrap_or(Value::null(Type::Dynamic)),
                    after: Value::null(Type::Dynamic),
                    sensitive: known.sensitive,
                });
            }
        }
        changes.sort_by(|one, other| one.name.cmp(&other.name));
        changes
    }

    fn recorded_output(&self, name: &Name) -> Option<Value> {
        let known = self.state.outputs.get(name)?;
        let marks = if known.sensitive { Marks::SENSITIVE } else { Marks::NONE };
        Some(known.value.clone().with_marks(&marks))
    }

    /// What was given is kept as it was given; apply converts it again.
    fn planned_variables(&self) -> Vec<PlannedVariable> {
        let root = self.world.module(crate::world::ModuleId::ROOT);
        let config = &self.graph.module(root.of).config;
        let known = config.variables.iter().zip(&root.variables);
        let planned = known.filter(|((_, variable), _)| !variable.ephemeral).filter_map(|((name, variable), used)| {
            let given = self.evaluation.inputs.get(name).map(|input| &input.value);
            // A variable that no target needs has its default all the same.
            let value = given.or(used.as_ref()).cloned().or_else(|| variable.default_value())?;
            Some(PlannedVariable { name: name.clone(), value })
        });
        planned.collect()
    }
}

fn in_order(changes: &mut [ResourceChange]) {
    sort_by_address(
        changes,
        |change| (&change.address.module, &change.address.resource),
        |one, other| (&one.address.key, &one.deposed).cmp(&(&other.address.key, &other.deposed)),
    );
}

fn compare(before: Option<&Value>, after: Option<&Value>) -> Action {
    match (before, after) {
        (None, None) => Action::NoOp,
        (None, Some(_)) => Action::Create,
        (Some(_), None) => Action::Delete,
        (Some(before), Some(after)) if before == after => Action::NoOp,
        (Some(before), Some(after)) => {
            // Outputs keep whether they are sensitive, not which parts of them are.
            let same = before.unmark_deep().0 == after.unmark_deep().0;
            let hidden = before.marks().is_sensitive() == after.marks().is_sensitive();
            if same && hidden { Action::NoOp } else { Action::Update }
        }
    }
}
