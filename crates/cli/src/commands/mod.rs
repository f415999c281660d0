//! The commands, each a thin layer over the engine in its own file.

mod adopt;
mod apply;
mod backend;
mod builtin_providers;
mod cli_configuration;
mod cloudcontrol;
mod configuration;
mod console;
mod context;
mod deprecation_filter;
mod emulator;
mod encryption;
mod fmt;
mod force_unlock;
mod generated;
mod graph;
mod import;
mod init;
mod init_backend;
mod init_providers;
mod init_reporter;
mod init_workspace;
mod installation;
mod login;
mod lookup;
mod metadata;
mod migration;
mod modules;
mod operation;
mod outcome;
mod output;
mod packages;
mod patches;
mod plan;
mod planfile;
mod plugins;
mod provider_check;
mod provider_packages;
mod providers;
mod query;
mod rescue;
mod results;
mod servers;
mod session;
mod show;
mod state;
mod taint;
mod targeting;
mod validate;
mod variables;
mod version;
mod workspace;

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use groma_diagnostics::{Diagnostics, io_reason};
use groma_provider::TERRAFORM_VERSION;

use crate::arguments::{Lazy, Metadata, Parsed, Provider, Task, UsageError, parse};
use crate::environment::Environment;
use crate::log::{Level, Log};
use crate::persona::Persona;
use crate::settings::{Settings, VERSION};
use crate::terminal::{Palette, SafeWriter};
pub use context::Finished;
use context::{Context, Identity};
use outcome::Outcome;
use variables::in_order;

/// Parses the command line and runs the command. The executable has the file name `program`.
pub fn run(program: &str, arguments: Vec<OsString>) -> Finished {
    let environment = Environment::of_process();
    let persona = Persona::of(program, &environment);
    // The report of an unknown persona needs names as well.
    let mut identity = Identity { persona: *persona.as_ref().unwrap_or(&Persona::Groma), program, directory: None };
    // The format is needed before parsing, because the parser itself may fail.
    let format = ErrorFormat::of(&arguments);
    if let Err(problem) = persona {
        let problems = outcome::fail("Unknown persona", problem.to_string());
        return refused(&identity, &environment, &problems, format).into();
    }
    // Parsing takes a lookup function instead of the process environment, which tests cannot set safely.
    let variable = |name: &str| environment.text(name).map(str::to_owned);
    // Errors suggest commands, and JSON is the same in every persona.
    let name = match format {
        ErrorFormat::Text => identity.persona.command(program),
        _ => Persona::Terraform.command(program),
    };
    let parsed = match parse(name, arguments, &variable) {
        Ok(parsed) => parsed,
        Err(problem) => return misused(&identity, &environment, problem, format).into(),
    };
    let (directory, arguments) = match parsed {
        Parsed::Run { directory, arguments } => (directory, arguments),
        Parsed::Help(text) => return help(&identity, &environment, &text, 0).into(),
        Parsed::Group(text) => return help(&identity, &environment, &text, 1).into(),
        Parsed::Usage(text) => return help(&identity, &environment, &text, 127).into(),
    };
    // `-chdir` comes first: all relative paths, including TF_DATA_DIR, are relative to the new directory.
    let original = match enter(directory.as_deref()) {
        Ok(original) => original,
        Err(text) => return print_error(&text, 1).into(),
    };
    let problems = environment.problems();
    if problems.has_errors() {
        return refused(&identity, &environment, &problems, format).into();
    }
    let (settings, log) = match prepare(&environment) {
        Ok(prepared) => prepared,
        Err(problems) => return refused(&identity, &environment, &problems, format).into(),
    };
    // Set only now: suggested commands repeat -chdir only if the directory exists.
    identity.directory = directory.as_deref();
    let mut context = Context::new(&identity, settings, log, original);
    // Warnings about the environment never belong to the result of a command.
    context.show_on_stderr(&problems);
    context.read_cli_configuration();
    context.log.write(Level::Info, || format!("Groma {VERSION}, compatible with Terraform {TERRAFORM_VERSION}"));
    // Set before the command runs, because loading the configuration may need the values.
    context.given = arguments.task.variables().map(in_order).unwrap_or_default();
    let outcome = perform(arguments.task, &mut context);
    // The process exits without dropping what the command retains, so plugin processes are stopped explicitly.
    context.plugin_host.shutdown_all();
    context.finish(outcome)
}

/// Dispatches to the command.
fn perform(task: Task, context: &mut Context) -> Outcome {
    match task {
        Task::Init(arguments) => init::run(context, &arguments),
        Task::Validate(arguments) => validate::run(context, &arguments),
        Task::Plan(arguments) => plan::run(context, &arguments),
        Task::Apply(arguments) => apply::run(context, arguments.0),
        Task::Destroy(arguments) => apply::destroy(context, arguments.0),
        Task::Show(arguments) => show::run(context, &arguments),
        Task::Output(arguments) => output::run(context, &arguments),
        Task::State(arguments) => state::run(context, &arguments),
        Task::Workspace(arguments) => workspace::run(context, &arguments),
        Task::Env(arguments) => workspace::run_as_env(context, &arguments),
        Task::ForceUnlock(arguments) => force_unlock::run(context, &arguments),
        Task::Import(arguments) => import::run(context, &arguments),
        Task::Refresh(arguments) => apply::refresh(context, arguments.0),
        Task::Taint(arguments) => taint::taint(context, &arguments),
        Task::Untaint(arguments) => taint::untaint(context, &arguments),
        Task::Query(arguments) => query::run(context, &arguments),
        Task::Providers(arguments) => providers::run(context, &arguments),
        Task::Provider(Lazy(Provider::Check(arguments))) => provider_check::run(context, &arguments),
        Task::Get(arguments) => installation::get(context, &arguments),
        Task::Modules(arguments) => modules::run(context, &arguments),
        Task::Graph(arguments) => graph::run(context, &arguments),
        Task::Metadata(Lazy(Metadata::Functions(arguments))) => metadata::functions(context, &arguments),
        Task::Fmt(arguments) => fmt::run(context, &arguments),
        Task::Console(arguments) => console::run(context, &arguments),
        Task::Login(arguments) => login::run(context, &arguments),
        Task::Logout(arguments) => login::logout(context, &arguments),
        Task::Version(arguments) => version::run(context, &arguments),
        Task::Emulator(arguments) => emulator::run(context, &arguments),
        Task::CloudControl(arguments) => cloudcontrol::run(context, &arguments),
    }
}

/// Reads the settings, and opens the log.
///
/// # Errors
/// The file of the selected workspace cannot be read.
fn prepare(environment: &Environment) -> Result<(Settings, Log), Diagnostics> {
    let mut problem = None;
    let settings = Settings::of(environment, |file| {
        // Settings are still needed to report the error.
        chosen_workspace(file).unwrap_or_else(|error| {
            problem = Some(unreadable_workspace(file, &error));
            None
        })
    });
    let log = Log::open(&settings.log);
    problem.map_or(Ok((settings, log)), Err)
}

/// Reads the selected workspace from `file`; `None` if none was selected.
fn chosen_workspace(file: &Path) -> io::Result<Option<String>> {
    let name = match std::fs::read_to_string(file) {
        Ok(name) => name,
        // A data directory that does not exist yet means that no workspace was selected.
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    // The file ends with a line break if it was written by hand.
    let name = name.trim();
    Ok((!name.is_empty()).then(|| name.to_owned()))
}

fn unreadable_workspace(file: &Path, error: &io::Error) -> Diagnostics {
    let detail = format!(
        "The file {} with the selected workspace cannot be read: {}. Correct its permissions, or remove it to use the default \
         workspace.",
        file.display(),
        io_reason(error)
    );
    outcome::fail("Failed to read the selected workspace", detail)
}

/// Changes to the directory of `-chdir`; returns the working directory at program start.
///
/// # Errors
/// One of the directories does not exist or cannot be entered.
fn enter(directory: Option<&Path>) -> Result<PathBuf, String> {
    let original = std::env::current_dir().map_err(|error| {
        format!(
            "Failed to determine current working directory: {}\n\nThe directory was removed or cannot be accessed. Change to an \
             existing directory, and run the command again.",
            io_reason(&error)
        )
    })?;
    if let Some(directory) = directory {
        std::env::set_current_dir(directory).map_err(|error| {
            format!(
                "Error handling -chdir option: chdir {}: {}\n\nThe directory must exist, and its path is relative to the current \
                 working directory.",
                directory.display(),
                io_reason(&error)
            )
        })?;
    }
    Ok(original)
}

/// Prints a help text; returns the exit code.
fn help(identity: &Identity<'_>, environment: &Environment, text: &str, exit: u8) -> u8 {
    let context = bare_context(identity, environment);
    context.streams.print(&format!("{}\n", text.trim_end()));
    context.exit_code(Ok(exit))
}

/// Creates a context for output before a command runs.
fn bare_context(identity: &Identity<'_>, environment: &Environment) -> Context {
    // The selected workspace does not matter for help and errors, so no file is read.
    let settings = Settings::of(environment, |_| None);
    Context::new(identity, settings, Log::default(), PathBuf::new())
}

/// Prints a line to standard error; returns `exit`.
fn print_error(text: &str, exit: u8) -> u8 {
    let mut out = SafeWriter::new(io::stderr(), Palette::Plain);
    // There is nowhere to report that standard error is closed.
    let _ = writeln!(out, "{text}");
    exit
}

/// Format of errors that precede the command.
#[derive(Clone, Copy)]
enum ErrorFormat {
    Text,
    Messages,
    /// The document of `validate -json`.
    Document,
}

impl ErrorFormat {
    /// Returns the format of the command, found without parsing its arguments.
    fn of(arguments: &[OsString]) -> Self {
        // The parser has failed, so its result cannot say whether JSON was requested.
        let is_json =
            |word: &OsString| ["-json", "--json", "-json=true", "--json=true"].iter().any(|flag| word == flag);
        if !arguments.iter().any(is_json) {
            return Self::Text;
        }
        // Options before the command are skipped.
        let command = arguments.iter().find(|word| !word.as_encoded_bytes().starts_with(b"-"));
        match command.and_then(|command| command.to_str()) {
            Some("plan" | "apply" | "destroy" | "refresh" | "init" | "query") => Self::Messages,
            Some("validate") => Self::Document,
            _ => Self::Text,
        }
    }
}

fn misused(identity: &Identity<'_>, environment: &Environment, problem: UsageError, format: ErrorFormat) -> u8 {
    match problem {
        UsageError::Bare(text) => print_error(&format!("{text}\n"), 1),
        UsageError::NoCommand(text) => print_error(&format!("{text}\n"), 127),
        UsageError::Diagnostic(diagnostic) => refused(identity, environment, &Diagnostics::from(*diagnostic), format),
    }
}

/// Reports the problems that prevent the command from running; returns the exit code.
fn refused(identity: &Identity<'_>, environment: &Environment, problems: &Diagnostics, format: ErrorFormat) -> u8 {
    let mut context = bare_context(identity, environment);
    match format {
        ErrorFormat::Document => context.streams.print_document(&validate::document(&context, problems)),
        ErrorFormat::Messages => {
            context.switch_to_json().version(TERRAFORM_VERSION);
            context.show(problems);
        }
        ErrorFormat::Text => context.show(problems),
    }
    context.exit_code(Ok(1))
}
