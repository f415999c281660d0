//! Plans whose steps wait for each other (OD-12).

use std::collections::BTreeSet;

use groma_diagnostics::{Diagnostic, Span};
use groma_plan::{ExecutionGraph, ResourceChange, Step};

use super::inputs::Inputs;
use super::plan_builder::PlanBuilder;
use crate::evaluation::Evaluation;

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
