//! `init`: installs modules and providers, and initializes the backend.

use std::path::PathBuf;
use std::sync::Arc;

use groma_config::{Configuration, TestDirectory};
use groma_diagnostics::{Diagnostic, DiagnosticKind, Diagnostics, io_reason};
use groma_install::modules::{Freshness, copy_module, shown};

use super::backend::{active_workspace, unless_off};
use super::configuration::{Purpose, has_files, has_files_or_tests, load_options, load_with_tests, test_folder};
use super::context::Context;
use super::init_backend;
use super::init_providers::ProviderSteps;
use super::init_reporter::InitReporter;
use super::init_workspace;
use super::installation::{EmptyList, Lines, install};
use super::operation::peek_state;
use super::outcome::{Outcome, fail};
use super::servers::{discovery, wait};
use super::variables::{check_given, check_options_given};
use super::workspace::Workspaces;
use crate::arguments::{Flag, Init};
use crate::settings::Questions;

pub(super) fn run(context: &mut Context, arguments: &Init) -> Outcome {
    context.configure_view(&arguments.view);
    context.configure_json(&arguments.json)?;
    let reporter = InitReporter;
    // All flags are checked before anything is installed or written.
    check_options(arguments)?;
    check_experiments(context, arguments)?;
    check_plugin_folders(&arguments.plugin_dir)?;
    if !unless_off(arguments.input) {
        context.settings.questions = Questions::Forbidden;
    }
    if let Some(address) = arguments.from_module.as_ref().filter(|address| !address.is_empty()) {
        begin_with_copy(context, &reporter, address)?;
    }
    let tests = test_folder(arguments.test_directory.as_deref());
    // Terraform succeeds in an empty directory, so that scripts can initialize before files exist.
    if !has_files_or_tests(&tests) {
        check_options_given(context)?;
        reporter.empty(context);
        return Ok(0);
    }
    let (configuration, warnings) = if arguments.get.is_none_or(Flag::is_on) {
        let freshness = if arguments.upgrade.is_some_and(Flag::is_on) { Freshness::Upgrade } else { Freshness::Keep };
        modules(context, &reporter, freshness, tests)?
    } else {
        load_with_tests(context, Purpose::Blocks, tests).map_err(|problems| unreadable(context, problems))?
    };
    let root = &configuration.root;
    reporter.heading(
        context,
        "Initializing provider plugins found in the configuration...",
        "initializing_provider_plugin_from_config_message",
    );
    let mut providers = ProviderSteps::begin(context, &reporter, arguments)?;
    providers.configuration(context, &configuration)?;
    // After the providers of the configuration, because the messages of both follow Terraform's order.
    let backend = init_backend::ready(context, &reporter, arguments, root)?;
    // An invalid name must not become a directory.
    active_workspace(context)?;
    let workspaces = Workspaces::in_backend(backend, Arc::clone(root));
    init_workspace::ready(context, &workspaces)?;
    let location = workspaces.location(context, &context.settings.workspace)?;
    // Objects in the state may need providers that the configuration no longer requires, to destroy them.
    if let Some(state) = peek_state(context, location)? {
        reporter.gap(context);
        reporter.heading(
            context,
            "Initializing provider plugins found in the state...",
            "initializing_provider_plugin_from_state_message",
        );
        providers.state(context, &state)?;
    }
    // The lock file is written last: an init that fails leaves the previous selections.
    let notices = providers.finish(context)?;
    notices.print(context, &reporter);
    context.show(&warnings);
    reporter.success(context);
    Ok(0)
}

fn check_options(arguments: &Init) -> Result<(), Diagnostics> {
    let is_on = |flag: Option<Flag>| flag.is_some_and(Flag::is_on);
    if is_on(arguments.migrate_state) && is_on(arguments.reconfigure) {
        return Err(fail(
            "Invalid init options",
            "-migrate-state moves the state to the new backend, and -reconfigure ignores it. Use only one of them.",
        ));
    }
    if arguments.backend.is_some() && arguments.cloud.is_some() {
        return Err(fail("Invalid init options", "-backend and -cloud are aliases. Use only one of them."));
    }
    // -json has no way to ask for the consent that a migration needs.
    if is_on(arguments.migrate_state) && is_on(arguments.json.json) {
        return Err(fail(
            "The -migrate-state and -json options are mutually-exclusive",
            "-json cannot prompt for confirmation. Add -force-copy to confirm beforehand, or remove -json.",
        ));
    }
    Ok(())
}

/// Checks that the directories of `-plugin-dir` exist. A missing one is a mistake, because no other source is searched.
fn check_plugin_folders(folders: &[PathBuf]) -> Result<(), Diagnostics> {
    let problem = |folder: &PathBuf| {
        let reason = match std::fs::metadata(folder) {
            Ok(found) if found.is_dir() => return None,
            Ok(_) => "it is not a directory".to_owned(),
            Err(error) => io_reason(&error),
        };
        let shown = folder.display();
        let detail = format!(
            "The -plugin-dir directory {shown} cannot be used: {reason}. Check the path; it is relative to the working directory."
        );
        Some(Diagnostic::error("Invalid plugin directory", detail))
    };
    let problems: Diagnostics = folders.iter().filter_map(problem).collect();
    if problems.has_errors() { Err(problems) } else { Ok(()) }
}

/// Rejects flags and environment variables that only experimental builds of Terraform support.
fn check_experiments(context: &Context, arguments: &Init) -> Result<(), Diagnostics> {
    let is_on = |flag: Option<Flag>| flag.is_some_and(Flag::is_on);
    let says = |variable| context.settings.variable(variable).is_some();
    let (storage, workspace) = ("TF_ENABLE_PLUGGABLE_STATE_STORAGE", "TF_SKIP_CREATE_DEFAULT_WORKSPACE");
    let experimental = [
        (
            is_on(arguments.enable_pluggable_state_storage_experiment) || says(storage),
            "-enable-pluggable-state-storage-experiment",
            storage,
        ),
        (
            arguments.create_default_workspace.is_some_and(|flag| !flag.is_on()) || says(workspace),
            "-create-default-workspace",
            workspace,
        ),
    ];
    let Some((_, flag, variable)) = experimental.into_iter().find(|(given, _, _)| *given) else { return Ok(()) };
    Err(fail(
        &format!("Cannot use {flag} flag without experiments enabled"),
        format!(
            "The flag and the environment variable {variable} are only supported by experimental builds of Terraform. Remove them."
        ),
    ))
}

/// Copies the module at `address` into the working directory.
fn begin_with_copy(context: &Context, reporter: &InitReporter, address: &str) -> Result<(), Diagnostics> {
    // A configuration in the directory would be mixed with the copied one.
    if has_files() {
        return Err(fail(
            "The working directory already contains files",
            "The -from-module option copies a module into an empty directory. To initialize the existing configuration, remove the \
             option.",
        ));
    }
    // Terraform ignores .terraform here, which may hold installed plugins.
    let mut entries = std::fs::read_dir(".").into_iter().flatten().flatten();
    if entries.any(|entry| entry.file_name() != ".terraform") {
        let detail = "The -from-module option requires an empty working directory.";
        return Err(fail("Can't populate non-empty directory", detail));
    }
    let from = shown(address);
    reporter.heading(context, &format!("Copying configuration from {from:?}..."), "copying_configuration_message");
    let discovery = discovery(context)?;
    let registry = load_options(context).default_registry;
    let copied = wait(copy_module(address, std::path::Path::new("."), &registry, &discovery))?;
    copied.map_err(|problem| {
        fail("Failed to download module", format!("Could not download module from {from:?}: {problem}."))
    })
}

/// Installs all modules, and returns the configuration.
fn modules(
    context: &Context,
    reporter: &InitReporter,
    freshness: Freshness,
    tests: TestDirectory,
) -> Result<(Configuration, Diagnostics), Diagnostics> {
    // The heading only appears if there is a module to install.
    let mut is_headed = false;
    let mut head = || {
        if !std::mem::replace(&mut is_headed, true) {
            match freshness {
                Freshness::Keep => reporter.heading(context, "Initializing modules...", "initializing_modules_message"),
                Freshness::Upgrade => reporter.heading(context, "Upgrading modules...", "upgrading_modules_message"),
            }
        }
    };
    let mut print = |line: &str| {
        head();
        reporter.line(context, line);
    };
    let installed = install(context, freshness, EmptyList::LeftOut, tests, &mut Lines(&mut print))?;
    // Without module calls the configuration errors are the only result, so they get the heading of `init`.
    let (configuration, mut diagnostics) = if installed.calls_modules() {
        head();
        installed.sound()?
    } else {
        installed.sound().map_err(|problems| unreadable(context, problems))?
    };
    diagnostics.append(check_given(context, &configuration.root)?);
    Ok((configuration, diagnostics))
}

/// Returns the errors of an unreadable configuration. An unsupported version suppresses all others, since they may not be errors in
/// that version.
fn unreadable(context: &Context, problems: Diagnostics) -> Diagnostics {
    let is_for_another_version = |problem: &Diagnostic| problem.kind == DiagnosticKind::UnsupportedVersion;
    // The configuration may use syntax of that version.
    if problems.iter().any(is_for_another_version) {
        return problems.into_iter().filter(is_for_another_version).collect();
    }
    let product = context.wording.product;
    let summary = format!(
        "{product} encountered problems during initialisation, including problems\nwith the configuration, described below."
    );
    let detail = "The required modules and providers can only be determined from a readable configuration.";
    let mut all = Diagnostics::from(Diagnostic::error(summary, detail));
    all.append(problems);
    all
}
