//! Checks of the root module's outputs and of test overrides.

use groma_diagnostics::{Diagnostic, Diagnostics};

use crate::configuration::{Configuration, Tested};
use crate::model::{Module, Override, OverrideTarget};

/// Warns about override blocks whose target is not declared. The target of a file-level override may be in the
/// configuration under test or in the module of any run.
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
                // The missing module has been reported; its declarations are unknown.
                Tested::Missing => {}
            }
        }
    }
    diagnostics
}

fn check(overrides: &[Override], under_test: &[&Configuration], diagnostics: &mut Diagnostics) {
    for overridden in overrides.iter().filter(|one| !under_test.iter().any(|tested| declares(tested, &one.target))) {
        let detail = format!(
            "The configuration under test does not declare {}, so this block has no effect. Check the address, or remove the block.",
            overridden.target
        );
        diagnostics.push(Diagnostic::warning("Invalid override target", detail).at(overridden.span));
    }
}

/// Whether the target is declared. Instance keys are ignored: they are unknown before planning.
fn declares(configuration: &Configuration, target: &OverrideTarget) -> bool {
    let module = configuration.module(&target.module.path());
    let resource = target.resource.as_ref().map(|(resource, _)| resource);
    module.is_some_and(|module| resource.is_none_or(|resource| module.resources.contains_key(resource)))
}

/// Reports arguments that have no meaning for outputs of the root module.
pub(super) fn check_outputs(root: &Module, diagnostics: &mut Diagnostics) {
    for output in root.outputs.values() {
        if let Some(span) = output.deprecated_span.filter(|_| output.deprecated.is_some()) {
            diagnostics.push(
                Diagnostic::error(
                    "Root module output deprecated",
                    "Deprecation warnings are for calling modules, and the root module has none. Remove the argument or the output.",
                )
                .at(span),
            );
        }
        if output.ephemeral {
            diagnostics.push(
                Diagnostic::error(
                    "Ephemeral output not allowed",
                    "Outputs of the root module are stored in the state, but ephemeral values must not be stored. Remove the argument or \
                     the output.",
                )
                .at(output.span),
            );
        }
    }
}
