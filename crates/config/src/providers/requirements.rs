//! Provider requirements of all modules of a configuration.

use std::collections::HashSet;

use groma_address::{ModulePath, Name, ProviderAddress};
use groma_diagnostics::Span;
use indexmap::IndexMap;

use super::inherit::resolve;
use crate::model::{LocalProvider, Module, implied_provider};
use crate::version::Constraints;

/// The combined requirements of all modules for one provider.
#[derive(Clone, Debug, Default)]
pub struct ProviderRequirement {
    /// Versions that every module allows.
    pub constraints: Constraints,
    /// The modules that need the provider, each with the span of the first block that requires it.
    pub needed_by: Vec<(ModulePath, Span)>,
}

impl ProviderRequirement {
    /// Adds the constraints and modules of `other`.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.constraints.merge(&other.constraints);
        self.needed_by.extend(other.needed_by.iter().cloned());
    }
}

/// Returns the providers that `root` and its descendants require, configure or imply by a resource type, including the
/// built-in provider.
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

/// Returns the providers that one module requires, configures or implies, without those of its child modules.
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

/// Returns the local provider names that resources, imports, actions and module calls use, each with the span of its
/// first use.
fn used_names(module: &Module) -> Vec<(Name, Span)> {
    let mut used: IndexMap<Name, Span> = IndexMap::new();
    // A module may have thousands of resources of few types, so the implied name is computed once for each type.
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
        // A declared resource already contributes its provider, which may differ from the implied one.
        if !module.resources.contains_key(&import.to.resource) {
            used.entry(implied_provider(&import.to.resource.type_name)).or_insert(import.span);
        }
    }
    for action in module.actions.values().filter(|action| action.provider.is_none()) {
        used.entry(implied_provider(&action.type_name)).or_insert(action.span);
    }
    used.into_iter().collect()
}

/// Returns the header spans of the provider blocks, in `root` and below, that another block uses. Errors in unused
/// ones must not fail a run.
pub(crate) fn used_blocks(root: &Module) -> HashSet<Span> {
    let mut used = HashSet::new();
    visit(&mut vec![root], &mut used);
    used
}

fn visit(chain: &mut Vec<&Module>, used: &mut HashSet<Span>) {
    let Some(module) = chain.last().copied() else { return };
    for local in named(module) {
        // Unresolved names are reported by the provider checks.
        let Ok(found) = resolve(chain, &local) else { continue };
        let owner = chain.get(found.config.module.steps().len()).copied().unwrap_or(module);
        let block = owner.providers.values().find(|block| {
            block.provider.alias == found.config.alias
                && owner.provider_address(&block.provider.name) == found.config.provider
        });
        used.extend(block.map(|block| block.span));
    }
    for child in module.children.values() {
        chain.push(child);
        visit(chain, used);
        chain.pop();
    }
}

/// Returns the local names of the provider configurations that the module's blocks use, explicitly or implicitly.
fn named(module: &Module) -> HashSet<LocalProvider> {
    let mut all = HashSet::new();
    // A module may have thousands of resources of few types, so the implied name is computed once for each type.
    let mut types: HashSet<&Name> = HashSet::new();
    for resource in module.resources.values() {
        match &resource.provider {
            Some(written) if !all.contains(&written.provider) => drop(all.insert(written.provider.clone())),
            None if types.insert(&resource.address.type_name) => drop(all.insert(resource.local_provider())),
            _ => {}
        }
    }
    all.extend(module.actions.values().map(|action| action.local_provider()));
    for import in &module.imports {
        let implied = || LocalProvider::default_of(implied_provider(&import.to.resource.type_name));
        all.insert(import.provider.as_ref().map_or_else(implied, |written| written.provider.clone()));
    }
    all
}
