//! Checks of the root module's outputs, which no module refers to.

use groma_diagnostics::{Diagnostic, Diagnostics};

use crate::model::Module;

/// Reports arguments that have no meaning for outputs of the root module.
pub(super) fn check(root: &Module, diagnostics: &mut Diagnostics) {
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
