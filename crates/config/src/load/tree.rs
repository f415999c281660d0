//! The tree of modules: each call leads to a folder, and from there on.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use groma_address::ModulePath;
use groma_diagnostics::{Diagnostic, Diagnostics, Span};

use super::folder::{Folder, Reader};
use crate::manifest::ModuleManifest;
use crate::model::{Module, ModuleCall, ModuleSource};
use crate::source::{display, normalize};

/// How many module calls may lie within each other.
const DEPTH_LIMIT: usize = 64;

/// Builds modules from the root downwards.
pub(super) struct Builder<'a, 'r> {
    pub(super) reader: &'a mut Reader<'r>,
    pub(super) manifest: &'a ModuleManifest,
    pub(super) diagnostics: &'a mut Diagnostics,
}

impl Builder<'_, '_> {
    /// The module at `path`, whose files are in `directory`.
    pub(super) fn build(&mut self, path: ModulePath, directory: &Path) -> Option<Module> {
        match self.reader.folder(directory, self.diagnostics) {
            Folder::Module(module) => Some(self.with_children(&module, path, &mut vec![directory.to_owned()])),
            Folder::Empty => {
                self.diagnostics.push(Diagnostic::error(
                    "No configuration files",
                    "This directory holds no configuration file (.tf, .tf.json, .tofu or .tofu.json). Change to one that does, or \
                     write the first.",
                ));
                None
            }
            Folder::Missing => {
                self.diagnostics.push(Diagnostic::error(
                    "Failed to read module directory",
                    format!("The module directory {} does not exist, or cannot be read.", display(directory)),
                ));
                None
            }
        }
    }

    /// `module` as the one at `path`; `above` are the folders from the root module's to this one's.
    fn with_children(&mut self, module: &Module, path: ModulePath, above: &mut Vec<PathBuf>) -> Module {
        let mut module = Module { path, ..module.clone() };
        for (name, call) in &module.calls {
            if let Some(child) = self.child(&module, call, above) {
                module.children.insert(name.clone(), Arc::new(child));
            }
        }
        module
    }

    fn child(&mut self, parent: &Module, call: &ModuleCall, above: &mut Vec<PathBuf>) -> Option<Module> {
        let path = parent.path.child(&call.name);
        let directory = self.directory(parent, call, &path)?;
        if above.contains(&directory) {
            let chain: Vec<String> = above.iter().chain([&directory]).map(|folder| display(folder)).collect();
            self.error(
                source_span(call),
                "Module calls itself",
                format!(
                    "The module calls lead in a circle: {}. Break it by removing one of the calls.",
                    chain.join(" -> ")
                ),
            );
            return None;
        }
        if above.len() >= DEPTH_LIMIT {
            self.error(
                call.span,
                "Module calls too deep",
                format!("Module calls lie more than {DEPTH_LIMIT} deep within each other. Flatten the configuration."),
            );
            return None;
        }
        let module = match self.reader.folder(&directory, self.diagnostics) {
            Folder::Module(module) => module,
            Folder::Empty => Arc::new(Module {
                directory: directory.clone(),
                default_registry: self.reader.options.default_registry.clone(),
                ..Module::default()
            }),
            Folder::Missing => {
                self.error(
                    source_span(call),
                    "Unreadable module directory",
                    format!(
                        "The directory {} does not exist, or cannot be read. Check the source of the module.",
                        display(&directory)
                    ),
                );
                return None;
            }
        };
        above.push(directory);
        let child = self.with_children(&module, path, above);
        above.pop();
        Some(child)
    }

    /// The folder that a call leads to.
    fn directory(&mut self, parent: &Module, call: &ModuleCall, path: &ModulePath) -> Option<PathBuf> {
        match call.source.as_ref()? {
            ModuleSource::Local(relative) => Some(normalize(&parent.directory.join(relative))),
            ModuleSource::Remote(source) => {
                let Some(installed) = self.manifest.get(path) else {
                    self.error(
                        call.span,
                        "Module not installed",
                        format!("The module {source} has to be installed before it can be used. Run \"terraform init\" or \"tofu init\"."),
                    );
                    return None;
                };
                if let Some(version) = &installed.version
                    && !call.version.allow(version)
                {
                    self.error(
                        call.span,
                        "Module version requirements have changed",
                        format!(
                            "Version {version} is installed, and the call allows {}. Install the modules again.",
                            call.version
                        ),
                    );
                    return None;
                }
                Some(installed.directory.clone())
            }
        }
    }

    fn error(&mut self, span: Span, summary: &str, detail: String) {
        self.diagnostics.push(Diagnostic::error(summary, detail).at(span));
    }
}

fn source_span(call: &ModuleCall) -> Span {
    call.source_expression.as_ref().map_or(call.span, |expression| expression.span)
}
