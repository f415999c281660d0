//! The configuration graph: what the author wrote, with references resolved to node numbers.
//!
//! One [`StaticModule`] for each module path; in it one node for each named thing. The graph knows neither instances nor
//! state nor providers. Everything that concerns instances stamps these nodes out: see the module `world`.

mod ancestors;
mod cycle;
mod edges;
mod index;
mod late_functions;
mod nodes;
mod requirements;
mod rules_first;
mod static_module;

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};
use std::thread::Builder;

use groma_address::{ConfigResource, ModulePath, ProviderConfig};
use groma_config::{Configuration, Resource};
use groma_diagnostics::Diagnostics;
use groma_hcl::Traversal;
use groma_lang::Binding;

pub use ancestors::{Ancestors, forced_create_before_destroy};
use edges::{Drawn, ModuleEdges, draw};
pub(crate) use index::narrow;
pub use index::{Dependent, NodeRef, Requirement};
pub use index::{ModuleIndex, NodeIndex};
pub use late_functions::KnownFunctions;
use nodes::Modules;
pub(crate) use nodes::looks_around;
pub use static_module::{Caller, Deprecations, NodeKind, StaticModule};

/// All modules of a configuration.
///
/// The edges are drawn when somebody first asks for one: carrying a plan out, which knows the order already, only needs
/// what they say about the dependencies of objects.
#[derive(Debug)]
pub struct ConfigGraph {
    configuration: Arc<Configuration>,
    modules: Modules,
    drawn: OnceLock<Drawn>,
    known_functions: Option<KnownFunctions>,
    ancestors: OnceLock<Ancestors>,
}

impl ConfigGraph {
    /// The index of the root module.
    pub const ROOT: ModuleIndex = ModuleIndex(0);

    /// The graph of a configuration, which may have cycles: see [`ConfigGraph::check`].
    pub fn new(configuration: &Arc<Configuration>) -> Self {
        Self {
            configuration: Arc::clone(configuration),
            modules: Modules::of(&configuration.root),
            drawn: OnceLock::new(),
            known_functions: None,
            ancestors: OnceLock::new(),
        }
    }

    /// Reports nodes that wait for each other.
    pub fn check(&self) -> Diagnostics {
        cycle::check(self)
    }

    /// Returns the requirements of a node.
    pub fn requires(&self, module: ModuleIndex, node: NodeIndex) -> &[Requirement] {
        self.edges(module).requires.of(node)
    }

    /// Returns the nodes that wait for a node.
    pub fn dependents(&self, module: ModuleIndex, node: NodeIndex) -> &[Dependent] {
        self.edges(module).dependents.of(node)
    }

    /// Resolves a node reference as seen from a module; `None` for the caller of the root module.
    pub fn node_ref(&self, seen_from: ModuleIndex, node_ref: NodeRef) -> Option<(ModuleIndex, NodeIndex)> {
        match node_ref {
            NodeRef::Here(node) => Some((seen_from, node)),
            NodeRef::Caller(node) => Some((self.module(seen_from).caller?.module, node)),
            NodeRef::Above(module, node) => Some((module, node)),
        }
    }

    /// Calls `visit` with each node that must be done before a node although nothing mentions it: what expansion implies.
    pub fn for_each_implied(
        &self,
        index: ModuleIndex,
        node: NodeIndex,
        visit: &mut dyn FnMut((ModuleIndex, NodeIndex)),
    ) {
        let module = self.module(index);
        if let Some(caller) = module.caller {
            visit((caller.module, self.module(caller.module).call(caller.call as usize)));
        }
        match module.kind(node) {
            NodeKind::CallOutput { call, output } => {
                if let Some(child) = module.children[call as usize] {
                    visit((child, self.module(child).output(output as usize)));
                }
            }
            NodeKind::CallEnd(call) => {
                if let Some(child) = module.children[call as usize] {
                    (0..narrow(self.module(child).len())).for_each(|node| visit((child, NodeIndex(node))));
                }
            }
            _ => {}
        }
    }

    fn edges(&self, module: ModuleIndex) -> &ModuleEdges {
        &self.drawn().modules[module.at()]
    }

    fn drawn(&self) -> &Drawn {
        self.drawn.get_or_init(|| draw(self, &self.configuration))
    }

    /// The provider configurations that functions come with which are called.
    pub fn function_providers(&self) -> &HashSet<ProviderConfig> {
        &self.drawn().function_providers
    }

    /// The block of a provider configuration, if it has one.
    pub fn provider_block(&self, config: &ProviderConfig) -> Option<(ModuleIndex, NodeIndex)> {
        let owner = self.find(&config.module)?;
        let owning = self.module(owner);
        let position = owning.config.providers.keys().position(|local| {
            local.alias == config.alias && owning.config.provider_address(&local.name) == config.provider
        })?;
        Some((owner, owning.provider(position)))
    }

    /// Starts computing [`ancestors`](Self::ancestors) on another thread. A caller that asks earlier waits for the result.
    pub fn compute_ancestors_ahead(self: &Arc<Self>) {
        let graph = Arc::clone(self);
        // Without a thread they are computed on first use.
        let _ = Builder::new().name("ancestors".to_owned()).spawn(move || _ = graph.ancestors());
    }

    /// Returns the dependencies of every resource, computed on first use.
    pub fn ancestors(&self) -> &Ancestors {
        self.ancestors.get_or_init(|| Ancestors::new(self))
    }

    /// Returns the module with this index.
    pub fn module(&self, index: ModuleIndex) -> &StaticModule {
        &self.modules.all[index.at()]
    }

    /// Whether there is one instance of a module at least, whatever the values are.
    pub fn is_always_there(&self, module: ModuleIndex) -> bool {
        let Some(node_ref) = self.module(module).caller else { return true };
        let call = self.module(node_ref.module).config.calls.get_index(node_ref.call as usize);
        call.is_some_and(|(_, call)| call.has_single_instance()) && self.is_always_there(node_ref.module)
    }

    /// All modules; callers before the modules they call.
    pub fn modules(&self) -> impl Iterator<Item = (ModuleIndex, &StaticModule)> {
        self.modules.all.iter().enumerate().map(|(at, module)| (ModuleIndex(narrow(at)), module))
    }

    /// Returns the number of modules.
    pub fn len(&self) -> usize {
        self.modules.all.len()
    }

    /// The module at `path`.
    pub fn find(&self, path: &ModulePath) -> Option<ModuleIndex> {
        self.modules.by_path.get(path).copied()
    }

    /// The module and the node of a resource.
    pub fn find_resource(&self, resource: &ConfigResource) -> Option<(ModuleIndex, NodeIndex)> {
        let index = self.find(&resource.module)?;
        let module = self.module(index);
        let position = module.config.resources.get_index_of(&resource.resource)?;
        Some((index, module.resource(position)))
    }

    /// The block that describes a resource, if there is one.
    pub fn block(&self, resource: &ConfigResource) -> Option<&Resource> {
        self.module(self.find(&resource.module)?).config.resources.get(&resource.resource)
    }

    /// Returns the node that an entry of `depends_on` refers to: a resource or a module as a whole, or a single value.
    ///
    /// None where there is no such thing, which the checks of the configuration report.
    pub fn depended(&self, module: &StaticModule, entry: &Traversal) -> Option<NodeIndex> {
        let binding = module.config.binding(entry)?;
        Some(match binding {
            Binding::Variable(at) => module.variable(at as usize),
            Binding::Local(at) => module.local(at as usize),
            Binding::Resource(at) | Binding::PrefixedResource(at) => module.resource(at as usize),
            Binding::Module(call) => {
                let child = module.children.get(call as usize).copied().flatten();
                let output = child.zip(binding.attribute(entry)).and_then(|(child, name)| {
                    let output = self.module(child).config.outputs.get_index_of(name)?;
                    module.call_output(call as usize, output)
                });
                output.unwrap_or_else(|| module.call_end(call as usize))
            }
        })
    }

    /// The address of a resource node.
    pub fn resource_address(&self, module: ModuleIndex, resource: u32) -> Option<ConfigResource> {
        let module = self.module(module);
        let (address, _) = module.config.resources.get_index(resource as usize)?;
        Some(address.in_module(module.path().clone()))
    }
}
