//! Which providers the provider configurations of a file of tests are configurations of.

use std::collections::{HashMap, HashSet};

use groma_address::{Name, ProviderAddress};
use groma_diagnostics::{Diagnostic, Diagnostics, Span};

use crate::configuration::{TestFile, TestRun, Tested};
use crate::model::{LocalProvider, Module};

/// Checks that the runs of the configuration under test, whose root module is `root`, are given configurations of the providers that
/// they mean. No file of tests says what its names stand for: the first run that uses one does, by what it runs.
pub(crate) fn check(root: &Module, file: &TestFile, diagnostics: &mut Diagnostics) {
    let declared = file.providers.iter().map(|(provider, _)| &provider.name).collect();
    let mut names = Names { root, declared, meant: HashMap::new() };
    let mut blocks_matter = false;
    for run in &file.runs {
        match &run.tested {
            Tested::Missing => {}
            Tested::Module(configuration) => names.learn(run, &configuration.root),
            Tested::Configuration => {
                names.check_passed(run, diagnostics);
                names.learn(run, root);
                blocks_matter |= run.providers.is_empty();
            }
        }
    }
    for (provider, block) in file.providers.iter().filter(|_| blocks_matter) {
        names.check_block(provider, *block, diagnostics);
    }
}

/// What the names of a file stand for, as far as its runs have said.
struct Names<'a> {
    root: &'a Module,
    declared: HashSet<&'a Name>,
    meant: HashMap<&'a Name, ProviderAddress>,
}

impl<'a> Names<'a> {
    /// Takes in what a run of `module` says.
    fn learn(&mut self, run: &'a TestRun, module: &Module) {
        for passed in &run.providers {
            let name = &passed.parent.provider.name;
            self.meant.entry(name).or_insert_with(|| module.provider_address(&passed.child.name));
        }
        if run.providers.is_empty() {
            for name in self.declared.iter().copied().filter(|name| mentions(module, name)) {
                self.meant.entry(name).or_insert_with(|| module.provider_address(name));
            }
        }
    }

    /// What is handed to the root module under names of its own.
    fn check_passed(&self, run: &TestRun, diagnostics: &mut Diagnostics) {
        for passed in &run.providers {
            let wanted = self.root.provider_address(&passed.child.name);
            // Of two entries the first says what the name stands for, if nobody has.
            let name = &passed.parent.provider.name;
            let first = run.providers.iter().find(|other| other.parent.provider.name == *name);
            let by_first = first.map(|first| self.root.provider_address(&first.child.name));
            if let Some(given) = self.meant.get(name).or(by_first.as_ref()) {
                compare((name, given), (&passed.child.name, &wanted), passed.parent.span, diagnostics);
            }
        }
    }

    /// What a block configures in the root module, which has a configuration of that name.
    fn check_block(&self, provider: &LocalProvider, block: Span, diagnostics: &mut Diagnostics) {
        let required = self.root.required_providers.get(&provider.name);
        let is_required =
            required.is_some_and(|required| provider.alias.is_none() || required.aliases.contains(provider));
        let Some(given) = self.meant.get(&provider.name) else { return };
        if is_required || self.root.providers.contains_key(provider) {
            let wanted = self.root.provider_address(&provider.name);
            compare((&provider.name, given), (&provider.name, &wanted), block, diagnostics);
        }
    }
}

/// Whether a name stands for a provider in `module`.
fn mentions(module: &Module, name: &Name) -> bool {
    module.required_providers.contains_key(name)
        || module.providers.keys().any(|provider| provider.name == *name)
        || module.resources.values().any(|resource| resource.local_provider().name == *name)
}

fn compare(
    (name, given): (&Name, &ProviderAddress),
    (child, wanted): (&Name, &ProviderAddress),
    place: Span,
    diagnostics: &mut Diagnostics,
) {
    if given == wanted {
        return;
    }
    let detail = format!(
        "{name:?} stands for {} in this file, as a run before has it, and {child:?} for {} in the root module. Give configurations of \
         different providers different names, and hand them to the runs with \"providers\".",
        given.display_short(),
        wanted.display_short(),
    );
    diagnostics.push(Diagnostic::error("Provider type mismatch", detail).at(place));
}
