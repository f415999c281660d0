//! Provider blocks that are in use.

use std::collections::HashSet;

use groma_address::Name;
use groma_diagnostics::Span;

use super::inherit::resolve;
use crate::model::{LocalProvider, Module, implied_provider};

/// Returns the headers of the provider blocks in `root` and below that anything uses. Errors in others are not fatal.
pub(crate) fn used_blocks(root: &Module) -> HashSet<Span> {
    let mut used = HashSet::new();
    visit(&mut vec![root], &mut used);
    used
}

fn visit(chain: &mut Vec<&Module>, used: &mut HashSet<Span>) {
    let Some(module) = chain.last().copied() else { return };
    for local in named(module) {
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

/// The module's names for the configurations that its blocks use, written or implied.
fn named(module: &Module) -> HashSet<LocalProvider> {
    let mut all = HashSet::new();
    // A module with very many resources has few types.
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
