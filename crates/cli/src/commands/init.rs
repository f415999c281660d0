//! `init`: modules, providers, the backend.

use std::path::PathBuf;

use groma_config::{Configuration, TestFolder};
use groma_diagnostics::{Diagnostic, DiagnosticKind, Diagnostics, io_reason};
use groma_install::modules::{Freshness, copy_module, shown};

use super::backend::{Elsewhere, active_workspace, has_state, paths_in, unless_off};
use super::configuration::{Empty, has_files, has_files_or_tests, load_blocks_and_tests, load_options, test_folder};
use super::context::Context;
use super::init_backend;
use super::init_providers::ProviderSteps;
use super::init_teller::Teller;
use super::installation::{EmptyList, Lines, install};
use super::operation::peek_state;
use super::outcome::{Outcome, fail};
use super::servers::{discovery, wait};
use super::variables::{check_given, check_options_given};
use crate::arguments::{Flag, Init};
use crate::settings::Questions;

pub(super) fn run(context: &mut Context, arguments: &Init) -> Outcome {
    context.view(&arguments.view);
    context.speak(&arguments.json)?;
    let teller = Teller;
    check_options(arguments)?;
    check_experiments(context, arguments)?;
    check_plugin_folders(&arguments.plugin_dir)?;
    if !unless_off(arguments.input) {
        context.settings.questions = Questions::Forbidden;
    }
    if let Some(address) = arguments.from_module.as_ref().filter(|address| !address.is_empty()) {
        begin_with_copy(context, &teller, address)?;
    }
    let tests = test_folder(arguments.test_directory.as_deref());
    if !has_files_or_tests(&tests) {
        check_options_given(context)?;
        teller.empty(context);
        return Ok(0);
    }
    let (configuration, warnings) = if arguments.get.is_none_or(Flag::is_on) {
        let freshness = if arguments.upgrade.is_some_and(Flag::is_on) { Freshness::Upgrade } else { Freshness::Keep };
        modules(context, &teller, freshness, tests)?
    } else {
        load_blocks_and_tests(context, Empty::Fine, tests).map_err(|problems| unreadable(context, problems))?
    };
    let root = &configuration.root;
    teller.heading(
        context,
        "Initializing provider plugins found in the configuration...",
        "initializing_provider_plugin_from_config_message",
    );
    let mut providers = ProviderSteps::begin(context, &teller, arguments)?;
    providers.configuration(context, &configuration)?;
    let backend = init_backend::ready(context, &teller, arguments, root)?;
    active_workspace(context)?;
    let paths = paths_in(&backend, root, &context.settings.workspace, Elsewhere::default())?;
    backend.make(&context.settings.workspace)?;
    if has_state(&paths) {
        teller.gap(context);
        teller.heading(
            context,
            "Initializing provider plugins found in the state...",
            "initializing_provider_plugin_from_state_message",
        );
        providers.state(context, &peek_state(paths)?)?;
    }
    let notices = providers.finish(context)?;
    notices.tell(context, &teller);
    context.show(&warnings);
    teller.success(context);
    Ok(0)
}

fn check_options(arguments: &Init) -> Result<(), Diagnostics> {
    let is_on = |flag: Option<Flag>| flag.is_some_and(Flag::is_on);
    if is_on(arguments.migrate_state) && is_on(arguments.reconfigure) {
        return Err(fail(
            "Invalid init options",
            "-migrate-state takes the state along to another backend, and -reconfigure leaves it behind: give one of them.",
        ));
    }
    if arguments.backend.is_some() && arguments.cloud.is_some() {
        return Err(fail("Invalid init options", "-backend and -cloud are two names of one option: give one of them."));
    }
    if is_on(arguments.migrate_state) && is_on(arguments.json.json) {
        return Err(fail(
            "The -migrate-state and -json options are mutually-exclusive",
            "Nobody can be asked about a state while messages are JSON. Agree beforehand with -force-copy, or leave -json out.",
        ));
    }
    Ok(())
}

/// Packages are only looked for where the flag says: a folder that does not exist is a slip.
fn check_plugin_folders(folders: &[PathBuf]) -> Result<(), Diagnostics> {
    let problem = |folder: &PathBuf| {
        let reason = match std::fs::metadata(folder) {
            Ok(found) if found.is_dir() => return None,
            Ok(_) => "it is not a folder".to_owned(),
            Err(error) => io_reason(&error),
        };
        let shown = folder.display();
        let detail = format!(
            "The folder {shown} of the option -plugin-dir cannot be used: {reason}. Check the path; it is relative to the working directory."
        );
        Some(Diagnostic::error("Invalid plugin directory", detail))
    };
    let problems: Diagnostics = folders.iter().filter_map(problem).collect();
    if problems.has_errors() { Err(problems) } else { Ok(()) }
}

/// Flags, and the variables of the environment that say the same, of builds that experiment.
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
            "The flag, and the variable {variable} of the environment, are for experimental builds of Terraform, and this is none. Leave \
             them out."
        ),
    ))
}

/// Copies the module at `address` into the working directory.
fn begin_with_copy(context: &Context, teller: &Teller, address: &str) -> Result<(), Diagnostics> {
    if has_files() {
        return Err(fail(
            "The working directory already contains files",
            "With -from-module init copies a module into an empty directory. To get the configuration ready that is here, leave the \
             option out.",
        ));
    }
    let mut entries = std::fs::read_dir(".").into_iter().flatten().flatten();
    if entries.any(|entry| entry.file_name() != ".terraform") {
        let detail = "The working directory is not empty, so no module is copied into it by -from-module.";
        return Err(fail("Can't populate non-empty directory", detail));
    }
    let from = shown(address);
    teller.heading(context, &format!("Copying configuration from {from:?}..."), "copying_configuration_message");
    let discovery = discovery(context)?;
    let registry = load_options(context).default_registry;
    let copied = wait(copy_module(address, std::path::Path::new("."), &registry, &discovery))?;
    copied.map_err(|problem| {
        fail("Failed to download module", format!("Could not download module from {from:?}: {problem}."))
    })
}

/// The configuration, with all modules installed.
fn modules(
    context: &Context,
    teller: &Teller,
    freshness: Freshness,
    tests: TestFolder,
) -> Result<(Configuration, Diagnostics), Diagnostics> {
    let mut is_headed = false;
    let mut head = || {
        if !std::mem::replace(&mut is_headed, true) {
            match freshness {
                Freshness::Keep => teller.heading(context, "Initializing modules...", "initializing_modules_message"),
                Freshness::Upgrade => teller.heading(context, "Upgrading modules...", "upgrading_modules_message"),
            }
        }
    };
    let mut print = |line: &str| {
        head();
        teller.line(context, line);
    };
    let installed = install(context, freshness, EmptyList::LeftOut, tests, &mut Lines(&mut print))?;
    let (configuration, mut diagnostics) = if installed.calls_modules() {
        head();
        installed.sound()?
    } else {
        installed.sound().map_err(|problems| unreadable(context, problems))?
    };
    diagnostics.append(check_given(context, &configuration.root)?);
    Ok((configuration, diagnostics))
}

/// The problems of a configuration with which nothing was begun. Of one for another version nothing else is said: it may be right there.
fn unreadable(context: &Context, problems: Diagnostics) -> Diagnostics {
    let is_for_another_version = |problem: &Diagnostic| problem.kind == DiagnosticKind::UnsupportedVersion;
    if problems.iter().any(is_for_another_version) {
        return problems.into_iter().filter(is_for_another_version).collect();
    }
    let product = &context.wording.product;
    let summary = format!(
        "{product} encountered problems during initialisation, including problems\nwith the configuration, described below."
    );
    let detail = "Which modules and providers there are to install is known once the configuration can be read.";
    let mut all = Diagnostics::from(Diagnostic::error(summary, detail));
    all.append(problems);
    all
}
