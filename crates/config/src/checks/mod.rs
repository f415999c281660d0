//! What can be found wrong in a configuration before anything is planned: references to what is not there, module calls
//! that do not fit, provider configurations that nobody gives, backends that there are not.

mod backend;
mod calls;
mod describe;
mod object;
mod outputs;
mod provider_instances;
mod providers;
mod refactoring;
mod reference;
mod walk;

use std::collections::HashSet;
use std::path::Path;

use groma_diagnostics::{Diagnostics, Sources};

use crate::model::Module;

/// Checks `root` and all modules below it.
pub(crate) fn check(root: &Module, sources: &Sources, diagnostics: &mut Diagnostics) {
    // What is wrong inside a folder is said once, however many modules are made of it.
    let mut folders: HashSet<&Path> = HashSet::new();
    let mut rest = vec![root];
    while let Some(module) = rest.pop() {
        if folders.insert(&module.directory) {
            walk::check(module, diagnostics);
            refactoring::check(module, sources, diagnostics);
        }
        calls::check(module, diagnostics);
        rest.extend(module.children.values().rev().map(AsRef::as_ref));
    }
    backend::check(root, diagnostics);
    outputs::check(root, diagnostics);
    providers::check(root, diagnostics);
    providers::check_resources(root, diagnostics);
    provider_instances::check(root, sources, diagnostics);
}
