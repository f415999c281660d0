//! Suppresses deprecation warnings as the flag `-deprecation` demands.

use std::path::{Path, PathBuf};

use groma_address::ModulePath;
use groma_config::{Module, ModuleSource};
use groma_diagnostics::{Diagnostic, Sources};
use groma_engine::is_about_modules;

use crate::arguments::Deprecations;

/// Deprecation warnings to suppress.
#[derive(Clone, Debug, Default)]
pub(super) enum SuppressedDeprecations {
    #[default]
    None,
    /// Warnings inside remote modules and about their outputs, which cannot be fixed in this configuration.
    Remote(Vec<RemoteModule>),
    All,
}

/// A module from a registry or another remote source, or a module nested in one.
#[derive(Clone, Debug)]
pub(super) struct RemoteModule {
    path: ModulePath,
    directory: PathBuf,
}

impl SuppressedDeprecations {
    /// Returns the warnings that `filter` suppresses in the modules below `root`.
    pub fn of(filter: Deprecations, root: &Module) -> Self {
        match filter {
            Deprecations::All => Self::None,
            Deprecations::None => Self::All,
            Deprecations::Local => {
                let mut found = Vec::new();
                remote(root, Origin::Local, &mut found);
                Self::Remote(found)
            }
        }
    }

    /// Whether `diagnostic` is suppressed.
    pub fn contains(&self, diagnostic: &Diagnostic, sources: &Sources) -> bool {
        match self {
            Self::None => false,
            Self::All => is_about_modules(diagnostic),
            Self::Remote(modules) => {
                is_about_modules(diagnostic) && modules.iter().any(|module| module.is_used_by(diagnostic, sources))
            }
        }
    }
}

impl RemoteModule {
    /// Whether the deprecated value is used in this module, or is one of its outputs.
    fn is_used_by(&self, diagnostic: &Diagnostic, sources: &Sources) -> bool {
        // Diagnostics name files, not modules, so the directory identifies the module.
        let file = diagnostic.subject.and_then(|span| sources.file(span));
        let is_inside = file.is_some_and(|file| Path::new(file.name()).parent() == Some(&self.directory));
        is_inside || diagnostic.origin.as_ref().is_some_and(|origin| origin.is_output_below(&self.path))
    }
}

/// Source of a module.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    Local,
    Remote,
}

fn remote(module: &Module, origin: Origin, found: &mut Vec<RemoteModule>) {
    for (name, child) in &module.children {
        let source = module.calls.get(name).and_then(|call| call.source.as_ref());
        let is_local = matches!(source, Some(ModuleSource::Local(_)));
        // A local module inside a remote one is remote as well.
        let origin = if is_local { origin } else { Origin::Remote };
        if origin == Origin::Remote {
            found.push(RemoteModule { path: child.path.clone(), directory: child.directory.clone() });
        }
        remote(child, origin, found);
    }
}
