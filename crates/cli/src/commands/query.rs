//! `query`: finds unmanaged objects with list blocks.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::path::Path;
use std::sync::Arc;

use groma_address::Mode as ResourceMode;
use groma_config::{LoadOptions, Module, Queries};
use groma_diagnostics::{Diagnostics, io_reason};
use groma_engine::{FoundObjects, Hooks, Mode, PlanOptions, Searched};
use groma_provider::TERRAFORM_VERSION;

use super::backend::{StateOverrides, state_location};
use super::configuration::{Purpose, load_options, load_with_options};
use super::context::Context;
use super::generated;
use super::operation::{peek_state, run as new_run, watch_lines};
use super::outcome::{Outcome, fail, misuse};
use super::variables::{Missing, values};
use crate::arguments::{Flag, Query};
use crate::settings::Questions;
use crate::terminal::Tone;
use crate::views::query::blocks;

/// Number of concurrent searches.
const PARALLELISM: i64 = 10;

pub(super) fn run(context: &mut Context, arguments: &Query) -> Outcome {
    context.configure_view(&arguments.view);
    // Terraform never prompts in this command.
    context.settings.questions = Questions::Forbidden;
    if arguments.json.is_some_and(Flag::is_on) {
        context.switch_to_json().version(TERRAFORM_VERSION);
    }
    if !arguments.rest.is_empty() {
        return Err(misuse(
            &context.wording.command,
            "query",
            "Too many command line arguments",
            "The query command takes no arguments. To query from another directory, put -chdir=DIRECTORY before the command.",
        ));
    }
    let mut options = PlanOptions::default();
    if let Some(path) = &arguments.generate_config_out {
        options.found = FoundObjects::Generated;
        // Checked before the search, which may take minutes.
        generated::check(path, Mode::Normal)?;
    }
    let loading = LoadOptions { queries: Queries::Included, ..load_options(context) };
    let (configuration, mut problems) = load_with_options(context, Purpose::Query, loading)?;
    // Terraform refuses a query without lists, which would print nothing.
    if !has_lists(&configuration.root) {
        return Err(fail(
            "No resources to query",
            "The directory contains no list blocks. Add one to a file with the extension .tfquery.hcl, next to the configuration.",
        ));
    }
    let location = state_location(context, &configuration.root, StateOverrides::default())?;
    let (inputs, warnings) = values(context, &configuration.root, &arguments.variables, Missing::Ask)?;
    problems.append(warnings);
    options.inputs = inputs;
    // A query changes no state, so it neither locks it nor warns about an interrupted run.
    let state = peek_state(context, location)?.unwrap_or_default();
    let progress = watch_lines(context);
    let hooks: Arc<dyn Hooks> = Arc::clone(&progress) as Arc<dyn Hooks>;
    let mut run = new_run(context, configuration, hooks, PARALLELISM)?;
    let (searched, found) = run.query(state, options);
    // The last lines are printed before the warnings.
    progress.settle();
    problems.append(found);
    report_empty_searches(context, &searched);
    if let Some(path) = &arguments.generate_config_out {
        problems.append(write(context, path, &searched));
    }
    context.show(&problems);
    run.stop_providers();
    context.retain(run);
    Ok(u8::from(problems.has_errors()))
}

fn has_lists(root: &Module) -> bool {
    root.resources.keys().any(|address| address.mode == ResourceMode::List)
}

/// Warns about searches without results, for people only: the JSON messages contain the number of results.
fn report_empty_searches(context: &Context, searched: &[Searched]) {
    let empty = searched.iter().filter(|one| one.found.is_empty());
    let empty: Vec<String> = empty.map(|one| one.address.to_string()).collect();
    if empty.is_empty() || context.messages().is_some() {
        return;
    }
    let word = context.palette().paint(Tone::BoldYellow, "Warning:");
    let rest = format!(" list block(s) [{}] returned 0 results.", empty.join(", "));
    context.streams.print(&format!("{word}{}\n\n", context.palette().paint(Tone::Bold, rest)));
}

/// Writes the generated blocks of the found objects, if there are any.
fn write(context: &Context, path: &Path, searched: &[Searched]) -> Diagnostics {
    let text = blocks(context.persona.product(), searched);
    if text.is_empty() {
        return Diagnostics::new();
    }
    // Never overwrites a file that appeared during the search.
    let written = OpenOptions::new().write(true).create_new(true).open(path);
    match written.and_then(|mut file| file.write_all(text.as_bytes())) {
        Ok(()) => Diagnostics::new(),
        Err(problem) if problem.kind() == ErrorKind::AlreadyExists => generated::exists(path),
        Err(problem) => fail(
            "Failed to create target generated file",
            format!(
                "{} cannot be written: {problem}. The found objects are listed above.",
                path.display(),
                problem = io_reason(&problem)
            ),
        ),
    }
}
