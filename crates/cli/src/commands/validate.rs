//! `validate`: checks the configuration.

use std::collections::HashSet;
use std::sync::Arc;

use groma_config::{Configuration, LoadOptions, LoadStatus, Queries, check_overrides};
use groma_diagnostics::{CascadeFilter, Diagnostic, Diagnostics, Sources};
use groma_engine::hooks::Silent;
use groma_engine::{Cancellation, Hooks, Run, check_provisioner_types};
use serde_json::json;

use super::configuration::{Purpose, load_options, load_with_options, test_folder};
use super::context::Context;
use super::operation::run_with;
use super::outcome::{Outcome, fail};
use super::packages::{Packages, overrides_in_effect};
use super::results::Results;
use super::session::{DEFAULT_PARALLELISM, Included, Watch, session};
use super::variables::{Missing, values};
use crate::arguments::{Flag, Validate};
use crate::terminal::Tone;
use crate::views::diagnostic::{diagnostic_json, in_order};
use crate::views::json::pretty;

pub(super) fn run(context: &mut Context, arguments: &Validate) -> Outcome {
    context.configure_view(&arguments.view);
    let results = Results::of(&arguments.json)?;
    if results.has_document() {
        context.word_for_json();
    }
    // Errors are part of the result here: the document must contain them.
    let mut found = check(context, arguments).unwrap_or_else(|problems| problems);
    found.append(overrides_in_effect(context));
    let diagnostics = context.unsuppressed(found);
    let failed = diagnostics.has_errors();
    if results.has_text() {
        context.show(&diagnostics);
    }
    let success = || match failed {
        true => String::new(),
        // With errors, the diagnostics are the whole text.
        false => success(context, &diagnostics),
    };
    results.print(context, success, || document(context, &diagnostics))?;
    Ok(u8::from(failed))
}

/// Returns the message about a valid configuration.
fn success(context: &Context, warnings: &Diagnostics) -> String {
    let success = context.palette().paint(Tone::BoldGreen, "Success!");
    let rest = if warnings.is_empty() {
        " The configuration is valid."
    } else {
        " The configuration is valid, but there were some\nvalidation warnings as shown above."
    };
    format!("{success}{rest}\n\n")
}

/// Returns the JSON document of the result.
pub(super) fn document(context: &Context, diagnostics: &Diagnostics) -> String {
    let errors = diagnostics.iter().filter(|diagnostic| diagnostic.is_error()).count();
    // Sorted like the text, so that both list the same order.
    let list: Vec<_> = in_order(diagnostics, &context.sources)
        .into_iter()
        .map(|diagnostic| diagnostic_json(diagnostic, &context.sources))
        .collect();
    let result = json!({
        "format_version": "1.0",
        "valid": errors == 0,
        "error_count": errors,
        "warning_count": diagnostics.len() - errors,
        "diagnostics": list,
    });
    format!("{}\n", pretty(&result))
}

fn check(context: &mut Context, arguments: &Validate) -> Result<Diagnostics, Diagnostics> {
    let queries = if arguments.query.is_some_and(Flag::is_on) { Queries::Included } else { Queries::Ignored };
    let directory = arguments.directory.clone().unwrap_or_default();
    if !directory.as_os_str().is_empty() && !directory.is_dir() {
        let detail = format!("The directory {} does not exist. Check the path.", directory.display());
        return Err(fail("Failed to read module directory", detail));
    }
    let wants_tests = !arguments.no_tests.is_some_and(Flag::is_on);
    let tests = wants_tests.then(|| test_folder(arguments.test_directory.as_deref()));
    let options = LoadOptions { directory, queries, tests, ..load_options(context) };
    let (configuration, mut diagnostics) = load_with_options(context, Purpose::Validate, options)?;
    context.filter_deprecations(&configuration);
    if !diagnostics.has_errors() {
        diagnostics.append(check_overrides(&configuration));
    }
    // Only a plan checks values of variables against validation rules. Unreadable files and undeclared variables are errors here.
    match values(context, &configuration.root, &arguments.variables, Missing::Leave) {
        Ok((_, warnings)) => diagnostics.append(warnings),
        Err(problems) => diagnostics.append(problems),
    }
    let hooks: Arc<dyn Hooks> = Arc::new(Silent);
    // Validation works with the locked versions, whatever the constraints say.
    let packages = Packages::as_locked(context, &configuration)?;
    if packages.missing().is_some() {
        // Other errors come first, because they can be fixed without installing providers.
        if !diagnostics.has_errors() {
            diagnostics.append(packages.not_available());
            diagnostics.append(check_provisioner_types(&configuration));
        }
        return Err(diagnostics);
    }
    let of_runs = modules_of_runs(&configuration);
    for configuration in [configuration].into_iter().chain(of_runs) {
        let mut run = run_with(context, configuration, packages.clone(), Arc::clone(&hooks), 10)?;
        diagnostics = with_further(&mut run, &context.sources, diagnostics);
    }
    Ok(diagnostics)
}

/// Returns the modules that test runs use instead of the configuration, each directory once.
fn modules_of_runs(configuration: &Configuration) -> Vec<Configuration> {
    // The root module is validated already, and several runs may use one directory.
    let mut folders = HashSet::from([&configuration.root.directory]);
    let modules = configuration.modules_of_runs().filter(|module| folders.insert(&module.root.directory));
    modules.filter(|module| module.status != LoadStatus::Incomplete).cloned().collect()
}

/// Returns `known` and the further errors that validation finds. If validation is not possible, for example because a provider is
/// not installed, only `known` is returned.
pub(super) fn collect(context: &Context, configuration: Configuration, known: Diagnostics) -> Diagnostics {
    let watch = Watch { hooks: Arc::new(Silent), cancellation: Cancellation::new(), parallelism: DEFAULT_PARALLELISM };
    // A provider that is not installed must not replace the known errors by its own.
    let packages = Packages::of(context, &configuration).ok().filter(|packages| packages.missing().is_none());
    let session = packages.map(|packages| session(context, configuration, Included::unless(packages), watch));
    match session {
        Some(Ok(session)) => with_further(&mut Run::new(session), &context.sources, known),
        _ => known,
    }
}

/// Returns `known` and the errors that validation finds, without cascades of other errors. Further errors on the line of a known
/// error are dropped too, because they mostly follow from it.
pub(super) fn with_further(run: &mut Run, sources: &Sources, known: Diagnostics) -> Diagnostics {
    let found = run.validate();
    // Cascades are found across both lists: a known error may cause a new one.
    let cascades: CascadeFilter = known.iter().chain(&found).collect();
    let mut all: Diagnostics = known.into_iter().filter(|problem| !cascades.is_cascading(problem)).collect();
    let line = |problem: &Diagnostic| {
        let location = sources.locate(problem.subject?)?;
        Some((location.file.base(), location.start.line))
    };
    let wrong: HashSet<_> = all.iter().filter(|problem| problem.is_error()).filter_map(line).collect();
    // A module is validated through its calls, and again through the test runs that use it.
    let text = |problem: &Diagnostic| (problem.subject, problem.summary.clone(), problem.detail.clone());
    let reported: HashSet<_> = all.iter().map(text).collect();
    let is_reported = |problem: &Diagnostic| {
        line(problem).is_some_and(|line| wrong.contains(&line)) || reported.contains(&text(problem))
    };
    all.append(found.into_iter().filter(|problem| !cascades.is_cascading(problem) && !is_reported(problem)));
    all
}
