//! `show`: prints a state, a saved plan, or a configuration.

use std::collections::hash_map::Entry;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use groma_config::{DiskFiles, LoadOptions, Module, load_alone};
use groma_diagnostics::{Diagnostics, io_reason};
use groma_encryption::is_sealed;
use groma_engine::hooks::Silent;
use groma_engine::{Hooks, Plan, Providers, Run, SavedPlan};
use groma_state::{State, plan_file, read_sealed};

use super::backend::{StateOverrides, state_location};
use super::configuration::{Purpose, load, load_options};
use super::context::Context;
use super::lookup::Lookup;
use super::operation::{find_state_unlocked, quiet_run as new_run};
use super::outcome::{Outcome, fail};
use super::plan::show_plan;
use super::results::Results;
use super::{encryption, planfile};
use crate::arguments::{Flag, Show};
use crate::views::document::{Schemas, lone_module_json, plan_json, whole_configuration_json};
use crate::views::json::compact;
use crate::views::state::{state_json, state_text};

pub(super) fn run(context: &mut Context, arguments: &Show) -> Outcome {
    context.configure_view(&arguments.reading.common.view);
    context.configure_secrets(&arguments.reading.secrets);
    let results = Results::of(&arguments.reading.json)?;
    match shown(arguments)? {
        Shown::State => {
            let location =
                state_location(context, &load(context, Purpose::ReadState)?.0.root, StateOverrides::default())?;
            let state = find_state_unlocked(context, location)?;
            show_state(context, state.as_ref(), &results)
        }
        // The content decides, not the name: plans and states may have any name.
        Shown::File(path) if !plan_file::is_plan_file(path) => show_state_file(context, path, &results),
        Shown::Plan(path) | Shown::File(path) => show_saved_plan(context, path, &results),
        Shown::Configuration => show_configuration(context, &results),
        Shown::Module(directory) => show_module(context, directory, &results),
    }
}

/// Subject of the command.
enum Shown<'a> {
    /// The current state of the workspace.
    State,
    Plan(&'a Path),
    /// A saved plan or a state file.
    File(&'a Path),
    Configuration,
    /// A single module without its calls.
    Module(&'a Path),
}

fn shown(arguments: &Show) -> Result<Shown<'_>, Diagnostics> {
    let is_json = arguments.reading.json.json.is_some_and(Flag::is_on);
    let wants = |flag: Option<Flag>| flag.is_some_and(Flag::is_on);
    // An empty value counts as no option, as for file arguments.
    fn named(path: &Option<PathBuf>) -> Option<&Path> {
        path.as_deref().filter(|path| !path.as_os_str().is_empty())
    }
    let chosen = [
        wants(arguments.state).then_some(Shown::State),
        named(&arguments.plan).map(Shown::Plan),
        wants(arguments.config).then_some(Shown::Configuration),
        named(&arguments.module).map(Shown::Module),
    ];
    let files: &[OsString] = match &*arguments.rest {
        // In scripts, `show "$FILE"` with an empty variable means the current state.
        [file] if file.is_empty() => &[],
        files => files,
    };
    // At most one option may be set, so a second one is an error.
    let mut chosen = chosen.into_iter().flatten();
    let what = match chosen.next() {
        Some(_) if chosen.next().is_some() => {
            let detail = "-state, -plan, -config and -module are mutually exclusive. Use only one of them.";
            return Err(fail("Conflicting object types to show", detail));
        }
        Some(Shown::Configuration) if !is_json => {
            let detail = "A configuration can only be shown as JSON. Add -json.";
            return Err(fail("JSON output required for configuration", detail));
        }
        Some(Shown::Module(_)) if !is_json => {
            return Err(fail("JSON output required for module", "A module can only be shown as JSON. Add -json."));
        }
        what => what,
    };
    match (what, files) {
        (Some(what), []) => Ok(what),
        (Some(_), _) => {
            let detail = "An option already selects what to show. Remove the file argument or the option.";
            Err(fail("Unexpected command line arguments", detail))
        }
        (None, []) => Ok(Shown::State),
        (None, [file]) => Ok(Shown::File(Path::new(file))),
        (None, _) => {
            Err(fail("Too many command line arguments", "Expected at most one argument: a saved plan or a state file."))
        }
    }
}

fn show_configuration(context: &mut Context, results: &Results) -> Outcome {
    let (configuration, _) = load(context, Purpose::Show)?;
    let hooks: Arc<dyn Hooks> = Arc::new(Silent);
    // Nothing is called, but providers are started for their schemas.
    let mut run = new_run(context, configuration, hooks, 1)?;
    let session = run.session().clone();
    let mut known = Schemas::new();
    add_schemas(&session.configuration.root, run.providers(), &mut known);
    let document = whole_configuration_json(&session.configuration, &known);
    results.print_json(context, || format!("{}\n", compact(&document)))?;
    Ok(0)
}

fn show_module(context: &Context, directory: &Path, results: &Results) -> Outcome {
    let options = LoadOptions { directory: directory.to_owned(), ..load_options(context) };
    // Loaded alone: calls need not be installed, and providers need not exist.
    let (module, problems) = load_alone(&options, &context.sources, &DiskFiles::new("."));
    if problems.has_errors() {
        return Err(problems);
    }
    if !directory.is_dir() {
        let detail = format!("The directory {} does not exist or cannot be read. Check the path.", directory.display());
        return Err(fail("Failed to read module directory", detail));
    }
    // An empty directory is a module without declarations.
    let document = lone_module_json(&module.unwrap_or_default());
    results.print_json(context, || format!("{}\n", compact(&document)))?;
    Ok(0)
}

fn show_state(context: &Context, state: Option<&State>, results: &Results) -> Outcome {
    let nothing = || "{\"format_version\":\"1.0\"}\n".to_owned();
    match state {
        None => results.print(context, || "No state.\n".to_owned(), nothing)?,
        // An empty state needs no schemas, so no provider has to be installed.
        Some(state) if state.is_empty() => {
            let empty = || "The state file is empty. No resources are represented.\n".to_owned();
            results.print(context, empty, nothing)?;
        }
        Some(state) => {
            // Schemas are needed even for text: they say which attributes are sensitive.
            let objects = Lookup::new(context)?.objects(state)?;
            if results.has_text() {
                context.streams.print(&state_text(state, &objects, context.palette(), context.redaction));
            }
            results.print_document(context, &state_json(state, &objects))?;
        }
    }
    Ok(0)
}

fn show_state_file(context: &Context, path: &Path, results: &Results) -> Outcome {
    let bytes = std::fs::read(path).map_err(|problem| {
        fail(
            "Failed to read the given file as a state or plan file",
            format!(
                "{}: {problem}. Use the file of a saved plan or a state.",
                path.display(),
                problem = io_reason(&problem)
            ),
        )
    })?;
    // States and encrypted states are both JSON objects; anything else gets a better error than a JSON syntax error.
    if !matches!(bytes.iter().find(|byte| !byte.is_ascii_whitespace()), None | Some(b'{')) {
        return Err(fail(
            "Failed to read the given file as a state or plan file",
            format!("{} is neither a saved plan nor a state file.", path.display()),
        ));
    }
    // An encrypted state is read with the configuration of this directory, a plain one without it.
    let encryption = if is_sealed(&bytes) { encryption::of_states_here(context)? } else { None };
    let state = read_sealed(&bytes, encryption.as_deref())
        .map_err(|problem| Diagnostics::from(problem.in_file(path).diagnostic()))?;
    show_state(context, Some(&state), results)
}

fn show_saved_plan(context: &mut Context, path: &Path, results: &Results) -> Outcome {
    let (mut run, plan) = saved_plan(context, path)?;
    // The text needs no schemas beyond those in the plan.
    if results.has_text() {
        show_plan(context, &plan);
    }
    if !results.has_document() {
        return Ok(0);
    }
    let mut lookup = Lookup::new(context)?;
    let prior = lookup.objects(&plan.prior_state)?;
    let session = run.session().clone();
    let mut known = Schemas::of(&plan, &prior);
    add_schemas(&session.configuration.root, run.providers(), &mut known);
    results.print_document(context, &plan_json(&plan, &prior, &session.configuration, &known))?;
    Ok(0)
}

/// Adds the schemas that the configuration needs and the plan lacks: of types without instances, and of provider configurations.
fn add_schemas(module: &Module, providers: &mut Providers, schemas: &mut Schemas) {
    for resource in module.resources.values() {
        let address = &resource.address;
        // Types with objects have their schema from the plan already.
        let Entry::Vacant(entry) = schemas.entry((address.mode, address.type_name.clone())) else { continue };
        let provider = module.provider_for(resource);
        // A resource without instances may lack its provider; the document then omits its arguments.
        if let Ok(schema) = providers.schema(&provider, address, resource.type_span) {
            entry.insert(schema);
        }
    }
    for local in module.providers.keys() {
        let address = module.provider_address(&local.name);
        let Entry::Vacant(entry) = schemas.provider(address.clone()) else { continue };
        // A provider that cannot be started only omits its schema.
        if let Ok(provider) = providers.started(&address)
            && let Ok(schema) = provider.schema()
        {
            entry.insert(Arc::clone(&schema.config));
        }
    }
    module.children.values().for_each(|child| add_schemas(child, providers, schemas));
}

/// Loads the saved plan at `path`, with a run over its configuration.
pub(super) fn saved_plan(context: &mut Context, path: &Path) -> Result<(Run, Plan), Diagnostics> {
    let saved = planfile::read(path, encryption::of_plans_here(context)?.as_deref())?;
    let (configuration, _) = saved.configuration(context)?;
    let hooks: Arc<dyn Hooks> = Arc::new(Silent);
    let mut run = new_run(context, configuration, hooks, 1)?;
    // The prior state is read on another thread meanwhile.
    let plan = run.load(SavedPlan::read(&saved.plan)?, saved.state.wait()?)?;
    Ok((run, plan))
}
