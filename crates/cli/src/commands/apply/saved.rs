//! Loads a saved plan, and checks that it still applies, also to variable values that are set again.

use std::borrow::Cow;
use std::io::ErrorKind;
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::Arc;
use std::thread::{self, Builder};

use groma_config::variables::Origin;
use groma_config::{Module, Variable};
use groma_diagnostics::{Diagnostic, Diagnostics, Span, io_reason};
use groma_engine::plan::PlannedVariable;
use groma_engine::{Hooks, Input, SavedPlan};
use groma_lang::console;
use groma_state::State;
use groma_value::{Redacted, Value};

use super::ready::{Ready, state_overrides};
use crate::arguments::{Apply, Planning};
use crate::commands::backend::{SharedUse, StateHandle, StateOverrides, active_workspace, location_in, locking};
use crate::commands::context::Context;
use crate::commands::encryption;
use crate::commands::operation::{OpenState, Watched, open_for_planning, run as new_run};
use crate::commands::outcome::fail;
use crate::commands::planfile::{self, Given};
use crate::commands::variables::{Missing, values};
use crate::settings::Questions;

/// Loads the saved plan at `path` for an apply.
pub(super) fn from_file(
    context: &mut Context,
    arguments: &Apply,
    path: &Path,
    watched: &Watched,
) -> Result<Option<Ready>, Diagnostics> {
    let planning = &arguments.planning;
    context.show(&options_without_effect(planning));
    // A wrong path is reported before anything is read or locked.
    check_path(path)?;
    let encryption = encryption::here(context)?;
    let saved = planfile::read(path, encryption.as_ref().and_then(|methods| methods.plan.as_deref()))?;
    // Both take long for large plans, and neither needs the other.
    let (configuration, planned) = parallel(|| saved.configuration(context), || SavedPlan::read(&saved.plan));
    let ((configuration, mut warnings), planned) = (configuration?, planned?);
    context.filter_deprecations(&configuration);
    let overrides = StateOverrides { encryption: encryption.as_ref(), ..state_overrides(arguments) };
    // Checked before the state is opened: a plan of another workspace must not lock this one.
    saved.made.check_workspace(&context.settings.workspace, &context.wording.command)?;
    active_workspace(context)?;
    // The plan names its backend: the block may have changed since, and the plan belongs to the old state.
    let backend = saved.made.backend.read()?.connect(context)?;
    let location = location_in(context, &backend, &configuration.root, &context.settings.workspace, overrides)?;
    let locking = locking(&planning.locking, "OperationTypeApply");
    let OpenState { store, state: current, in_flight } =
        open_for_planning(context, location, &locking, SharedUse::Change)?;
    // Recovery needs a plan of its own, and the saved plan does not know these objects.
    if !in_flight.is_empty() {
        return Err(fail(
            "Saved plan is stale",
            "An earlier run was interrupted while it changed objects, and the results of these changes are unknown. Run apply without a \
             saved plan to recover them, then create a new plan.",
        ));
    }
    let prior = saved.state.wait()?;
    check_lineage(&current, &prior)?;
    // A plan that was made over a shared state compares its records instead, once they are claimed.
    if saved.versions.is_none() || !matches!(store, StateHandle::Shared(_)) {
        check_serial(&current, &prior)?;
    }
    // A saved plan has all its values, so a missing one must not cause a prompt. The setting is restored for later
    // prompts.
    let questions = std::mem::replace(&mut context.settings.questions, Questions::Forbidden);
    let (given, problems) = values(context, &configuration.root, &planning.variables, Missing::Leave)?;
    warnings.append(problems);
    context.settings.questions = questions;
    // Ephemeral values are not in the plan, so they are set again, exactly for the variables that had one.
    warnings.append(saved.made.check_ephemeral(&configuration.root, &given));
    if warnings.has_errors() {
        return Err(warnings);
    }
    let again = planfile::ephemeral(&configuration.root, &given);
    let mut inputs: Given = again.map(|(name, input)| (name.clone(), input.clone())).collect();
    let hooks = Arc::clone(&watched.progress) as Arc<dyn Hooks>;
    let mut run = new_run(context, configuration, hooks, planning.parallelism)?;
    let plan = run.load_to_apply(planned, prior)?;
    if let Some(problem) = plan.refusal() {
        return Err(problem.into());
    }
    warnings.append(overridden(&run.session().configuration.root, &plan.variables, &given));
    if warnings.has_errors() {
        return Err(warnings);
    }
    context.json_streams().for_each(|stream| stream.changes_to_apply(&plan));
    // All other values come from the plan, whatever the environment of this run says.
    for variable in &plan.variables {
        inputs.insert(variable.name.clone(), Input { value: variable.value.clone(), span: Span::NONE, origin: None });
    }
    let versions = saved.versions.or_else(|| store.plan_versions(&mut run, &plan));
    Ok(Some(Ready { run, store, plan, inputs, versions, warnings }))
}

/// Reports a path that is not a file: it is misspelled, or a directory meant for `-chdir`.
fn check_path(path: &Path) -> Result<(), Diagnostics> {
    let shown = path.display();
    let detail = match std::fs::metadata(path) {
        Ok(found) if found.is_dir() => format!(
            "The specified path is a directory, not a plan file. To run the command in that directory, put -chdir={shown} before the \
             command."
        ),
        Ok(_) => return Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            format!("The file {shown} does not exist. To create a plan, run plan -out={shown}.")
        }
        Err(error) => format!("The file {shown} cannot be read: {}.", io_reason(&error)),
    };
    Err(fail(&format!("Failed to load {:?} as a plan file", shown.to_string()), detail))
}

/// Checks that the current state is a version of the `prior` state that the plan was created from.
fn check_lineage(current: &State, prior: &State) -> Result<(), Diagnostics> {
    // A plan that was created without a state fits any state that is still empty.
    let is_another = prior.serial != 0 && current.lineage != prior.lineage;
    if is_another {
        return Err(fail(
            "Saved plan does not match the given state",
            "The plan was created from a different state, or from one that no longer exists. Nothing was changed. Create a new plan, or \
             apply this one where its state is.",
        ));
    }
    Ok(())
}

/// Checks that the current state is still the `prior` state that the plan was created from.
fn check_serial(current: &State, prior: &State) -> Result<(), Diagnostics> {
    // Serial 0 means that neither state was ever written, so their random lineages do not matter.
    let is_unchanged = current.serial == prior.serial && (current.lineage == prior.lineage || current.serial == 0);
    if !is_unchanged {
        return Err(fail(
            "Saved plan is stale",
            "The state was changed after this plan was created, so the plan may no longer do what was reviewed. Nothing was changed. \
             Create a new plan.",
        ));
    }
    Ok(())
}

/// Warns about planning flags that have no effect on a saved plan. They are no error, because Terraform ignores them silently and
/// wrappers pass the same flags to every command.
fn options_without_effect(planning: &Planning) -> Diagnostics {
    // terraform-exec passes -refresh with saved plans too, so that flag is ignored without a warning.
    let has_planning_flags = planning.destroy.is_some() || planning.refresh_only.is_some();
    let has_planning_flags = has_planning_flags || planning.allow_deferral.is_some() || !planning.invoke.is_empty();
    let has_targets = !planning.target.is_empty() || !planning.focus.is_empty() || !planning.replace.is_empty();
    if !has_planning_flags && !has_targets {
        return Diagnostics::new();
    }
    let detail = "A saved plan is applied as it is, so flags that control planning have no effect here. Pass them to the plan \
                  command instead.";
    Diagnostic::warning("Planning options with a saved plan", detail).into()
}

/// Runs `here` on this thread and `there` on another one.
pub(super) fn parallel<A, B: Send>(here: impl FnOnce() -> A, there: impl Fn() -> B + Sync) -> (A, B) {
    thread::scope(|scope| {
        let Ok(thread) = Builder::new().name("parallel".to_owned()).spawn_scoped(scope, &there) else {
            // The process limit may forbid another thread; the computations then run one after the other.
            return (here(), there());
        };
        (here(), thread.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}

/// Maximum length, in characters, of a value that a message repeats.
const LONGEST_SHOWN: usize = 80;

/// Reports variables that are set to a different value than the plan was created with: as errors for command-line flags, as
/// warnings for environment variables. Automatically loaded files may differ, because flags of the plan command override them.
///
/// Ephemeral variables are skipped, because plans do not store their values.
pub(super) fn overridden(root: &Module, planned: &[PlannedVariable], given: &Given) -> Diagnostics {
    let mut problems = Diagnostics::new();
    for PlannedVariable { name, value } in planned {
        let (Some(variable), Some(input)) = (root.variables.get(name), given.get(name)) else { continue };
        if variable.ephemeral || is_same(variable, value, &input.value) {
            continue;
        }
        problems.append(problem(variable, value, input));
    }
    problems
}

/// Whether both values are equal after conversion to the type of the variable.
fn is_same(variable: &Variable, planned: &Value, given: &Value) -> bool {
    let accepted = |value: &Value| variable.accept(&value.unmark_deep().0).ok();
    // Marks do not count: only the values decide.
    planned == given || accepted(given).is_some_and(|given| accepted(planned) == Some(given))
}

fn problem(variable: &Variable, planned: &Value, input: &Input) -> Option<Diagnostic> {
    let name = &variable.name;
    let (planned, given) = (shown(variable, planned), shown(variable, &input.value));
    let what =
        |source: &str| format!("The plan was created with var.{name} = {planned}, but {source} sets it to {given}.");
    let advice = "A saved plan always uses the values that it was created with.";
    let refused = |source: &str, option: &str| {
        let detail = format!(
            "{} {advice} Remove {option}, or create a new plan. To set a value at apply time instead, declare the variable with \
             ephemeral = true.",
            what(source)
        );
        let problem = Diagnostic::error("Can't change variable when applying a saved plan", detail);
        if variable.sensitive { problem } else { problem.at(input.span) }
    };
    match input.origin.as_ref()? {
        Origin::CommandLine => Some(refused("-var", "-var")),
        Origin::NamedFile(path) => Some(refused(&format!("-var-file={path}"), "-var-file")),
        Origin::Environment => {
            let detail = format!(
                "{} {advice} The value of the environment variable is ignored.",
                what(&format!("the environment variable TF_VAR_{name}"))
            );
            Some(Diagnostic::warning("Ignoring variable when applying a saved plan", detail))
        }
        Origin::AutoFile(_) => None,
    }
}

/// Formats a value for a message; sensitive and long values are replaced by a placeholder.
fn shown(variable: &Variable, value: &Value) -> Cow<'static, str> {
    if variable.sensitive || value.has_marks() {
        return Redacted::Sensitive.to_string().into();
    }
    let text = console::format(value);
    match text.contains('\n') || text.chars().count() > LONGEST_SHOWN {
        true => "another value".into(),
        false => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_both_computations_in_parallel() {
        let texts: Vec<String> = (0..1000).map(|number| number.to_string()).collect();
        let own = thread::current().id();
        let total = || texts.iter().map(String::len).sum::<usize>();
        assert_eq!(parallel(|| thread::current().id() == own, total), (true, 2890));
    }
}
