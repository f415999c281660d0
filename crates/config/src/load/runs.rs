//! The modules that test runs use instead of the configuration: for installers they are calls of the root module, and
//! roots themselves otherwise.

use std::sync::Arc;

use groma_address::Name;
use groma_diagnostics::{Diagnostic, Diagnostics};

use super::folder::Reader;
use super::locate::ModuleLocator;
use super::tree::Builder;
use super::{checked, test_files};
use crate::checks;
use crate::configuration::{Configuration, TestFile, TestRun, Tested};
use crate::decode::RunContent;
use crate::model::{Module, RunModule};
use crate::options::TestFolder;

/// Adds the test files next to `configuration` and in `folder`.
pub(super) fn with_tests(
    configuration: Configuration,
    folder: &TestFolder,
    reader: &mut Reader<'_>,
    locator: &mut dyn ModuleLocator,
    diagnostics: &mut Diagnostics,
) -> Configuration {
    let read = test_files::read(reader.options, folder, reader.sources, reader.files, diagnostics);
    let mut modules = Modules { reader, locator, diagnostics };
    let mut files = Vec::new();
    for (path, content) in read {
        let steps = test_files::steps(path.strip_prefix(&modules.reader.options.directory).unwrap_or(&path));
        let runs = content.runs.into_iter().map(|run| modules.run(&steps, run)).collect();
        files.push(TestFile { steps, runs, providers: content.providers, overrides: content.overrides });
    }
    files.iter().for_each(|file| checks::check_test_providers(&configuration.root, file, modules.diagnostics));
    let mut requirements = Arc::unwrap_or_clone(configuration.requirements);
    for run in files.iter().flat_map(|file| &file.runs) {
        let needed = run.tested.module().into_iter().flat_map(Configuration::provider_requirements);
        needed.for_each(|(address, needed)| requirements.entry(address.clone()).or_default().merge(needed));
    }
    requirements.sort_unstable_keys();
    Configuration { tests: files.into(), requirements: Arc::new(requirements), ..configuration }
}

/// Loads what runs name.
struct Modules<'a, 'r> {
    reader: &'a mut Reader<'r>,
    locator: &'a mut dyn ModuleLocator,
    diagnostics: &'a mut Diagnostics,
}

impl Modules<'_, '_> {
    fn run(&mut self, file: &[String], run: RunContent) -> TestRun {
        let steps = file.iter().map(|step| Name::from(&**step)).chain([run.name.clone()]).collect();
        let tested = match &run.module {
            Some(module) => self.module(steps, module).map_or(Tested::Missing, Tested::Module),
            None => Tested::Configuration,
        };
        TestRun { name: run.name, tested, providers: run.providers, overrides: run.overrides }
    }

    /// Loads a module; errors in a directory that several runs use are reported once.
    fn module(&mut self, within: Vec<Name>, module: &RunModule) -> Option<Configuration> {
        let mut problems = Diagnostics::new();
        let mut builder = Builder { reader: self.reader, locator: self.locator, diagnostics: &mut problems, within };
        let root = builder.of_run(module);
        let configuration = root.map(|root| {
            let root = in_a_test(root, &mut problems);
            checked(root, self.reader, &mut problems)
        });
        for problem in problems {
            if !self.diagnostics.iter().any(|known| *known == problem) {
                self.diagnostics.push(problem);
            }
        }
        configuration
    }
}

/// The root module without what only that of a configuration may have.
fn in_a_test(root: Module, problems: &mut Diagnostics) -> Module {
    if let Some(import) = root.imports.first() {
        let detail = "A run of a test makes what its module declares anew: nothing can be imported into it. Import in the configuration \
                      itself, or leave the block out.";
        problems.push(Diagnostic::error("Invalid import configuration", detail).at(import.span));
    }
    let ignored = "The states of tests are kept in memory, so that the block has no effect here.";
    if let Some(backend) = &root.backend {
        problems.push(Diagnostic::warning("Backend configuration ignored", ignored).at(backend.span));
    }
    if let Some(cloud) = &root.cloud {
        problems.push(Diagnostic::warning("Cloud configuration ignored", ignored).at(cloud.span));
    }
    Module { backend: None, cloud: None, ..root }
}
