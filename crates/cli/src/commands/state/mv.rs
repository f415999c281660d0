//! `state mv`: moves items in the state to new addresses.

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

/// Source and destination of a move.
#[derive(Debug)]
enum Move {
    Module(ModuleInstance, ModuleInstance),
    Resource(AbsResource, AbsResource),
    Instance(ResourceInstance, ResourceInstance),
}

pub(super) fn run(context: &mut Context, arguments: &StateMv) -> Outcome {
    Changing::configure(context, &arguments.change)?;
    let [from, to] = &*arguments.rest else {
        return Err(fail(
            "Required argument missing",
            "Expected two arguments: the current address and the new address.",
        ));
    };
    let (from, to) = (target(from)?, target(to)?);
    if arguments.backup_out.is_some() && arguments.state_out.is_none() {
        return Err(fail(
            "Invalid argument",
            "-backup-out sets the backup of the -state-out file, so it requires -state-out. To set the backup of the state itself, use \
             -backup.",
        ));
    }
    let mut source = Changing::open(context, &arguments.change, "state-mv")?;
    // A destination equal to the source is an ordinary move.
    let destination_file = arguments.state_out.as_deref().filter(|file| !source.is_in(file));
    let mut other = match destination_file {
        Some(file) => {
            let locking = locking(&arguments.change.access.locking, "state-mv");
            Some(Changing::of_file(context, file, arguments.backup_out.as_deref(), &locking, source.encryption())?)
        }
        None => None,
    };
    let target_state = other.as_ref().map_or(&source.state, |other| &other.state);
    // Decided before anything is changed, so that an error leaves both states as they were.
    let what = decide(&source.state, target_state, &from, &to)?;
    let instances = what.instances(&source.state);
    let names = what.names(&instances);
    if arguments.dry_run.is_some_and(Flag::is_on) {
        lines("Would move", &names).for_each(|line| context.report(&line));
        return Ok(0);
    }
    // Collected before the loop consumes the instances.
    let moved = what.moved_resources(&instances);
    for (from, to) in instances {
        // The provider is kept: it does not depend on the address.
        let provider = source.state.provider(&from, None).map(ProviderConfig::block);
        let Some((provider, record)) = provider.zip(source.state.remove_instance(&from)) else { continue };
        let into = other.as_mut().map_or(&mut source.state, |other| &mut other.state);
        // A resource that exists in the destination keeps its provider, because all its instances share it.
        let provider = into.resource(&to.abs_resource()).map_or(provider, |entry| (*entry.provider).clone());
        put(into, &to, &provider, record);
    }
    // Dependencies are cleared only in the destination, as in Terraform.
    forget_dependencies(other.as_mut().map_or(&mut source.state, |other| &mut other.state), &moved);
    // The destination is written first: a failure in between leaves the objects in both states instead of losing them.
    let command = context.wording.command.clone();
    let mut undo = other.map(|other| other.save(&command)).transpose()?.unwrap_or_default();
    undo.push_str(&source.save(&command)?);
    lines("Move", &names).for_each(|line| context.report(&line));
    context.report(&format!("Successfully moved {} object(s).\n", names.len()));
    context.report_nonempty(&undo);
    Ok(0)
}

fn lines(verb: &str, names: &[(String, String)]) -> impl Iterator<Item = String> {
    names.iter().map(move |(from, to)| format!("{verb} {from:?} to {to:?}\n"))
}

fn put(state: &mut State, to: &ResourceInstance, provider: &ProviderConfig, record: InstanceRecord) {
    let current = record.current.into_iter().map(|object| (None, object));
    for (key, object) in current.chain(record.deposed.into_iter().map(|(key, object)| (Some(key), object))) {
        // A deposed object may be managed by another provider configuration than the current one.
        let own = object.provider().cloned();
        state.insert(to, key.as_ref(), own.as_deref().unwrap_or(provider), object);
    }
}

/// Clears the recorded dependencies of objects that depend on a moved resource, as Terraform does in the destination state. The next
/// apply records them again.
fn forget_dependencies(state: &mut State, moved: &HashSet<ConfigResource>) {
    let depends = |object: &ObjectRecord| object.dependencies.iter().any(|on| moved.contains(on));
    let mut cleared = Vec::new();
    for view in state.iter() {
        let current = view.record.current.iter().map(|object| (None, object));
        let deposed = view.record.deposed.iter().map(|(key, object)| (Some(key.clone()), object));
        for (key, of) in current.chain(deposed).filter(|(_, object)| depends(object)) {
            // Shared records are copied only where they change.
            let object = ObjectRecord { dependencies: Dependencies::default(), ..(**of).clone() };
            cleared.push((view.address(), key, view.manager(of).clone(), Arc::new(object)));
        }
    }
    for (address, key, provider, object) in cleared {
        state.insert(&address, key.as_ref(), &provider, object);
    }
}

impl Move {
    /// Returns the resources that recorded dependencies on no longer refer to. Moving a module instance within its call keeps them
    /// valid, because dependencies do not contain instance keys.
    fn moved_resources(&self, instances: &[(ResourceInstance, ResourceInstance)]) -> HashSet<ConfigResource> {
        let resources = instances.iter().map(|(from, to)| (from.config_resource(), to.config_resource()));
        let is_moved = |(from, to): &(ConfigResource, ConfigResource)| !matches!(self, Self::Module(..)) || from != to;
        resources.filter(is_moved).map(|(from, _)| from).collect()
    }

    /// Returns the addresses to report. A module is reported with each nested module.
    fn names(&self, instances: &[(ResourceInstance, ResourceInstance)]) -> Vec<(String, String)> {
        match self {
            Self::Instance(from, to) => vec![(from.to_string(), to.to_string())],
            Self::Resource(from, to) => vec![(from.to_string(), to.to_string())],
            Self::Module(..) => {
                let mut names: Vec<(String, String)> =
                    instances.iter().map(|(from, to)| (from.module.to_string(), to.module.to_string())).collect();
                // Instances of a module are adjacent in the state, so adjacent duplicates suffice.
                names.dedup();
                names
            }
        }
    }

    /// Returns each moved instance with its new address.
    fn instances(&self, state: &State) -> Vec<(ResourceInstance, ResourceInstance)> {
        match self {
            Self::Instance(from, to) => vec![(from.clone(), to.clone())],
            Self::Resource(from, to) => {
                let keys = state.resource(from).into_iter().flat_map(|entry| entry.instances()).map(|(key, _)| key);
                keys.map(|key| (from.instance(key.clone()), to.instance(key.clone()))).collect()
            }
            Self::Module(from, to) => {
                // The whole module moves with its nested modules.
                let inside = state.iter().map(|view| view.address()).filter(|address| is_below(from, &address.module));
                inside.map(|address| (address.clone(), under(to, from, address))).collect()
            }
        }
    }
}

/// Whether `module` is `parent` or inside it. An address without a key does not include the instances with keys.
fn is_below(parent: &ModuleInstance, module: &ModuleInstance) -> bool {
    module.steps().starts_with(parent.steps())
}

/// Returns the address with the module prefix `from` replaced by `to`.
fn under(to: &ModuleInstance, from: &ModuleInstance, address: ResourceInstance) -> ResourceInstance {
    let rest = address.module.steps().iter().skip(from.steps().len());
    let module = ModuleInstance::from_steps(to.steps().iter().chain(rest).cloned());
    ResourceInstance { module, ..address }
}

/// Interprets the two addresses according to the contents of the states.
fn decide(source: &State, into: &State, from: &Target, to: &Target) -> Result<Move, Diagnostics> {
    let absent = || {
        fail(
            "Invalid source address",
            format!(
                "Cannot move {from}: does not match anything in the current state. Run \"state list\" to see all addresses."
            ),
        )
    };
    let target = |why: &str| Err(fail("Invalid target address", format!("Cannot move {from} to {to}: {why}.")));
    match (from, to) {
        (Target::Module(module), _) => {
            // An unknown module is an error, although moving nothing would be harmless: it is probably misspelled.
            if !source.iter().any(|view| is_below(module, &view.resource.module)) {
                return Err(absent());
            }
            let Target::Module(to) = to else { return target("the target must also be a module") };
            // Two modules are never merged, because their instances could collide.
            if into.iter().any(|view| is_below(to, &view.resource.module)) {
                return target("there is already a module at that address");
            }
            Ok(Move::Module(module.clone(), to.clone()))
        }
        (Target::Resource(resource), _) => {
            let entry = source.resource(resource).ok_or_else(absent)?;
            // An address without a key means the single instance if there is one, else the whole resource.
            let single = resource.instance(InstanceKey::None);
            match (entry.instance(&InstanceKey::None), to) {
                (Some(_), _) => decide_instance(into, from, &single, to),
                // All instances keep their keys.
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
        // An address without a key means the single instance of the target.
        Target::Resource(resource) => resource.instance(InstanceKey::None),
        Target::Instance(instance) => instance.clone(),
    };
    may_be(from, &instance.resource, &address.resource)?;
    if into.get(&address).is_some() {
        return target("there is already a resource instance at that address in the current state");
    }
    Ok(Move::Instance(instance.clone(), address))
}

/// Checks that objects of one resource can become objects of the other.
fn may_be(from: &Target, one: &groma_address::Resource, other: &groma_address::Resource) -> Result<(), Diagnostics> {
    let refused = |why: &str| Err(fail("Invalid state move request", format!("Cannot move {from} to {other}: {why}.")));
    if one.mode != other.mode {
        // Their records have different meanings: data is read again, managed objects are destroyed.
        return refused("a managed resource cannot become a data source, or vice versa");
    }
    // The attributes would not fit the schema of the other type.
    if one.type_name != other.type_name {
        return refused("resource types don't match");
    }
    Ok(())
}
