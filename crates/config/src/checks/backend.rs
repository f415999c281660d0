//! The backend of the root module; those of called modules do nothing.

use groma_diagnostics::{Diagnostic, Diagnostics, Sources, did_you_mean};

use crate::decode::Dialect;
use crate::model::Module;

/// The backend types of the language. The caller that opens the state decides which of them it supports.
const KINDS: [&str; 14] = [
    "azurerm",
    "cloud",
    "consul",
    "cos",
    "gcs",
    "http",
    "inmem",
    "kubernetes",
    "local",
    "oci",
    "oss",
    "pg",
    "remote",
    "s3",
];

/// The summary of the error for an unknown backend type.
pub const UNSUPPORTED_BACKEND: &str = "Unsupported backend type";

/// Checks that the backend type of the root module exists.
pub(super) fn check(root: &Module, diagnostics: &mut Diagnostics) {
    // A backend block next to a cloud block has no effect, which is reported.
    let backend = root.backend.as_ref().filter(|_| root.cloud.is_none());
    let Some(backend) = backend.filter(|backend| !KINDS.contains(&&*backend.kind)) else { return };
    let hint = did_you_mean(&backend.kind, KINDS);
    let detail = format!(
        "There is no backend {:?}.{hint} The state is kept in a local file without a backend block.",
        backend.kind
    );
    diagnostics.push(Diagnostic::error(UNSUPPORTED_BACKEND, detail).at(backend.kind_span));
}

/// Warns, where OpenTofu does, of a backend in a module that is called.
pub(super) fn check_called(module: &Module, sources: &Sources, diagnostics: &mut Diagnostics) {
    let Some(backend) = module.backend.as_ref().filter(|_| !module.path.is_root()) else { return };
    if Dialect::at(backend.span, sources) == Dialect::OpenTofu {
        let detail = "The state is kept where the root module says, with the objects of all modules in it. Here the block has no effect: \
                      remove it, unless the module is also used as a root module.";
        diagnostics.push(Diagnostic::warning("Backend configuration ignored", detail).at(backend.span));
    }
}
