//! The loaded configuration: the module tree, test files and the source text of every file.

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
///
/// `load` creates it. It owns the module tree, the test files, the provider requirements of all modules
/// and the text of every file that was read, so that a saved plan can load the same configuration again from memory.
///
/// All checks that need neither state nor providers are done: names are unique, references resolve and module
/// arguments match variables, as far as [`status`](Self::status) says. Errors are reported to the caller's
/// diagnostics, so a configuration may be incomplete; operations check the status before they use it.
///
/// It does not evaluate anything: expressions and bodies stay as written (exceptions are arguments that the language
/// requires to be constant, and module sources). It does not know provider schemas; the engine decodes bodies with
/// them.
#[derive(Clone, Debug)]
pub struct Configuration {
    /// The root module, which contains its descendants.
    pub root: Arc<Module>,
    /// Whether loading succeeded, and otherwise the operations that remain possible.
    pub status: LoadStatus,
    /// References to attributes of resources, which only provider schemas can check. Evaluation would not detect every
    /// wrong one, because an unknown object hides it.
    pub deep_references: Arc<[DeepReference]>,
    /// Test files sorted by path; empty unless the load options request them.
    pub tests: Arc<[TestFile]>,
    pub(crate) files: Arc<[LoadedFile]>,
    pub(crate) requirements: Arc<IndexMap<ProviderAddress, ProviderRequirement>>,
    /// Header spans of the provider blocks that at least one other block uses.
    pub(crate) used_providers: Arc<HashSet<Span>>,
}

/// The outcome of loading, from best to worst: the operations that a configuration can serve despite its errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LoadStatus {
    /// No errors: the configuration can be planned.
    Complete,
    /// An expression refers to an undeclared object, or a root output has an argument that only child modules may have.
    /// Validation, import and display remain possible.
    InvalidReferences,
    /// Every declared object exists but some are invalid. Validation and display remain possible.
    Invalid,
    /// Some objects could not be decoded. Only display remains possible.
    Incomplete,
}

/// A reference to an attribute of a resource's object.
#[derive(Clone, Debug)]
pub struct DeepReference {
    /// The module that contains the reference.
    pub module: ModulePath,
    /// Index of the resource in [`Module::resources`](crate::Module::resources).
    pub resource: u32,
    /// The complete reference.
    pub traversal: Traversal,
    /// The number of leading steps that address the object.
    pub steps: usize,
}

/// A file that was read while loading a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadedFile {
    /// Path relative to the root module's directory.
    pub path: PathBuf,
    /// Complete text of the file.
    pub text: SourceText,
}

/// A test file (`.tftest.hcl` or `.tofutest.hcl`).
#[derive(Clone, Debug)]
pub struct TestFile {
    /// Steps of the module path under which the modules of its runs are installed: `test`, the directories, the file.
    pub steps: Vec<String>,
    /// `run` blocks in source order.
    pub runs: Vec<TestRun>,
    /// Provider configurations that runs can use, each with the header of its block.
    pub providers: Vec<(LocalProvider, Span)>,
    /// `override_*` blocks that apply to all runs of the file.
    pub overrides: Vec<Override>,
}

/// A `run` block of a test file.
#[derive(Clone, Debug)]
pub struct TestRun {
    /// The block's label.
    pub name: Name,
    /// The configuration under test.
    pub tested: Tested,
    /// Provider configurations of the file that are passed to the configuration under test, under its own names.
    pub providers: Vec<PassedProvider>,
    /// `override_*` blocks that apply to this run only.
    pub overrides: Vec<Override>,
}

/// The configuration that a test run executes.
#[derive(Clone, Debug)]
pub enum Tested {
    /// The configuration next to the test file.
    Configuration,
    /// Another module, from the run's `module` block, used as a root module.
    Module(Configuration),
    /// A module that could not be loaded; the error has been reported.
    Missing,
}

impl Tested {
    /// Returns the module that replaces the configuration under test, if the run has a `module` block.
    pub fn module(&self) -> Option<&Configuration> {
        match self {
            Self::Module(configuration) => Some(configuration),
            Self::Configuration | Self::Missing => None,
        }
    }
}

impl Configuration {
    /// Whether the root module or a test run calls a module.
    pub fn calls_modules(&self) -> bool {
        !self.root.calls.is_empty() || self.modules_of_runs().next().is_some()
    }

    /// Iterates over the modules that test runs use as root modules.
    pub fn modules_of_runs(&self) -> impl Iterator<Item = &Self> {
        self.tests.iter().flat_map(|file| &file.runs).filter_map(|run| run.tested.module())
    }

    /// Whether a block of the configuration uses the provider block. Errors in unused provider blocks must not fail a
    /// run.
    pub fn is_used(&self, block: &ProviderBlock) -> bool {
        self.used_providers.contains(&block.span)
    }

    /// Returns the module at `path`.
    pub fn module(&self, path: &ModulePath) -> Option<&Arc<Module>> {
        path.steps().iter().try_fold(&self.root, |module, name| module.children.get(name))
    }

    /// Returns all modules, callers before the modules that they call.
    pub fn modules(&self) -> Vec<&Arc<Module>> {
        let mut found = vec![&self.root];
        let mut next = 0;
        while let Some(module) = found.get(next).copied() {
            found.extend(module.children.values());
            next += 1;
        }
        found
    }

    /// Returns the providers that the modules and test runs need, with the versions that all of them allow, sorted by
    /// address.
    pub fn provider_requirements(&self) -> &IndexMap<ProviderAddress, ProviderRequirement> {
        &self.requirements
    }

    /// Returns every file that was read: the configuration files of all modules and the manifest of installed modules.
    /// A saved plan stores them to load the same configuration from memory.
    pub fn files(&self) -> &[LoadedFile] {
        &self.files
    }
}
