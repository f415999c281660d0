//! Modules of test runs: installed like calls of the root module, but loaded as root modules.

use std::sync::Arc;

use groma_address::Name;
use groma_diagnostics::{Diagnostic, Diagnostics};

use super::directory::Reader;
use super::locate::ModuleLocator;
use super::tree::Builder;
use super::{checked, test_files};
use crate::checks;
use crate::configuration::{Configuration, TestFile, TestRun, Tested};
use crate::decode::RunContent;
use crate::model::{Module, RunModule};
use crate::options::TestDirectory;

/// Adds the test files next to the configuration and in `folder` to `configuration`.
pub(super) fn with_tests(
    configuration: Configuration,
    folder: &TestDirectory,
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
    // Running the tests requires the providers of the modules of their runs, too.
    for run in files.iter().flat_map(|file| &file.runs) {
        let needed = run.tested.module().into_iter().flat_map(Configuration::provider_requirements);
        needed.for_each(|(address, needed)| requirements.entry(address.clone()).or_default().merge(needed));
    }
    requirements.sort_unstable_keys();
    Configuration { tests: files.into(), requirements: Arc::new(requirements), ..configuration }
}

/// Loader of the modules of test runs.
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

    /// Loads the module of a run. Runs often share a module, so problems that are already reported are skipped.
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

/// Removes the blocks that have no effect in a test, and reports them.
fn in_a_test(root: Module, problems: &mut Diagnostics) -> Module {
    if let Some(import) = root.imports.first() {
        let detail = "A test run creates the objects of its module, so nothing can be imported into it. Move the import block to the \
                      configuration under test, or remove it.";
        problems.push(Diagnostic::error("Invalid import configuration", detail).at(import.span));
    }
    let ignored = "Test states are kept in memory, so this block has no effect here.";
    if let Some(backend) = &root.backend {
        problems.push(Diagnostic::warning("Backend configuration ignored", ignored).at(backend.span));
    }
    if let Some(cloud) = &root.cloud {
        problems.push(Diagnostic::warning("Cloud configuration ignored", ignored).at(cloud.span));
    }
    Module { backend: None, cloud: None, ..root }
}
