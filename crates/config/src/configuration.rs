//! A whole configuration: the tree of modules with the text it was read from.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use groma_address::{ModulePath, Name, ProviderAddress};
use groma_diagnostics::{SourceText, Span};
use groma_hcl::Traversal;
use indexmap::IndexMap;

use crate::model::{LocalProvider, Module, Override, PassedProvider, ProviderBlock};
use crate::providers::requirements::ProviderRequirement;

/// A loaded configuration. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Configuration {
    /// The root module, with all others below it.
    pub root: Arc<Module>,
    /// The usability of the configuration.
    pub soundness: Soundness,
    /// References into objects about which only schemas can tell whether they are right, and evaluation would not in every case.
    pub deep: Arc<[DeepReference]>,
    /// The files of tests, where they were asked for, sorted by path.
    pub tests: Arc<[TestFile]>,
    pub(crate) files: Arc<[LoadedFile]>,
    pub(crate) requirements: Arc<IndexMap<ProviderAddress, ProviderRequirement>>,
    /// The provider blocks that something uses, by their headers.
    pub(crate) used_providers: Arc<HashSet<Span>>,
}

/// The usability of a loaded configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Soundness {
    /// The configuration has no errors.
    Sound,
    /// Expressions refer to undeclared names, or the root module has outputs that only child modules may have: usable for further checks,
    /// for import
    /// and for display.
    WrongNames,
    /// All declarations are present but some have errors: usable for further checks, and for display.
    Flawed,
    /// Declarations may be missing: usable for display only.
    Incomplete,
}

/// A reference to something in the object of a resource block.
#[derive(Clone, Debug)]
pub struct DeepReference {
    /// The module in which it is written.
    pub module: ModulePath,
    /// The position of the block among those of the module.
    pub resource: u32,
    /// The reference as it is written.
    pub traversal: Traversal,
    /// Number of steps that lead to the object.
    pub steps: usize,
}

/// A file that was read for a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadedFile {
    /// Its path, relative to the root module's directory.
    pub path: PathBuf,
    /// The text of the file.
    pub text: SourceText,
}

/// A file of tests.
#[derive(Clone, Debug)]
pub struct TestFile {
    /// The steps under which its runs stand: `test`, the folders, the file.
    pub steps: Vec<String>,
    /// Its runs, in their order.
    pub runs: Vec<TestRun>,
    /// The provider configurations that they can be given, each with the header of its block.
    pub providers: Vec<(LocalProvider, Span)>,
    /// The overrides for all runs.
    pub overrides: Vec<Override>,
}

/// A run of a file of tests.
#[derive(Clone, Debug)]
pub struct TestRun {
    /// The name of the run.
    pub name: Name,
    /// The configuration that the run tests.
    pub tested: Tested,
    /// Provider configurations of the file that are handed to what is run, under names of its own.
    pub providers: Vec<PassedProvider>,
    /// The overrides for this run.
    pub overrides: Vec<Override>,
}

/// The configuration that a run tests.
#[derive(Clone, Debug)]
pub enum Tested {
    /// The configuration next to the test file.
    Configuration,
    /// A module that the run names in its place, as the root of a configuration.
    Module(Configuration),
    /// A module that could not be loaded, which is reported.
    Missing,
}

impl Tested {
    /// Returns the module that is tested instead of the configuration, if there is one.
    pub fn module(&self) -> Option<&Configuration> {
        match self {
            Self::Module(configuration) => Some(configuration),
            Self::Configuration | Self::Missing => None,
        }
    }
}

impl Configuration {
    /// Whether the root module, or a run of a test, calls a module.
    pub fn calls_modules(&self) -> bool {
        !self.root.calls.is_empty() || self.modules_of_runs().next().is_some()
    }

    /// Iterates over the modules that test runs use instead of this configuration.
    pub fn modules_of_runs(&self) -> impl Iterator<Item = &Self> {
        self.tests.iter().flat_map(|file| &file.runs).filter_map(|run| run.tested.module())
    }

    /// Whether anything in the configuration uses a provider block. Errors in an unused block are not fatal.
    pub fn is_used(&self, block: &ProviderBlock) -> bool {
        self.used_providers.contains(&block.span)
    }

    /// The module at `path`.
    pub fn module(&self, path: &ModulePath) -> Option<&Arc<Module>> {
        path.steps().iter().try_fold(&self.root, |module, name| module.children.get(name))
    }

    /// All modules, each before those it calls.
    pub fn modules(&self) -> Vec<&Arc<Module>> {
        let mut found = vec![&self.root];
        let mut next = 0;
        while let Some(module) = found.get(next).copied() {
            found.extend(module.children.values());
            next += 1;
        }
        found
    }

    /// The providers that any module needs, those of runs among them, with the versions that all of them allow, sorted by address.
    pub fn provider_requirements(&self) -> &IndexMap<ProviderAddress, ProviderRequirement> {
        &self.requirements
    }

    /// Every file that was read, so that the same configuration can be loaded again from memory: configuration files
    /// of all modules, and the manifest of installed modules.
    pub fn files(&self) -> &[LoadedFile] {
        &self.files
    }
}
