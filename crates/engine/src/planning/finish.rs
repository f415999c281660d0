//! The end of a plan: changes of outputs, relevant attributes, the execution graph, and the finished [`Plan`].

use std::collections::BTreeSet;
use std::sync::Arc;

use groma_address::{Mode as ResourceMode, Name};
use groma_config::Module;
use groma_diagnostics::{Diagnostic, Diagnostics, Span};
use groma_plan::{
    Action, ExecutionGraph, Mode, OutputChange, Plan, PlannedVariable, ResourceChange, Step, after_round_trip,
};
use groma_state::{Dependencies, State};
use groma_value::{Marks, Type, Value};

use super::Spent;
use super::data;
use super::inputs::Inputs;
use super::plan_builder::PlanBuilder;
use super::planner::Planner;
use super::relevant;
use super::schedule::Schedule;
use crate::checks::{Checkable, Checks, Verdict};
use crate::config_graph::NodeKind;
use crate::evaluation::Evaluation;
use crate::hooks::Searched;
use crate::merge_diagnostics::reported_once;
use crate::options::Deferral;
use crate::ordering;
use crate::walk::Visit;
use crate::world::World;

pub(super) fn finish(mut planner: Planner<'_>) -> (Plan, Diagnostics, Spent) {
    // Before sorting: changes that depend on deferred ones are moved to them as a whole.
    planner.plan.defer_with_others(&planner.state);
    planner.plan.sort();
    warn_of_unknown_replacements(&planner.inputs, &mut planner.evaluation, &planner.plan);
    // Blocks that this plan did not evaluate are declared as well, with an unknown result.
    declare_checks(&planner.inputs, &mut planner.evaluation);
    let outputs = output_changes(&planner);
    let variables = planned_variables(&planner.inputs, &planner.world, &planner.evaluation);
    let disposal = data::removed_data(&planner.inputs, &planner.state);
    let going = (planner.inputs.mode(), &disposal[..]);
    let relevant =
        relevant::attributes(&planner.world, planner.inputs.templates(), planner.plan.changes(), &outputs, going);
    let order = remaining_visits(&planner.inputs, &planner.world, &mut planner.schedule);
    // A plan with errors is only shown, and its edges might be incomplete.
    let execution = if planner.evaluation.diagnostics.has_errors() {
        ExecutionGraph::default()
    } else {
        execution(&planner, &order)
    };
    refuse_cycle(&planner.inputs, &mut planner.evaluation, &planner.plan, &execution);
    // Again, because a cycle is an error that is found only in the finished graph.
    let errored = planner.evaluation.diagnostics.has_errors();
    let contents = planner.plan.finish();
    let options = planner.inputs.options();
    let plan = Plan {
        mode: options.mode,
        expansions: planner.world.expansions(),
        changes: contents.changes,
        deferred: contents.deferred,
        drift: contents.drift,
        disposal,
        outputs,
        prior_state: planner.state,
        variables,
        targets: options.targets.clone(),
        excludes: options.excludes.clone(),
        replace: options.replace.clone(),
        checks: planner.evaluation.checks.results(),
        relevant_attributes: relevant,
        invocations: contents.invocations,
        deferred_invocations: contents.deferred_invocations,
        generated: contents.generated,
        timestamp: planner.inputs.session().timestamp.clone(),
        errored,
        execution,
    };
    // Large values are released by the caller, if at all, so that a process that exits does not wait for it.
    let spent = Box::new((planner.world, order, contents.spent));
    (plan, reported_once(planner.evaluation.diagnostics), spent)
}

/// Builds the execution graph of the plan, in the order of the nodes that apply visits.
fn execution(planner: &Planner<'_>, order: &[Visit]) -> ExecutionGraph {
    let (changes, undecided) = (planner.plan.changes(), planner.plan.undecided_changes());
    let dependencies = |at: usize| -> Dependencies {
        let change: Option<&ResourceChange> = changes.get(at);
        let record = change.and_then(|change| planner.state.object(&change.address, change.deposed.as_ref()));
        record.map(|record| record.dependencies.clone()).unwrap_or_default()
    };
    let (graph, included, destroy_scope) =
        (planner.inputs.graph(), planner.inputs.targets(), planner.inputs.destroy_needs());
    let is_included = |module, node| {
        included.is_none_or(|included| included.node(graph, module, node))
            && destroy_scope.is_none_or(|destroy_scope| destroy_scope.executes(graph.module(module), module, node))
    };
    let keeps = |address: &_| included.is_some_and(|included| included.keeps(address));
    ordering::build(&ordering::Inputs {
        world: &planner.world,
        order,
        changes,
        dependencies: &dependencies,
        undecided: &undecided,
        invocations: planner.plan.invocations(),
        mode: planner.inputs.mode(),
        is_included: &is_included,
        keeps: &keeps,
    })
}

/// Ends a query: returns the objects that list blocks found.
pub(super) fn finish_search(mut planner: Planner<'_>) -> (Vec<Searched>, Diagnostics, Spent) {
    planner.plan.sort();
    let contents = planner.plan.finish();
    let spent = Box::new((planner.world, planner.schedule.into_spent(), contents.spent));
    (contents.searched, reported_once(planner.evaluation.diagnostics), spent)
}

/// Returns the nodes that apply visits, in order. Deferred values are included, because other nodes refer to them; other deferred nodes
/// are left to a later run.
fn remaining_visits(inputs: &Inputs<'_>, world: &World, schedule: &mut Schedule) -> Vec<Visit> {
    // Without deferral nothing is left out, which is the usual case.
    let order = schedule.take_order();
    if inputs.deferral() == Deferral::Refused {
        return order;
    }
    let waits = |visit: &Visit| {
        let module = world.static_module(visit.module);
        let left = match module.kind(visit.node) {
            NodeKind::Provider(_) | NodeKind::Check(_) | NodeKind::Validation(_) => true,
            NodeKind::Resource(at) => {
                let resource = module.config.resources.get_index(at as usize);
                resource.is_some_and(|(address, _)| address.mode == ResourceMode::Ephemeral)
            }
            _ => false,
        };
        left && schedule.is_deferred(*visit)
    };
    order.into_iter().filter(|visit| !waits(visit)).collect()
}

/// Warns about `-replace` options that match no planned instance (PL-60).
fn warn_of_unknown_replacements(inputs: &Inputs<'_>, evaluation: &mut Evaluation, plan: &PlanBuilder) {
    for address in &inputs.options().replace {
        // Matches only planned instances: a target may have excluded the named one, and then the option has no effect
        // either.
        if plan.changes().iter().any(|change| change.address == *address) {
            continue;
        }
        let names: Vec<String> = plan.changes().iter().map(|change| change.address.to_string()).collect();
        let wanted = address.to_string();
        let hint = groma_diagnostics::suggest(&wanted, names.iter().map(String::as_str));
        let hint = hint.map(|name| format!(" Did you mean {name}?")).unwrap_or_default();
        let detail =
            format!("The -replace option names {wanted}, which does not exist, so the option has no effect.{hint}");
        evaluation
            .diagnostics
            .push(Diagnostic::warning("Incompletely-matched force-replace resource instance", detail));
    }
}

/// Registers all blocks with conditions, even those that were not evaluated. A destroy plan decides nothing.
fn declare_checks(inputs: &Inputs<'_>, evaluation: &mut Evaluation) {
    let destroys = inputs.mode() == Mode::Destroy;
    if destroys {
        evaluation.checks = Checks::new();
    }
    let graph = Arc::clone(inputs.graph());
    for (index, module) in graph.modules() {
        for (node, block) in module.nodes() {
            let Some((kind, address)) = checked_block(&module.config, block) else { continue };
            evaluation.checks.declare(kind, address.clone());
            let is_included = inputs.targets().is_none_or(|included| included.node(&graph, index, node));
            match destroys {
                _ if !is_included => {}
                false => evaluation.checks.count(kind, address),
                true if kind == Checkable::Output && module.config.path.is_root() && inputs.targets().is_none() => {
                    evaluation.checks.report(kind, address.clone(), address, &Verdict::Unknown);
                }
                true => {}
            }
        }
    }
}

fn output_changes(planner: &Planner<'_>) -> Vec<OutputChange> {
    let root = planner.world.module(crate::world::ModuleId::ROOT);
    // Outputs of called modules are values; only those of the root module are stored.
    let config = &planner.inputs.graph().module(root.of).config;
    let mut changes = Vec::new();
    for (at, (name, output)) in config.outputs.iter().enumerate() {
        let before = recorded_output(&planner.state, name);
        let after = match planner.inputs.mode() {
            // An output that was never stored cannot be removed, and with -target outputs stay unchanged.
            Mode::Destroy if before.is_none() || planner.inputs.targets().is_some() => continue,
            Mode::Destroy => None,
            Mode::Normal | Mode::RefreshOnly => match root.outputs.get(at).cloned().flatten() {
                Some(value) if !value.is_wholly_known() && is_left_output(&planner.world, &planner.schedule, at) => {
                    continue;
                }
                Some(value) => Some(after_round_trip(value)),
                // Outside of a partial plan, or not evaluated: it stays unchanged.
                None => continue,
            },
        };
        // The state stores no null outputs, so an output that was never stored and is null now has not changed, as in Terraform.
        let after = after.filter(|value| before.is_some() || !value.is_null());
        let action = compare(before.as_ref(), after.as_ref());
        // An output that was sensitive stays hidden in the change that reveals it.
        let sensitive = output.sensitive || before.as_ref().is_some_and(|value| value.marks().is_sensitive());
        changes.push(OutputChange {
            name: name.clone(),
            action,
            before: before.unwrap_or(Value::null(Type::Dynamic)),
            after: after.unwrap_or(Value::null(Type::Dynamic)),
            sensitive,
        });
    }
    for (name, known) in &planner.state.outputs {
        if !config.outputs.contains_key(name) && planner.inputs.targets().is_none() {
            changes.push(OutputChange {
                name: name.clone(),
                action: Action::Delete,
                before: recorded_output(&planner.state, name).unwrap_or(Value::null(Type::Dynamic)),
                after: Value::null(Type::Dynamic),
                sensitive: known.sensitive,
            });
        }
    }
    // Terraform shows outputs sorted by name, while the configuration has them in source order.
    changes.sort_by(|one, other| one.name.cmp(&other.name));
    changes
}

/// Whether an output of the root module is left to a later run.
fn is_left_output(world: &World, schedule: &Schedule, at: usize) -> bool {
    let module = crate::world::ModuleId::ROOT;
    schedule.is_deferred(Visit { module, node: world.static_module(module).output(at) })
}

fn recorded_output(state: &State, name: &Name) -> Option<Value> {
    let known = state.outputs.get(name)?;
    let marks = if known.sensitive { Marks::SENSITIVE } else { Marks::NONE };
    Some(known.value.clone().with_marks(&marks))
}

/// Returns the variables as they were set; apply converts them again.
fn planned_variables(inputs: &Inputs<'_>, world: &World, evaluation: &Evaluation) -> Vec<PlannedVariable> {
    let root = world.module(crate::world::ModuleId::ROOT);
    let config = &inputs.graph().module(root.of).config;
    let known = config.variables.iter().zip(&root.variables);
    let planned = known.filter(|((_, variable), _)| !variable.ephemeral).filter_map(|((name, variable), used)| {
        let given = evaluation.inputs.get(name).map(|input| &input.value);
        // A variable that no target needs has its default all the same.
        // The default is stored too, so that apply does not depend on the variable's block.
        let value = given.or(used.as_ref()).cloned().or_else(|| variable.default_value())?;
        Some(PlannedVariable { name: name.clone(), value })
    });
    planned.collect()
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

/// The longest list of steps in a message.
const SHOWN: usize = 30;

/// The change of a step that a message names.
struct Member<'a> {
    change: &'a ResourceChange,
    /// Distinguishes the two halves of a replacement.
    suffix: &'static str,
}

/// Refuses a plan whose steps form a cycle. Only references can cause one: the order of destruction yields before it closes a
/// cycle.
pub(super) fn refuse_cycle(
    inputs: &Inputs<'_>,
    evaluation: &mut Evaluation,
    plan: &PlanBuilder,
    execution: &ExecutionGraph,
) {
    let steps = execution.cycle();
    if steps.is_empty() {
        return;
    }
    let members: Vec<_> =
        steps.iter().filter_map(|step| cycle_member(plan, execution.steps()[*step as usize])).collect();
    let block = members.first().and_then(|member| inputs.graph().block(&member.change.address.config_resource()));
    let span = block.map_or(Span::NONE, |block| block.header_span);
    let summary = format!("Cycle: {}", names(&members));
    evaluation.diagnostics.push(Diagnostic::error(summary, advice(&members)).at(span));
}

fn cycle_member(plan: &PlanBuilder, step: Step) -> Option<Member<'_>> {
    let (change, suffix) = match step {
        Step::Create(at) | Step::Update(at) | Step::Read(at) | Step::Conditions(at) => (at, ""),
        Step::Delete(at) | Step::Forget(at) => (at, " (destroy)"),
        _ => return None,
    };
    Some(Member { change: plan.changes().get(change as usize)?, suffix })
}

fn names(members: &[Member<'_>]) -> String {
    let mut names: Vec<String> =
        members.iter().map(|member| format!("{}{}", member.change.address, member.suffix)).collect();
    names.sort();
    // A message with thousands of addresses helps nobody.
    let more = names.len().saturating_sub(SHOWN);
    names.truncate(SHOWN);
    if more > 0 {
        names.push(format!("and {more} more"));
    }
    names.join(", ")
}

fn advice(members: &[Member<'_>]) -> String {
    let resources: BTreeSet<String> =
        members.iter().map(|member| member.change.address.config_resource().to_string()).collect();
    match Vec::from_iter(resources).as_slice() {
        [only] => format!(
            "Provisioners of {only} refer to other instances of {only}, so each of these instances would have to be created before the \
             others. Move the provisioners to a separate resource, for example a terraform_data, that refers to all instances of \
             {only}."
        ),
        many => format!(
            "References between {} make each of these steps wait for another one. Remove one of the references.",
            many.join(", ")
        ),
    }
}
