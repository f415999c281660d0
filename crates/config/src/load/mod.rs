//! Loading of configurations: from a directory to a checked module tree.

mod directory;
mod early;
mod encryption;
mod locate;
mod root_values;
mod runs;
mod test_files;
mod tree;

use std::path::Path;
use std::sync::Arc;

use groma_diagnostics::{Diagnostic, Diagnostics, Sources};

use crate::configuration::{Configuration, LoadStatus};
use crate::decode::{self, Role};
use crate::manifest::ModuleManifest;
use crate::model::{Encryption, Module};
use crate::options::LoadOptions;
use crate::source::{Files, MemoryFiles, Syntax};
use crate::{checks, providers};

pub use locate::{InstalledModules, ModuleLocator, ModuleRequest};
pub use test_files::has_test_files;

/// Loads the root module and its descendants, and performs all checks that are possible before planning.
///
/// Returns no configuration if the root module's directory cannot be read or contains no configuration file. After an
/// error the configuration's [`status`](Configuration::status) tells which operations remain possible. Errors of test
/// files and of the modules of their runs do not affect the status.
pub fn load(options: &LoadOptions, sources: &Sources, files: &dyn Files) -> (Option<Configuration>, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let manifest = ModuleManifest::read(&options.data_directory, files).unwrap_or_else(|problem| {
        diagnostics.push(Diagnostic::error(
            "Unreadable module manifest",
            format!("Cannot read the manifest of installed modules: {problem}. Run init to install the modules again."),
        ));
        ModuleManifest::default()
    });
    let mut installed = InstalledModules { manifest, default_registry: options.default_registry.clone() };
    let (configuration, problems) = load_with(options, sources, files, &mut installed);
    diagnostics.append(problems);
    (configuration, diagnostics)
}

/// Loads only the module in the options' directory, without called modules and reference checks. Returns `None` if the
/// directory contains no configuration.
pub fn load_alone(options: &LoadOptions, sources: &Sources, files: &dyn Files) -> (Option<Arc<Module>>, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let mut reader = directory::Reader::new(options, sources, files);
    let module = match reader.module_directory(&options.directory, &mut diagnostics) {
        directory::ModuleDirectory::Module(module) => Some(module),
        directory::ModuleDirectory::Empty | directory::ModuleDirectory::Missing => None,
    };
    (module, diagnostics)
}

/// Loads the encryption settings of the root module without loading the rest of the configuration.
pub fn load_encryption(
    options: &LoadOptions,
    sources: &Sources,
    files: &dyn Files,
) -> (Option<Encryption>, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    // Few configurations have an encryption block, and a text search is much faster than parsing.
    if options.encryption.is_none() && !directory::mentions(b"encryption", Path::new(""), files) {
        return (None, diagnostics);
    }
    let mut reader = directory::Reader::new(options, sources, files);
    let root = match reader.module_directory(Path::new(""), &mut Diagnostics::new()) {
        directory::ModuleDirectory::Module(module) => module,
        directory::ModuleDirectory::Empty | directory::ModuleDirectory::Missing => Arc::default(),
    };
    let values = root_values::RootValues::new(&root, &reader);
    let encryption = encryption::read(&root, &reader, &early::Early::root(&root, &values), &mut diagnostics);
    (encryption, diagnostics)
}

/// Loads a configuration like [`load`], with called modules located by `locator`.
pub fn load_with(
    options: &LoadOptions,
    sources: &Sources,
    files: &dyn Files,
    locator: &mut dyn ModuleLocator,
) -> (Option<Configuration>, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let mut reader = directory::Reader::new(options, sources, files);
    // A saved plan needs the manifest to load the same modules again.
    reader.keep_manifest();
    let mut builder = tree::Builder { reader: &mut reader, locator, diagnostics: &mut diagnostics, within: Vec::new() };
    let Some(root) = builder.build(&options.directory) else { return (None, diagnostics) };
    let mut configuration = checked(root, &reader, &mut diagnostics);
    if let Some(folder) = &options.tests {
        configuration = runs::with_tests(configuration, folder, &mut reader, locator, &mut diagnostics);
    }
    configuration.files = reader.into_files();
    (Some(configuration), diagnostics)
}

/// Returns `configuration` with generated `import` and `list` blocks in its root module. Nothing is read from the disk:
/// `name` is the file name in diagnostics about `text`. A block replaces one with its address. Warnings are discarded.
///
/// # Errors
///
/// The blocks are invalid, or refer to something that the configuration does not declare.
pub fn with_blocks(
    configuration: &Configuration,
    options: &LoadOptions,
    sources: &Sources,
    name: &str,
    text: String,
) -> Result<Configuration, Diagnostics> {
    let files = MemoryFiles::new().with(name, text);
    let mut diagnostics = Diagnostics::new();
    let mut reader = directory::Reader::new(options, sources, &files);
    let file = (name.into(), Syntax::Native);
    let content = reader.file(Path::new(""), &file, Role::Primary, decode::generated, &mut diagnostics);
    let mut root = Module::clone(&configuration.root);
    if let Some(content) = content {
        root.imports.extend(content.imports);
        root.resources.extend(content.resources.into_iter().map(|list| (list.address.clone(), list)));
    }
    let extended = checked(root, &reader, &mut diagnostics);
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    Ok(Configuration { files: configuration.files.clone(), tests: configuration.tests.clone(), ..extended })
}

/// Checks the module tree and creates the configuration; `diagnostics` contains the problems of reading it.
fn checked(root: Module, reader: &directory::Reader<'_>, diagnostics: &mut Diagnostics) -> Configuration {
    let root = Arc::new(root);
    let is_whole = !reader.is_incomplete();
    let mut status = match (is_whole, diagnostics.has_errors()) {
        (false, _) => LoadStatus::Incomplete,
        (true, true) => LoadStatus::Invalid,
        (true, false) => LoadStatus::Complete,
    };
    let mut deep = Vec::new();
    let used = providers::used_blocks(&root);
    // If a block could not be decoded, checks would only report missing declarations that follow from that.
    if is_whole {
        let (found, references) = checks::check(&root, reader.options.references, &used, reader.sources, diagnostics);
        status = status.max(found);
        deep = references;
    }
    Configuration {
        requirements: Arc::new(providers::requirements(&root)),
        root,
        status,
        deep_references: deep.into(),
        tests: Arc::default(),
        files: Arc::default(),
        used_providers: Arc::new(used),
    }
}
