//! Outputs of the root module, which nobody refers to.

use groma_diagnostics::{Diagnostic, Diagnostics};

use crate::model::Module;

/// Checks the outputs of the root module.
pub(super) fn check(root: &Module, diagnostics: &mut Diagnostics) {
    for output in root.outputs.values() {
        if let Some(place) = output.deprecated_span.filter(|_| output.deprecated.is_some()) {
            diagnostics.push(
                Diagnostic::error(
                    "Root module output deprecated",
                    "Only a calling module could heed this, and the root module has none. Remove the argument, or the output.",
                )
                .at(place),
            );
        }
        if output.ephemeral {
            diagnostics.push(
                Diagnostic::error(
                    "Ephemeral output not allowed",
                    "Outputs of the root module are kept in the state, and ephemeral values are kept nowhere. Remove the argument, or \
                     the output.",
                )
                .at(output.span),
            );
        }
    }
}
