//! `-target`: the chosen addresses with what they depend on (PL-64). `-exclude`: all but what is named and what depends on it.

use std::collections::{HashMap, HashSet};

use groma_address::{ConfigResource, ModuleInstance, ProviderConfig, ResourceInstance, Target};
use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_plan::Mode;
use groma_state::{Dependencies, State};

use super::imports::is_missing;
use super::reach::{Triggers, dependents, needed, requirements};
use crate::config_graph::{ConfigGraph, ModuleIndex, NodeIndex, NodeKind};
use crate::options::{InvokeTarget, PlanOptions};

/// The target set of a partial plan: the nodes to evaluate and the instances to plan. Owns no plan data; [`Included::instance`] and
/// [`Included::includes_orphan`] decide whether an object is planned, [`Included::node`] whether a node is evaluated. A complete plan
/// has none.
#[derive(Debug)]
pub struct Included {
    target_set: TargetSet,
    nodes: HashSet<(ModuleIndex, NodeIndex)>,
    /// Resources that something chosen depends on and that nothing chosen is of: all their instances count. When destroying, those
    /// that depend on something chosen, because they cannot stay without it.
    required: HashSet<(ModuleIndex, NodeIndex)>,
    /// In a destroy plan: the targeted resources and their dependencies, which are refreshed first.
    read: HashSet<(ModuleIndex, NodeIndex)>,
    /// The chosen resources and, when destroying, what depends on them.
    resources: HashSet<ConfigResource>,
    /// In a destroy plan: the instances of dependents that are destroyed with a target.
    dependent_instances: DependentInstances,
    /// In a destroy plan: instances whose record names a destroyed resource, although the configuration no longer refers to it.
    recorded_users: HashSet<ResourceInstance>,
    /// With `-exclude`: the resources that something excluded uses, by the configuration or by its record.
    used_by_excluded: HashSet<ConfigResource>,
}

impl Included {
    /// Computes the target set; `None` for a complete plan.
    pub fn new(graph: &ConfigGraph, options: &PlanOptions, state: &State) -> Option<Self> {
        // A requested action includes only its dependencies, so targets play no part in it.
        if let (true, Some(action)) = (options.excludes.is_empty(), &options.invoke) {
            return Some(Self::action(graph, action));
        }
        let mut included = match (options.excludes.is_empty(), options.targets.is_empty(), options.mode) {
            (false, _, mode) => Self::all_but(graph, &options.excludes, mode, state),
            (true, true, _) => return None,
            (true, false, Mode::Destroy) => Self::destroyed(graph, &options.targets, state),
            (true, false, Mode::Normal | Mode::RefreshOnly) => Self::only(graph, &options.targets),
        };
        // Providers of orphans have no block in the target set that would include them.
        included.add_providers_of_orphans(graph, options.mode, state);
        Some(included)
    }

    fn with(target_set: TargetSet) -> Self {
        Self {
            target_set,
            nodes: HashSet::new(),
            required: HashSet::new(),
            read: HashSet::new(),
            resources: HashSet::new(),
            dependent_instances: DependentInstances::default(),
            recorded_users: HashSet::new(),
            used_by_excluded: HashSet::new(),
        }
    }

    /// Excluded resources are neither expanded nor read, because an expansion that fails may be the reason for excluding them.
    fn all_but(graph: &ConfigGraph, excludes: &[Target], mode: Mode, state: &State) -> Self {
        // A target may mean some instances of a resource, so coverage is decided before expansion.
        let touched: Vec<_> = resources(graph)
            .filter(|(_, address)| excludes.iter().any(|target| covers(target, address)))
            .map(|(node_ref, _)| node_ref)
            .collect();
        // In a destroy plan the dependencies of excluded objects stay; in other plans their dependents do.
        let mut stays = if mode == Mode::Destroy {
            let mut below = Self::with(TargetSet::Targets(Vec::new()));
            below.close(graph, Triggers::Apart, touched);
            below.required
        } else {
            dependents(graph, Triggers::Part, &touched).into_keys().collect()
        };
        let mut with_them: HashSet<ConfigResource> =
            stays.drain().filter_map(|node_ref| address_of(graph, node_ref)).collect();
        // The configuration may no longer refer to a dependency that the state still records.
        if mode == Mode::Destroy {
            let left = state.iter().filter(|view| excludes.iter().any(|target| target.may_mean(&view.address())));
            let objects = left.flat_map(|view| view.record.current.iter());
            with_them.extend(objects.flat_map(|object| object.dependencies.iter().cloned()));
        }
        let mut included = Self::with(TargetSet::Excludes { excludes: excludes.to_vec(), stays: with_them });
        let is_in = |address: &ConfigResource| !included.target_set.leaves_out(address);
        let declared = resources(graph).filter(|(_, address)| is_in(address)).map(|(node_ref, _)| node_ref);
        let open: Vec<_> = declared.chain(undeclared_imports(graph, is_in)).collect();
        if mode == Mode::Destroy {
            included.read = open.iter().copied().collect();
            included.close(graph, Triggers::Apart, open);
        } else {
            included.close(graph, Triggers::Part, open);
            included.add_outputs(graph);
            // Replaced or orphaned objects that an excluded object uses must not be destroyed in this run.
            included.used_by_excluded = included.uses_of_excluded(graph, state);
        }
        included
    }

    /// Returns the resources that something excluded uses.
    fn uses_of_excluded(&self, graph: &ConfigGraph, state: &State) -> HashSet<ConfigResource> {
        let is_excluded = |address: &ConfigResource| match &self.target_set {
            TargetSet::Targets(_) => false,
            TargetSet::Excludes { excludes, stays } => {
                stays.contains(address) || excludes.iter().any(|target| covers(target, address))
            }
        };
        let excluded =
            resources(graph).filter(|(_, address)| is_excluded(address)).map(|(node_ref, _)| node_ref).collect();
        let mut below = Self::with(TargetSet::Targets(Vec::new()));
        below.close(graph, Triggers::Apart, excluded);
        let mut used: HashSet<ConfigResource> =
            below.required.into_iter().filter_map(|node_ref| address_of(graph, node_ref)).collect();
        // Recorded users count as well, since their configuration may have been changed in the meantime.
        let left_out = state.iter().filter(|view| !self.chosen(&view.address()));
        let objects = left_out.flat_map(|view| view.record.current.iter());
        used.extend(objects.flat_map(|object| object.dependencies.iter().cloned()));
        used
    }

    /// Adds the provider configurations of objects that are planned although their resources have no block.
    fn add_providers_of_orphans(&mut self, graph: &ConfigGraph, mode: Mode, state: &State) {
        let orphans = state.iter().map(|view| view.address());
        let orphans = orphans.filter(|address| graph.find_resource(&address.config_resource()).is_none());
        let providers = orphans.filter(|address| self.includes_orphan(graph, address));
        let providers: HashSet<ProviderConfig> =
            providers.filter_map(|address| Some(state.provider(&address, None)?.block())).collect();
        let blocks = providers.iter().filter_map(|provider| graph.provider_block(provider)).collect();
        // Copied, because the closure would add resources that only the configuration of a provider needs.
        let required = self.required.clone();
        self.close(graph, Triggers::Apart, blocks);
        if mode == Mode::Destroy {
            // What the configuration of a provider depends on is evaluated, and stays.
            self.required = required;
        }
    }

    fn only(graph: &ConfigGraph, targets: &[Target]) -> Self {
        let mut included = Self::with(TargetSet::Targets(targets.to_vec()));
        let targeted = resources(graph).filter(|(_, address)| targets.iter().any(|target| covers(target, address)));
        let (open, addresses): (Vec<_>, HashSet<_>) = targeted.unzip();
        included.resources = addresses;
        // Imports without a block have no resource node, so their nodes are targets themselves.
        let imports = undeclared_imports(graph, |address| targets.iter().any(|target| covers(target, address)));
        let all = open.iter().copied().chain(imports).collect();
        included.close(graph, Triggers::Part, all);
        // Of what is aimed at only what is named is meant, whatever else depends on it: one module instance is not all of them.
        for node_ref in open {
            included.required.remove(&node_ref);
        }
        included.add_outputs(graph);
        included
    }

    /// Returns the target set of a destroy plan. A target without an object has no effect.
    fn destroyed(graph: &ConfigGraph, targets: &[Target], state: &State) -> Self {
        let mut included = Self::with(TargetSet::Targets(targets.to_vec()));
        let recorded = state.iter().map(|view| view.address());
        // Only recorded objects can be destroyed.
        let there: Vec<_> = recorded.filter(|address| included.chosen(address)).collect();
        there.iter().for_each(|address| included.dependent_instances.choose(address));
        included.resources = there.iter().map(ResourceInstance::config_resource).collect();
        let targeted = resources(graph).filter(|(_, address)| included.resources.contains(address));
        let mut open: Vec<_> = targeted.map(|(node_ref, _)| node_ref).collect();
        included.close(graph, Triggers::Apart, open.clone());
        // Targets and their dependencies are refreshed, because providers are configured with their values.
        included.read = std::mem::take(&mut included.nodes);
        let mut dependents = dependents(graph, Triggers::Apart, &open);
        // A target that depends on another target counts as a target.
        for node_ref in &open {
            dependents.remove(node_ref);
        }
        included.resources.extend(dependents.keys().filter_map(|node_ref| address_of(graph, *node_ref)));
        included.required = dependents.keys().copied().collect();
        open.extend(dependents.keys().copied());
        included.dependent_instances.common = dependents;
        let users = included.users_by_record(graph, state);
        included.resources.extend(users.iter().map(ResourceInstance::config_resource));
        open.extend(users.iter().filter_map(|address| graph.find_resource(&address.config_resource())));
        included.recorded_users = users;
        // Their dependencies are only evaluated for their values.
        let required = std::mem::take(&mut included.required);
        included.close(graph, Triggers::Apart, open);
        included.required = required;
        included
    }

    /// Returns the instances that the state records as users of something that goes, directly or through others.
    fn users_by_record(&self, graph: &ConfigGraph, state: &State) -> HashSet<ResourceInstance> {
        let mut users: HashMap<&ConfigResource, Vec<ResourceInstance>> = HashMap::new();
        let mut open: Vec<ResourceInstance> = Vec::new();
        // A single pass over the state: users are looked up by resource afterwards.
        for view in state.iter() {
            let address = view.address();
            for used in view.record.current.iter().flat_map(|object| object.dependencies.iter()) {
                users.entry(used).or_default().push(address.clone());
            }
            let node_ref = graph.find_resource(&address.config_resource());
            if node_ref.map_or_else(|| self.chosen(&address), |(module, node)| self.instance(module, node, &address)) {
                open.push(address);
            }
        }
        let mut found: HashSet<ResourceInstance> = HashSet::new();
        // All instances of a resource in one module have the same users.
        let mut seen = HashSet::new();
        while let Some(used) = open.pop() {
            if !seen.insert((used.config_resource(), used.module.clone())) {
                continue;
            }
            for user in users.get(&used.config_resource()).into_iter().flatten() {
                // Recorded dependencies name resources only; objects in other instances of a module are not connected.
                if !are_in_other_instances(&user.module, &used.module)
                    && !self.target_set.is_sibling_of_target(user)
                    && found.insert(user.clone())
                {
                    open.push(user.clone());
                }
            }
        }
        found
    }

    /// Returns the target set of an action that was requested with `-invoke`, with its dependencies.
    fn action(graph: &ConfigGraph, action: &InvokeTarget) -> Self {
        let mut included = Self::with(TargetSet::Targets(Vec::new()));
        let name = (action.type_name.clone(), action.name.clone());
        let node_ref = graph.find(&action.module.path()).and_then(|index| {
            let module = graph.module(index);
            Some((index, module.action(module.config.actions.get_index_of(&name)?)))
        });
        included.close(graph, Triggers::Apart, node_ref.into_iter().collect());
        included
    }

    fn close(&mut self, graph: &ConfigGraph, triggers: Triggers, mut open: Vec<(ModuleIndex, NodeIndex)>) {
        while let Some((index, node)) = open.pop() {
            if !self.nodes.insert((index, node)) {
                continue;
            }
            for next in needed(graph, triggers, index, node) {
                if matches!(graph.module(next.0).kind(next.1), NodeKind::Resource(_)) {
                    self.required.insert(next);
                }
                open.push(next);
            }
        }
    }

    /// Adds outputs whose dependencies are all included.
    fn add_outputs(&mut self, graph: &ConfigGraph) {
        let root = graph.module(ConfigGraph::ROOT);
        for at in 0..root.config.outputs.len() {
            let mut seen = HashSet::new();
            let mut open = vec![(ConfigGraph::ROOT, root.output(at))];
            let mut resources = 0;
            let mut missing = 0;
            while let Some((index, node)) = open.pop() {
                if !seen.insert((index, node)) {
                    continue;
                }
                if matches!(graph.module(index).kind(node), NodeKind::Resource(_)) {
                    resources += 1;
                    missing += usize::from(!self.nodes.contains(&(index, node)));
                    continue;
                }
                open.extend(requirements(graph, index, node));
            }
            // An output of untargeted resources would show an outdated value.
            // An output without any resource depends on no target, so it is left out.
            if resources > 0 && missing == 0 {
                self.nodes.extend(seen);
            }
        }
    }

    /// Whether a node is part of the plan.
    pub fn node(&self, graph: &ConfigGraph, index: ModuleIndex, node: NodeIndex) -> bool {
        let module = graph.module(index);
        // What is triggered belongs to the resource.
        let decides = match module.kind(node) {
            NodeKind::Trigger(at) => module.resource(at as usize),
            _ => node,
        };
        self.nodes.contains(&(index, decides))
    }

    /// Whether an instance of a resource in the configuration is planned.
    pub fn instance(&self, module: ModuleIndex, node: NodeIndex, address: &ResourceInstance) -> bool {
        match self.target_set {
            TargetSet::Targets(_) => {
                let node_ref = (module, node);
                (self.required.contains(&node_ref) && self.dependent_instances.goes(node_ref, address))
                    || self.recorded_users.contains(address)
                    || self.chosen(address)
            }
            TargetSet::Excludes { .. } => self.chosen(address),
        }
    }

    /// Whether the plan covers an orphan: it is targeted, or an instance of a resource that a target depends on.
    pub fn includes_orphan(&self, graph: &ConfigGraph, address: &ResourceInstance) -> bool {
        let is_required = |node_ref| self.required.contains(&node_ref);
        let stands_below = || graph.find_resource(&address.config_resource()).is_some_and(is_required);
        match self.target_set {
            TargetSet::Targets(_) => self.chosen(address) || stands_below(),
            TargetSet::Excludes { .. } => self.chosen(address),
        }
    }

    /// Whether a destroy plan refreshes an object: targets and their dependencies are refreshed, dependents and untargeted siblings are
    /// not.
    pub fn reads(&self, module: ModuleIndex, node: NodeIndex, address: &ResourceInstance) -> bool {
        self.read.contains(&(module, node)) && !self.target_set.is_sibling_of_target(address)
    }

    /// Whether an object with these recorded dependencies is destroyed together with them.
    pub fn includes_dependents(
        &self,
        graph: &ConfigGraph,
        address: &ResourceInstance,
        dependencies: &Dependencies,
    ) -> bool {
        !self.target_set.is_sibling_of_target(address)
            && dependencies.iter().any(|found| self.resources.contains(found))
            && graph
                .find_resource(&address.config_resource())
                .is_none_or(|node_ref| self.dependent_instances.goes(node_ref, address))
    }

    /// Whether objects of an instance stay that would be destroyed after their users are changed: replaced objects stay deposed,
    /// orphans and deposed objects stay as they are, because the plan may leave users out. The next complete plan destroys them.
    ///
    /// Terraform destroys them only where a target names the instance, and OpenTofu not where something excluded uses it.
    pub fn keeps(&self, address: &ResourceInstance) -> bool {
        match self.target_set {
            // A user outside of the targets may still need the old object.
            TargetSet::Targets(_) => !self.chosen(address),
            TargetSet::Excludes { .. } => self.used_by_excluded.contains(&address.config_resource()),
        }
    }

    /// Whether an instance is targeted, by itself or with an enclosing resource or module; with `-exclude`, whether it is not excluded.
    pub fn chosen(&self, address: &ResourceInstance) -> bool {
        self.target_set.chosen(address)
    }
}

/// The resources of the configuration, as written.
fn resources(graph: &ConfigGraph) -> impl Iterator<Item = ((ModuleIndex, NodeIndex), ConfigResource)> {
    graph.modules().flat_map(move |(index, module)| {
        module.nodes().filter_map(move |(node, kind)| match kind {
            NodeKind::Resource(position) => Some(((index, node), graph.resource_address(index, position)?)),
            _ => None,
        })
    })
}

/// Returns the nodes of the import blocks that are meant and whose resources have no block, and of the provider blocks that read
/// their objects.
fn undeclared_imports(graph: &ConfigGraph, is_in: impl Fn(&ConfigResource) -> bool) -> Vec<(ModuleIndex, NodeIndex)> {
    let root = graph.module(ConfigGraph::ROOT);
    let imports = root.config.imports.iter().enumerate().filter(|(_, import)| is_missing(&root.config, import));
    let imports = imports.filter(|(_, import)| is_in(&import.to)).map(|(at, _)| (ConfigGraph::ROOT, root.import(at)));
    imports.flat_map(|node_ref| [Some(node_ref), provider_of_import(graph, node_ref)]).flatten().collect()
}

/// Returns the provider block that reads the object of an import without a resource block. No edge leads to it, because
/// the resource that will need the provider is not in the graph.
fn provider_of_import(
    graph: &ConfigGraph,
    (index, node): (ModuleIndex, NodeIndex),
) -> Option<(ModuleIndex, NodeIndex)> {
    let module = graph.module(index);
    let NodeKind::Import(at) = module.kind(node) else { return None };
    let wanted = module.config.imports.get(at as usize)?.local_provider();
    let position = module.config.providers.keys().position(|local| *local == wanted)?;
    Some((index, module.provider(position)))
}

/// Whether two modules lie in different instances of a module call. References inside that call never lead from one to the other.
fn are_in_other_instances(one: &ModuleInstance, other: &ModuleInstance) -> bool {
    let mut pairs = one.steps().iter().zip(other.steps()).take_while(|(one, other)| one.name == other.name);
    pairs.any(|(one, other)| one.key != other.key)
}

fn address_of(graph: &ConfigGraph, (index, node): (ModuleIndex, NodeIndex)) -> Option<ConfigResource> {
    match graph.module(index).kind(node) {
        NodeKind::Resource(at) => graph.resource_address(index, at),
        _ => None,
    }
}

/// The addresses that a partial plan covers.
#[derive(Debug)]
enum TargetSet {
    /// The instances that a target names.
    Targets(Vec<Target>),
    /// All instances except the excluded ones and those that must stay with them.
    Excludes {
        excludes: Vec<Target>,
        /// Dependents of excluded resources; in a destroy plan, their dependencies.
        stays: HashSet<ConfigResource>,
    },
}

impl TargetSet {
    /// Whether the plan includes no instance of a resource.
    pub(super) fn leaves_out(&self, address: &ConfigResource) -> bool {
        match self {
            Self::Targets(_) => false,
            Self::Excludes { excludes, stays } => {
                stays.contains(address) || excludes.iter().any(|target| covers(target, address) && is_whole(target))
            }
        }
    }

    /// Whether targets name other instances of the same resource, and not this one.
    pub(super) fn is_sibling_of_target(&self, address: &ResourceInstance) -> bool {
        match self {
            Self::Targets(targets) => {
                let resource = address.config_resource();
                !self.chosen(address) && targets.iter().any(|target| covers(target, &resource))
            }
            Self::Excludes { .. } => false,
        }
    }

    /// Whether an instance is meant: a target names it, itself or with what is around it; or nothing leaves it out.
    pub(super) fn chosen(&self, address: &ResourceInstance) -> bool {
        match self {
            Self::Targets(targets) => targets.iter().any(|target| target.contains(address)),
            Self::Excludes { excludes, stays } => {
                // Excluding is generous: a module step without a key means all its instances.
                !excludes.iter().any(|target| target.may_mean(address)) && !stays.contains(&address.config_resource())
            }
        }
    }
}

/// Whether a target means all instances of what it covers.
fn is_whole(target: &Target) -> bool {
    let module = match target {
        Target::Module(module) => module,
        Target::Resource(resource) => &resource.module,
        Target::Instance(_) => return false,
    };
    // With a key, only some instances of the module are meant.
    module.steps().iter().all(|step| step.key.is_none())
}

/// Whether a target has to do with a resource as written.
pub(super) fn covers(target: &Target, address: &ConfigResource) -> bool {
    match target {
        Target::Module(module) => module.path().contains(&address.module),
        Target::Resource(resource) => resource.config_resource() == *address,
        Target::Instance(instance) => instance.config_resource() == *address,
    }
}

/// The instances of dependent resources that a targeted destroy includes. The state does not record this, but the configuration implies
/// it: a connection
/// inside one module holds separately in each of its instances.
#[derive(Debug, Default)]
struct DependentInstances {
    /// By resource: how many steps of the modules around it all ways from it to what is chosen stay below.
    common: HashMap<(ModuleIndex, NodeIndex), usize>,
    /// The module instances that something chosen is in, and all around these.
    around: HashSet<ModuleInstance>,
}

impl DependentInstances {
    /// Notes what is chosen.
    pub(super) fn choose(&mut self, address: &ResourceInstance) {
        let mut module = Some(address.module.clone());
        while let Some(here) = module {
            module = here.parent();
            // An enclosing module that is known has known parents, too.
            if !self.around.insert(here) {
                return;
            }
        }
    }

    /// Whether an instance of the resource goes along; so does whatever nothing is known of.
    pub(super) fn goes(&self, node_ref: (ModuleIndex, NodeIndex), address: &ResourceInstance) -> bool {
        // A resource without a known connection is included, since leaving it out could break it.
        let Some(common) = self.common.get(&node_ref) else { return true };
        let mut module = address.module.clone();
        while module.steps().len() > *common {
            let Some(parent) = module.parent() else { break };
            module = parent;
        }
        self.around.contains(&module)
    }
}

/// Returns the warning "Resource targeting is in effect" for a partial plan.
pub(super) fn partial(options: &PlanOptions) -> Diagnostics {
    let (covers, option) = match (options.targets.as_slice(), options.excludes.as_slice()) {
        ([], []) => return Diagnostics::new(),
        (_, []) => ("only the -target addresses and their dependencies", "-target"),
        _ => ("neither the -exclude addresses nor their dependents", "-exclude"),
    };
    let detail = format!(
        "This plan covers {covers}. Other changes that the configuration requires may be missing.\n\nDo not use \
         {option} routinely: it is meant for emergencies, for example if an error prevents a complete plan."
    );
    Diagnostic::warning("Resource targeting is in effect", detail).into()
}
