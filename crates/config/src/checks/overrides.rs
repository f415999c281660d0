//! Checks that the targets of overrides in tests exist.

use groma_diagnostics::{Diagnostic, Diagnostics};

use crate::configuration::{Configuration, Tested};
use crate::model::{Override, OverrideTarget};

/// Warns of what tests override and nothing under test declares. What is overridden for a whole file may be in the configuration, or in
/// modules that its runs use instead.
#[must_use]
pub fn check_overrides(configuration: &Configuration) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    for file in configuration.tests.iter() {
        let modules = file.runs.iter().filter_map(|run| run.tested.module());
        let under_test: Vec<&Configuration> = [configuration].into_iter().chain(modules).collect();
        check(&file.overrides, &under_test, &mut diagnostics);
        for run in &file.runs {
            match &run.tested {
                Tested::Configuration => check(&run.overrides, &[configuration], &mut diagnostics),
                Tested::Module(module) => check(&run.overrides, &[module], &mut diagnostics),
                Tested::Missing => {}
            }
        }
    }
    diagnostics
}

fn check(overrides: &[Override], under_test: &[&Configuration], diagnostics: &mut Diagnostics) {
    for overridden in overrides.iter().filter(|one| !under_test.iter().any(|tested| declares(tested, &one.target))) {
        let detail = format!(
            "Nothing under test is {}, so that the block has no effect. Check the address, or remove the block.",
            overridden.target
        );
        diagnostics.push(Diagnostic::warning("Invalid override target", detail).at(overridden.span));
    }
}

/// Keys do not matter: which instances there are is not known yet.
fn declares(configuration: &Configuration, target: &OverrideTarget) -> bool {
    let module = configuration.module(&target.module.path());
    let resource = target.resource.as_ref().map(|(resource, _)| resource);
    module.is_some_and(|module| resource.is_none_or(|resource| module.resources.contains_key(resource)))
}
