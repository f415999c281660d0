//! Location of the directories of called modules.

use std::path::{Path, PathBuf};

use groma_address::{ModulePath, Name};
use groma_diagnostics::{Diagnostic, Span};

use crate::manifest::ModuleManifest;
use crate::module_source::ModuleSource;
use crate::version::Constraints;

/// A called module that is to be found.
#[derive(Debug)]
pub struct ModuleRequest<'a> {
    /// The path of the called module.
    pub path: &'a ModulePath,
    /// The source of the module.
    pub source: &'a ModuleSource,
    /// The allowed versions of the module.
    pub version: &'a Constraints,
    /// The folder, if the package of the calling module holds it.
    pub local: Option<&'a Path>,
    /// The header of the call.
    pub call: Span,
    /// The location of the `source` argument.
    pub source_span: Span,
}

/// Finds the directories of called modules. An installer installs a module when it is asked for it.
pub trait ModuleLocator {
    /// The folder of the module, relative to the root module's directory or absolute.
    ///
    /// # Errors
    /// Returns the directory of a module, or the reason why it has none.
    fn locate(&mut self, request: &ModuleRequest<'_>) -> Result<PathBuf, Box<Diagnostic>>;
}

/// Finds modules where a manifest says that they are installed.
#[derive(Clone, Debug)]
pub struct InstalledModules {
    /// The manifest of installed modules.
    pub manifest: ModuleManifest,
    /// The registry of addresses that name none.
    pub default_registry: Name,
}

impl ModuleLocator for InstalledModules {
    fn locate(&mut self, request: &ModuleRequest<'_>) -> Result<PathBuf, Box<Diagnostic>> {
        let error = |span, summary: &str, detail: String| Box::new(Diagnostic::error(summary, detail).at(span));
        if let Some(directory) = request.local {
            return Ok(directory.to_owned());
        }
        let Some(installed) = self.manifest.get(request.path) else {
            let source = request.source.address(&self.default_registry);
            return Err(error(
                request.call,
                "Module not installed",
                format!("The module {source} has to be installed before it can be used. Run init, which does that."),
            ));
        };
        if !request.source.is(&installed.source, &self.default_registry) {
            return Err(error(
                request.source_span,
                "Module source has changed",
                format!("What is installed comes from {}. Install the modules again with init.", installed.source),
            ));
        }
        match &installed.version {
            Some(version) if !request.version.allow(version) => Err(error(
                request.source_span,
                "Module version requirements have changed",
                format!(
                    "Version {version} is installed, and the call allows {}. Install the modules again with init.",
                    request.version
                ),
            )),
            _ => Ok(installed.directory.clone()),
        }
    }
}
