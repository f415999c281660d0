//! The commands: each in a file of its own, thin over the engine.

mod apply;
mod approval;
mod backend;
mod beside;
mod browser;
mod cli_configuration;
mod configuration;
mod console;
mod context;
mod default_registry;
mod deprecated_use;
mod emulator;
mod encryption;
mod fmt;
mod force_unlock;
mod generated;
mod get;
mod graph;
mod import;
mod init;
mod init_backend;
mod init_providers;
mod init_teller;
mod installation;
mod json_into;
mod key_network;
mod left_open;
mod login;
mod logout;
mod lookup;
mod metadata;
mod migration;
mod mistakes;
mod modules;
mod operation;
mod outcome;
mod output;
mod own_providers;
mod packages;
mod plan;
mod planfile;
mod plugins;
mod provider_check;
mod provider_packages;
mod provider_source;
mod providers;
mod query;
mod results;
mod schema;
mod servers;
mod session;
mod show;
mod state;
mod taint;
mod targeting;
mod token_place;
mod validate;
mod variables;
mod version;
mod workspace;

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;

use groma_diagnostics::Diagnostics;

use crate::arguments::{Lazy, Metadata, Parsed, Provider, Task, UsageError, parse};
use crate::log::Level;
use crate::settings::{Settings, TERRAFORM_VERSION, VERSION};
use context::Context;
use outcome::Outcome;
use variables::in_order;

/// Runs what the command line asks for; returns the exit code.
pub fn run(program: &str, arguments: Vec<OsString>) -> u8 {
    let environment: Vec<(String, String)> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    let variable = |name: &str| environment.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone());
    let telling = Telling::of(&arguments);
    let parsed = match parse(program, arguments, &variable) {
        Ok(parsed) => parsed,
        Err(problem) => return misused(program, &environment, problem, telling),
    };
    let (directory, arguments) = match parsed {
        Parsed::Run { directory, arguments } => (directory, arguments),
        Parsed::Help(text) => return tell(std::io::stdout(), text.trim_end(), 0),
        Parsed::Group(text) => return tell(std::io::stdout(), text.trim_end(), 1),
        Parsed::Usage(text) => return tell(std::io::stdout(), text.trim_end(), 127),
    };
    let original = std::env::current_dir().unwrap_or_default();
    if let Some(directory) = &directory
        && let Err(problem) = std::env::set_current_dir(directory)
    {
        let text = format!(
            "Error handling -chdir option: chdir {}: {problem}\n\nGive a folder that exists; the path is relative to where you are.",
            directory.display()
        );
        return tell(std::io::stderr(), &text, 1);
    }
    let settings = Settings::of(&environment, chosen_workspace);
    let mut context = Context::new(program, settings, original);
    context.read_cli_configuration();
    context.log.write(Level::Info, || format!("Groma {VERSION}, standing for Terraform {TERRAFORM_VERSION}"));
    context.given = arguments.task.variables().map(in_order).unwrap_or_default();
    let outcome = perform(arguments.task, &mut context);
    // Runs leave their memory, and the providers in it, to the operating system; it would not end processes.
    groma_plugin::client::end_all();
    context.finish(outcome)
}

/// The command itself.
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
        Task::Get(arguments) => get::run(context, &arguments),
        Task::Modules(arguments) => modules::run(context, &arguments),
        Task::Graph(arguments) => graph::run(context, &arguments),
        Task::Metadata(Lazy(Metadata::Functions(arguments))) => metadata::functions(context, &arguments),
        Task::Fmt(arguments) => fmt::run(context, &arguments),
        Task::Console(arguments) => console::run(context, &arguments),
        Task::Login(arguments) => login::run(context, &arguments),
        Task::Logout(arguments) => logout::run(context, &arguments),
        Task::Version(arguments) => version::run(context, &arguments),
        Task::Emulator(arguments) => emulator::run(context, &arguments),
    }
}

fn chosen_workspace(file: &Path) -> Option<String> {
    let name = std::fs::read_to_string(file).ok()?;
    let name = name.trim();
    (!name.is_empty()).then(|| name.to_owned())
}

/// Writes a line, and returns `exit`. A reader that went away is no error.
fn tell(mut out: impl Write, text: &str, exit: u8) -> u8 {
    let _ = writeln!(out, "{text}");
    exit
}

/// How mistakes on the command line are told.
#[derive(Clone, Copy)]
enum Telling {
    Text,
    Messages,
    /// The result of `validate -json`.
    Document,
}

impl Telling {
    /// As the command would tell everything else.
    fn of(arguments: &[OsString]) -> Self {
        let is_json =
            |word: &OsString| ["-json", "--json", "-json=true", "--json=true"].iter().any(|flag| word == flag);
        if !arguments.iter().any(is_json) {
            return Self::Text;
        }
        let command = arguments.iter().find(|word| !word.as_encoded_bytes().starts_with(b"-"));
        match command.and_then(|command| command.to_str()) {
            Some("plan" | "apply" | "destroy" | "refresh" | "init" | "query") => Self::Messages,
            Some("validate") => Self::Document,
            _ => Self::Text,
        }
    }
}

fn misused(program: &str, environment: &[(String, String)], problem: UsageError, telling: Telling) -> u8 {
    match problem {
        UsageError::Bare(text) => return tell(std::io::stderr(), &format!("{text}\n"), 1),
        UsageError::NoCommand(text) => return tell(std::io::stderr(), &format!("{text}\n"), 127),
        UsageError::Diagnostic(diagnostic) => {
            let settings = Settings::of(environment, chosen_workspace);
            let mut context = Context::new(program, settings, std::path::PathBuf::new());
            let problems = Diagnostics::from(*diagnostic);
            match telling {
                Telling::Document => context.streams.print(&validate::document(&context, &problems)),
                Telling::Messages => {
                    context.speak_json().version(TERRAFORM_VERSION);
                    context.show(&problems);
                }
                Telling::Text => context.show(&problems),
            }
        }
    }
    1
}
