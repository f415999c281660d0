//! A plan that was saved.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use groma_diagnostics::{Diagnostic, Diagnostics, Span, io_reason};
use groma_engine::{Hooks, Input, SavedPlan};
use groma_state::State;

use super::overridden::overridden;
use super::ready::{Ready, elsewhere};
use crate::arguments::{Apply, Planning};
use crate::commands::backend::{Elsewhere, active_workspace, locking, paths_in};
use crate::commands::beside::beside;
use crate::commands::context::Context;
use crate::commands::encryption;
use crate::commands::operation::{OpenState, Watched, open_for_changes, run as new_run};
use crate::commands::outcome::fail;
use crate::commands::planfile::{self, Given};
use crate::commands::variables::{Missing, values};
use crate::settings::Questions;

/// Takes a plan that was saved.
pub(super) fn from_file(
    context: &mut Context,
    arguments: &Apply,
    path: &Path,
    watched: &Watched,
) -> Result<Option<Ready>, Diagnostics> {
    let planning = &arguments.planning;
    context.show(&options_without_effect(planning));
    check_path(path)?;
    let encryption = encryption::here(context)?;
    let saved = planfile::read(path, encryption.as_ref().and_then(|methods| methods.plan.as_deref()))?;
    let (configuration, planned) = beside(|| saved.configuration(context), || SavedPlan::read(&saved.plan));
    let ((configuration, mut warnings), planned) = (configuration?, planned?);
    context.tell_deprecations(&configuration);
    let elsewhere = Elsewhere { encryption: encryption.as_ref(), ..elsewhere(arguments) };
    saved.made.check_workspace(&context.settings.workspace, &context.wording.command)?;
    active_workspace(context)?;
    let paths = paths_in(&saved.made.backend, &configuration.root, &context.settings.workspace, elsewhere)?;
    let OpenState { store, state: current, in_flight } =
        open_for_changes(context, paths, &locking(&planning.locking, "OperationTypeApply"))?;
    if !in_flight.is_empty() {
        return Err(fail(
            "Saved plan is stale",
            "An earlier run ended while it was changing objects, and what became of them must be asked first. Run apply \
             without a saved plan, or make a new plan after that.",
        ));
    }
    let prior = saved.state.wait()?;
    check_state(&current, &prior)?;
    let questions = std::mem::replace(&mut context.settings.questions, Questions::Forbidden);
    let (given, problems) = values(context, &configuration.root, &planning.variables, Missing::Leave)?;
    warnings.append(problems);
    context.settings.questions = questions;
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
    context.listeners().for_each(|stream| stream.changes_to_apply(&plan));
    for variable in &plan.variables {
        inputs.insert(variable.name.clone(), Input { value: variable.value.clone(), span: Span::NONE, origin: None });
    }
    Ok(Some(Ready { run, store, plan, inputs, warnings }))
}

/// Reports a path that is not a file: it is misspelled, or meant for `-chdir`.
fn check_path(path: &Path) -> Result<(), Diagnostics> {
    let shown = path.display();
    let detail = match std::fs::metadata(path) {
        Ok(found) if found.is_dir() => format!(
            "The specified path is a directory, not a plan file. To work in that directory, put the option -chdir={shown} before the \
             command."
        ),
        Ok(_) => return Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            format!("The file {shown} does not exist. Make a plan with plan -out={shown}.")
        }
        Err(error) => format!("The file {shown} cannot be read: {}.", io_reason(&error)),
    };
    Err(fail(&format!("Failed to load {:?} as a plan file", shown.to_string()), detail))
}

/// A plan is carried out on the state that it was made of.
fn check_state(current: &State, prior: &State) -> Result<(), Diagnostics> {
    // What was planned without a state may begin any.
    let is_another = prior.serial != 0 && current.lineage != prior.lineage;
    if is_another {
        return Err(fail(
            "Saved plan does not match the given state",
            "The plan was made of another state, or of one that is gone. Nothing was done; make a new plan, or apply this one where \
             its state is.",
        ));
    }
    let is_unchanged = current.serial == prior.serial && (current.lineage == prior.lineage || current.serial == 0);
    if !is_unchanged {
        return Err(fail(
            "Saved plan is stale",
            "The state has changed since this plan was made, so the plan may do something else now than what was \
             reviewed. Nothing was done; make a new plan.",
        ));
    }
    Ok(())
}

/// Warns of planning options, which have no effect on a saved plan. Terraform ignores them silently, and wrappers give all commands the
/// same options.
fn options_without_effect(planning: &Planning) -> Diagnostics {
    // Programs that drive the command line give -refresh with saved plans too, where it says nothing.
    let plans_anew = planning.destroy.is_some() || planning.refresh_only.is_some();
    let plans_anew = plans_anew || planning.allow_deferral.is_some() || !planning.invoke.is_empty();
    let has_targets = !planning.target.is_empty() || !planning.focus.is_empty() || !planning.replace.is_empty();
    if !plans_anew && !has_targets {
        return Diagnostics::new();
    }
    let detail = "A saved plan is carried out as it is: options that change what is planned belong to the plan command, \
                  and have no effect here.";
    Diagnostic::warning("Planning options with a saved plan", detail).into()
}
