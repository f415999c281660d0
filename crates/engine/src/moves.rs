//! Moved blocks and implied moves: bindings of the state get the addresses that the configuration has now (PL-23).

use std::collections::{BTreeSet, HashMap, HashSet};

use groma_address::{AbsResource, InstanceKey, ModuleInstance, ResourceInstance, Target};
use groma_diagnostics::{Diagnostic, Diagnostics, quoted};
use groma_state::State;

use crate::config_graph::{ConfigGraph, ModuleIndex};

/// Where objects were bound before.
#[derive(Debug, Default)]
pub struct Moves {
    /// The former address by the present one.
    pub previous: HashMap<ResourceInstance, ResourceInstance>,
}

impl Moves {
    /// The problem that `targets` cover an object that has moved at one of its addresses only, or at none.
    pub fn left_out(&self, targets: &[Target]) -> Option<Diagnostic> {
        if targets.is_empty() {
            return None;
        }
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
            "Objects of the state have moved to other addresses in this configuration, and a plan is only right with \
             all of them, but the -target options leave some out. Leave the options away, or add these:{options}\n\n\
             More objects may become part of the plan with them, because they depend on each other."
        );
        Some(Diagnostic::error("Moved resource instances excluded by targeting", detail))
    }
}

/// One move statement in absolute terms, for every instance of the module that holds it.
#[derive(Clone, Debug)]
struct Statement {
    /// The module that holds the statement.
    module: groma_address::ModulePath,
    from: Target,
    to: Target,
    span: groma_diagnostics::Span,
}

/// Applies all moves to the state.
pub fn apply(graph: &ConfigGraph, state: &mut State) -> (Moves, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let statements = statements(graph, &mut diagnostics);
    let mut moves = Moves::default();
    if diagnostics.has_errors() {
        return (moves, diagnostics);
    }
    let mut blocked = Vec::new();
    for statement in &statements {
        let found: Vec<(ResourceInstance, ResourceInstance)> = state
            .iter()
            .filter_map(|view| {
                let address = view.address();
                statement.apply(&address).filter(|target| *target != address).map(|target| (address, target))
            })
            .collect();
        for (from, to) in found {
            moves.rename(state, from, to, &mut blocked);
        }
    }
    implied(graph, state, &mut moves, &statements);
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
            let first = self.previous.remove(&from).unwrap_or(from);
            if first != to {
                self.previous.insert(to, first);
            }
        } else {
            blocked.push((from, to));
        }
    }
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
    let declared = all.iter().filter(|statement| statement.is_declared(graph)).map(Statement::still_declared);
    diagnostics.extend(declared);
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
        let within = |target: &Target| format!("{} {target}", statement.module);
        if statement.from == statement.to {
            let detail = "A move statement must name two different addresses: this one names the same twice.";
            diagnostics.push(Diagnostic::error("Redundant move statement", detail).at(statement.span));
        }
        if let Some(other) = sources.insert(within(&statement.from), statement)
            && other.to != statement.to
        {
            let detail = format!(
                "The object at {} is moved to {} by one statement and to {} by another. It can only go to one place.",
                statement.from, other.to, statement.to
            );
            diagnostics.push(Diagnostic::error("Ambiguous move statements", detail).at(statement.span));
        }
        if let Some(other) = targets.insert(within(&statement.to), statement)
            && other.from != statement.from
        {
            let detail = format!(
                "Both {} and {} are moved to {}. Only one object can be there.",
                other.from, statement.from, statement.to
            );
            diagnostics.push(Diagnostic::error("Ambiguous move statements", detail).at(statement.span));
        }
    }
}

/// The statements so that a chain a -> b, b -> c is walked from its beginning.
fn order(all: Vec<Statement>, diagnostics: &mut Diagnostics) -> Vec<Statement> {
    let count = all.len();
    let mut ordered = Vec::with_capacity(count);
    let mut placed = vec![false; count];
    // Few configurations have more than some dozens of moves, and each round places at least one.
    while ordered.len() < count {
        let before = ordered.len();
        for at in 0..count {
            let feeds = |other: usize| !placed[other] && other != at && all[other].leads_to(&all[at]);
            if !placed[at] && !(0..count).any(feeds) {
                placed[at] = true;
                ordered.push(all[at].clone());
            }
        }
        if ordered.len() == before {
            let list: Vec<String> = (0..count)
                .filter(|at| !placed[*at])
                .map(|at| format!("  - {} -> {}", all[at].from, all[at].to))
                .collect();
            let span = (0..count).find(|at| !placed[*at]).map(|at| all[at].span).unwrap_or_default();
            let detail = format!(
                "These move statements send objects in a circle, so that no final address exists:\n{}",
                list.join("\n")
            );
            diagnostics.push(Diagnostic::error("Cyclic dependency in move statements", detail).at(span));
            return Vec::new();
        }
    }
    ordered
}

impl Statement {
    /// Whether what moves is something that the configuration still has, as far as that can be told without evaluating
    /// anything.
    fn is_declared(&self, graph: &ConfigGraph) -> bool {
        match (&self.from, &self.to) {
            (Target::Module(from), Target::Module(to)) => {
                let path = self.module.steps().iter().chain(from.steps().iter().map(|step| &step.name));
                let path = path.fold(groma_address::ModulePath::root(), |path, name| path.child(name));
                let Some(found) = graph.find(&path) else { return false };
                whole_call(from, to) || (is_plain(from) && !repeats(graph, found))
            }
            (Target::Resource(from), Target::Resource(_)) => self.declared(graph, from).is_some(),
            (Target::Resource(from), Target::Instance(_)) => {
                self.declared(graph, from).is_some_and(|block| block.count.is_none() && block.for_each.is_none())
            }
            _ => false,
        }
    }

    /// The block of a resource that this statement names.
    fn declared<'g>(&self, graph: &'g ConfigGraph, resource: &AbsResource) -> Option<&'g groma_config::Resource> {
        let steps = self.module.steps().iter().chain(resource.module.steps().iter().map(|step| &step.name));
        let module = steps.fold(groma_address::ModulePath::root(), |path, name| path.child(name));
        let module = graph.find(&module)?;
        graph.module(module).config.resources.get(&resource.resource)
    }

    fn still_declared(&self) -> Diagnostic {
        let (from, to) = (&self.from, &self.to);
        let detail = format!(
            "This block says that what was {from} is {to} now, but {from} is still declared. Give that block the new \
             address, so that {to} is declared instead, or take the moved block out."
        );
        Diagnostic::error("Moved object still exists", detail).at(self.span)
    }

    /// Whether what this statement moves can be moved on by the other.
    fn leads_to(&self, other: &Self) -> bool {
        self.module == other.module && overlaps(&self.to, &other.from)
    }

    /// Where an object goes; nowhere if the statement is not about it.
    fn apply(&self, address: &ResourceInstance) -> Option<ResourceInstance> {
        let depth = self.module.steps().len();
        let steps = address.module.steps();
        if steps.len() < depth || !steps.iter().zip(self.module.steps()).all(|(step, name)| step.name == *name) {
            return None;
        }
        let (above, inside) = steps.split_at(depth);
        let base = ModuleInstance::from_steps(above.iter().cloned());
        let local = ResourceInstance {
            module: ModuleInstance::from_steps(inside.iter().cloned()),
            resource: address.resource.clone(),
            key: address.key.clone(),
        };
        let moved = relocate(&local, &self.from, &self.to)?;
        let module = base.steps().iter().cloned().chain(moved.module.steps().iter().cloned());
        Some(ResourceInstance { module: ModuleInstance::from_steps(module), ..moved })
    }
}

fn overlaps(one: &Target, other: &Target) -> bool {
    match (one, other) {
        (Target::Module(one), Target::Module(other)) => one == other || one.contains(other) || other.contains(one),
        (Target::Module(module), Target::Resource(resource)) | (Target::Resource(resource), Target::Module(module)) => {
            module.contains(&resource.module)
        }
        (Target::Module(module), Target::Instance(instance)) | (Target::Instance(instance), Target::Module(module)) => {
            module.contains(&instance.module)
        }
        (Target::Resource(one), Target::Resource(other)) => one == other,
        (Target::Resource(resource), Target::Instance(instance))
        | (Target::Instance(instance), Target::Resource(resource)) => *resource == instance.abs_resource(),
        (Target::Instance(one), Target::Instance(other)) => one == other,
    }
}

/// The address of `object` after `from` became `to`, all relative to one module.
fn relocate(object: &ResourceInstance, from: &Target, to: &Target) -> Option<ResourceInstance> {
    match (from, to) {
        (Target::Module(from), Target::Module(to)) => {
            let (steps, wanted) = (object.module.steps(), from.steps());
            let fits = steps.len() >= wanted.len()
                && steps.iter().zip(wanted).enumerate().all(|(at, (step, wanted))| {
                    // The last step without a key means every instance of the call, when the other side has none either.
                    let whole = at + 1 == wanted_len(from) && wanted.key == InstanceKey::None && whole_call(from, to);
                    step.name == wanted.name && (whole || step.key == wanted.key)
                });
            if !fits {
                return None;
            }
            let mut moved: Vec<_> = to.steps().to_vec();
            if whole_call(from, to)
                && let (Some(last), Some(old)) = (moved.last_mut(), steps.get(wanted.len() - 1))
            {
                last.key = old.key.clone();
            }
            moved.extend(steps[wanted.len()..].iter().cloned());
            Some(ResourceInstance { module: ModuleInstance::from_steps(moved), ..object.clone() })
        }
        (Target::Resource(from), Target::Resource(to)) => {
            (object.abs_resource() == *from).then(|| to.instance(object.key.clone()))
        }
        (Target::Resource(from), Target::Instance(to)) => {
            (object.abs_resource() == *from && object.key == InstanceKey::None).then(|| to.clone())
        }
        (Target::Instance(from), Target::Instance(to)) => (object == from).then(|| to.clone()),
        (Target::Instance(from), Target::Resource(to)) => (object == from).then(|| to.instance(InstanceKey::None)),
        _ => None,
    }
}

/// Whether no step has a key.
fn is_plain(module: &ModuleInstance) -> bool {
    module.steps().iter().all(|step| step.key == InstanceKey::None)
}

/// Whether the call of a module has `count` or `for_each`.
fn repeats(graph: &ConfigGraph, module: ModuleIndex) -> bool {
    let Some(place) = graph.module(module).caller else { return false };
    let calls = &graph.module(place.module).config.calls;
    calls.get_index(place.call as usize).is_some_and(|(_, call)| call.count.is_some() || call.for_each.is_some())
}

fn wanted_len(module: &ModuleInstance) -> usize {
    module.steps().len()
}

/// Whether both sides name a call and not an instance of it.
fn whole_call(from: &ModuleInstance, to: &ModuleInstance) -> bool {
    let unkeyed = |module: &ModuleInstance| module.steps().last().is_some_and(|step| step.key == InstanceKey::None);
    unkeyed(from) && unkeyed(to)
}

/// A resource or module call that gained or lost `count` keeps its one object: `x` and `x[0]` are the same.
fn implied(graph: &ConfigGraph, state: &mut State, moves: &mut Moves, statements: &[Statement]) {
    let mut planned: Vec<(ResourceInstance, ResourceInstance)> = Vec::new();
    let spoken: HashSet<String> =
        statements.iter().map(|statement| format!("{} {}", statement.module, statement.from)).collect();
    for (address, entry) in state.resources() {
        let Some((module, node)) = graph.find_resource(&address.config_resource()) else { continue };
        let crate::config_graph::NodeKind::Resource(at) = graph.module(module).kind(node) else { continue };
        let Some((_, resource)) = graph.module(module).config.resources.get_index(at as usize) else { continue };
        let (from, to) = match (&resource.count, &resource.for_each) {
            (Some(_), _) => (InstanceKey::None, InstanceKey::Int(0)),
            (None, None) => (InstanceKey::Int(0), InstanceKey::None),
            (None, Some(_)) => continue,
        };
        if entry.instance(&from).is_some()
            && entry.instance(&to).is_none()
            && !spoken.contains(&relative(address, &from))
        {
            planned.push((address.instance(from), address.instance(to)));
        }
    }
    let mut ignored = Vec::new();
    for (from, to) in planned {
        moves.rename(state, from, to, &mut ignored);
    }
}

fn relative(address: &AbsResource, key: &InstanceKey) -> String {
    format!("{} {}{key}", address.module.path(), address.resource)
}

fn blocked_warning(blocked: &[(ResourceInstance, ResourceInstance)]) -> Diagnostic {
    let list: Vec<String> = blocked.iter().map(|(from, to)| format!("  - {from} could not move to {to}")).collect();
    let detail = format!(
        "Some objects stay where they are although moved blocks name another address for them, because there is an \
         object at that address already:\n{}\n\nThe objects at the former addresses will be planned for \
         destruction. To keep one of the two objects, remove the other from the state or move it elsewhere first.",
        list.join("\n")
    );
    Diagnostic::warning("Unresolved resource instance address changes", detail)
}
