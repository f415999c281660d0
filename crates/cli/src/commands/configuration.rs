//! Loading the configuration of the working directory.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use groma_address::Name;
use groma_config::variables::VariableSources;
use groma_config::{
    Calls, Configuration, DiskFiles, Files, InstalledModules, LoadOptions, MemoryFiles, ModuleLocator, ModuleManifest,
    ModuleRequest, Queries, References, Soundness, TestFolder, UNSUPPORTED_BACKEND, has_test_files, load, load_with,
};
use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_value::Value;
use indexmap::IndexMap;

use super::context::Context;
use super::default_registry::default_registry;
use super::key_network::KeyNetwork;
use super::mistakes;
use super::outcome::fail;
use super::variables::{ask_for_encryption, check_given, check_options_given};

/// The treatment of an empty directory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Empty {
    /// Nothing wrong: there is just nothing declared.
    Fine,
    /// A mistake of somebody who wants a plan.
    NoPlan,
    /// A mistake of somebody who wants to apply.
    NoApply,
    /// A mistake: the command is about what the configuration says.
    Nothing,
}

/// A configuration to check, with the mistakes that are known.
///
/// # Errors
/// Something that it declares cannot be read: what else there is to see would follow from that.
pub(super) fn load_to_check(
    context: &Context,
    directory: &Path,
    queries: Queries,
    tests: Option<TestFolder>,
) -> Result<(Configuration, Diagnostics), Diagnostics> {
    let options = LoadOptions { directory: directory.to_owned(), queries, tests, ..load_options(context) };
    let disk = DiskFiles::new(".");
    let empty = nothing();
    let has_blocks = has_configuration(&DiskFiles::new(Path::new(".").join(directory)));
    let is_empty = queries == Queries::LeftOut && !has_blocks && !has_tests(&options);
    let (options, files): (_, &dyn Files) = match is_empty {
        true => (LoadOptions { directory: PathBuf::new(), ..options }, &empty),
        false => (options, &disk),
    };
    whole(load(&options, &context.sources, files))
}

/// Loads a configuration that will be evaluated but not applied: only names may be wrong in it.
///
/// # Errors
/// More is wrong.
pub(super) fn load_to_look(context: &Context) -> Result<(Configuration, Diagnostics), Diagnostics> {
    load_to_check(context, Path::new(""), Queries::LeftOut, None).and_then(readable).map_err(as_told_of_states)
}

/// The configuration with the warnings about it.
pub(super) fn load_directory(context: &Context, empty: Empty) -> Result<(Configuration, Diagnostics), Diagnostics> {
    load_here(context, &load_options(context), empty)
}

/// Loads the blocks of a configuration for commands that evaluate nothing: references in expressions are not checked. Errors in
/// values that are set for variables are reported all the same.
pub(super) fn load_blocks(context: &Context, empty: Empty) -> Result<(Configuration, Diagnostics), Diagnostics> {
    load_blocks_of(context, empty, None)
}

/// Loads the blocks with test files, and the modules that their runs name.
pub(super) fn load_blocks_and_tests(
    context: &Context,
    empty: Empty,
    tests: TestFolder,
) -> Result<(Configuration, Diagnostics), Diagnostics> {
    load_blocks_of(context, empty, Some(tests))
}

fn load_blocks_of(
    context: &Context,
    empty: Empty,
    tests: Option<TestFolder>,
) -> Result<(Configuration, Diagnostics), Diagnostics> {
    let options = LoadOptions { references: References::LeftAlone, tests, ..load_options(context) };
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

/// Returns an empty configuration, for directories without one.
fn nothing() -> MemoryFiles {
    MemoryFiles::new().with("main.tf", "")
}

/// Whether a command can do without a configuration.
fn may_be_empty(context: &Context, empty: Empty) -> Result<(), Diagnostics> {
    match empty {
        Empty::Fine => Ok(()),
        Empty::Nothing => Err(fail(
            "No configuration files",
            "There is no configuration file (.tf) in this directory, so there is nothing to look at. Change to the \
             directory that has the configuration.",
        )),
        Empty::NoPlan => Err(fail(
            "No configuration files",
            "There is no configuration file (.tf) in this directory, so the plan would be to destroy everything in \
             the state, which is hardly what you want. Change to the directory that has the configuration. If \
             everything shall go, run plan with the -destroy option.",
        )),
        Empty::NoApply => Err(fail(
            "No configuration files",
            format!(
                "There is no configuration file (.tf) in this directory, so to apply it would destroy everything in \
                 the state, which is hardly what you want. Change to the directory that has the configuration. If \
                 everything shall go, run '{} destroy'.",
                context.wording.command
            ),
        )),
    }
}

/// Loads the configuration for a command that may prompt for the variables that opening the state needs.
pub(super) fn load_to_change(context: &mut Context, empty: Empty) -> Result<(Configuration, Diagnostics), Diagnostics> {
    let (configuration, warnings) = load_directory(context, empty)?;
    if ask_for_encryption(context, &configuration.root)? {
        return load_directory(context, empty);
    }
    Ok((configuration, warnings))
}

/// The configuration that `files` hold, as far as its blocks go: names may be wrong in it.
pub(super) fn load_blocks_in(
    context: &Context,
    files: &dyn Files,
) -> Result<(Configuration, Diagnostics), Diagnostics> {
    whole(load(&load_options(context), &context.sources, files)).and_then(readable).map_err(as_told_of_states)
}

/// The configuration that `files` hold, with the values that its variables had when it was planned; what names there are was seen then.
pub(super) fn load_planned(
    context: &Context,
    files: &dyn Files,
    variables: &IndexMap<Name, Value>,
) -> Result<(Configuration, Diagnostics), Diagnostics> {
    let options =
        LoadOptions { early_variables: variables.clone(), references: References::LeftAlone, ..load_options(context) };
    loaded(context, &options, files)
}

fn loaded(
    context: &Context,
    options: &LoadOptions,
    files: &dyn Files,
) -> Result<(Configuration, Diagnostics), Diagnostics> {
    let (configuration, diagnostics) = whole(load(options, &context.sources, files)).map_err(as_told_of_states)?;
    let diagnostics = as_told_of_states(diagnostics);
    if diagnostics.has_errors() {
        Err(mistakes::all(context, configuration, diagnostics))
    } else {
        Ok((configuration, diagnostics))
    }
}

/// `loaded`, if at most names are wrong in it.
fn readable(
    (configuration, problems): (Configuration, Diagnostics),
) -> Result<(Configuration, Diagnostics), Diagnostics> {
    match configuration.soundness <= Soundness::WrongNames {
        true => Ok((configuration, problems)),
        false => Err(problems),
    }
}

/// A configuration in which there may be mistakes, but nothing is missing.
fn whole(
    (configuration, diagnostics): (Option<Configuration>, Diagnostics),
) -> Result<(Configuration, Diagnostics), Diagnostics> {
    match configuration {
        Some(configuration) if configuration.soundness != Soundness::Incomplete => Ok((configuration, diagnostics)),
        _ => Err(diagnostics),
    }
}

/// Rewords errors for commands that work with a state: Terraform has two messages about an unknown backend, and users search for the one
/// that they know.
fn as_told_of_states(problems: Diagnostics) -> Diagnostics {
    let told = |problem: Diagnostic| match problem.summary == UNSUPPORTED_BACKEND {
        true => Diagnostic { summary: "Invalid backend type".to_owned(), ..problem },
        false => problem,
    };
    problems.into_iter().map(told).collect()
}

/// The configuration of the working directory with its query files.
pub(super) fn load_with_queries(context: &Context) -> Result<(Configuration, Diagnostics), Diagnostics> {
    let options = LoadOptions { queries: Queries::Read, ..load_options(context) };
    loaded(context, &options, &DiskFiles::new("."))
}

/// The root module, which says where the state is: what it calls does not matter for that, nor what expressions name. For commands
/// that read the state.
pub(super) fn load_for_state(context: &Context) -> Result<Configuration, Diagnostics> {
    check_options_given(context)?;
    load_where_state_is(context, Calls::LeftAlone)
}

/// Loads the parts of a configuration that are needed without installed modules. For commands that write or export the state, which are
/// as strict as plan with the values of variables.
pub(super) fn load_to_change_state(context: &Context) -> Result<Configuration, Diagnostics> {
    let configuration = load_where_state_is(context, Calls::Followed)?;
    check_given(context, &configuration.root)?;
    Ok(configuration)
}

fn load_where_state_is(context: &Context, calls: Calls) -> Result<Configuration, Diagnostics> {
    let options = LoadOptions { references: References::OfBackend, calls, ..load_options(context) };
    let disk = DiskFiles::new(".");
    let manifest = match calls {
        Calls::Followed => ModuleManifest::read(&options.data_directory, &disk).unwrap_or_default(),
        Calls::LeftAlone => ModuleManifest::default(),
    };
    let installed = InstalledModules { manifest, default_registry: options.default_registry.clone() };
    let mut locator = WhereInstalled { installed, missing: Vec::new() };
    let empty = nothing();
    let files: &dyn Files = if has_configuration(&disk) { &disk } else { &empty };
    let (configuration, problems) = load_with(&options, &context.sources, files, &mut locator);
    let others: Diagnostics = problems.into_iter().filter(|problem| !locator.missing.contains(problem)).collect();
    let others = as_told_of_states(others);
    configuration.filter(|_| !others.has_errors()).ok_or(others)
}

/// Finds installed modules, and notes what it says of others.
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

/// Returns the loading options of this program.
pub(super) fn load_options(context: &Context) -> LoadOptions {
    LoadOptions {
        working_directory: context.original_directory.clone(),
        data_directory: context.settings.data_directory.clone(),
        default_registry: default_registry(&context.settings).into(),
        workspace: context.settings.workspace.clone(),
        encryption: context.settings.variable("TF_ENCRYPTION").map(str::to_owned),
        key_network: Some(Arc::new(KeyNetwork::new(&context.settings))),
        variables: VariableSources {
            environment: context.settings.variables.clone(),
            options: [context.given.as_slice(), &context.answers].concat(),
        },
        ..LoadOptions::default()
    }
}

/// Whether there is any configuration in the working directory.
pub(super) fn has_files() -> bool {
    has_configuration(&DiskFiles::new("."))
}

/// Whether there is any, be it tests alone.
pub(super) fn has_files_or_tests(tests: &TestFolder) -> bool {
    has_files() || has_test_files(&LoadOptions::default(), tests, &DiskFiles::new("."))
}

fn has_tests(options: &LoadOptions) -> bool {
    options.tests.as_ref().is_some_and(|folder| has_test_files(options, folder, &DiskFiles::new(".")))
}

/// Returns the directory of test files; `named` is the value of `-test-directory`.
pub(super) fn test_folder(named: Option<&Path>) -> TestFolder {
    named.map_or(TestFolder::Usual, |folder| TestFolder::Named(folder.to_owned()))
}

/// Whether there are files of a configuration at the top.
pub(super) fn has_configuration(files: &dyn Files) -> bool {
    let is_configuration = |name: &OsStr| {
        let name = name.as_encoded_bytes();
        let endings = [".tf", ".tf.json", ".tofu", ".tofu.json"];
        endings.iter().any(|end| name.ends_with(end.as_bytes())) && !name.starts_with(b".")
    };
    // A directory that cannot be listed is reported when it is loaded.
    files
        .list(Path::new(""))
        .map_or(true, |entries| entries.iter().any(|entry| !entry.is_directory && is_configuration(&entry.name)))
}
