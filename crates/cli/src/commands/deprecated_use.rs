//! Deprecation warnings to suppress: `-deprecation`.

use std::path::{Path, PathBuf};

use groma_config::{Module, ModuleSource};
use groma_diagnostics::{Diagnostic, Sources};
use groma_engine::is_about_modules;

use crate::arguments::Deprecations;

/// Uses of what modules have deprecated that are passed over.
#[derive(Clone, Debug, Default)]
pub(super) enum Untold {
    #[default]
    None,
    /// Warnings in and about modules from remote sources, which cannot be changed here.
    Remote(Vec<RemoteModule>),
    All,
}

/// A module that comes from elsewhere, or is inside one that does.
#[derive(Clone, Debug)]
pub(super) struct RemoteModule {
    /// The prefix of the module's output addresses: `module.a.module.b.`.
    prefix: String,
    directory: PathBuf,
}

impl Untold {
    /// Returns the warnings to suppress about modules below `root`, given the `wanted` ones.
    pub fn of(wanted: Deprecations, root: &Module) -> Self {
        match wanted {
            Deprecations::All => Self::None,
            Deprecations::Untold => Self::All,
            Deprecations::Local => {
                let mut found = Vec::new();
                remote(root, Origin::Here, &mut found);
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
    /// Whether the use is in this module, or of one of its outputs.
    fn is_used_by(&self, diagnostic: &Diagnostic, sources: &Sources) -> bool {
        let file = diagnostic.subject.and_then(|span| sources.file(span));
        let is_inside = file.is_some_and(|file| Path::new(file.name()).parent() == Some(&self.directory));
        is_inside || diagnostic.origin.as_ref().is_some_and(|origin| origin.starts_with(&self.prefix))
    }
}

/// The origin of a module.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    Here,
    Elsewhere,
}

fn remote(module: &Module, origin: Origin, found: &mut Vec<RemoteModule>) {
    for (name, child) in &module.children {
        let source = module.calls.get(name).and_then(|call| call.source.as_ref());
        let is_local = matches!(source, Some(ModuleSource::Local(_)));
        let origin = if is_local { origin } else { Origin::Elsewhere };
        if origin == Origin::Elsewhere {
            found.push(RemoteModule { prefix: format!("{}.", child.path), directory: child.directory.clone() });
        }
        remote(child, origin, found);
    }
}
