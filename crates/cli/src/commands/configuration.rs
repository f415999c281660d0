//! Loads the configuration of the working directory, with the tolerance that each command needs.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use groma_config::variables::VariableSources;
use groma_config::{
    Calls, Configuration, DiskFiles, Files, InstalledModules, LoadOptions, LoadStatus, MemoryFiles, ModuleLocator,
    ModuleManifest, ModuleRequest, Queries, References, TestDirectory, has_test_files, load_with,
};
use groma_diagnostics::{Diagnostic, DiagnosticKind, Diagnostics};

use super::cli_configuration::default_registry;
use super::context::Context;
use super::encryption::key_services;
use super::outcome::fail;
use super::validate;
use super::variables::{ask_for_encryption, check_given, check_options_given};

/// The reason for which a command loads the configuration. [`Purpose::tolerance`] is the table of what each one tolerates.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// `validate`, which reports further errors beside those of loading.
    Validate,
    /// `console` and `graph`, which work with a configuration whose references are invalid.
    Inspect,
    /// `import`, which reads the files of the directory given with `-config`.
    Import,
    /// `plan`.
    Plan,
    /// `apply` without a saved plan.
    Apply,
    /// `destroy`, `plan -destroy` and `refresh`, which the state alone is enough for.
    Destroy,
    /// `apply` of a saved plan, whose configuration was checked when it was planned.
    ApplySavedPlan,
    /// `query`.
    Query,
    /// `show` of the configuration.
    Show,
    /// `init` and other commands that need only blocks: they evaluate no expressions.
    Blocks,
    /// `providers`, which needs only blocks and has nothing to print without them.
    ListProviders,
    /// Commands that read a state: they need only the backend of the root module.
    ReadState,
    /// Commands that change or export a state.
    ChangeState,
}

/// The problems of a configuration that a purpose tolerates, and the checks that it asks for.
struct Tolerance {
    references: References,
    modules: CalledModules,
    accepts: Accepted,
    no_files: NoFiles,
    variables: VariableChecks,
}

/// The treatment of modules that the root module calls.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CalledModules {
    /// A module that is not installed is an error.
    Required,
    /// A module that is not installed is ignored, since it cannot configure the backend.
    IfInstalled,
    /// Called modules are not loaded.
    Ignored,
}

/// The worst condition of a configuration that is still returned.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Accepted {
    /// Only a configuration without errors. The error result includes further errors that only a plan would find.
    Valid,
    /// A configuration without errors in what was loaded; nothing more is looked for.
    ValidBackend,
    /// A configuration with invalid references, returned with those errors.
    InvalidReferences,
    /// Any configuration that was loaded completely, returned with all errors.
    Complete,
}

/// The treatment of a directory without configuration files.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NoFiles {
    /// An empty configuration.
    Fine,
    /// An error that warns about planning the destruction of everything.
    WouldPlanDestruction,
    /// An error that warns about destroying everything.
    WouldDestroy,
    /// An error, because the command only reads the configuration.
    Nothing,
}

/// The checks of variable values given on the command line and in the environment.
#[derive(Clone, Copy, PartialEq, Eq)]
enum VariableChecks {
    /// The command evaluates variables itself.
    None,
    /// The options must be readable.
    Options,
    /// Values must be readable and belong to declared variables.
    Values,
}

impl Purpose {
    /// Returns the row of this purpose in the table of tolerances.
    fn tolerance(self) -> Tolerance {
        use Accepted::{Complete, InvalidReferences, Valid, ValidBackend};
        use CalledModules::{IfInstalled, Ignored, Required};
        use NoFiles::{Fine, Nothing, WouldDestroy, WouldPlanDestruction};
        use References::{BackendOnly, Checked, Unchecked};
        use VariableChecks::{Options, Values};
        let row = |references, modules, accepts, no_files, variables| Tolerance {
            references,
            modules,
            accepts,
            no_files,
            variables,
        };
        match self {
            // The rows are one table so that a new purpose must decide about each kind of problem.
            Self::Validate => row(Checked, Required, Complete, Fine, VariableChecks::None),
            Self::Inspect | Self::Import => row(Checked, Required, InvalidReferences, Fine, VariableChecks::None),
            Self::Plan => row(Checked, Required, Valid, WouldPlanDestruction, VariableChecks::None),
            Self::Apply => row(Checked, Required, Valid, WouldDestroy, VariableChecks::None),
            Self::Destroy => row(Checked, Required, Valid, Fine, VariableChecks::None),
            // References were checked when the plan was made; checking them again would slow down every apply.
            Self::ApplySavedPlan => row(Unchecked, Required, Valid, Fine, VariableChecks::None),
            // Query files alone are enough for `query`.
            Self::Query => row(Checked, Required, Valid, Fine, VariableChecks::None),
            Self::Show => row(Checked, Required, Valid, Nothing, VariableChecks::None),
            Self::Blocks => row(Unchecked, Required, Valid, Fine, Values),
            Self::ListProviders => row(Unchecked, Required, Valid, Nothing, Values),
            // A state command must work while the configuration is being edited, so it loads as little as possible.
            Self::ReadState => row(BackendOnly, Ignored, ValidBackend, Fine, Options),
            Self::ChangeState => row(BackendOnly, IfInstalled, ValidBackend, Fine, Values),
        }
    }
}

/// A configuration with the errors that its purpose tolerates, and warnings.
pub(super) type Loaded = (Configuration, Diagnostics);

/// Loads the configuration of the working directory.
///
/// # Errors
/// The configuration has an error that the purpose does not tolerate.
pub(super) fn load(context: &Context, purpose: Purpose) -> Result<Loaded, Diagnostics> {
    load_with_options(context, purpose, load_options(context))
}

/// Loads the configuration of the working directory with its test files.
///
/// # Errors
/// The configuration has an error that the purpose does not tolerate.
pub(super) fn load_with_tests(
    context: &Context,
    purpose: Purpose,
    tests: TestDirectory,
) -> Result<Loaded, Diagnostics> {
    load_with_options(context, purpose, LoadOptions { tests: Some(tests), ..load_options(context) })
}

/// Loads the configuration for a command that may prompt: it asks for variables that the state encryption depends on.
///
/// # Errors
/// The configuration has an error that the purpose does not tolerate, or the answer is missing.
pub(super) fn load_with_prompts(context: &mut Context, purpose: Purpose) -> Result<Loaded, Diagnostics> {
    let loaded = load(context, purpose)?;
    // The variables that encryption depends on must be known before the state can be opened.
    match ask_for_encryption(context, &loaded.0.root)? {
        // The answers are among the options now.
        true => load(context, purpose),
        false => Ok(loaded),
    }
}

/// Loads the configuration of the directory in `options`, or of the working directory.
///
/// # Errors
/// The configuration has an error that the purpose does not tolerate.
pub(super) fn load_with_options(
    context: &Context,
    purpose: Purpose,
    options: LoadOptions,
) -> Result<Loaded, Diagnostics> {
    let has_blocks = has_configuration(&DiskFiles::new(Path::new(".").join(&options.directory)));
    // Without any file there is nothing to parse, but every command still has a configuration, which is empty.
    if has_blocks || has_tests(&options) || options.queries == Queries::Included {
        return load_from(context, purpose, options, &DiskFiles::new("."));
    }
    refuse_without_files(context, purpose.tolerance().no_files)?;
    let empty = MemoryFiles::new().with("main.tf", "");
    load_from(context, purpose, LoadOptions { directory: PathBuf::new(), ..options }, &empty)
}

/// Loads the configuration in `files`.
///
/// # Errors
/// The configuration has an error that the purpose does not tolerate.
pub(super) fn load_from(
    context: &Context,
    purpose: Purpose,
    options: LoadOptions,
    files: &dyn Files,
) -> Result<Loaded, Diagnostics> {
    let tolerance = purpose.tolerance();
    // Unreadable options are reported although the command needs no values: they are mistakes all the same.
    if tolerance.variables == VariableChecks::Options {
        check_options_given(context)?;
    }
    let calls = if tolerance.modules == CalledModules::Ignored { Calls::Ignored } else { Calls::Included };
    let options = LoadOptions { references: tolerance.references, calls, ..options };
    let (configuration, diagnostics) = read(context, tolerance.modules, &options, files);
    // `validate` is no state command, so it keeps the other summary.
    let diagnostics = if purpose == Purpose::Validate { diagnostics } else { for_state_commands(diagnostics) };
    let (configuration, mut diagnostics) = accept(context, tolerance.accepts, configuration, diagnostics)?;
    if tolerance.variables == VariableChecks::Values {
        diagnostics.append(check_given(context, &configuration.root)?);
    }
    Ok((configuration, diagnostics))
}

fn read(
    context: &Context,
    modules: CalledModules,
    options: &LoadOptions,
    files: &dyn Files,
) -> (Option<Configuration>, Diagnostics) {
    if modules == CalledModules::Required {
        return groma_config::load(options, &context.sources, files);
    }
    let manifest = match modules {
        CalledModules::Ignored => ModuleManifest::default(),
        CalledModules::IfInstalled | CalledModules::Required => {
            ModuleManifest::read(&options.data_directory, files).unwrap_or_default()
        }
    };
    let installed = InstalledModules { manifest, default_registry: options.default_registry.clone() };
    let mut locator = WhereInstalled { installed, missing: Vec::new() };
    let (configuration, problems) = load_with(options, &context.sources, files, &mut locator);
    // Modules that are not installed cannot configure the backend, so only other problems count.
    (configuration, problems.into_iter().filter(|problem| !locator.missing.contains(problem)).collect())
}

/// Returns the configuration if its condition is accepted.
fn accept(
    context: &Context,
    accepted: Accepted,
    configuration: Option<Configuration>,
    diagnostics: Diagnostics,
) -> Result<Loaded, Diagnostics> {
    let Some(configuration) = configuration else { return Err(diagnostics) };
    let is_complete = configuration.status != LoadStatus::Incomplete;
    match accepted {
        // Only the backend is needed, so an incomplete configuration without errors is enough.
        Accepted::ValidBackend if diagnostics.has_errors() => Err(diagnostics),
        Accepted::ValidBackend => Ok((configuration, diagnostics)),
        _ if !is_complete => Err(diagnostics),
        Accepted::Complete => Ok((configuration, diagnostics)),
        // Statuses are ordered by severity.
        Accepted::InvalidReferences => match configuration.status <= LoadStatus::InvalidReferences {
            true => Ok((configuration, diagnostics)),
            false => Err(diagnostics),
        },
        // One run should report everything that has to be fixed, so validation continues where loading stopped.
        Accepted::Valid if diagnostics.has_errors() => Err(validate::collect(context, configuration, diagnostics)),
        Accepted::Valid => Ok((configuration, diagnostics)),
    }
}

/// Returns the error for a directory without configuration files, unless it is fine.
fn refuse_without_files(context: &Context, no_files: NoFiles) -> Result<(), Diagnostics> {
    let detail = match no_files {
        NoFiles::Fine => return Ok(()),
        NoFiles::Nothing => {
            "This directory contains no configuration files (.tf). Change to the directory of the configuration, or put \
             -chdir=DIRECTORY before the command."
                .to_owned()
        }
        NoFiles::WouldPlanDestruction => {
            "This directory contains no configuration files (.tf), so the plan would destroy all existing objects, which is \
             probably not intended. Change to the directory of the configuration. To destroy everything, run plan with \
             the -destroy option."
                .to_owned()
        }
        NoFiles::WouldDestroy => format!(
            "This directory contains no configuration files (.tf), so apply would destroy all existing objects, which is \
             probably not intended. Change to the directory of the configuration. To destroy everything, run \
             '{} destroy'.",
            context.wording.command
        ),
    };
    Err(fail("No configuration files", detail))
}

/// Rewords an unsupported backend as commands that use a state report it: Terraform has two summaries for this error, and people
/// search for the one that they see.
fn for_state_commands(problems: Diagnostics) -> Diagnostics {
    let reworded = |problem: Diagnostic| match problem.kind == DiagnosticKind::UnsupportedBackend {
        true => Diagnostic { summary: "Invalid backend type".to_owned(), ..problem },
        false => problem,
    };
    problems.into_iter().map(reworded).collect()
}

/// Locates installed modules, and collects the errors about missing ones.
struct WhereInstalled {
    installed: InstalledModules,
    missing: Vec<Diagnostic>,
}

impl ModuleLocator for WhereInstalled {
    fn locate(&mut self, request: &ModuleRequest<'_>) -> Result<PathBuf, Box<Diagnostic>> {
        let located = self.installed.locate(request);
        // The loader reports the diagnostics of missing modules with all others; the copies identify them there.
        self.missing.extend(located.as_ref().err().map(|problem| (**problem).clone()));
        located
    }
}

/// Returns the default options for loading a configuration.
pub(super) fn load_options(context: &Context) -> LoadOptions {
    LoadOptions {
        working_directory: context.original_directory.clone(),
        data_directory: context.settings.data_directory.clone(),
        default_registry: default_registry(&context.settings).into(),
        workspace: context.settings.workspace.clone(),
        // OpenTofu also reads an encryption configuration from the environment.
        encryption: context.settings.variable("TF_ENCRYPTION").map(str::to_owned),
        key_services: Some(Arc::new(key_services(&context.settings))),
        variables: VariableSources {
            environment: context.settings.variables.clone(),
            options: [context.given.as_slice(), &context.answers].concat(),
        },
        ..LoadOptions::default()
    }
}

/// Whether the working directory contains configuration files.
pub(super) fn has_files() -> bool {
    has_configuration(&DiskFiles::new("."))
}

/// Whether the working directory contains configuration or test files.
pub(super) fn has_files_or_tests(tests: &TestDirectory) -> bool {
    has_files() || has_test_files(&LoadOptions::default(), tests, &DiskFiles::new("."))
}

fn has_tests(options: &LoadOptions) -> bool {
    options.tests.as_ref().is_some_and(|folder| has_test_files(options, folder, &DiskFiles::new(".")))
}

/// Returns the directory of test files; `named` is the value of `-test-directory`.
pub(super) fn test_folder(named: Option<&Path>) -> TestDirectory {
    named.map_or(TestDirectory::Default, |folder| TestDirectory::Named(folder.to_owned()))
}

/// Whether the root directory of `files` contains configuration files.
pub(super) fn has_configuration(files: &dyn Files) -> bool {
    let is_configuration = |name: &OsStr| {
        let name = name.as_encoded_bytes();
        let endings = [".tf", ".tf.json", ".tofu", ".tofu.json"];
        // Hidden files are ignored, as editors keep their swap files there.
        endings.iter().any(|end| name.ends_with(end.as_bytes())) && !name.starts_with(b".")
    };
    // A directory that cannot be listed is reported when it is loaded.
    files
        .list(Path::new(""))
        .map_or(true, |entries| entries.iter().any(|entry| !entry.is_directory && is_configuration(&entry.name)))
}
