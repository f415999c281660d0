//! `state mv`.

use std::collections::HashSet;
use std::sync::Arc;

use groma_address::{
    AbsResource, ConfigResource, InstanceKey, ModuleInstance, ProviderConfig, ResourceInstance, Target,
};
use groma_diagnostics::Diagnostics;
use groma_state::{Dependencies, InstanceRecord, ObjectRecord, State};

use super::super::backend::locking;
use super::super::context::Context;
use super::super::outcome::{Outcome, fail};
use super::changing::Changing;
use super::reading::target;
use crate::arguments::{Flag, StateMv};

/// A move of addresses.
#[derive(Debug)]
enum Move {
    Module(ModuleInstance, ModuleInstance),
    Resource(AbsResource, AbsResource),
    Instance(ResourceInstance, ResourceInstance),
}

pub(super) fn run(context: &mut Context, arguments: &StateMv) -> Outcome {
    let [from, to] = &*arguments.rest else {
        return Err(fail("Required argument missing", "Give two addresses: the one now, and the one to be."));
    };
    let (from, to) = (target(from)?, target(to)?);
    if arguments.backup_out.is_some() && arguments.state_out.is_none() {
        return Err(fail(
            "Invalid argument",
            "-backup-out names the backup of the state file that -state-out names, and without -state-out there is none. The backup of the \
             state itself is named by -backup.",
        ));
    }
    let mut source = Changing::open(context, &arguments.change, "state-mv")?;
    let elsewhere = arguments.state_out.as_deref().filter(|file| !source.is_in(file));
    let mut other = match elsewhere {
        Some(file) => {
            let locking = locking(&arguments.change.access.locking, "state-mv");
            Some(Changing::of_file(context, file, arguments.backup_out.as_deref(), &locking, source.encryption())?)
        }
        None => None,
    };
    let target_state = other.as_ref().map_or(&source.state, |other| &other.state);
    let what = decide(&source.state, target_state, &from, &to)?;
    let instances = what.instances(&source.state);
    let names = what.names(&instances);
    if arguments.dry_run.is_some_and(Flag::is_on) {
        lines("Would move", &names).for_each(|line| context.say(&line));
        return Ok(0);
    }
    let moved = what.estranged(&instances);
    for (from, to) in instances {
        let provider = source.state.provider(&from, None).map(ProviderConfig::block);
        let Some((provider, record)) = provider.zip(source.state.remove_instance(&from)) else { continue };
        let into = other.as_mut().map_or(&mut source.state, |other| &mut other.state);
        let provider = into.resource(&to.abs_resource()).map_or(provider, |entry| (*entry.provider).clone());
        put(into, &to, &provider, record);
    }
    forget_dependencies(other.as_mut().map_or(&mut source.state, |other| &mut other.state), &moved);
    // The one that gains is written first: a failure in between leaves the objects in both states and loses none.
    let command = context.wording.command.clone();
    let mut undo = other.map(|other| other.save(&command)).transpose()?.unwrap_or_default();
    undo.push_str(&source.save(&command)?);
    lines("Move", &names).for_each(|line| context.say(&line));
    context.say(&format!("Successfully moved {} object(s).\n", names.len()));
    context.say_if_any(&undo);
    Ok(0)
}

fn lines(verb: &str, names: &[(String, String)]) -> impl Iterator<Item = String> {
    names.iter().map(move |(from, to)| format!("{verb} {from:?} to {to:?}\n"))
}

fn put(state: &mut State, to: &ResourceInstance, provider: &ProviderConfig, record: InstanceRecord) {
    let current = record.current.into_iter().map(|object| (None, object));
    for (key, object) in current.chain(record.deposed.into_iter().map(|(key, object)| (Some(key), object))) {
        let own = object.provider().cloned();
        state.insert(to, key.as_ref(), own.as_deref().unwrap_or(provider), object);
    }
}

/// Takes the dependencies from whatever depends on a moved resource, as Terraform does in the state that gains: the next apply
/// finds them again.
fn forget_dependencies(state: &mut State, moved: &HashSet<ConfigResource>) {
    let depends = |object: &ObjectRecord| object.dependencies.iter().any(|on| moved.contains(on));
    let mut freed = Vec::new();
    for view in state.iter() {
        let current = view.record.current.iter().map(|object| (None, object));
        let deposed = view.record.deposed.iter().map(|(key, object)| (Some(key.clone()), object));
        for (key, of) in current.chain(deposed).filter(|(_, object)| depends(object)) {
            let object = ObjectRecord { dependencies: Dependencies::default(), ..(**of).clone() };
            freed.push((view.address(), key, view.manager(of).clone(), Arc::new(object)));
        }
    }
    for (address, key, provider, object) in freed {
        state.insert(&address, key.as_ref(), &provider, object);
    }
}

impl Move {
    /// Returns the resources without known dependents after the move. A dependency names a resource, not an instance: where a module
    /// instance becomes another one of the same call, dependents stay.
    fn estranged(&self, instances: &[(ResourceInstance, ResourceInstance)]) -> HashSet<ConfigResource> {
        let resources = instances.iter().map(|(from, to)| (from.config_resource(), to.config_resource()));
        let is_estranged =
            |(from, to): &(ConfigResource, ConfigResource)| !matches!(self, Self::Module(..)) || from != to;
        resources.filter(is_estranged).map(|(from, _)| from).collect()
    }

    /// Returns the names of the moved items: a module includes its nested modules, one by one.
    fn names(&self, instances: &[(ResourceInstance, ResourceInstance)]) -> Vec<(String, String)> {
        match self {
            Self::Instance(from, to) => vec![(from.to_string(), to.to_string())],
            Self::Resource(from, to) => vec![(from.to_string(), to.to_string())],
            Self::Module(..) => {
                let mut names: Vec<(String, String)> =
                    instances.iter().map(|(from, to)| (from.module.to_string(), to.module.to_string())).collect();
                names.dedup();
                names
            }
        }
    }

    /// Each instance with the address it gets.
    fn instances(&self, state: &State) -> Vec<(ResourceInstance, ResourceInstance)> {
        match self {
            Self::Instance(from, to) => vec![(from.clone(), to.clone())],
            Self::Resource(from, to) => {
                let keys = state.resource(from).into_iter().flat_map(|entry| entry.instances()).map(|(key, _)| key);
                keys.map(|key| (from.instance(key.clone()), to.instance(key.clone()))).collect()
            }
            Self::Module(from, to) => {
                let inside = state.iter().map(|view| view.address()).filter(|address| is_below(from, &address.module));
                inside.map(|address| (address.clone(), under(to, from, address))).collect()
            }
        }
    }
}

/// Whether `module` is `parent` or inside it, instance for instance: a call without key is not all of its instances.
fn is_below(parent: &ModuleInstance, module: &ModuleInstance) -> bool {
    module.steps().starts_with(parent.steps())
}

/// Replaces the module prefix `from` of an address by `to`.
fn under(to: &ModuleInstance, from: &ModuleInstance, address: ResourceInstance) -> ResourceInstance {
    let rest = address.module.steps().iter().skip(from.steps().len());
    let module = ModuleInstance::from_steps(to.steps().iter().chain(rest).cloned());
    ResourceInstance { module, ..address }
}

/// Determines the meaning of the two addresses, given the states.
fn decide(source: &State, into: &State, from: &Target, to: &Target) -> Result<Move, Diagnostics> {
    let absent = || {
        fail(
            "Invalid source address",
            format!(
                "Cannot move {from}: does not match anything in the current state. \"state list\" prints what there is."
            ),
        )
    };
    let target = |why: &str| Err(fail("Invalid target address", format!("Cannot move {from} to {to}: {why}.")));
    match (from, to) {
        (Target::Module(module), _) => {
            if !source.iter().any(|view| is_below(module, &view.resource.module)) {
                return Err(absent());
            }
            let Target::Module(to) = to else { return target("the target must also be a module") };
            if into.iter().any(|view| is_below(to, &view.resource.module)) {
                return target("there is already a module at that address");
            }
            Ok(Move::Module(module.clone(), to.clone()))
        }
        (Target::Resource(resource), _) => {
            let entry = source.resource(resource).ok_or_else(absent)?;
            let single = resource.instance(InstanceKey::None);
            match (entry.instance(&InstanceKey::None), to) {
                (Some(_), _) => decide_instance(into, from, &single, to),
                (None, Target::Resource(to)) => {
                    may_be(from, &resource.resource, &to.resource)?;
                    if into.resource(to).is_some() {
                        return target("there is already a resource at that address in the current state");
                    }
                    Ok(Move::Resource(resource.clone(), to.clone()))
                }
                (None, _) => target(
                    "the source is a whole resource with all its instances, so the target must be a whole resource too",
                ),
            }
        }
        (Target::Instance(instance), _) => {
            source.get(instance).ok_or_else(absent)?;
            decide_instance(into, from, instance, to)
        }
    }
}

fn decide_instance(into: &State, from: &Target, instance: &ResourceInstance, to: &Target) -> Result<Move, Diagnostics> {
    let target = |why: &str| Err(fail("Invalid target address", format!("Cannot move {from} to {to}: {why}.")));
    let address = match to {
        Target::Module(_) => return target("the target must also be a resource instance"),
        Target::Resource(resource) => resource.instance(InstanceKey::None),
        Target::Instance(instance) => instance.clone(),
    };
    may_be(from, &instance.resource, &address.resource)?;
    if into.get(&address).is_some() {
        return target("there is already a resource instance at that address in the current state");
    }
    Ok(Move::Instance(instance.clone(), address))
}

/// Whether what is stored for one resource can be what is stored for another.
fn may_be(from: &Target, one: &groma_address::Resource, other: &groma_address::Resource) -> Result<(), Diagnostics> {
    let refused = |why: &str| Err(fail("Invalid state move request", format!("Cannot move {from} to {other}: {why}.")));
    if one.mode != other.mode {
        return refused("a resource stays a resource and a data source stays a data source");
    }
    if one.type_name != other.type_name {
        return refused("resource types don't match");
    }
    Ok(())
}
