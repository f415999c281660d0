//! Loads the configuration of the working directory, with the tolerance that each command needs.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use groma_address::Name;
use groma_config::variables::VariableSources;
use groma_config::{
    Calls, Configuration, DiskFiles, Files, InstalledModules, LoadOptions, LoadStatus, MemoryFiles, ModuleLocator,
    ModuleManifest, ModuleRequest, Queries, References, TestDirectory, UNSUPPORTED_BACKEND, has_test_files, load,
    load_with,
};
use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_value::Value;
use indexmap::IndexMap;

use super::context::Context;
use super::default_registry::default_registry;
use super::further_errors;
use super::key_service::key_services;
use super::outcome::fail;
use super::variables::{ask_for_encryption, check_given, check_options_given};

/// Treatment of a directory without configuration files.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Empty {
    /// An empty configuration, without an error.
    Fine,
    /// An error that warns about planning the destruction of everything.
    NoPlan,
    /// An error that warns about destroying everything.
    NoApply,
    /// An error, because the command only reads the configuration.
    Nothing,
}

/// Loads a configuration for `validate`, with the errors found so far.
///
/// # Errors
/// The configuration cannot be read completely, so further errors would only be consequences.
pub(super) fn load_to_check(
    context: &Context,
    directory: &Path,
    queries: Queries,
    tests: Option<TestDirectory>,
) -> Result<(Configuration, Diagnostics), Diagnostics> {
    let options = LoadOptions { directory: directory.to_owned(), queries, tests, ..load_options(context) };
    let disk = DiskFiles::new(".");
    let empty = nothing();
    let has_blocks = has_configuration(&DiskFiles::new(Path::new(".").join(directory)));
    // `validate` succeeds in an empty directory, as in Terraform.
    let is_empty = queries == Queries::Ignored && !has_blocks && !has_tests(&options);
    let (options, files): (_, &dyn Files) = match is_empty {
        true => (LoadOptions { directory: PathBuf::new(), ..options }, &empty),
        false => (options, &disk),
    };
    whole(load(&options, &context.sources, files))
}

/// Loads the configuration for commands that inspect it. Its references may be invalid.
///
/// # Errors
/// The configuration has errors other than invalid references.
pub(super) fn load_to_inspect(context: &Context) -> Result<(Configuration, Diagnostics), Diagnostics> {
    load_to_check(context, Path::new(""), Queries::Ignored, None).and_then(readable).map_err(for_state_commands)
}

/// Loads the configuration, with its warnings.
pub(super) fn load_directory(context: &Context, empty: Empty) -> Result<(Configuration, Diagnostics), Diagnostics> {
    load_here(context, &load_options(context), empty)
}

/// Loads the configuration without checking references, for commands that evaluate no expressions. Values of variables are
/// checked nevertheless.
pub(super) fn load_blocks(context: &Context, empty: Empty) -> Result<(Configuration, Diagnostics), Diagnostics> {
    load_blocks_of(context, empty, None)
}

/// Loads the configuration like [`load_blocks`], with the test files and the modules that their runs use.
pub(super) fn load_blocks_and_tests(
    context: &Context,
    empty: Empty,
    tests: TestDirectory,
) -> Result<(Configuration, Diagnostics), Diagnostics> {
    load_blocks_of(context, empty, Some(tests))
}

fn load_blocks_of(
    context: &Context,
    empty: Empty,
    tests: Option<TestDirectory>,
) -> Result<(Configuration, Diagnostics), Diagnostics> {
    let options = LoadOptions { references: References::Unchecked, tests, ..load_options(context) };
    let (configuration, mut diagnostics) = load_here(context, &options, empty)?;
    diagnostics.append(check_given(context, &configuration.root)?);
    Ok((configuration, diagnostics))
}

fn load_here(
    context: &Context,
    options: &LoadOptions,
    empty: Empty,
) -> Result<(Configuration, Diagnostics), Diagnostics> {
    let disk = DiskFiles::new(".");
    if has_configuration(&disk) || has_tests(options) {
        return loaded(context, options, &disk);
    }
    may_be_empty(context, empty)?;
    loaded(context, options, &nothing())
}

/// Returns the files of an empty configuration.
fn nothing() -> MemoryFiles {
    MemoryFiles::new().with("main.tf", "")
}

/// Returns the error for a directory without configuration files, unless `empty` allows it.
fn may_be_empty(context: &Context, empty: Empty) -> Result<(), Diagnostics> {
    match empty {
        Empty::Fine => Ok(()),
        Empty::Nothing => Err(fail(
            "No configuration files",
            "This directory contains no configuration files (.tf). Change to the directory of the configuration, or put \
             -chdir=DIRECTORY before the command.",
        )),
        Empty::NoPlan => Err(fail(
            "No configuration files",
            "This directory contains no configuration files (.tf), so the plan would destroy all existing objects, which is \
             probably not intended. Change to the directory of the configuration. To destroy everything, run plan with \
             the -destroy option.",
        )),
        Empty::NoApply => Err(fail(
            "No configuration files",
            format!(
                "This directory contains no configuration files (.tf), so apply would destroy all existing objects, which is \
                 probably not intended. Change to the directory of the configuration. To destroy everything, run \
                 '{} destroy'.",
                context.wording.command
            ),
        )),
    }
}

/// Loads the configuration for a command that may prompt: it asks for variables that the state encryption depends on.
pub(super) fn load_to_change(context: &mut Context, empty: Empty) -> Result<(Configuration, Diagnostics), Diagnostics> {
    let (configuration, warnings) = load_directory(context, empty)?;
    if ask_for_encryption(context, &configuration.root)? {
        return load_directory(context, empty);
    }
    Ok((configuration, warnings))
}

/// Loads the configuration in `files`. Its references may be invalid.
pub(super) fn load_blocks_in(
    context: &Context,
    files: &dyn Files,
) -> Result<(Configuration, Diagnostics), Diagnostics> {
    whole(load(&load_options(context), &context.sources, files)).and_then(readable).map_err(for_state_commands)
}

/// Loads the configuration of a saved plan with the variable values of that plan. References were checked during planning.
pub(super) fn load_planned(
    context: &Context,
    files: &dyn Files,
    variables: &IndexMap<Name, Value>,
) -> Result<(Configuration, Diagnostics), Diagnostics> {
    let options =
        LoadOptions { early_variables: variables.clone(), references: References::Unchecked, ..load_options(context) };
    loaded(context, &options, files)
}

fn loaded(
    context: &Context,
    options: &LoadOptions,
    files: &dyn Files,
) -> Result<(Configuration, Diagnostics), Diagnostics> {
    let (configuration, diagnostics) = whole(load(options, &context.sources, files)).map_err(for_state_commands)?;
    let diagnostics = for_state_commands(diagnostics);
    if diagnostics.has_errors() {
        Err(further_errors::collect(context, configuration, diagnostics))
    } else {
        Ok((configuration, diagnostics))
    }
}

/// Returns the configuration if it has no errors but invalid references.
fn readable(
    (configuration, problems): (Configuration, Diagnostics),
) -> Result<(Configuration, Diagnostics), Diagnostics> {
    match configuration.status <= LoadStatus::InvalidReferences {
        true => Ok((configuration, problems)),
        false => Err(problems),
    }
}

/// Returns the configuration if all of it was loaded, whether or not it has errors.
fn whole(
    (configuration, diagnostics): (Option<Configuration>, Diagnostics),
) -> Result<(Configuration, Diagnostics), Diagnostics> {
    match configuration {
        Some(configuration) if configuration.status != LoadStatus::Incomplete => Ok((configuration, diagnostics)),
        _ => Err(diagnostics),
    }
}

/// Rewords an unsupported backend as commands that use a state report it: Terraform has two summaries for this error, and people
/// search for the one that they see.
fn for_state_commands(problems: Diagnostics) -> Diagnostics {
    let reworded = |problem: Diagnostic| match problem.summary == UNSUPPORTED_BACKEND {
        true => Diagnostic { summary: "Invalid backend type".to_owned(), ..problem },
        false => problem,
    };
    problems.into_iter().map(reworded).collect()
}

/// Loads the configuration with its query files.
pub(super) fn load_with_queries(context: &Context) -> Result<(Configuration, Diagnostics), Diagnostics> {
    let options = LoadOptions { queries: Queries::Included, ..load_options(context) };
    loaded(context, &options, &DiskFiles::new("."))
}

/// Loads only the root module, which configures the backend, for commands that read the state. Module calls and references are
/// ignored.
pub(super) fn load_for_state(context: &Context) -> Result<Configuration, Diagnostics> {
    check_options_given(context)?;
    load_where_state_is(context, Calls::Ignored)
}

/// Loads the configuration without modules that are not installed, for commands that change or export the state. They check the
/// values of variables as strictly as a plan does.
pub(super) fn load_to_change_state(context: &Context) -> Result<Configuration, Diagnostics> {
    let configuration = load_where_state_is(context, Calls::Included)?;
    check_given(context, &configuration.root)?;
    Ok(configuration)
}

fn load_where_state_is(context: &Context, calls: Calls) -> Result<Configuration, Diagnostics> {
    let options = LoadOptions { references: References::BackendOnly, calls, ..load_options(context) };
    let disk = DiskFiles::new(".");
    let manifest = match calls {
        Calls::Included => ModuleManifest::read(&options.data_directory, &disk).unwrap_or_default(),
        Calls::Ignored => ModuleManifest::default(),
    };
    let installed = InstalledModules { manifest, default_registry: options.default_registry.clone() };
    let mut locator = WhereInstalled { installed, missing: Vec::new() };
    let empty = nothing();
    let files: &dyn Files = if has_configuration(&disk) { &disk } else { &empty };
    let (configuration, problems) = load_with(&options, &context.sources, files, &mut locator);
    // Modules that are not installed cannot configure the backend, so only other problems count.
    let others: Diagnostics = problems.into_iter().filter(|problem| !locator.missing.contains(problem)).collect();
    let others = for_state_commands(others);
    configuration.filter(|_| !others.has_errors()).ok_or(others)
}

/// Locates installed modules, and collects the errors about missing ones.
struct WhereInstalled {
    installed: InstalledModules,
    missing: Vec<Diagnostic>,
}

impl ModuleLocator for WhereInstalled {
    fn locate(&mut self, request: &ModuleRequest<'_>) -> Result<PathBuf, Box<Diagnostic>> {
        let located = self.installed.locate(request);
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
