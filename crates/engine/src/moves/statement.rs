//! Move statements: the addresses that a `moved` block covers, and the new address of an object.

use groma_address::{
    AbsResource, InstanceKey, ModuleInstance, ModulePath, ModuleStep, Name, Resource, ResourceInstance, Target,
};
use groma_diagnostics::{Diagnostic, Span};

use crate::config_graph::{ConfigGraph, ModuleIndex};
use crate::world::World;

/// One move statement, from a `moved` block or implied by `count`. It applies to every instance of its module; `from` and `to` are
/// relative to that module, and [`Statement::apply`] takes and returns absolute addresses.
#[derive(Clone, Debug)]
pub(super) struct Statement {
    /// The module that contains the block.
    pub(super) module: ModulePath,
    pub(super) from: Target,
    pub(super) to: Target,
    pub(super) span: Span,
}

impl Statement {
    /// Whether the configuration still declares the source. Only decides cases that need no evaluation; see
    /// [`Statement::is_declared_in`] for the others.
    pub(super) fn is_declared(&self, graph: &ConfigGraph) -> bool {
        match (&self.from, &self.to) {
            (Target::Module(from), Target::Module(to)) => {
                let path = self.module.steps().iter().chain(from.steps().iter().map(|step| &step.name));
                let path = path.fold(ModulePath::root(), |path, name| path.child(name));
                let Some(found) = graph.find(&path) else { return false };
                whole_call(from, to) || (is_plain(from) && !repeats(graph, found))
            }
            (Target::Resource(from), Target::Resource(_)) if is_plain(&from.module) => {
                self.declared(graph, from).is_some()
            }
            (Target::Resource(from), Target::Instance(_)) if is_plain(&from.module) => {
                let is_single =
                    |block: &groma_config::Resource| !block.is_repeated() && block.lifecycle.enabled.is_none();
                self.declared(graph, from).is_some_and(is_single)
            }
            _ => false,
        }
    }

    /// Whether the configuration still declares the source, with the instances that the walk has expanded.
    pub(super) fn is_declared_in(&self, world: &World) -> bool {
        let Some(holder) = world.graph().find(&self.module) else { return false };
        world.instances_of(holder).iter().any(|instance| {
            let base = &world.module(*instance).address;
            let within = |module: &ModuleInstance| {
                ModuleInstance::from_steps(base.steps().iter().chain(module.steps()).cloned())
            };
            let has = |address: &ResourceInstance| {
                world.locate(&ResourceInstance { module: within(&address.module), ..address.clone() }).is_some()
            };
            match (&self.from, &self.to) {
                (Target::Module(from), Target::Module(to)) if whole_call(from, to) => false,
                (Target::Module(from), _) => world.find(&within(from)).is_some(),
                (Target::Resource(from), Target::Instance(_)) => has(&from.instance(InstanceKey::None)),
                (Target::Resource(from), _) => {
                    self.declared(world.graph(), from).is_some() && world.find(&within(&from.module)).is_some()
                }
                (Target::Instance(from), _) => has(from),
            }
        })
    }

    /// Returns the resource whose single instance is moved; `None` if the source is a whole resource or a module.
    pub(super) fn resource_of_instance(&self) -> Option<&Resource> {
        match Extent::of(&self.from, &self.to) {
            Extent::Instance(_, resource, _) => Some(resource),
            Extent::Call(_) | Extent::Module(_) | Extent::Resource(..) => None,
        }
    }

    /// Returns the block of a resource that this statement names.
    fn declared<'g>(&self, graph: &'g ConfigGraph, resource: &AbsResource) -> Option<&'g groma_config::Resource> {
        let steps = self.module.steps().iter().chain(resource.module.steps().iter().map(|step| &step.name));
        let module = steps.fold(ModulePath::root(), |path, name| path.child(name));
        let module = graph.find(&module)?;
        graph.module(module).config.resources.get(&resource.resource)
    }

    pub(super) fn still_declared_error(&self) -> Diagnostic {
        let (from, to) = (&self.from, &self.to);
        let detail = format!(
            "This block moves {from} to {to}, but {from} is still declared. Rename its block, so that {to} is \
             declared instead, or remove the moved block."
        );
        Diagnostic::error("Moved object still exists", detail).at(self.span)
    }

    /// Returns the absolute path, as names, of the module that contains the source resource, or of the source module itself.
    pub(super) fn module_names(&self) -> Vec<Name> {
        let from = match &self.from {
            Target::Module(module) => module,
            Target::Resource(resource) => &resource.module,
            Target::Instance(instance) => &instance.module,
        };
        self.module.steps().iter().chain(from.steps().iter().map(|step| &step.name)).cloned().collect()
    }

    /// Whether the statement names this module instance, or resources directly in it, on either side.
    pub(super) fn names_module(&self, module: &ModuleInstance) -> bool {
        let depth = self.module.steps().len();
        let Some((above, inside)) = module.steps().split_at_checked(depth) else { return false };
        let is_here = above.iter().zip(self.module.steps()).all(|(step, name)| step.name == *name);
        is_here && !inside.is_empty() && self.sides().into_iter().any(|side| side.is_in(inside))
    }

    /// Iterates over the resources that the statement names on either side.
    pub(super) fn resources(&self) -> impl Iterator<Item = &Resource> {
        self.sides().into_iter().filter_map(|side| Some(side.resource()?.1))
    }

    /// Whether the statement names this resource or an instance of it, on either side.
    pub(super) fn names_resource(&self, address: &AbsResource) -> bool {
        let depth = self.module.steps().len();
        let Some((above, inside)) = address.module.steps().split_at_checked(depth) else { return false };
        let is_here = above.iter().zip(self.module.steps()).all(|(step, name)| step.name == *name);
        let is_it = |(module, resource): (&ModuleInstance, &Resource)| {
            module.steps() == inside && *resource == address.resource
        };
        is_here && self.sides().into_iter().any(|side| side.resource().is_some_and(is_it))
    }

    fn sides(&self) -> [Extent<'_>; 2] {
        [Extent::of(&self.from, &self.to), Extent::of(&self.to, &self.from)]
    }

    /// Returns the source as text that is equal only for statements about the same addresses.
    pub(super) fn source(&self) -> String {
        format!("{} {}{}", self.module, Extent::of(&self.from, &self.to).quantifier(), self.from)
    }

    /// Returns the target as text that is equal only for statements about the same addresses.
    pub(super) fn target(&self) -> String {
        format!("{} {}{}", self.module, Extent::of(&self.to, &self.from).quantifier(), self.to)
    }

    /// Whether this statement moves a part of what the other one moves. The other one then moves the rest.
    pub(super) fn moves_part_of(&self, other: &Self) -> bool {
        let [own, others] = [self, other].map(|statement| Extent::of(&statement.from, &statement.to));
        self.module == other.module && own.is_part_of(others)
    }

    /// Whether the other statement may move an object further that this one has moved.
    pub(super) fn leads_to(&self, other: &Self) -> bool {
        self.module == other.module && overlap(Extent::of(&self.to, &self.from), Extent::of(&other.from, &other.to))
    }

    /// Returns the new address of an object; `None` if the statement does not affect it.
    pub(super) fn apply(&self, address: &ResourceInstance) -> Option<ResourceInstance> {
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

/// The objects that one side of a statement covers. The other side decides: `r` means all instances of the resource if the other side
/// is a resource without a key, and the single instance without a key if the other side is an instance.
#[derive(Clone, Copy)]
enum Extent<'a> {
    /// All instances of a module call, with their contents.
    Call(&'a ModuleInstance),
    /// One module instance, with its contents.
    Module(&'a ModuleInstance),
    /// All instances of a resource.
    Resource(&'a ModuleInstance, &'a Resource),
    /// One instance of a resource.
    Instance(&'a ModuleInstance, &'a Resource, &'a InstanceKey),
}

impl<'a> Extent<'a> {
    fn of(side: &'a Target, other: &Target) -> Self {
        match (side, other) {
            (Target::Module(side), Target::Module(other)) if whole_call(side, other) => Self::Call(side),
            (Target::Module(side), _) => Self::Module(side),
            (Target::Resource(side), Target::Resource(_)) => Self::Resource(&side.module, &side.resource),
            (Target::Resource(side), _) => Self::Instance(&side.module, &side.resource, &InstanceKey::None),
            (Target::Instance(side), _) => Self::Instance(&side.module, &side.resource, &side.key),
        }
    }

    fn module(self) -> &'a ModuleInstance {
        match self {
            Self::Call(module) | Self::Module(module) | Self::Resource(module, _) | Self::Instance(module, ..) => {
                module
            }
        }
    }

    fn resource(self) -> Option<(&'a ModuleInstance, &'a Resource)> {
        match self {
            Self::Call(_) | Self::Module(_) => None,
            Self::Resource(module, resource) | Self::Instance(module, resource, _) => Some((module, resource)),
        }
    }

    /// Whether it is the module instance with these steps, or a resource directly in it.
    fn is_in(self, steps: &[ModuleStep]) -> bool {
        let own = self.module().steps();
        let is_any = |at: usize| matches!(self, Self::Call(_)) && at + 1 == own.len();
        let fits = |(at, (own, step)): (usize, (&ModuleStep, &ModuleStep))| {
            own.name == step.name && (own.key == step.key || is_any(at))
        };
        own.len() == steps.len() && own.iter().zip(steps).enumerate().all(fits)
    }

    /// Returns text that distinguishes equal addresses with different extents.
    fn quantifier(self) -> &'static str {
        match self {
            Self::Call(_) | Self::Resource(..) => "all of ",
            Self::Module(_) | Self::Instance(..) => "",
        }
    }

    /// Whether `other` contains it and more.
    fn is_part_of(self, other: Self) -> bool {
        let is_deeper = self.module().steps().len() > other.module().steps().len();
        match (self, other) {
            (Self::Instance(module, resource, _), Self::Resource(others, another)) => {
                module == others && resource == another
            }
            (_, Self::Resource(..) | Self::Instance(..)) => false,
            (Self::Instance(..) | Self::Resource(..), _) => other.covers(self.module()),
            (Self::Module(_), Self::Call(_)) => other.covers(self.module()),
            (Self::Call(_) | Self::Module(_), _) => is_deeper && other.covers(self.module()),
        }
    }

    /// Whether it contains a module instance, or is the same.
    fn covers(self, module: &ModuleInstance) -> bool {
        let (own, steps) = (self.module().steps(), module.steps());
        let is_any = |at: usize| matches!(self, Self::Call(_)) && at + 1 == own.len();
        matches!(self, Self::Call(_) | Self::Module(_))
            && own.len() <= steps.len()
            && own
                .iter()
                .zip(steps)
                .enumerate()
                .all(|(at, (own, step))| own.name == step.name && (own.key == step.key || is_any(at)))
    }
}

/// Whether two extents can have an object in common.
fn overlap(one: Extent<'_>, other: Extent<'_>) -> bool {
    match (one, other) {
        (Extent::Resource(module, resource), Extent::Resource(others, other) | Extent::Instance(others, other, _))
        | (Extent::Instance(module, resource, _), Extent::Resource(others, other)) => {
            module == others && resource == other
        }
        (Extent::Instance(module, resource, key), Extent::Instance(others, other, another)) => {
            (module, resource, key) == (others, other, another)
        }
        (Extent::Call(_) | Extent::Module(_), _) | (_, Extent::Call(_) | Extent::Module(_)) => {
            one.covers(other.module()) || other.covers(one.module())
        }
    }
}

/// Returns the new address of `object` after a move from `from` to `to`, all relative to one module; `None` if it does not move.
fn relocate(object: &ResourceInstance, from: &Target, to: &Target) -> Option<ResourceInstance> {
    match (from, to) {
        (Target::Module(from), Target::Module(to)) => {
            let (steps, wanted) = (object.module.steps(), from.steps());
            let fits = steps.len() >= wanted.len()
                && steps.iter().zip(wanted).enumerate().all(|(at, (step, wanted_step))| {
                    // Without a key on either side, the last step means every instance of the call.
                    let whole = at + 1 == wanted.len() && wanted_step.key == InstanceKey::None && whole_call(from, to);
                    step.name == wanted_step.name && (whole || step.key == wanted_step.key)
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

/// Whether the call of a module may have several instances or none.
fn repeats(graph: &ConfigGraph, module: ModuleIndex) -> bool {
    let Some(caller) = graph.module(module).caller else { return false };
    let calls = &graph.module(caller.module).config.calls;
    calls.get_index(caller.call as usize).is_some_and(|(_, call)| !call.has_single_instance())
}

/// Whether both sides name a module call without a key, and so all of its instances.
fn whole_call(from: &ModuleInstance, to: &ModuleInstance) -> bool {
    let unkeyed = |module: &ModuleInstance| module.steps().last().is_some_and(|step| step.key == InstanceKey::None);
    unkeyed(from) && unkeyed(to)
}
