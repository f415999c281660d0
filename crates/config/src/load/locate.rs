//! Lookup of the directories of called modules.

use std::path::{Path, PathBuf};

use groma_address::{ModulePath, Name};
use groma_diagnostics::{Diagnostic, Span};

use crate::manifest::ModuleManifest;
use crate::module_source::ModuleSource;
use crate::version::Constraints;

/// A called module whose directory is needed.
#[derive(Debug)]
pub struct ModuleRequest<'a> {
    /// Path of the called module.
    pub path: &'a ModulePath,
    /// Source address of the module.
    pub source: &'a ModuleSource,
    /// Allowed versions; for registry modules only.
    pub version: &'a Constraints,
    /// The directory, if the source is local.
    pub local: Option<&'a Path>,
    /// Span of the call's header.
    pub call: Span,
    /// Span of the `source` argument.
    pub source_span: Span,
}

/// Finds the directories of called modules. The installer implements it by installing missing modules.
pub trait ModuleLocator {
    /// Returns the module's directory, relative to the root module's directory or absolute.
    ///
    /// # Errors
    /// The module is not installed or does not match the request.
    fn locate(&mut self, request: &ModuleRequest<'_>) -> Result<PathBuf, Box<Diagnostic>>;
}

/// Locates modules by the manifest of installed modules.
#[derive(Clone, Debug)]
pub struct InstalledModules {
    /// The manifest of installed modules.
    pub manifest: ModuleManifest,
    /// Registry of module addresses without a host.
    pub default_registry: Name,
}

impl ModuleLocator for InstalledModules {
    fn locate(&mut self, request: &ModuleRequest<'_>) -> Result<PathBuf, Box<Diagnostic>> {
        let error = |span, summary: &str, detail: String| Box::new(Diagnostic::error(summary, detail).at(span));
        // Local modules need no installation; their directory follows from the caller's.
        if let Some(directory) = request.local {
            return Ok(directory.to_owned());
        }
        let Some(installed) = self.manifest.get(request.path) else {
            let source = request.source.address(&self.default_registry);
            return Err(error(
                request.call,
                "Module not installed",
                format!(
                    "The module {source} is not installed yet. Run init to install the modules of this configuration."
                ),
            ));
        };
        if !request.source.is(&installed.source, &self.default_registry) {
            return Err(error(
                request.source_span,
                "Module source has changed",
                format!("The installed module comes from {}. Run init to install the modules again.", installed.source),
            ));
        }
        match &installed.version {
            Some(version) if !request.version.allow(version) => Err(error(
                request.source_span,
                "Module version requirements have changed",
                format!(
                    "Version {version} is installed, but the call requires {}. Run init to install a matching version.",
                    request.version
                ),
            )),
            _ => Ok(installed.directory.clone()),
        }
    }
}
