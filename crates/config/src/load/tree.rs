//! Construction of the module tree: finds and reads the module of each call, recursively.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use groma_address::{ModulePath, Name, is_identifier};
use groma_diagnostics::{Diagnostic, Diagnostics, Severity, Span};
use groma_hcl::{Attribute, Expression};
use groma_value::Value;
use indexmap::IndexMap;

use super::directory::{ModuleDirectory, Reader};
use super::early::Early;
use super::encryption;
use super::locate::{ModuleLocator, ModuleRequest};
use super::root_values::RootValues;
use crate::decode::{Dialect, constant_template, versionless};
use crate::model::{Backend, Encryption, Module, ModuleCall, RunModule, UnusableVariable};
use crate::module_source::ModuleSource;
use crate::options::Calls;
use crate::source::display;
use crate::version::Constraints;

/// Maximum nesting of module calls.
const DEPTH_LIMIT: usize = 64;

/// Builds the module tree from the root module down.
pub(super) struct Builder<'a, 'r> {
    pub(super) reader: &'a mut Reader<'r>,
    pub(super) locator: &'a mut dyn ModuleLocator,
    pub(super) diagnostics: &'a mut Diagnostics,
    /// Prefix of the module paths in the manifest; test runs install their modules below the path of the test file.
    pub(super) within: Vec<Name>,
}

/// The position of a module call in the tree.
struct CallSite<'a> {
    /// Directory of the calling module.
    directory: &'a Path,
    /// Path of the called module.
    path: ModulePath,
}

/// The requested source and version of a call, with their spans.
struct Called<'a> {
    source: &'a ModuleSource,
    version: &'a Constraints,
    block: Span,
    span: Span,
}

impl<'a> Called<'a> {
    /// Returns `None` if source or version are invalid or incompatible, which has been reported.
    fn by(call: &'a ModuleCall) -> Option<Self> {
        let is_readable = call.version_expression.is_none() || !call.version.is_empty();
        let source = call.source.as_ref().filter(|_| is_readable)?;
        // Only registry modules have versions; the error has been reported.
        if !call.version.is_empty() && versionless(source).is_some() {
            return None;
        }
        Some(Self { source, version: &call.version, block: call.span, span: source_span(call) })
    }

    fn by_run(module: &'a RunModule) -> Self {
        Self { source: &module.source, version: &module.version, block: module.block, span: module.span }
    }
}

/// The children of a module, and its calls with evaluated sources.
#[derive(Default)]
struct Subtree {
    calls: IndexMap<Name, ModuleCall>,
    children: IndexMap<Name, Arc<Module>>,
}

/// The arguments of a backend before planning.
#[derive(Default)]
struct BackendArguments {
    known: IndexMap<Name, Value>,
    unusable: IndexMap<Span, UnusableVariable>,
}

/// Evaluates the arguments and nested blocks of a backend. Errors are reported when the backend is used.
fn backend_arguments(backend: &Backend, early: &Early<'_>) -> BackendArguments {
    let (arguments, blocks, _) = backend.items();
    let mut unusable = IndexMap::new();
    let mut known = |argument: &Attribute| {
        let expression = &argument.expression;
        let Some(value) = early.known(expression, "backend argument", &mut Diagnostics::new()) else {
            unusable.extend(early.unusable_variable(expression).map(|variable| (expression.span, variable)));
            return None;
        };
        Some((argument.name.name.clone(), value))
    };
    let mut values: IndexMap<Name, Value> = arguments.iter().filter_map(&mut known).collect();
    let mut nested: IndexMap<Name, Vec<Value>> = IndexMap::new();
    for block in blocks {
        let (arguments, _) = block.body.attributes();
        let object = Value::object(arguments.iter().filter_map(&mut known).collect::<Vec<_>>());
        nested.entry(block.kind.name.clone()).or_default().push(object);
    }
    values.extend(nested.into_iter().map(|(kind, objects)| (kind, Value::tuple(objects))));
    BackendArguments { known: values, unusable }
}

/// The settings of the root module that are evaluated before planning.
struct EarlySettings {
    backend: BackendArguments,
    encryption: Option<Encryption>,
}

impl Builder<'_, '_> {
    /// Builds the root module in `directory` with its descendants.
    pub(super) fn build(&mut self, directory: &Path) -> Option<Module> {
        match self.reader.module_directory(directory, self.diagnostics) {
            ModuleDirectory::Module(module) => {
                let (below, settings) = self.root_subtree(&module, directory);
                // The root module is usually the largest. Dropping the cached reference makes `unwrap_or_clone` move
                // it.
                self.reader.forget(directory);
                let mut module = Arc::unwrap_or_clone(module);
                if let Some(backend) = module.backend.as_mut().or(module.cloud.as_mut()) {
                    backend.known = settings.backend.known;
                    backend.unusable = settings.backend.unusable;
                }
                module.encryption = settings.encryption;
                Some(Module { calls: below.calls, children: below.children, ..module })
            }
            // A directory with test files only is valid if all runs have a `module` block.
            ModuleDirectory::Empty if self.reader.options.tests.is_some() => Some(self.nothing_in(directory)),
            ModuleDirectory::Empty => {
                self.diagnostics.push(Diagnostic::error(
                    "No configuration files",
                    "This directory contains no configuration files (.tf, .tf.json, .tofu or .tofu.json). Change to a directory with a \
                     configuration, or create the first file.",
                ));
                None
            }
            ModuleDirectory::Missing => {
                self.diagnostics.push(Diagnostic::error(
                    "Failed to read module directory",
                    format!("Cannot read the directory {}.", display(directory)),
                ));
                None
            }
        }
    }

    /// Builds the children of the root module and evaluates its settings.
    fn root_subtree(&mut self, module: &Module, directory: &Path) -> (Subtree, EarlySettings) {
        let values = RootValues::new(module, self.reader);
        values.check_constants(self.diagnostics);
        let early = Early::root(module, &values);
        let backend = module.backend.as_ref().or(module.cloud.as_ref());
        let backend = backend.map(|backend| backend_arguments(backend, &early)).unwrap_or_default();
        let settings =
            EarlySettings { backend, encryption: encryption::read(module, self.reader, &early, self.diagnostics) };
        (self.subtree(module, &ModulePath::root(), &mut vec![directory.to_owned()], &early), settings)
    }

    /// Builds the children of `module`, which is at `path`. `above` contains the directories from the root module to
    /// this one, to detect cycles.
    fn subtree(&mut self, module: &Module, path: &ModulePath, above: &mut Vec<PathBuf>, early: &Early<'_>) -> Subtree {
        if self.reader.options.calls == Calls::Ignored {
            return Subtree { calls: module.calls.clone(), children: IndexMap::new() };
        }
        let mut below = Subtree::default();
        for (name, call) in &module.calls {
            // The module is shared and immutable, and the evaluated source belongs to this call in this tree.
            let mut call = call.clone();
            self.find_source(&mut call, early);
            let site = CallSite { directory: &module.directory, path: path.child(name) };
            if let Some(child) = self.child(site, &call, above, early) {
                below.children.insert(name.clone(), Arc::new(child));
            }
            below.calls.insert(name.clone(), call);
        }
        below
    }

    fn child(
        &mut self,
        site: CallSite<'_>,
        call: &ModuleCall,
        above: &mut Vec<PathBuf>,
        early: &Early<'_>,
    ) -> Option<Module> {
        let called = Called::by(call)?;
        let directory = self.directory(&site, &called)?;
        // Directories rather than sources: different sources may lead to the same directory.
        if above.contains(&directory) {
            let chain: Vec<String> = above.iter().chain([&directory]).map(|folder| display(folder)).collect();
            self.error(
                called.span,
                "Module calls itself",
                format!("Module calls form a cycle: {}. Remove one of the calls.", chain.join(" -> ")),
            );
            return None;
        }
        // Remote sources may have a directory for each call, so a cycle of them need not repeat a directory.
        if above.len() >= DEPTH_LIMIT {
            self.error(
                call.span,
                "Module calls too deep",
                format!("Module calls are nested more than {DEPTH_LIMIT} levels deep. Flatten the configuration."),
            );
            return None;
        }
        let module = self.called_module(&called, &directory)?;
        self.check_constants(call, &module, early);
        above.push(directory);
        let below = self.subtree(&module, &site.path, above, &early.child(call, &module));
        // `above` describes one branch: siblings may call the same directory.
        above.pop();
        Some(Module { path: site.path, calls: below.calls, children: below.children, ..Module::clone(&module) })
    }

    /// Builds the module of a test run as a root module.
    pub(super) fn of_run(&mut self, module: &RunModule) -> Option<Module> {
        let called = Called::by_run(module);
        let root = self.reader.options.directory.clone();
        let directory = self.directory(&CallSite { directory: &root, path: ModulePath::root() }, &called)?;
        let module = self.called_module(&called, &directory)?;
        let values = RootValues::new(&module, self.reader);
        let below = self.subtree(&module, &ModulePath::root(), &mut vec![directory], &Early::root(&module, &values));
        Some(Module { calls: below.calls, children: below.children, ..Module::clone(&module) })
    }

    /// Reads the module in `directory`, without its children. An empty directory is a module without declarations.
    fn called_module(&mut self, called: &Called<'_>, directory: &Path) -> Option<Arc<Module>> {
        match self.called_directory(directory) {
            ModuleDirectory::Module(module) => Some(module),
            // Unlike the root module, a called module may be empty.
            ModuleDirectory::Empty => Some(Arc::new(self.nothing_in(directory))),
            ModuleDirectory::Missing => {
                let directory = display(directory);
                self.error(
                    called.span,
                    "Unreadable module directory",
                    format!("Cannot read the directory {directory}. Check the module's source."),
                );
                None
            }
        }
    }

    /// Returns a module without declarations.
    fn nothing_in(&self, directory: &Path) -> Module {
        let default_registry = self.reader.options.default_registry.clone();
        Module { directory: directory.to_owned(), default_registry, ..Module::default() }
    }

    /// Reads the directory of a called module. Warnings about deprecated syntax are for the module's authors, so they
    /// are dropped.
    fn called_directory(&mut self, directory: &Path) -> ModuleDirectory {
        let mut problems = Diagnostics::new();
        let folder = self.reader.module_directory(directory, &mut problems);
        for problem in problems {
            let dialect = problem.subject.map(|span| Dialect::at(span, self.reader.sources));
            let is_of_opentofu = || dialect == Some(Dialect::OpenTofu);
            // OpenTofu reports warnings of called modules, too.
            let is_new = || is_of_opentofu() && self.diagnostics.iter().all(|known| *known != problem);
            if problem.severity == Severity::Error || is_new() {
                self.diagnostics.push(problem);
            }
        }
        folder
    }

    /// Reports arguments of constant variables whose values are unknown before planning.
    fn check_constants(&mut self, call: &ModuleCall, module: &Module, early: &Early<'_>) {
        // Few modules have constant variables, so the arguments are usually not evaluated.
        if !module.variables.values().any(|variable| variable.constant) {
            return;
        }
        let (arguments, _) = call.body.attributes();
        for argument in arguments {
            let wants_constant = module.variables.get(&argument.name.name).is_some_and(|variable| variable.constant);
            let is_wrong = || {
                let mut problems = Diagnostics::new();
                early.secret(&argument.expression, "constant", &mut problems);
                problems.has_errors()
            };
            if wants_constant && is_wrong() {
                let detail = format!(
                    "The module's variable {:?} is constant, so its value must be known before planning. Use only constants, variables \
                     with a value, and local values derived from them.",
                    argument.name.name
                );
                self.error(argument.expression.span, "Const variables must be known", detail);
            }
        }
    }

    /// Evaluates the source and version of a call if they are not constant, and checks that they are compatible.
    fn find_source(&mut self, call: &mut ModuleCall, early: &Early<'_>) {
        // A constant source with a constant version was checked when the block was decoded.
        let was_checked = call.source.is_some() && !call.version.is_empty();
        self.evaluate_source(call, early);
        self.evaluate_version(call, early);
        if let (false, false, Some(detail)) =
            (was_checked, call.version.is_empty(), call.source.as_ref().and_then(versionless))
        {
            self.error(source_span(call), "Invalid registry module source address", detail);
        }
    }

    fn evaluate_source(&mut self, call: &mut ModuleCall, early: &Early<'_>) {
        if let (None, Some(expression)) = (&call.source, needs_evaluation(call.source_expression.as_ref())) {
            let value = early.string(expression, "module source", self.diagnostics);
            let span = expression.span;
            call.source = value.and_then(|value| self.parsed(span, value.as_str()?, parse_source));
        }
    }

    fn evaluate_version(&mut self, call: &mut ModuleCall, early: &Early<'_>) {
        if let (true, Some(expression)) = (call.version.is_empty(), needs_evaluation(call.version_expression.as_ref()))
        {
            let value = early.string_or_null(expression, "module version", self.diagnostics);
            // A null version is the same as no version, also for the checks that look for the argument.
            if value.as_ref().is_some_and(Value::is_null) {
                call.version_expression = None;
                return;
            }
            let span = expression.span;
            let constraints = value.and_then(|value| self.parsed(span, value.as_str()?, parse_version));
            call.version = constraints.unwrap_or_default();
        }
    }

    fn parsed<T>(&mut self, span: Span, text: &str, parse: fn(&str) -> Result<T, (&'static str, String)>) -> Option<T> {
        parse(text).map_err(|(summary, detail)| self.error(span, summary, detail)).ok()
    }

    /// Locates the directory of a called module.
    fn directory(&mut self, site: &CallSite<'_>, called: &Called<'_>) -> Option<PathBuf> {
        let path = ModulePath::from_names(self.within.iter().chain(site.path.steps()).cloned());
        // An invalid name has been reported. It must not become part of a file path, where it could point anywhere.
        if !path.steps().last().is_some_and(|name| is_identifier(name)) {
            return None;
        }
        let local = match called.source {
            ModuleSource::Local(relative) => Some(self.reader.local(site.directory, relative)),
            _ => None,
        };
        let request = ModuleRequest {
            path: &path,
            source: called.source,
            version: called.version,
            local: local.as_deref(),
            call: called.block,
            source_span: called.span,
        };
        self.locator.locate(&request).map_err(|problem| self.diagnostics.push(*problem)).ok()
    }

    fn error(&mut self, span: Span, summary: &str, detail: String) {
        self.diagnostics.push(Diagnostic::error(summary, detail).at(span));
    }
}

fn source_span(call: &ModuleCall) -> Span {
    call.source_expression.as_ref().map_or(call.span, |expression| expression.span)
}

/// Returns the argument if it is not constant; an invalid constant has been reported.
fn needs_evaluation(argument: Option<&Expression>) -> Option<&Expression> {
    argument.filter(|expression| constant_template(expression).is_err())
}

fn parse_source(text: &str) -> Result<ModuleSource, (&'static str, String)> {
    ModuleSource::parse(text).map_err(|problem| ("Invalid module source address", problem.to_string()))
}

fn parse_version(text: &str) -> Result<Constraints, (&'static str, String)> {
    text.parse().map_err(|error| {
        ("Invalid version constraint", format!("The module version is not a valid version constraint: {error}."))
    })
}
