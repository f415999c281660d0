//! Imports: what blocks and options ask for, and what has become of it.

use std::collections::{HashMap, HashSet};

use groma_address::{ConfigResource, ProviderConfig, ResourceInstance};
use groma_config::{Import, Module};
use groma_diagnostics::Span;
use groma_plan::Importing;
use groma_provider::ImportTarget;
use groma_state::State;

use super::targets::Included;
use crate::options::{MissingResources, PlanOptions};
use crate::session::Session;

/// The imports of a run (PL-26).
///
/// Owns the import target of each instance that is to take over an existing object, and which of these instances the walk
/// has come by; the imports whose target or whose instances only a later run will know; and the instances for which a
/// resource block is generated. An instance has one target: a second one that differs is refused when it is added.
///
/// It evaluates no import block and asks no provider: `import_blocks` adds what the blocks say, the planning of an
/// instance takes its target out, and what nothing has taken is reported or generated once the walk has ended.
#[derive(Debug)]
pub(super) struct Imports {
    targets: HashMap<ResourceInstance, ImportRequest>,
    /// Which object is meant is not known yet.
    deferred_instances: HashSet<ResourceInstance>,
    /// Into which instances is not known yet either.
    deferred_resources: HashSet<ConfigResource>,
    /// Instances that have no block of their own, because one is generated.
    generated: HashSet<ResourceInstance>,
}

/// What an import block or an option says of one instance.
#[derive(Clone, Debug)]
struct ImportRequest {
    importing: Importing,
    /// The location of the target address.
    span: Span,
    /// Whether the walk has come by the instance.
    is_met: bool,
    /// The block of the root module, by position; none where a person asks without one.
    block: Option<u32>,
}

/// That an instance is imported as two different objects.
pub(super) struct Conflict;

impl Imports {
    /// Returns the import target of a plan without import blocks.
    pub(super) fn of_options(options: &PlanOptions) -> Self {
        let asked = options.import.iter().map(|(address, id)| {
            let importing = Importing { target: ImportTarget::Id(id.clone()), generated: None };
            (address.clone(), ImportRequest { importing, span: Span::NONE, is_met: false, block: None })
        });
        Self {
            targets: asked.collect(),
            deferred_instances: HashSet::new(),
            deferred_resources: HashSet::new(),
            generated: HashSet::new(),
        }
    }

    /// Adds what an import block, by position, says of an instance.
    ///
    /// # Errors
    ///
    /// Another block names another object for the same instance.
    pub(super) fn add(
        &mut self,
        address: ResourceInstance,
        target: ImportTarget,
        block: u32,
        span: Span,
    ) -> Result<(), Conflict> {
        let importing = Importing { target, generated: None };
        let request = ImportRequest { importing: importing.clone(), span, is_met: false, block: Some(block) };
        // The same object may be named by several elements or blocks; only different objects conflict.
        match self.targets.insert(address, request) {
            Some(other) if other.importing != importing => Err(Conflict),
            _ => Ok(()),
        }
    }

    /// Notes an instance that is to take over an object which only a later run will know.
    pub(super) fn defer_instance(&mut self, address: ResourceInstance) {
        self.deferred_instances.insert(address);
    }

    /// Notes a resource some of whose instances are to take over objects, which only a later run will know.
    pub(super) fn defer_resource(&mut self, resource: ConfigResource) {
        self.deferred_resources.insert(resource);
    }

    /// Whether an instance is to take over an object, but which one is not known yet.
    pub(super) fn is_deferred(&self, address: &ResourceInstance, state: &State) -> bool {
        let is_meant = self.deferred_instances.contains(address)
            || (!self.deferred_resources.is_empty() && self.deferred_resources.contains(&address.config_resource()));
        // An existing object needs no import, so its instance does not wait (PL-26).
        is_meant && state.object(address, None).is_none()
    }

    /// The object that an instance is to take over, if it has none yet. The walk has come by the instance with that.
    pub(super) fn take(&mut self, address: &ResourceInstance, state: &State) -> Option<Importing> {
        let request = self.targets.get_mut(address)?;
        request.is_met = true;
        let is_managed = state.object(address, None).is_some();
        // The block may stay in the configuration after the import; then it has no effect (PL-26).
        (!is_managed).then(|| request.importing.clone())
    }

    /// Notes that an instance needs no further look.
    pub(super) fn settle(&mut self, address: &ResourceInstance) {
        if let Some(request) = self.targets.get_mut(address) {
            request.is_met = true;
        }
    }

    /// The instances with an import block that the walk did not come by, with the positions of the blocks, in order.
    pub(super) fn unmet_blocks(&self) -> Vec<(u32, ResourceInstance)> {
        let unmet = self.targets.iter().filter(|(_, request)| !request.is_met);
        let mut blocks: Vec<_> =
            unmet.filter_map(|(address, request)| Some((request.block?, address.clone()))).collect();
        blocks.sort();
        blocks
    }

    /// The instances that the walk did not come by and whose objects are not managed yet, in order.
    pub(super) fn unmet(&self, state: &State, targets: Option<&Included>) -> Vec<(&ResourceInstance, Span)> {
        let is_unmet = |address: &ResourceInstance, request: &ImportRequest| {
            !request.is_met
                && state.object(address, None).is_none()
                && targets.is_none_or(|targets| targets.chosen(address))
        };
        let unmet = self.targets.iter().filter(|(address, request)| is_unmet(address, request));
        let mut found: Vec<_> = unmet.map(|(address, request)| (address, request.span)).collect();
        // Sorted, because the order of a hash map would change the messages from run to run.
        found.sort_by_key(|(address, _)| *address);
        found
    }

    /// Notes an instance for which a resource block is generated.
    pub(super) fn note_generated(&mut self, address: ResourceInstance) {
        self.generated.insert(address);
    }

    pub(super) fn is_generated(&self, address: &ResourceInstance) -> bool {
        self.generated.contains(address)
    }
}

/// The providers of the imports that have no block.
pub(super) fn providers(session: &Session, options: &PlanOptions) -> Vec<ProviderConfig> {
    if options.missing == MissingResources::Refused {
        return Vec::new();
    }
    let root = &session.configuration.root;
    let missing = root.imports.iter().filter(|import| is_missing(root, import));
    missing.filter_map(|import| provider(session, import)).collect()
}

/// Whether an import is into a resource that has no block.
pub(super) fn is_missing(root: &Module, import: &Import) -> bool {
    import.to.module.is_root() && !root.resources.contains_key(&import.to.resource)
}

/// The provider that an import names or implies.
pub(super) fn provider(session: &Session, import: &Import) -> Option<ProviderConfig> {
    session.configuration.resolve_provider_config(&session.configuration.root.path, &import.local_provider()).ok()
}
