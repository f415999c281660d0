//! Resolution of provider configurations in test files to providers.

use std::collections::{HashMap, HashSet};

use groma_address::{Name, ProviderAddress};
use groma_diagnostics::{Diagnostic, Diagnostics, Span};

use crate::configuration::{TestFile, TestRun, Tested};
use crate::model::{LocalProvider, Module};

/// Checks that runs of the configuration under test receive configurations of the expected providers.
///
/// A test file has no `required_providers`: the first run that uses a local name determines its provider.
pub(crate) fn check(root: &Module, file: &TestFile, diagnostics: &mut Diagnostics) {
    let declared = file.providers.iter().map(|(provider, _)| &provider.name).collect();
    let mut names = Names { root, declared, meant: HashMap::new() };
    let mut blocks_matter = false;
    for run in &file.runs {
        match &run.tested {
            Tested::Missing => {}
            Tested::Module(configuration) => names.learn(run, &configuration.root),
            Tested::Configuration => {
                // Before the names of this run are learned, because earlier runs decide.
                names.check_passed(run, diagnostics);
                names.learn(run, root);
                blocks_matter |= run.providers.is_empty();
            }
        }
    }
    // Only a run without the `providers` argument receives the blocks implicitly.
    for (provider, block) in file.providers.iter().filter(|_| blocks_matter) {
        names.check_block(provider, *block, diagnostics);
    }
}

/// Providers of a test file's local names, as far as runs have determined them.
struct Names<'a> {
    root: &'a Module,
    declared: HashSet<&'a Name>,
    meant: HashMap<&'a Name, ProviderAddress>,
}

impl<'a> Names<'a> {
    /// Records the providers that a run of `module` determines.
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

    /// Checks the `providers` argument of a run of the configuration under test.
    fn check_passed(&self, run: &TestRun, diagnostics: &mut Diagnostics) {
        for passed in &run.providers {
            let expected = self.root.provider_address(&passed.child.name);
            // Among entries of one run, the first determines the provider of a new name.
            let name = &passed.parent.provider.name;
            let first = run.providers.iter().find(|other| other.parent.provider.name == *name);
            let by_first = first.map(|first| self.root.provider_address(&first.child.name));
            if let Some(given) = self.meant.get(name).or(by_first.as_ref()) {
                compare((name, given), (&passed.child.name, &expected), passed.parent.span, diagnostics);
            }
        }
    }

    /// Checks a provider block that is passed implicitly: the root module has a configuration of the same name.
    fn check_block(&self, provider: &LocalProvider, block: Span, diagnostics: &mut Diagnostics) {
        let required = self.root.required_providers.get(&provider.name);
        let is_required =
            required.is_some_and(|required| provider.alias.is_none() || required.aliases.contains(provider));
        let Some(given) = self.meant.get(&provider.name) else { return };
        if is_required || self.root.providers.contains_key(provider) {
            let expected = self.root.provider_address(&provider.name);
            compare((&provider.name, given), (&provider.name, &expected), block, diagnostics);
        }
    }
}

/// Whether `module` uses the local provider name.
fn mentions(module: &Module, name: &Name) -> bool {
    module.required_providers.contains_key(name)
        || module.providers.keys().any(|provider| provider.name == *name)
        || module.resources.values().any(|resource| resource.local_provider().name == *name)
}

fn compare(
    (name, given): (&Name, &ProviderAddress),
    (child, expected): (&Name, &ProviderAddress),
    span: Span,
    diagnostics: &mut Diagnostics,
) {
    if given == expected {
        return;
    }
    let detail = format!(
        "In this file an earlier run uses {name:?} as {}, but {child:?} is {} in the root module. Use different names for configurations \
         of different providers, and pass them to the runs with \"providers\".",
        given.display_short(),
        expected.display_short(),
    );
    diagnostics.push(Diagnostic::error("Provider type mismatch", detail).at(span));
}
