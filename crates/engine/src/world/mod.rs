//! The instances of everything, and their values so far.
//!
//! A [`World`] is the configuration graph stamped out for every module instance. It is filled by the thread that walks,
//! and read by evaluation through an [`InstanceScope`].

mod expansion;
mod module;
pub mod named_values;
mod resource;
mod restore;
mod scope;

use std::cell::OnceCell;
use std::collections::HashMap;
use std::sync::Arc;

use groma_address::{AbsResource, ModuleInstance, Resource, ResourceInstance};
use groma_lang::FunctionContext;
use groma_value::{Type, Value};

pub use expansion::{Expansion, Repetition};
pub use module::SharedContext;
pub use module::declared_type;
pub use module::{CallData, ModuleData, ModuleId};
pub use resource::ResourceData;
pub use scope::InstanceScope;

use crate::config_graph::{Caller, ConfigGraph, Deprecations, ModuleIndex, StaticModule, narrow};
use crate::deprecation::Marker;
use crate::templates::Template;

/// The instance graph with all values so far.
///
/// Owns every module instance, with the values of its variables, locals and outputs, and the objects of its resources. It
/// grows while calls and resources are expanded; nothing is removed, so numbers and positions remain valid. A module instance
/// comes after its caller. References to missing values, of nodes not visited yet or failed, evaluate to unknown values.
///
/// Only the walking thread changes it. Expressions see it through an [`InstanceScope`]: one module instance with the values
/// of `count`, `each` and `self`. The world neither evaluates expressions nor holds the state; `evaluation` and the walks do.
/// A plan stores its shape ([`World::expansions`]), from which apply rebuilds the same world.
#[derive(Debug)]
pub struct World {
    graph: Arc<ConfigGraph>,
    shared_context: SharedContext,
    modules: Vec<ModuleData>,
    by_address: HashMap<ModuleInstance, ModuleId>,
    instances: Vec<Vec<ModuleId>>,
    /// By module, where its providers have functions.
    functions: Vec<OnceCell<FunctionContext>>,
}

impl World {
    /// A world with the root module only.
    pub fn new(graph: Arc<ConfigGraph>, shared_context: SharedContext) -> Self {
        let instances = vec![Vec::new(); graph.len()];
        let functions = vec![OnceCell::new(); graph.len()];
        let mut world =
            Self { graph, shared_context, modules: Vec::new(), by_address: HashMap::new(), instances, functions };
        world.add(ConfigGraph::ROOT, ModuleInstance::root(), None, Repetition::None);
        world
    }

    /// The configuration graph that it is made of.
    pub fn graph(&self) -> &Arc<ConfigGraph> {
        &self.graph
    }

    /// Returns the data that all module instances share.
    pub fn shared_context(&self) -> &SharedContext {
        &self.shared_context
    }

    /// Whether values in a module instance carry what is deprecated about them: applying tells no more than the plan did.
    pub fn tells_deprecations(&self, id: ModuleId) -> bool {
        self.tells_deprecations_in(self.module(id).of)
    }

    fn tells_deprecations_in(&self, module: ModuleIndex) -> bool {
        !self.shared_context.applying && self.graph.module(module).deprecations == Deprecations::Reported
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
            // Cloned, because adding instances changes the list that holds the address.
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
            let template = self.shared_context.templates.resource(of, narrow(at));
            let full = || address.in_module(config.path.clone());
            let reported = template.filter(|_| tells);
            let marker = reported.and_then(|template| Marker::of(&template.schema, full));
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
        // They were collected from the resource upward, but positions count from the root.
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

    /// Gives the instances of a module call the values of their elements.
    pub fn refill_call(&mut self, module: ModuleId, call: u32, elements: Arc<[(groma_address::Name, Value)]>) {
        let data = &mut self.modules[module.at()].calls[call as usize];
        data.expansion = Expansion::ForEach(elements);
        // Cloned, because the loop changes elements of the list that holds them.
        let (instances, expansion) = (data.instances.clone(), data.expansion.clone());
        for (position, id) in instances.into_iter().enumerate() {
            self.modules[id.at()].repetition = expansion.repetition(position);
        }
    }

    /// Gives the instances of a resource the values of their elements.
    pub fn refill_resource(&mut self, module: ModuleId, resource: u32, elements: Arc<[(groma_address::Name, Value)]>) {
        self.modules[module.at()].resources[resource as usize].expansion = Expansion::ForEach(elements);
    }

    /// Returns the instances of `module` that an object in `from` can depend on: those inside its closest ancestor that contains
    /// `module`, itself included.
    pub fn seen_from(&self, from: ModuleId, module: ModuleIndex) -> Vec<ModuleId> {
        let callers = self.callers(module);
        let mut around = std::iter::successors(Some(from), |id| self.module(*id).caller);
        let closest = around.find_map(|id| {
            let of = self.module(id).of;
            let inside = callers.iter().position(|caller| caller.module == of).map(|at| at + 1);
            inside.or((of == module).then_some(0)).map(|calls| (id, calls))
        });
        let Some((closest, calls)) = closest else { return Vec::new() };
        let mut found = vec![closest];
        for caller in callers[..calls].iter().rev() {
            let called = |id: ModuleId| self.module(id).calls.get(caller.call as usize);
            found = found.into_iter().filter_map(called).flat_map(|call| call.instances.iter().copied()).collect();
        }
        found
    }

    /// Returns the call of `module`, the call of its caller, and so on up to the root module.
    fn callers(&self, module: ModuleIndex) -> Vec<Caller> {
        std::iter::successors(self.graph.module(module).caller, |caller| self.graph.module(caller.module).caller)
            .collect()
    }
}

/// Returns the value of a disabled resource: null of its type.
fn absent(template: Option<&Arc<Template>>) -> Value {
    Value::null(template.map_or(Type::Dynamic, |template| template.schema.block.implied_type().clone()))
}
