//! The instances of everything, and their values so far.
//!
//! A [`World`] is the configuration graph stamped out for every module instance. It is filled by the thread that walks,
//! and read by evaluation through an [`InstanceScope`].

mod around;
mod called;
mod expansion;
mod functions;
mod module;
pub mod named_values;
mod resource;
mod scope;
mod surroundings;
mod validity;

use std::cell::OnceCell;
use std::collections::HashMap;
use std::sync::Arc;

use groma_address::{AbsResource, ModuleInstance, Resource, ResourceInstance};
use groma_lang::FunctionContext;
use groma_value::{Type, Value};

pub use called::declared_type;
pub use expansion::{Expansion, Expansions, ModuleExpansions, Repetition};
pub use module::{CallData, ModuleData, ModuleId};
pub use resource::ResourceData;
pub use scope::InstanceScope;
pub use surroundings::Surroundings;

use crate::config_graph::{ConfigGraph, Deprecations, ModuleIndex, StaticModule, narrow};
use crate::deprecated_objects::Marker;
use crate::templates::Template;

/// The values of all module instances while a walk evaluates them: variables, locals, outputs, resources and how they repeat. Only the
/// walking thread changes it. References are resolved by [`World::scope`]. It holds values, not the state: a result is in the state or
/// journal before it is set here.
#[derive(Debug)]
pub struct World {
    graph: Arc<ConfigGraph>,
    surroundings: Surroundings,
    modules: Vec<ModuleData>,
    by_address: HashMap<ModuleInstance, ModuleId>,
    instances: Vec<Vec<ModuleId>>,
    /// By module, where its providers have functions.
    functions: Vec<OnceCell<FunctionContext>>,
}

impl World {
    /// A world with the root module only.
    pub fn new(graph: Arc<ConfigGraph>, surroundings: Surroundings) -> Self {
        let instances = vec![Vec::new(); graph.len()];
        let functions = vec![OnceCell::new(); graph.len()];
        let mut world =
            Self { graph, surroundings, modules: Vec::new(), by_address: HashMap::new(), instances, functions };
        world.add(ConfigGraph::ROOT, ModuleInstance::root(), None, Repetition::None);
        world
    }

    /// The configuration graph that it is made of.
    pub fn graph(&self) -> &Arc<ConfigGraph> {
        &self.graph
    }

    /// Returns the data that all module instances share.
    pub fn surroundings(&self) -> &Surroundings {
        &self.surroundings
    }

    /// Whether values in a module instance carry what is deprecated about them: applying tells no more than the plan did.
    pub fn tells_deprecations(&self, id: ModuleId) -> bool {
        self.tells_deprecations_in(self.module(id).of)
    }

    fn tells_deprecations_in(&self, module: ModuleIndex) -> bool {
        !self.surroundings.applying && self.graph.module(module).deprecations == Deprecations::Told
    }

    /// The module instance `id`.
    pub fn module(&self, id: ModuleId) -> &ModuleData {
        &self.modules[id.at()]
    }

    /// The module instance `id`, for giving values.
    pub fn module_mut(&mut self, id: ModuleId) -> &mut ModuleData {
        &mut self.modules[id.at()]
    }

    /// The module that `id` is an instance of.
    pub fn static_module(&self, id: ModuleId) -> &StaticModule {
        self.graph.module(self.module(id).of)
    }

    /// All module instances; callers before what they call.
    pub fn modules(&self) -> impl Iterator<Item = (ModuleId, &ModuleData)> {
        self.modules.iter().enumerate().map(|(at, module)| (ModuleId(narrow(at)), module))
    }

    /// The number of the module instance at `address`.
    pub fn find(&self, address: &ModuleInstance) -> Option<ModuleId> {
        if address.is_root() {
            return Some(ModuleId::ROOT);
        }
        self.by_address.get(address).copied()
    }

    /// The instances of a module so far.
    pub fn instances_of(&self, module: ModuleIndex) -> &[ModuleId] {
        self.instances.get(module.at()).map_or(&[], Vec::as_slice)
    }

    /// Makes the instances of a module call, and returns them. A child that could not be loaded has none.
    pub fn expand_call(&mut self, caller: ModuleId, call: u32, expansion: Expansion) -> Vec<ModuleId> {
        let module = self.static_module(caller);
        let child = module.children.get(call as usize).copied().flatten();
        let name = module.config.calls.get_index(call as usize).map(|(name, _)| name.clone());
        let mut made = Vec::new();
        if let (Some(child), Some(name)) = (child, name) {
            let address = self.module(caller).address.clone();
            for position in 0..expansion.len() {
                let address = address.child(name.clone(), expansion.key(position));
                made.push(self.add(child, address, Some(caller), expansion.repetition(position)));
            }
        }
        let data = &mut self.modules[caller.at()].calls[call as usize];
        data.expansion = expansion;
        data.instances.clone_from(&made);
        made
    }

    fn add(
        &mut self,
        of: ModuleIndex,
        address: ModuleInstance,
        caller: Option<ModuleId>,
        repetition: Repetition,
    ) -> ModuleId {
        let id = ModuleId(narrow(self.modules.len()));
        let config = &self.graph.module(of).config;
        let tells = self.tells_deprecations_in(of);
        let resource = |(at, (address, block)): (usize, (&Resource, &groma_config::Resource))| {
            let template = self.surroundings.templates.resource(of, narrow(at));
            let full = || address.in_module(config.path.clone());
            let told = template.filter(|_| tells);
            let marker = told.and_then(|template| Marker::of(&template.schema, full));
            let absent = block.lifecycle.enabled.as_ref().map(|_| Box::new(absent(template)));
            ResourceData { marker, absent, ..ResourceData::default() }
        };
        let data = ModuleData {
            address: address.clone(),
            of,
            caller,
            repetition,
            variables: vec![None; config.variables.len()],
            locals: vec![None; config.locals.len()],
            outputs: vec![None; config.outputs.len()],
            calls: config.calls.iter().map(|_| CallData::default()).collect(),
            resources: config.resources.iter().enumerate().map(resource).collect(),
            functions: OnceCell::new(),
        };
        self.by_address.insert(address, id);
        self.instances[of.at()].push(id);
        self.modules.push(data);
        id
    }

    /// The address of an instance of a resource.
    pub fn instance_address(&self, module: ModuleId, resource: u32, position: usize) -> ResourceInstance {
        let key = self.module(module).resources[resource as usize].expansion.key(position);
        self.resource_address(module, resource).instance(key)
    }

    /// The address of a resource of a module instance.
    pub fn resource_address(&self, module: ModuleId, resource: u32) -> AbsResource {
        let data = self.module(module);
        let config = &self.graph.module(data.of).config;
        config.resources[resource as usize].address.absolute(data.address.clone())
    }

    /// The steps of the address of a resource's instance whose keys are not known: those of the modules from 0, and that of
    /// the resource after them.
    pub fn open_steps(&self, module: ModuleId, resource: u32) -> Vec<usize> {
        let mut open = Vec::new();
        let data = self.module(module);
        if data.resources.get(resource as usize).is_some_and(|data| data.expansion == Expansion::Unknown) {
            open.push(data.address.steps().len());
        }
        let mut module = module;
        while let (Some(caller), Some(place)) = (self.module(module).caller, self.static_module(module).caller) {
            if self.module(caller).calls[place.call as usize].expansion == Expansion::Unknown {
                open.push(self.module(caller).address.steps().len());
            }
            module = caller;
        }
        open.reverse();
        open
    }

    /// Returns the location of a resource instance, if the configuration has it.
    pub fn locate(&self, address: &ResourceInstance) -> Option<(ModuleId, u32, usize)> {
        let (module, resource) = self.locate_block(address)?;
        let instance = self.module(module).resources[resource as usize].expansion.position(&address.key)?;
        Some((module, resource, instance))
    }

    /// Returns the location of the block of a resource instance, whether or not the block declares that instance.
    pub fn locate_block(&self, address: &ResourceInstance) -> Option<(ModuleId, u32)> {
        let module = self.find(&address.module)?;
        let resource = self.static_module(module).config.resources.get_index_of(&address.resource)?;
        Some((module, narrow(resource)))
    }

    /// Returns all expansions, from which apply rebuilds the same module instances.
    pub fn expansions(&self) -> Expansions {
        let modules = self.modules.iter().map(|module| ModuleExpansions {
            caller: module.caller.and_then(|caller| {
                let place = self.graph.module(module.of).caller?;
                let key = &module.address.steps().last()?.key;
                let position = match &self.module(caller).calls[place.call as usize].expansion {
                    Expansion::Unknown => 0,
                    known => known.position(key)?,
                };
                Some((caller.0, place.call, narrow(position)))
            }),
            calls: module.calls.iter().map(|call| call.expansion.keys()).collect(),
            resources: module.resources.iter().map(|resource| resource.expansion.keys()).collect(),
        });
        Expansions { modules: modules.collect() }
    }

    /// The world of a plan again, with the same numbers; none when the plan is not of this configuration.
    pub fn restore(graph: Arc<ConfigGraph>, surroundings: Surroundings, expansions: &Expansions) -> Option<Self> {
        if !expansions.are_valid() {
            return None;
        }
        let mut world = Self::new(graph, surroundings);
        for (at, recorded) in expansions.modules.iter().enumerate() {
            if let Some((caller, call, position)) = recorded.caller {
                world.restore_instance(ModuleId(caller), call, position)?;
            }
            let data = world.modules.get_mut(at)?;
            if data.calls.len() != recorded.calls.len() || data.resources.len() != recorded.resources.len() {
                return None;
            }
            for (call, keys) in data.calls.iter_mut().zip(&recorded.calls) {
                call.expansion = keys.expansion();
                call.instances = Vec::with_capacity(call.expansion.len());
            }
            for (resource, keys) in data.resources.iter_mut().zip(&recorded.resources) {
                resource.expand(keys.expansion());
            }
        }
        world.is_complete(expansions).then_some(world)
    }

    fn restore_instance(&mut self, caller: ModuleId, call: u32, position: u32) -> Option<()> {
        let data = self.modules.get(caller.at())?;
        let child = (*self.graph.module(data.of).children.get(call as usize)?)?;
        let (name, _) = self.graph.module(data.of).config.calls.get_index(call as usize)?;
        let expansion = &data.calls.get(call as usize)?.expansion;
        let at = position as usize;
        // Instances of one call are numbered in the order of their keys.
        if at >= expansion.len() || data.calls.get(call as usize)?.instances.len() != at {
            return None;
        }
        let (address, repetition) = (data.address.child(name.clone(), expansion.key(at)), expansion.repetition(at));
        let id = self.add(child, address, Some(caller), repetition);
        self.modules[caller.at()].calls[call as usize].instances.push(id);
        Some(())
    }

    /// Gives the instances of a module call the values of their elements.
    pub fn refill_call(&mut self, module: ModuleId, call: u32, elements: Arc<[(groma_address::Name, Value)]>) {
        let data = &mut self.modules[module.at()].calls[call as usize];
        data.expansion = Expansion::ForEach(elements);
        let (instances, expansion) = (data.instances.clone(), data.expansion.clone());
        for (position, id) in instances.into_iter().enumerate() {
            self.modules[id.at()].repetition = expansion.repetition(position);
        }
    }

    /// Gives the instances of a resource the values of their elements.
    pub fn refill_resource(&mut self, module: ModuleId, resource: u32, elements: Arc<[(groma_address::Name, Value)]>) {
        self.modules[module.at()].resources[resource as usize].expansion = Expansion::ForEach(elements);
    }
}

/// Returns the value of a disabled resource: null of its type.
fn absent(template: Option<&Arc<Template>>) -> Value {
    Value::null(template.map_or(Type::Dynamic, |template| template.schema.block.implied_type().clone()))
}
