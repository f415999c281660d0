//! The tree of modules: each call leads to a folder, and from there on.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use groma_address::{ModulePath, Name, is_identifier};
use groma_diagnostics::{Diagnostic, Diagnostics, Severity, Span};
use groma_hcl::Expression;
use groma_value::Value;
use indexmap::IndexMap;

use super::early::Early;
use super::encryption;
use super::folder::{Folder, Reader};
use super::locate::{ModuleLocator, ModuleRequest};
use super::root_values::RootValues;
use crate::decode::{Dialect, constant_template, versionless};
use crate::model::{Encryption, Module, ModuleCall, RunModule};
use crate::module_source::ModuleSource;
use crate::options::Calls;
use crate::source::display;
use crate::version::Constraints;

/// Maximal depth of nested module calls.
const DEPTH_LIMIT: usize = 64;

/// Builds modules from the root downwards.
pub(super) struct Builder<'a, 'r> {
    pub(super) reader: &'a mut Reader<'r>,
    pub(super) locator: &'a mut dyn ModuleLocator,
    pub(super) diagnostics: &'a mut Diagnostics,
    /// The steps before those of the modules, under which they are installed: of a run of a test, say.
    pub(super) within: Vec<Name>,
}

/// The location of a call, and the module that it leads to.
struct Place<'a> {
    /// The calling module's folder.
    directory: &'a Path,
    /// The path of the called module.
    path: ModulePath,
}

/// The called module, and the location of its source.
struct Called<'a> {
    source: &'a ModuleSource,
    version: &'a Constraints,
    block: Span,
    span: Span,
}

impl<'a> Called<'a> {
    /// Nothing where the source or the version cannot be read or do not fit each other, which has been reported.
    fn by(call: &'a ModuleCall) -> Option<Self> {
        let is_readable = call.version_expression.is_none() || !call.version.is_empty();
        let source = call.source.as_ref().filter(|_| is_readable)?;
        // Only modules of a registry have versions, which has been reported.
        if !call.version.is_empty() && versionless(source).is_some() {
            return None;
        }
        Some(Self { source, version: &call.version, block: call.span, span: source_span(call) })
    }

    fn by_run(module: &'a RunModule) -> Self {
        Self { source: &module.source, version: &module.version, block: module.block, span: module.span }
    }
}

/// The modules below a module, and its calls with all sources known.
#[derive(Default)]
struct Below {
    calls: IndexMap<Name, ModuleCall>,
    children: IndexMap<Name, Arc<Module>>,
}

/// The root module's settings that are known before planning.
struct Known {
    backend: IndexMap<Name, Value>,
    encryption: Option<Encryption>,
}

impl Builder<'_, '_> {
    /// The root module, whose files are in `directory`, with all modules below it.
    pub(super) fn build(&mut self, directory: &Path) -> Option<Module> {
        match self.reader.folder(directory, self.diagnostics) {
            Folder::Module(module) => {
                let (below, known) = self.below_root(&module, directory);
                // The root module is the largest as a rule, and nobody else needs it now: it is not copied.
                self.reader.forget(directory);
                let mut module = Arc::unwrap_or_clone(module);
                if let Some(backend) = &mut module.backend {
                    backend.known = known.backend;
                }
                module.encryption = known.encryption;
                Some(Module { calls: below.calls, children: below.children, ..module })
            }
            // Tests may be of nothing but modules that their runs name.
            Folder::Empty if self.reader.options.tests.is_some() => Some(self.nothing_in(directory)),
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
                    format!("There is no directory {} that can be read.", display(directory)),
                ));
                None
            }
        }
    }

    /// Loads the modules below the root module, and its known settings.
    fn below_root(&mut self, module: &Module, directory: &Path) -> (Below, Known) {
        let values = RootValues::new(module, self.reader);
        values.check_constants(self.diagnostics);
        let early = Early::root(module, &values);
        let (arguments, _) = module.backend.as_ref().map(|backend| backend.body.attributes()).unwrap_or_default();
        let known = arguments.iter().filter_map(|argument| {
            // Missing values are reported by the command that opens the state.
            let value = early.known(&argument.expression, "backend argument", &mut Diagnostics::new())?;
            Some((argument.name.name.clone(), value))
        });
        let known = known.collect();
        let encryption = encryption::read(module, self.reader, &early, self.diagnostics);
        let known = Known { backend: known, encryption };
        (self.below(module, &ModulePath::root(), &mut vec![directory.to_owned()], &early), known)
    }

    /// Loads the modules below `module` at `path`; `above` are the directories from the root module to this one.
    fn below(&mut self, module: &Module, path: &ModulePath, above: &mut Vec<PathBuf>, early: &Early<'_>) -> Below {
        if self.reader.options.calls == Calls::LeftAlone {
            return Below { calls: module.calls.clone(), children: IndexMap::new() };
        }
        let mut below = Below::default();
        for (name, call) in &module.calls {
            let mut call = call.clone();
            self.find_source(&mut call, early);
            let place = Place { directory: &module.directory, path: path.child(name) };
            if let Some(child) = self.child(place, &call, above, early) {
                below.children.insert(name.clone(), Arc::new(child));
            }
            below.calls.insert(name.clone(), call);
        }
        below
    }

    fn child(
        &mut self,
        place: Place<'_>,
        call: &ModuleCall,
        above: &mut Vec<PathBuf>,
        early: &Early<'_>,
    ) -> Option<Module> {
        let called = Called::by(call)?;
        let directory = self.directory(&place, &called)?;
        if above.contains(&directory) {
            let chain: Vec<String> = above.iter().chain([&directory]).map(|folder| display(folder)).collect();
            self.error(
                called.span,
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
        let module = self.called_module(&called, &directory)?;
        self.check_constants(call, &module, early);
        above.push(directory);
        let below = self.below(&module, &place.path, above, &early.child(call, &module));
        above.pop();
        Some(Module { path: place.path, calls: below.calls, children: below.children, ..Module::clone(&module) })
    }

    /// The module that a run of a test names, as the root of a tree of its own.
    pub(super) fn of_run(&mut self, module: &RunModule) -> Option<Module> {
        let called = Called::by_run(module);
        let root = self.reader.options.directory.clone();
        let directory = self.directory(&Place { directory: &root, path: ModulePath::root() }, &called)?;
        let module = self.called_module(&called, &directory)?;
        let values = RootValues::new(&module, self.reader);
        let below = self.below(&module, &ModulePath::root(), &mut vec![directory], &Early::root(&module, &values));
        Some(Module { calls: below.calls, children: below.children, ..Module::clone(&module) })
    }

    /// Loads the module of a call in `directory`, without the modules below it.
    fn called_module(&mut self, called: &Called<'_>, directory: &Path) -> Option<Arc<Module>> {
        match self.called_folder(directory) {
            Folder::Module(module) => Some(module),
            Folder::Empty => Some(Arc::new(self.nothing_in(directory))),
            Folder::Missing => {
                let directory = display(directory);
                self.error(
                    called.span,
                    "Unreadable module directory",
                    format!("There is no directory {directory} that can be read. Check the source of the module."),
                );
                None
            }
        }
    }

    /// A module that declares nothing.
    fn nothing_in(&self, directory: &Path) -> Module {
        let default_registry = self.reader.options.default_registry.clone();
        Module { directory: directory.to_owned(), default_registry, ..Module::default() }
    }

    /// The folder of a called module. That its files are written in a form of old is for those to hear who work on it.
    fn called_folder(&mut self, directory: &Path) -> Folder {
        let mut problems = Diagnostics::new();
        let folder = self.reader.folder(directory, &mut problems);
        for problem in problems {
            let dialect = problem.subject.map(|place| Dialect::at(place, self.reader.sources));
            let is_of_opentofu = || dialect == Some(Dialect::OpenTofu);
            // OpenTofu tells them to everybody.
            let is_told = || is_of_opentofu() && self.diagnostics.iter().all(|known| *known != problem);
            if problem.severity == Severity::Error || is_told() {
                self.diagnostics.push(problem);
            }
        }
        folder
    }

    /// Reports arguments that have to be known before anything is planned, and are not.
    fn check_constants(&mut self, call: &ModuleCall, module: &Module, early: &Early<'_>) {
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
                    "The module's variable {:?} is constant: its value has to be known before anything is planned. Only constants, variables \
                     with a value, and local values made of them can be given.",
                    argument.name.name
                );
                self.error(argument.expression.span, "Const variables must be known", detail);
            }
        }
    }

    /// Evaluates a source and a version that are not constant, and holds them against each other, which has been done where both are.
    fn find_source(&mut self, call: &mut ModuleCall, early: &Early<'_>) {
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

    /// The folder that a call leads to.
    fn directory(&mut self, place: &Place<'_>, called: &Called<'_>) -> Option<PathBuf> {
        let path = ModulePath::from_names(self.within.iter().chain(place.path.steps()).cloned());
        // A name that is none has been reported. It would become a part of a path, and lead anywhere.
        if !path.steps().last().is_some_and(|name| is_identifier(name)) {
            return None;
        }
        let local = match called.source {
            ModuleSource::Local(relative) => Some(self.reader.local(place.directory, relative)),
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

/// An argument that is not constant; a wrong constant has been reported.
fn needs_evaluation(argument: Option<&Expression>) -> Option<&Expression> {
    argument.filter(|expression| constant_template(expression).is_err())
}

fn parse_source(text: &str) -> Result<ModuleSource, (&'static str, String)> {
    ModuleSource::parse(text).map_err(|detail| ("Invalid module source address", detail))
}

fn parse_version(text: &str) -> Result<Constraints, (&'static str, String)> {
    text.parse().map_err(|error| {
        ("Invalid version constraint", format!("The module version is no version constraint: {error}."))
    })
}
