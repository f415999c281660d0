//! Finding cycles: a configuration in which two things wait for each other can never be planned.

use groma_diagnostics::{Diagnostic, Diagnostics};

use super::edges::Edges;
use super::{ConfigGraph, ModuleIndex, NodeIndex, NodeKind, Requirement, narrow};

/// All nodes of all modules in one numbering, with the edges that expansion implies.
pub(super) struct Flat<'a> {
    graph: &'a ConfigGraph,
    /// The requirements of the nodes while the graph is being built.
    drawn: Option<&'a [Edges<Requirement>]>,
    /// The number of the first node of each module.
    first: Vec<u32>,
    total: usize,
}

impl<'a> Flat<'a> {
    pub(super) fn new(graph: &'a ConfigGraph) -> Self {
        let mut total = 0;
        let first = graph
            .modules()
            .map(|(_, module)| {
                let first = narrow(total);
                total += module.len();
                first
            })
            .collect();
        Self { graph, drawn: None, first, total }
    }

    /// Creates a flat view of a graph whose edges are still being built: `requires` supplies them.
    pub(super) fn drawing(graph: &'a ConfigGraph, requires: &'a [Edges<Requirement>]) -> Self {
        Self { drawn: Some(requires), ..Self::new(graph) }
    }

    pub(super) fn len(&self) -> usize {
        self.total
    }

    pub(super) fn number(&self, module: ModuleIndex, node: NodeIndex) -> u32 {
        self.first[module.at()] + node.0
    }

    pub(super) fn node(&self, number: u32) -> (ModuleIndex, NodeIndex) {
        let module = self.first.partition_point(|first| *first <= number) - 1;
        // Modules without nodes share their number with the next one, which comes later.
        (ModuleIndex(narrow(module)), NodeIndex(number - self.first[module]))
    }

    /// Calls `visit` with each node that `number` waits for.
    pub(super) fn for_each_requirement(&self, number: u32, visit: &mut dyn FnMut(u32)) {
        let (index, node) = self.node(number);
        let required = match self.drawn {
            Some(all) => all[index.at()].of(node),
            None => self.graph.requires(index, node),
        };
        for requirement in required {
            if let Some((index, node)) = self.graph.node_ref(index, requirement.node_ref) {
                visit(self.number(index, node));
            }
        }
        self.graph.for_each_implied(index, node, &mut |(index, node)| visit(self.number(index, node)));
    }

    /// All nodes, each after what it waits for; nodes in a cycle and behind one are missing.
    pub(super) fn order(&self) -> Vec<u32> {
        self.order_after(&vec![false; self.total])
    }

    /// Returns a topological order of the nodes that `done` does not contain yet.
    fn order_after(&self, done: &[bool]) -> Vec<u32> {
        let mut waiting = vec![0_u32; self.total];
        let mut heads = vec![u32::MAX; self.total];
        // Linked lists in one vector: an adjacency list for each node would cost an allocation.
        let mut edges: Vec<(u32, u32)> = Vec::new();
        let left = || (0..narrow(self.total)).filter(|number| !done[*number as usize]);
        for number in left() {
            self.for_each_requirement(number, &mut |required| {
                if done[required as usize] {
                    return;
                }
                waiting[number as usize] += 1;
                edges.push((number, heads[required as usize]));
                heads[required as usize] = narrow(edges.len() - 1);
            });
        }
        let mut order: Vec<u32> = left().filter(|number| waiting[*number as usize] == 0).collect();
        let mut next = 0;
        while let Some(done) = order.get(next).copied() {
            next += 1;
            let mut edge = heads[done as usize];
            while let Some((dependent, following)) = edges.get(edge as usize).copied() {
                waiting[dependent as usize] -= 1;
                if waiting[dependent as usize] == 0 {
                    order.push(dependent);
                }
                edge = following;
            }
        }
        order
    }
}

/// The maximal number of reported cycles; each costs a walk over the graph.
const MOST: usize = 20;

/// Reports cycles that have nothing in common.
pub(super) fn check(graph: &ConfigGraph) -> Diagnostics {
    let flat = Flat::new(graph);
    let mut diagnostics = Diagnostics::new();
    let mut done = vec![false; flat.len()];
    let mut left = flat.len();
    for _ in 0..MOST {
        let order = flat.order_after(&done);
        left -= order.len();
        if left == 0 {
            break;
        }
        for number in order {
            done[number as usize] = true;
        }
        // One cycle at a time; its members are then taken as done to find the next one.
        let members = one_cycle(&flat, &done);
        diagnostics.push(problem(graph, &flat, &members));
        left -= members.len();
        for number in members {
            done[number as usize] = true;
        }
    }
    diagnostics
}

/// Returns the error for nodes that wait for each other.
fn problem(graph: &ConfigGraph, flat: &Flat<'_>, members: &[u32]) -> Diagnostic {
    let mut names: Vec<String> = members.iter().filter_map(|number| describe(graph, flat.node(*number))).collect();
    names.sort();
    names.dedup();
    // Some member has a reference in the source text; nodes that expansion implies have none.
    let span = members.iter().find_map(|number| {
        let (module, node) = flat.node(*number);
        graph.requires(module, node).first().map(|found| found.span)
    });
    let summary = format!("Cycle: {}", names.join(", "));
    let detail = "These objects refer to each other in a cycle, so none of them can be evaluated first. Remove one \
     of the references.";
    Diagnostic::error(summary, detail).at(span.unwrap_or_default())
}

/// Follows requirements that are not done until one comes up again: what lies between is a cycle.
fn one_cycle(flat: &Flat<'_>, done: &[bool]) -> Vec<u32> {
    let Some(start) = done.iter().position(|done| !done) else { return Vec::new() };
    let mut seen_at = vec![usize::MAX; flat.len()];
    let mut path = Vec::new();
    let mut current = narrow(start);
    while seen_at[current as usize] == usize::MAX {
        seen_at[current as usize] = path.len();
        path.push(current);
        let mut next = None;
        // The first requirement is enough: every node left waits for another one.
        flat.for_each_requirement(current, &mut |required| {
            if !done[required as usize] {
                next.get_or_insert(required);
            }
        });
        // A node that is not done waits for another that is not.
        let Some(next) = next else { return path };
        current = next;
    }
    path.split_off(seen_at[current as usize])
}

fn describe(graph: &ConfigGraph, (index, node): (ModuleIndex, NodeIndex)) -> Option<String> {
    let module = graph.module(index);
    let config = &module.config;
    let name = match module.kind(node) {
        NodeKind::Variable(at) => format!("var.{} (expand)", config.variables.get_index(at as usize)?.0),
        NodeKind::Validation(at) => format!("var.{} (validation)", config.variables.get_index(at as usize)?.0),
        NodeKind::Local(at) => format!("local.{} (expand)", config.locals.get_index(at as usize)?.0),
        NodeKind::Output(at) => format!("output.{} (expand)", config.outputs.get_index(at as usize)?.0),
        NodeKind::Call(at) => format!("module.{} (expand)", config.calls.get_index(at as usize)?.0),
        NodeKind::CallEnd(at) => format!("module.{} (close)", config.calls.get_index(at as usize)?.0),
        // Nodes of single outputs are internal and have no name in Terraform.
        NodeKind::CallOutput { .. } => return None,
        NodeKind::Provider(at) => format!("provider.{}", config.providers.get_index(at as usize)?.0),
        NodeKind::Resource(at) => config.resources.get_index(at as usize)?.0.to_string(),
        NodeKind::Action(at) => {
            let ((type_name, name), _) = config.actions.get_index(at as usize)?;
            format!("action.{type_name}.{name} (expand)")
        }
        NodeKind::Trigger(at) => format!("actions triggered by {}", config.resources.get_index(at as usize)?.0),
        NodeKind::Import(at) => format!("import {}", config.imports.get(at as usize)?.to),
        NodeKind::Check(at) => format!("check.{}", config.checks.get_index(at as usize)?.0),
    };
    Some(if module.path().is_root() { name } else { format!("{}.{name}", module.path()) })
}
