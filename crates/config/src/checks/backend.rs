//! Checks of backend blocks.

use groma_diagnostics::{Diagnostic, DiagnosticKind, Diagnostics, Sources, did_you_mean};

use crate::decode::Dialect;
use crate::model::{Backend, Module};

/// All backend types of the language. The CLI reports the ones that it does not implement when it opens the state.
const KINDS: [&str; 13] =
    ["azurerm", "consul", "cos", "gcs", "http", "inmem", "kubernetes", "local", "oci", "oss", "pg", "remote", "s3"];

/// Creates the error about a backend type that does not exist or is not supported.
pub fn unsupported_backend(detail: impl Into<String>) -> Diagnostic {
    Diagnostic::error("Unsupported backend type", detail).of_kind(DiagnosticKind::UnsupportedBackend)
}

/// Reports an unknown backend type in the root module.
pub(super) fn check(root: &Module, diagnostics: &mut Diagnostics) {
    // A conflicting cloud block has been reported.
    let backend = root.backend.as_ref().filter(|_| root.cloud.is_none());
    diagnostics.extend(backend.and_then(unknown_backend));
}

/// Returns the error about a backend block whose type does not exist.
pub fn unknown_backend(backend: &Backend) -> Option<Diagnostic> {
    if KINDS.contains(&&*backend.kind) {
        return None;
    }
    let hint = did_you_mean(&backend.kind, KINDS);
    let detail = format!(
        "There is no backend type {:?}.{hint} Without a backend block, the state is stored in a local file.",
        backend.kind
    );
    Some(unsupported_backend(detail).at(backend.kind_span))
}

/// Warns about a backend block in a child module. Only in `.tofu` files: OpenTofu warns, Terraform does not.
pub(super) fn check_called(module: &Module, sources: &Sources, diagnostics: &mut Diagnostics) {
    let Some(backend) = module.backend.as_ref().filter(|_| !module.path.is_root()) else { return };
    if Dialect::at(backend.span, sources) == Dialect::OpenTofu {
        let detail = "The backend of the root module stores the state of all modules, so this block has no effect. Remove it, unless the \
                      module is also used as a root module.";
        diagnostics.push(Diagnostic::warning("Backend configuration ignored", detail).at(backend.span));
    }
}
