//! From a folder to the tree of modules.

mod early;
mod encryption;
mod folder;
mod locate;
mod root_values;
mod runs;
mod test_files;
mod tree;

use std::path::Path;
use std::sync::Arc;

use groma_diagnostics::{Diagnostic, Diagnostics, Sources};

use crate::configuration::{Configuration, Soundness};
use crate::manifest::ModuleManifest;
use crate::model::{Encryption, Module};
use crate::options::LoadOptions;
use crate::source::Files;
use crate::{checks, providers};

pub use locate::{InstalledModules, ModuleLocator, ModuleRequest};
pub use test_files::has_test_files;

/// Loads the root module and all modules below it, and checks whatever can be checked before a plan.
///
/// There is a configuration unless the root module's folder cannot be read or holds no configuration file; with errors
/// among the diagnostics it is incomplete and good for nothing but showing. Mistakes of tests and of what their runs name do not
/// count for its soundness.
pub fn load(options: &LoadOptions, sources: &Sources, files: &dyn Files) -> (Option<Configuration>, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let manifest = ModuleManifest::read(&options.data_directory, files).unwrap_or_else(|problem| {
        diagnostics.push(Diagnostic::error(
            "Unreadable module manifest",
            format!("The list of installed modules cannot be read: {problem}. Install the modules again."),
        ));
        ModuleManifest::default()
    });
    let mut installed = InstalledModules { manifest, default_registry: options.default_registry.clone() };
    let (configuration, problems) = load_with(options, sources, files, &mut installed);
    diagnostics.append(problems);
    (configuration, diagnostics)
}

/// Loads the module in the directory of the options alone: without its calls, and with unchecked names. `None` without configuration
/// files.
pub fn load_alone(options: &LoadOptions, sources: &Sources, files: &dyn Files) -> (Option<Arc<Module>>, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let mut reader = folder::Reader::new(options, sources, files);
    let module = match reader.folder(&options.directory, &mut diagnostics) {
        folder::Folder::Module(module) => Some(module),
        folder::Folder::Empty | folder::Folder::Missing => None,
    };
    (module, diagnostics)
}

/// Loads the encryption settings of the root module, without the rest of the configuration.
pub fn load_encryption(
    options: &LoadOptions,
    sources: &Sources,
    files: &dyn Files,
) -> (Option<Encryption>, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    // Most have no such block, which is seen faster than the files are parsed.
    if options.encryption.is_none() && !folder::mentions(b"encryption", Path::new(""), files) {
        return (None, diagnostics);
    }
    let mut reader = folder::Reader::new(options, sources, files);
    let root = match reader.folder(Path::new(""), &mut Diagnostics::new()) {
        folder::Folder::Module(module) => module,
        folder::Folder::Empty | folder::Folder::Missing => Arc::default(),
    };
    let values = root_values::RootValues::new(&root, &reader);
    let encryption = encryption::read(&root, &reader, &early::Early::root(&root, &values), &mut diagnostics);
    (encryption, diagnostics)
}

/// As [`load`], with called modules where `locator` says.
pub fn load_with(
    options: &LoadOptions,
    sources: &Sources,
    files: &dyn Files,
    locator: &mut dyn ModuleLocator,
) -> (Option<Configuration>, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let mut reader = folder::Reader::new(options, sources, files);
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

/// The configuration that `root` is; `diagnostics` are those about reading it.
fn checked(root: Module, reader: &folder::Reader<'_>, diagnostics: &mut Diagnostics) -> Configuration {
    let root = Arc::new(root);
    let is_whole = !reader.is_incomplete();
    let mut soundness = match (is_whole, diagnostics.has_errors()) {
        (false, _) => Soundness::Incomplete,
        (true, true) => Soundness::Flawed,
        (true, false) => Soundness::Sound,
    };
    let mut deep = Vec::new();
    let used = providers::used_blocks(&root);
    // Otherwise what follows would only repeat that a block could not be read.
    if is_whole {
        let (found, references) = checks::check(&root, reader.options.references, &used, reader.sources, diagnostics);
        soundness = soundness.max(found);
        deep = references;
    }
    Configuration {
        requirements: Arc::new(providers::requirements(&root)),
        root,
        soundness,
        deep: deep.into(),
        tests: Arc::default(),
        files: Arc::default(),
        used_providers: Arc::new(used),
    }
}
