//! Moved blocks and implied moves: renames objects in the state to the addresses that the configuration declares (PL-23).
//!
//! [`apply`] changes the state before the plan's walk and returns the former addresses as [`Moves`]. The walk copies them into
//! `ResourceChange::previous_address`, from which the views print "has moved to". The renamed state is the plan's `prior_state`,
//! which apply writes.

mod bound;
mod implied;
mod order;
mod statement;

use std::collections::{BTreeSet, HashMap};

use groma_address::{AbsResource, ConfigResource, Resource, ResourceInstance, Target};
use groma_diagnostics::{Diagnostic, Diagnostics, quoted};
use groma_state::State;

use self::bound::BoundResources;
use self::order::order;
use self::statement::Statement;
use crate::config_graph::ConfigGraph;
use crate::world::World;

/// The moves of one run: the former address of each moved object, and the moved blocks for checks that need expanded instances.
#[derive(Debug, Default)]
pub struct Moves {
    /// The former address by the present one, for every object that a moved block or an implied move renamed.
    pub previous: HashMap<ResourceInstance, ResourceInstance>,
    /// The moved blocks of all modules.
    statements: Vec<Statement>,
    /// Indices of the statements whose source is a single instance, by its resource.
    by_instance_source: HashMap<Resource, Vec<usize>>,
    /// Indices of the statements whose source instance was declared when its resource was expanded.
    declared_sources: BTreeSet<usize>,
}

impl Moves {
    /// Whether the source of a moved block is a single instance of `resource`.
    pub fn names_instances_of(&self, resource: &Resource) -> bool {
        self.by_instance_source.contains_key(resource)
    }

    /// Records that the configuration declares `address`, before a refresh-only plan replaces the declared instances in the world by
    /// the existing ones. [`Moves::still_declared_errors`] needs it.
    pub fn note_declared(&mut self, address: &ResourceInstance) {
        let candidates = self.by_instance_source.get(&address.resource).into_iter().flatten();
        self.declared_sources.extend(candidates.filter(|index| self.statements[**index].apply(address).is_some()));
    }

    /// Returns an error for each moved block whose source the configuration still declares, now that all instances are known.
    pub fn still_declared_errors(&self, world: &World) -> Diagnostics {
        let statements = self.statements.iter().enumerate();
        let declared = statements
            .filter(|(index, statement)| self.declared_sources.contains(index) || statement.is_declared_in(world));
        declared.map(|(_, statement)| statement.still_declared_error()).collect()
    }

    /// Returns the error for `-target` options that include a moved object under only one of its addresses, or under none.
    pub fn untargeted_error(&self, targets: &[Target]) -> Option<Diagnostic> {
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

    /// Returns the error for `-exclude` options that cover a moved object under one of its addresses.
    pub fn excluded_error(&self, excludes: &[Target]) -> Option<Diagnostic> {
        // Moves are applied as a whole, so a plan without one of the objects would be wrong.
        let is_excluded = |address: &ResourceInstance| excludes.iter().any(|target| target.may_mean(address));
        let pairs = self.previous.iter().flat_map(|(to, from)| [from, to]);
        let moved: BTreeSet<AbsResource> =
            pairs.filter(|address| is_excluded(address)).map(|address| address.abs_resource()).collect();
        if moved.is_empty() {
            return None;
        }
        let options: String =
            moved.iter().map(|resource| format!("\n  -exclude={}", quoted(&resource.to_string()))).collect();
        let detail = format!(
            "This configuration moves objects of the state to other addresses. A correct plan must include all of \
             them, but the -exclude options exclude some. Remove the options, or those that cover:{options}\n\nWithout \
             them the plan may include more objects, because of dependencies."
        );
        Some(Diagnostic::error("Moved resource instances excluded by targeting", detail))
    }
}

/// Renames the objects of `state` by all moved blocks and implied moves. After an error the state is unchanged.
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
        let mut bound = BoundResources::of(state);
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
    moves.by_instance_source = by_instance_source(&statements);
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
        // Recorded dependencies have no instance keys, so a move that only changes a key renames nothing.
        names.retain(|from, now| now.iter().any(|to| to != from));
        // If some instances of the resource did not move, dependents may use these as well.
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

/// Returns the indices of the statements whose source is a single instance, by its resource.
fn by_instance_source(statements: &[Statement]) -> HashMap<Resource, Vec<usize>> {
    let mut indices: HashMap<Resource, Vec<usize>> = HashMap::new();
    for (index, statement) in statements.iter().enumerate() {
        if let Some(resource) = statement.resource_of_instance() {
            indices.entry(resource.clone()).or_default().push(index);
        }
    }
    indices
}

/// Returns the moved blocks of all modules in the order to apply them; none after an error.
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
    // A statement with two equal addresses has its own error already.
    let moving = all.iter().filter(|statement| statement.from != statement.to);
    diagnostics.extend(moving.filter(|statement| statement.is_declared(graph)).map(Statement::still_declared_error));
    if diagnostics.has_errors() {
        return Vec::new();
    }
    order(all, diagnostics)
}

/// Reports statements that move one object to two addresses, or two objects to one address.
fn check(all: &[Statement], diagnostics: &mut Diagnostics) {
    let mut sources: HashMap<String, &Statement> = HashMap::new();
    let mut targets: HashMap<String, &Statement> = HashMap::new();
    for statement in all {
        if statement.from == statement.to {
            let detail = "A move statement must name two different addresses, but this one names the same address \
             twice.";
            diagnostics.push(Diagnostic::error("Redundant move statement", detail).at(statement.span));
        }
        // The same statement twice is harmless; only different addresses contradict each other.
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
