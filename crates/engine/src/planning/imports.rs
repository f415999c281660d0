//! The imports of a run: their target instances and objects, and which of them the walk has processed.

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
/// Owns the import target of each instance, and whether the walk has visited it; the deferred imports; and the instances for which a
/// resource block is generated. An instance has one target: a second one that differs is refused when it is added.
///
/// It evaluates no import block and calls no provider: `import_blocks` adds the evaluated blocks, the planning of an instance takes its
/// target, and at the end of the walk the remaining targets are reported, or get a generated block.
#[derive(Debug)]
pub(super) struct Imports {
    targets: HashMap<ResourceInstance, ImportRequest>,
    /// Instances whose import ID or identity is unknown.
    deferred_instances: HashSet<ResourceInstance>,
    /// Resources whose import block has an unknown `for_each`.
    deferred_resources: HashSet<ConfigResource>,
    /// Instances for which a resource block is generated.
    generated: HashSet<ResourceInstance>,
}

/// The import of one instance, from an import block or the `import` command.
#[derive(Clone, Debug)]
struct ImportRequest {
    importing: Importing,
    /// The location of the target address.
    span: Span,
    /// Whether the walk has visited the instance.
    is_met: bool,
    /// The index of the import block in the root module; `None` for the `import` command.
    block: Option<u32>,
}

/// The error that an instance is imported as two different objects.
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

    /// Adds an instance of the import block with the index `block`.
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

    /// Defers the import of an instance.
    pub(super) fn defer_instance(&mut self, address: ResourceInstance) {
        self.deferred_instances.insert(address);
    }

    /// Defers the imports of all instances of a resource.
    pub(super) fn defer_resource(&mut self, resource: ConfigResource) {
        self.deferred_resources.insert(resource);
    }

    /// Whether the import of an instance is deferred.
    pub(super) fn is_deferred(&self, address: &ResourceInstance, state: &State) -> bool {
        let is_meant = self.deferred_instances.contains(address)
            || (!self.deferred_resources.is_empty() && self.deferred_resources.contains(&address.config_resource()));
        // An existing object needs no import, so its instance does not wait (PL-26).
        is_meant && state.object(address, None).is_none()
    }

    /// Takes the import of an instance, if it has no object yet, and records that the walk has visited it.
    pub(super) fn take(&mut self, address: &ResourceInstance, state: &State) -> Option<Importing> {
        let request = self.targets.get_mut(address)?;
        request.is_met = true;
        let is_managed = state.object(address, None).is_some();
        // The block may stay in the configuration after the import; then it has no effect (PL-26).
        (!is_managed).then(|| request.importing.clone())
    }

    /// Records that the import of an instance is processed.
    pub(super) fn settle(&mut self, address: &ResourceInstance) {
        if let Some(request) = self.targets.get_mut(address) {
            request.is_met = true;
        }
    }

    /// Returns the instances with an import block that the walk did not visit, with the indices of the blocks, in order.
    pub(super) fn unmet_blocks(&self) -> Vec<(u32, ResourceInstance)> {
        let unmet = self.targets.iter().filter(|(_, request)| !request.is_met);
        let mut blocks: Vec<_> =
            unmet.filter_map(|(address, request)| Some((request.block?, address.clone()))).collect();
        blocks.sort();
        blocks
    }

    /// Returns the instances that the walk did not visit and that have no object yet, in order.
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

/// Returns the provider configurations of imports to resources without a block.
pub(super) fn providers(session: &Session, options: &PlanOptions) -> Vec<ProviderConfig> {
    if options.missing == MissingResources::Refused {
        return Vec::new();
    }
    let root = &session.configuration.root;
    let missing = root.imports.iter().filter(|import| is_missing(root, import));
    missing.filter_map(|import| provider(session, import)).collect()
}

/// Whether an import is to a resource of the root module that has no block.
pub(super) fn is_missing(root: &Module, import: &Import) -> bool {
    import.to.module.is_root() && !root.resources.contains_key(&import.to.resource)
}

/// Returns the provider configuration that an import block names or implies.
pub(super) fn provider(session: &Session, import: &Import) -> Option<ProviderConfig> {
    session.configuration.resolve_provider_config(&session.configuration.root.path, &import.local_provider()).ok()
}
