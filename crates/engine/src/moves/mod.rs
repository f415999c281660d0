//! Moved blocks and implied moves: bindings of the state get the addresses that the configuration has now (PL-23).

mod bound;
mod implied;
mod order;
mod statement;

use std::collections::{BTreeSet, HashMap};

use groma_address::{AbsResource, ConfigResource, Resource, ResourceInstance, Target};
use groma_diagnostics::{Diagnostic, Diagnostics, quoted};
use groma_state::State;

use self::bound::Bound;
use self::order::order;
use self::statement::Statement;
use crate::config_graph::ConfigGraph;
use crate::world::World;

/// The former addresses of objects.
#[derive(Debug, Default)]
pub struct Moves {
    /// The former address by the present one.
    pub previous: HashMap<ResourceInstance, ResourceInstance>,
    /// The moved blocks that were followed.
    statements: Vec<Statement>,
    /// Positions of those about single instances, by their resource.
    about_instances: HashMap<Resource, Vec<usize>>,
    /// Positions of those that move an instance which the world had and has not any more.
    passed: BTreeSet<usize>,
}

impl Moves {
    /// Whether a moved block is about single instances of a resource.
    pub fn name_instances_of(&self, resource: &Resource) -> bool {
        self.about_instances.contains_key(resource)
    }

    /// Notes an instance that the configuration declares and that leaves the world before it is asked for them all.
    pub fn note_declared(&mut self, address: &ResourceInstance) {
        let about = self.about_instances.get(&address.resource).into_iter().flatten();
        self.passed.extend(about.filter(|at| self.statements[**at].apply(address).is_some()));
    }

    /// The problems that instances are still there which moved blocks say have another address.
    pub fn still_declared(&self, world: &World) -> Diagnostics {
        let statements = self.statements.iter().enumerate();
        let declared = statements.filter(|(at, statement)| self.passed.contains(at) || statement.is_declared_in(world));
        declared.map(|(_, statement)| statement.still_declared()).collect()
    }

    /// The problem that `targets` cover an object that has moved at one of its addresses only, or at none.
    pub fn left_out(&self, targets: &[Target]) -> Option<Diagnostic> {
        // Without -target everything is included.
        if targets.is_empty() {
            return None;
        }
        // Terraform requires both addresses, because a move changes both.
        let is_target = |address: &ResourceInstance| targets.iter().any(|target| target.contains(address));
        let left_out = self.previous.iter().filter(|(to, from)| !is_target(to) || !is_target(from));
        let missing: BTreeSet<AbsResource> =
            left_out.flat_map(|(to, from)| [from.abs_resource(), to.abs_resource()]).collect();
        if missing.is_empty() {
            return None;
        }
        let options: String =
            missing.iter().map(|resource| format!("\n  -target={}", quoted(&resource.to_string()))).collect();
        let detail = format!(
            "This configuration moves objects of the state to other addresses. A correct plan must include all of \
             them, but the -target options exclude some. Remove the options, or add these:{options}\n\nWith them \
             the plan may include more objects, because of dependencies."
        );
        Some(Diagnostic::error("Moved resource instances excluded by targeting", detail))
    }
}

/// Applies all moves to the state.
pub fn apply(graph: &ConfigGraph, state: &mut State) -> (Moves, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let statements = statements(graph, &mut diagnostics);
    let mut moves = Moves::default();
    if diagnostics.has_errors() {
        return (moves, diagnostics);
    }
    // Collected, because Terraform reports all blocked moves in one warning.
    let mut blocked = Vec::new();
    if !statements.is_empty() {
        let mut bound = Bound::of(state);
        for statement in &statements {
            for (from, to) in bound.moved_by(statement, state) {
                // A later statement of a chain may move the object on from its new address.
                bound.add(&to.abs_resource());
                moves.rename(state, from, to, &mut blocked);
            }
        }
    }
    // Implied moves come last, because moved blocks take precedence over them (PL-23).
    implied::modules(graph, state, &mut moves, &statements);
    implied::resources(graph, state, &mut moves, &statements);
    moves.rename_dependencies(state);
    moves.about_instances = about_instances(&statements);
    moves.statements = statements;
    if !blocked.is_empty() {
        diagnostics.push(blocked_warning(&blocked));
    }
    (moves, diagnostics)
}

impl Moves {
    fn rename(
        &mut self,
        state: &mut State,
        from: ResourceInstance,
        to: ResourceInstance,
        blocked: &mut Vec<(ResourceInstance, ResourceInstance)>,
    ) {
        if state.rename(&from, &to) {
            // In a chain of moves, users see the address that the state had before all of them.
            let first = self.previous.remove(&from).unwrap_or(from);
            // An object that returned to its first address has not moved.
            if first != to {
                self.previous.insert(to, first);
            }
        } else {
            blocked.push((from, to));
        }
    }

    /// Renames moved resources in recorded dependencies, so that dependents are still destroyed first.
    fn rename_dependencies(&self, state: &mut State) {
        let mut names: HashMap<ConfigResource, BTreeSet<ConfigResource>> = HashMap::new();
        for (to, from) in &self.previous {
            names.entry(from.config_resource()).or_default().insert(to.config_resource());
        }
        // Where only keys have changed nothing is called otherwise.
        names.retain(|from, now| now.iter().any(|to| to != from));
        // Some of its instances may have stayed.
        for (address, _) in state.resources() {
            let resource = address.config_resource();
            if let Some(now) = names.get_mut(&resource) {
                now.insert(resource);
            }
        }
        if !names.is_empty() {
            state.rename_dependencies(&names);
        }
    }
}

/// The positions of statements that are about single instances of resources, by these.
fn about_instances(statements: &[Statement]) -> HashMap<Resource, Vec<usize>> {
    let mut about: HashMap<Resource, Vec<usize>> = HashMap::new();
    for (at, statement) in statements.iter().enumerate() {
        if let Some(resource) = statement.resource_of_instance() {
            about.entry(resource.clone()).or_default().push(at);
        }
    }
    about
}

fn statements(graph: &ConfigGraph, diagnostics: &mut Diagnostics) -> Vec<Statement> {
    let mut all = Vec::new();
    for (_, module) in graph.modules() {
        for moved in &module.config.moved {
            all.push(Statement {
                module: module.path().clone(),
                from: moved.from.clone(),
                to: moved.to.clone(),
                span: moved.span,
            });
        }
    }
    check(&all, diagnostics);
    // Of what is moved to where it is nothing else needs saying.
    let moving = all.iter().filter(|statement| statement.from != statement.to);
    diagnostics.extend(moving.filter(|statement| statement.is_declared(graph)).map(Statement::still_declared));
    if diagnostics.has_errors() {
        return Vec::new();
    }
    order(all, diagnostics)
}

/// Two statements must not send one object to two places, or two objects to one.
fn check(all: &[Statement], diagnostics: &mut Diagnostics) {
    let mut sources: HashMap<String, &Statement> = HashMap::new();
    let mut targets: HashMap<String, &Statement> = HashMap::new();
    for statement in all {
        if statement.from == statement.to {
            let detail = "A move statement must name two different addresses, but this one names the same address \
             twice.";
            diagnostics.push(Diagnostic::error("Redundant move statement", detail).at(statement.span));
        }
        // Two equal statements are harmless; only different targets contradict each other.
        if let Some(other) = sources.insert(statement.source(), statement)
            && other.to != statement.to
        {
            let detail = format!(
                "One statement moves the object at {} to {}, and another to {}. Remove one of the statements.",
                statement.from, other.to, statement.to
            );
            diagnostics.push(Diagnostic::error("Ambiguous move statements", detail).at(statement.span));
        }
        if let Some(other) = targets.insert(statement.target(), statement)
            && other.from != statement.from
        {
            let detail = format!(
                "Both {} and {} are moved to {}, which can hold only one object. Remove one of the statements.",
                other.from, statement.from, statement.to
            );
            diagnostics.push(Diagnostic::error("Ambiguous move statements", detail).at(statement.span));
        }
    }
}

fn blocked_warning(blocked: &[(ResourceInstance, ResourceInstance)]) -> Diagnostic {
    let list: Vec<String> = blocked.iter().map(|(from, to)| format!("  - {from} could not move to {to}")).collect();
    let detail = format!(
        "Some objects keep their addresses although moved blocks name new ones, because another object already \
         exists at the new address:\n{}\n\nThe objects at the former addresses will be planned for destruction. To \
         keep one of them, first remove the other object from the state or move it to another address.",
        list.join("\n")
    );
    Diagnostic::warning("Unresolved resource instance address changes", detail)
}
