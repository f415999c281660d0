//! The end of a plan: outputs, order, and everything in its place.

use std::collections::HashSet;
use std::sync::Arc;

use groma_address::{Mode as ResourceMode, Name};
use groma_config::Module;
use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_state::Dependencies;
use groma_value::{Marks, Type, Value};

use super::Spent;
use super::order::sort_by_address;
use super::planner::Planner;
use super::relevant;
use crate::carried::carried;
use crate::checks::{Checkable, Checks, Verdict};
use crate::config_graph::NodeKind;
use crate::execution::{self, ExecutionGraph};
use crate::general_problems::reported_once;
use crate::options::Deferral;
use crate::plan::{Action, Mode, OutputChange, Plan, PlannedVariable, ResourceChange};
use crate::search::Searched;
use crate::walk::Visit;

impl Planner<'_> {
    pub(super) fn finish(mut self) -> (Plan, Diagnostics, Spent) {
        self.keep_deposed_without_replacement();
        self.keep_what_is_needed();
        self.sort();
        self.warn_of_unknown_replacements();
        self.declare_checks();
        let outputs = self.output_changes();
        let variables = self.planned_variables();
        let parting = self.parting_data();
        let going = (self.options.mode, &parting[..]);
        let relevant = relevant::attributes(&self.world, self.templates, &self.changes, &outputs, going);
        let order = self.carried_out();
        let execution =
            if self.evaluation.diagnostics.has_errors() { ExecutionGraph::default() } else { self.execution(&order) };
        self.refuse_cycle(&execution);
        let errored = self.evaluation.diagnostics.has_errors();
        let plan = Plan {
            mode: self.options.mode,
            expansions: self.world.expansions(),
            changes: self.changes,
            deferred: self.deferred,
            drift: self.drift,
            parting,
            outputs,
            prior_state: self.state,
            variables,
            targets: self.options.targets.clone(),
            excludes: self.options.excludes.clone(),
            replace: self.options.replace.clone(),
            checks: self.evaluation.checks.results(),
            relevant_attributes: relevant,
            invocations: self.invocations,
            deferred_invocations: self.deferred_invocations,
            generated: self.generated,
            timestamp: self.session.timestamp.clone(),
            errored,
            execution,
        };
        let spent = Box::new((self.world, order, self.change_of));
        (plan, reported_once(self.evaluation.diagnostics), spent)
    }

    fn sort(&mut self) {
        in_order(&mut self.changes);
        in_order(&mut self.drift);
        sort_by_address(
            &mut self.deferred,
            |deferred| (&deferred.change.address.module, &deferred.change.address.resource),
            |one, other| {
                let (one, other) = (&one.change, &other.change);
                (&one.address.key, &one.deposed).cmp(&(&other.address.key, &other.deposed))
            },
        );
        self.invocations.sort_by(|one, other| one.order().cmp(&other.order()));
        self.deferred_invocations.sort_by(|one, other| one.invocation.order().cmp(&other.invocation.order()));
    }

    /// Builds the execution graph of the plan, in the order of the nodes that apply visits.
    fn execution(&self, order: &[Visit]) -> ExecutionGraph {
        let undecided: HashSet<_> = self.undecided.iter().collect();
        let undecided: Vec<u32> = (0..)
            .zip(&self.changes)
            .filter(|(_, change)| change.deposed.is_none() && undecided.contains(&change.address))
            .map(|(at, _)| at)
            .collect();
        let dependencies = |at: usize| -> Dependencies {
            let change: Option<&ResourceChange> = self.changes.get(at);
            let record = change.and_then(|change| self.state.object(&change.address, change.deposed.as_ref()));
            record.map(|record| record.dependencies.clone()).unwrap_or_default()
        };
        let (graph, included, remains) = (&*self.graph, self.included.as_ref(), self.remains.as_ref());
        let looks_at = |module, node| {
            included.is_none_or(|included| included.node(graph, module, node))
                && remains.is_none_or(|remains| remains.executes(graph.module(module), module, node))
        };
        let keeps = |address: &_| included.is_some_and(|included| included.keeps(address));
        execution::build(&execution::Inputs {
            world: &self.world,
            order,
            changes: &self.changes,
            dependencies: &dependencies,
            undecided: &undecided,
            invocations: &self.invocations,
            mode: self.options.mode,
            looks_at: &looks_at,
            keeps: &keeps,
        })
    }

    /// The end of a search: nothing is to be done.
    pub(super) fn finish_search(mut self) -> (Vec<Searched>, Diagnostics, Spent) {
        sort_by_address(
            &mut self.searched,
            |searched| (&searched.address.module, &searched.address.resource),
            |one, other| one.address.key.cmp(&other.address.key),
        );
        let spent = Box::new((self.world, self.walk, self.change_of));
        (self.searched, reported_once(self.evaluation.diagnostics), spent)
    }

    /// The nodes that apply comes by, in their order. Values are worked out again although they are left to a later run, since others
    /// refer to them; the rest waits.
    fn carried_out(&mut self) -> Vec<Visit> {
        let order = self.walk.take_order();
        if self.options.deferral == Deferral::Refused {
            return order;
        }
        let waits = |visit: &Visit| {
            let module = self.world.static_module(visit.module);
            let left = match module.kind(visit.node) {
                NodeKind::Provider(_) | NodeKind::Check(_) | NodeKind::Validation(_) => true,
                NodeKind::Resource(at) => {
                    let resource = module.config.resources.get_index(at as usize);
                    resource.is_some_and(|(address, _)| address.mode == ResourceMode::Ephemeral)
                }
                _ => false,
            };
            left && self.walk.is_deferred(*visit)
        };
        order.into_iter().filter(|visit| !waits(visit)).collect()
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

    /// Registers all blocks with conditions, even those that were not evaluated. A destroy plan decides nothing.
    fn declare_checks(&mut self) {
        let destroys = self.options.mode == Mode::Destroy;
        if destroys {
            self.evaluation.checks = Checks::new();
        }
        let graph = Arc::clone(&self.graph);
        for (index, module) in graph.modules() {
            for (node, block) in module.nodes() {
                let Some((kind, address)) = checked_block(&module.config, block) else { continue };
                self.evaluation.checks.declare(kind, address.clone());
                let looked_at = self.included.as_ref().is_none_or(|included| included.node(&graph, index, node));
                match destroys {
                    _ if !looked_at => {}
                    false => self.evaluation.checks.count(kind, address),
                    true if kind == Checkable::Output && module.config.path.is_root() && self.included.is_none() => {
                        self.evaluation.checks.report(kind, address.clone(), address, &Verdict::Unknown);
                    }
                    true => {}
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
                // What was never there does not go, nor what nobody aimed at.
                Mode::Destroy if before.is_none() || self.included.is_some() => continue,
                Mode::Destroy => None,
                Mode::Normal | Mode::RefreshOnly => match root.outputs.get(at).cloned().flatten() {
                    Some(value) if !value.is_wholly_known() && self.is_left_output(at) => continue,
                    Some(value) => Some(carried(value)),
                    // Left out of a partial plan, or not worked out: it stays as it is.
                    None => continue,
                },
            };
            // What is null is not recorded, nor of what type it would be.
            let after = after.filter(|value| before.is_some() || !value.is_null());
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
            if !config.outputs.contains_key(name) && self.included.is_none() {
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

    /// Whether an output of the root module is left to a later run.
    fn is_left_output(&self, at: usize) -> bool {
        let module = crate::world::ModuleId::ROOT;
        self.walk.is_deferred(Visit { module, node: self.world.static_module(module).output(at) })
    }

    fn recorded_output(&self, name: &Name) -> Option<Value> {
        let known = self.state.outputs.get(name)?;
        let marks = if known.sensitive { Marks::SENSITIVE } else { Marks::NONE };
        Some(known.value.clone().with_marks(&marks))
    }

    /// Returns the variables as they were set; apply converts them again.
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

/// Returns the kind and address of a node, if it is a block with conditions.
fn checked_block(config: &Module, node: NodeKind) -> Option<(Checkable, String)> {
    let (kind, own) = match node {
        NodeKind::Resource(at) => {
            let (address, resource) = config.resources.get_index(at as usize)?;
            let rules = [&resource.lifecycle.preconditions, &resource.lifecycle.postconditions];
            (rules.iter().any(|rules| !rules.is_empty())).then(|| (Checkable::Resource, address.to_string()))
        }
        NodeKind::Output(at) => {
            let (name, output) = config.outputs.get_index(at as usize)?;
            (!output.preconditions.is_empty()).then(|| (Checkable::Output, format!("output.{name}")))
        }
        NodeKind::Check(at) => Some((Checkable::Check, format!("check.{}", config.checks.get_index(at as usize)?.0))),
        NodeKind::Variable(at) => {
            let (name, variable) = config.variables.get_index(at as usize)?;
            (!variable.validations.is_empty()).then(|| (Checkable::Variable, format!("var.{name}")))
        }
        _ => None,
    }?;
    Some((kind, if config.path.is_root() { own } else { format!("{}.{own}", config.path) }))
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
