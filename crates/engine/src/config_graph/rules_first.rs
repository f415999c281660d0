//! Edges from validation rules to the uses of their variables, so that a rejected value is never used.

use std::collections::{HashMap, HashSet};

use super::cycle::Flat;
use super::edges::Edges;
use super::{ConfigGraph, ModuleIndex, NodeIndex, NodeKind, NodeRef, Requirement};

/// A node of a module.
type At = (ModuleIndex, NodeIndex);

/// Edges that are not among those of the graph yet, by the node that waits.
type Added = HashMap<At, Vec<Requirement>>;

/// Adds an edge from the rules of each variable to its uses, except those that the rules themselves depend on.
pub(super) fn wait_for_rules(graph: &ConfigGraph, requires: &mut [Edges<Requirement>]) {
    let rules: Vec<(At, At)> = rules(graph).collect();
    if rules.is_empty() {
        return;
    }
    let uses = uses(graph, requires, rules.iter().map(|(variable, _)| *variable).collect());
    let users = |variable: &At| uses.get(variable).into_iter().flatten();
    let mut added = Added::new();
    for (variable, rule) in &rules {
        users(variable).for_each(|(user, use_of)| add(&mut added, *user, use_of, *rule));
    }
    // The former lists are kept for the case that a cycle shows up.
    let before = insert(graph, requires, added);
    // A rule seldom depends on uses of its variable. The existing order shows the other cases at once.
    let flat = Flat::drawing(graph, requires);
    let ordered: HashSet<u32> = flat.order().into_iter().collect();
    let (good, doubtful): (Vec<_>, Vec<_>) =
        rules.into_iter().partition(|(_, (module, node))| ordered.contains(&flat.number(*module, *node)));
    if doubtful.is_empty() {
        return;
    }
    // Back to the state before, because the doubtful rules need a decision for each use.
    before.into_iter().for_each(|(index, lists)| requires[index.at()] = lists);
    let mut added = Added::new();
    for (variable, rule) in good {
        users(&variable).for_each(|(user, use_of)| add(&mut added, *user, use_of, rule));
    }
    for (variable, rule) in doubtful {
        // With what was added before, so that no two rules wait for each other.
        let below = stands_on(graph, requires, &added, rule);
        let free = users(&variable).filter(|(user, _)| !below.contains(user));
        free.for_each(|(user, use_of)| add(&mut added, *user, use_of, rule));
    }
    insert(graph, requires, added);
}

/// Notes that a use of a variable waits for a rule.
fn add(added: &mut Added, user: At, use_of: &Requirement, rule: At) {
    // The rule is seen from the same module as the variable.
    let node_ref = match use_of.node_ref {
        NodeRef::Here(_) => NodeRef::Here(rule.1),
        NodeRef::Caller(_) => NodeRef::Caller(rule.1),
        NodeRef::Above(module, _) => NodeRef::Above(module, rule.1),
    };
    added.entry(user).or_default().push(Requirement { node_ref, ..use_of.clone() });
}

/// Puts edges among those of the graph; what the modules had before that got some.
fn insert(
    graph: &ConfigGraph,
    requires: &mut [Edges<Requirement>],
    mut added: Added,
) -> Vec<(ModuleIndex, Edges<Requirement>)> {
    let touched: HashSet<ModuleIndex> = added.keys().map(|(module, _)| *module).collect();
    let mut before = Vec::with_capacity(touched.len());
    for (index, module) in graph.modules().filter(|(index, _)| touched.contains(index)) {
        let mut lists = Edges::with_room(module.len());
        for (node, _) in module.nodes() {
            let more = added.remove(&(index, node)).unwrap_or_default();
            lists.push(requires[index.at()].of(node).iter().cloned().chain(more));
        }
        before.push((index, std::mem::replace(&mut requires[index.at()], lists)));
    }
    before
}

/// The variables with rules that are nodes of their own, and these.
fn rules(graph: &ConfigGraph) -> impl Iterator<Item = (At, At)> {
    graph.modules().flat_map(|(index, module)| {
        module.nodes().filter_map(move |(node, kind)| match kind {
            NodeKind::Validation(at) => Some(((index, module.variable(at as usize)), (index, node))),
            _ => None,
        })
    })
}

/// Returns the users of these variables, except rules: rules of several variables are reported side by side.
fn uses(
    graph: &ConfigGraph,
    requires: &[Edges<Requirement>],
    variables: HashSet<At>,
) -> HashMap<At, Vec<(At, Requirement)>> {
    let mut uses: HashMap<At, Vec<(At, Requirement)>> = HashMap::new();
    for (index, module) in graph.modules() {
        for (node, _) in module.nodes().filter(|(_, kind)| !matches!(kind, NodeKind::Validation(_))) {
            for requirement in requires[index.at()].of(node) {
                if let Some(variable) = graph.node_ref(index, requirement.node_ref).filter(|at| variables.contains(at))
                {
                    uses.entry(variable).or_default().push(((index, node), requirement.clone()));
                }
            }
        }
    }
    uses
}

/// Returns a node and everything that it depends on.
fn stands_on(graph: &ConfigGraph, requires: &[Edges<Requirement>], added: &Added, start: At) -> HashSet<At> {
    let mut seen = HashSet::new();
    let mut open = vec![start];
    while let Some(at) = open.pop() {
        if !seen.insert(at) {
            continue;
        }
        let (index, node) = at;
        let more = added.get(&at).into_iter().flatten();
        let required = requires[index.at()].of(node).iter().chain(more);
        open.extend(required.filter_map(|requirement| graph.node_ref(index, requirement.node_ref)));
        graph.for_each_implied(index, node, &mut |node_ref| open.push(node_ref));
    }
    seen
}
