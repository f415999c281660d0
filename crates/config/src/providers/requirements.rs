//! The providers that the modules of a configuration need.

use std::collections::HashSet;

use groma_address::{ModulePath, Name, ProviderAddress};
use groma_diagnostics::Span;
use indexmap::IndexMap;

use crate::model::{Module, implied_provider};
use crate::version::Constraints;

/// The combined requirements of all modules for a provider.
#[derive(Clone, Debug, Default)]
pub struct ProviderRequirement {
    /// The versions that every module allows.
    pub constraints: Constraints,
    /// The modules that require it, each with the location of the requirement.
    pub needed_by: Vec<(ModulePath, Span)>,
}

impl ProviderRequirement {
    /// Asks for what `other` asks for, too.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.constraints.merge(&other.constraints);
        self.needed_by.extend(other.needed_by.iter().cloned());
    }
}

/// The providers that `root` and all modules below it need: required, configured, or implied by a resource. The built-in
/// provider is among them.
pub(crate) fn requirements(root: &Module) -> IndexMap<ProviderAddress, ProviderRequirement> {
    let mut all = IndexMap::new();
    let mut rest = vec![root];
    while let Some(module) = rest.pop() {
        add_module(module, &mut all);
        rest.extend(module.children.values().map(AsRef::as_ref));
    }
    all.sort_unstable_keys();
    all
}

/// Returns the requirements of one module, without those of its calls.
pub fn module_requirements(module: &Module) -> IndexMap<ProviderAddress, ProviderRequirement> {
    let mut own = IndexMap::new();
    add_module(module, &mut own);
    own.sort_unstable_keys();
    own
}

fn add_module(module: &Module, all: &mut IndexMap<ProviderAddress, ProviderRequirement>) {
    for required in module.required_providers.values() {
        let entry = all.entry(required.address.clone()).or_default();
        entry.constraints.merge(&required.version);
        entry.needed_by.push((module.path.clone(), required.span));
    }
    for block in module.providers.values() {
        let entry = all.entry(module.provider_address(&block.provider.name)).or_default();
        entry.constraints.merge(&block.version);
        entry.needed_by.push((module.path.clone(), block.span));
    }
    for (local_name, span) in used_names(module) {
        let entry = all.entry(module.provider_address(&local_name)).or_default();
        if entry.needed_by.last().is_none_or(|(last, _)| *last != module.path) {
            entry.needed_by.push((module.path.clone(), span));
        }
    }
}

/// The local provider names that resources, imports and actions use or calls pass on, each once with its first place.
fn used_names(module: &Module) -> Vec<(Name, Span)> {
    let mut used: IndexMap<Name, Span> = IndexMap::new();
    // A module with very many resources has few types.
    let mut seen_types: HashSet<&Name> = HashSet::new();
    for resource in module.resources.values() {
        match &resource.provider {
            Some(reference) => {
                used.entry(reference.provider.name.clone()).or_insert(reference.span);
            }
            None if seen_types.insert(&resource.address.type_name) => {
                used.entry(implied_provider(&resource.address.type_name)).or_insert(resource.header_span);
            }
            None => {}
        }
    }
    let passed = module.calls.values().flat_map(|call| &call.providers);
    for reference in passed.map(|passed| &passed.parent) {
        used.entry(reference.provider.name.clone()).or_insert(reference.span);
    }
    let referenced = module.imports.iter().filter_map(|import| import.provider.as_ref());
    let referenced = referenced.chain(module.actions.values().filter_map(|action| action.provider.as_ref()));
    for reference in referenced {
        used.entry(reference.provider.name.clone()).or_insert(reference.span);
    }
    for import in module.imports.iter().filter(|import| import.provider.is_none() && import.to.module.is_root()) {
        // A declared resource states its own requirement.
        if !module.resources.contains_key(&import.to.resource) {
            used.entry(implied_provider(&import.to.resource.type_name)).or_insert(import.span);
        }
    }
    for action in module.actions.values().filter(|action| action.provider.is_none()) {
        used.entry(implied_provider(&action.type_name)).or_insert(action.span);
    }
    used.into_iter().collect()
}
