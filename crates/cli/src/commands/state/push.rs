//! `state push`: replaces the state with the contents of a file.

use std::io::Read;
use std::path::Path;

use groma_diagnostics::{Diagnostics, io_reason};
use groma_encryption::Encryption;
use groma_state::{Backup, Saved, State, file, read_sealed};

use super::super::backend::{StateOverrides, locking, state_location};
use super::super::configuration::{Purpose, load};
use super::super::context::Context;
use super::super::operation::open_state;
use super::super::outcome::{Outcome, fail};
use crate::arguments::{Flag, StatePush};

pub(super) fn run(context: &mut Context, arguments: &StatePush) -> Outcome {
    context.configure_view(&arguments.access.common.view);
    context.configure_json(&arguments.json)?;
    let [source] = &*arguments.rest else {
        return Err(fail(
            "Required argument missing",
            "Expected one argument: the path of a state file, or - for standard input.",
        ));
    };
    let (configuration, _) = load(context, Purpose::ChangeState)?;
    let location = state_location(context, &configuration.root, StateOverrides::default())?;
    // The file may be encrypted like the state itself.
    let mut pushed = read(source, location.encryption().as_deref())?;
    let is_new = !location.has_state()?;
    let usual_backup = location.backup().clone();
    let locking = locking(&arguments.access.locking, "state-push");
    // A unique backup, because `state push` must always be undoable.
    let (mut store, current) = open_state(context, location.with_backup(Backup::New), &locking)?;
    if !is_new {
        if !arguments.force.is_some_and(Flag::is_on) {
            may_follow(&pushed, &current)?;
        }
        if !is_same(&pushed, &current) {
            // As in Terraform, replacing existing contents increments the serial.
            pushed.serial += 1;
        }
    }
    // The memory of a large one is needed to write the other one.
    drop(current);
    // Written as given: serial and lineage of the pushed state are kept.
    let saved = store.put(&mut pushed).map_err(|problem| Diagnostics::from(problem.diagnostic()))?;
    // The backup has a unique name, so that the next change does not overwrite it.
    let backup = store.backup_path().filter(|_| saved != Saved::Unchanged);
    if let Some(backup) = backup {
        let command = &context.wording.command;
        context.report(&format!("To undo this: {command} state push -force {}\n", backup.display()));
        if let Some(file) = usual_backup.path() {
            // Terraform's file name, for scripts that expect it.
            std::fs::copy(backup, file).map_err(|problem| {
                let summary = format!("Failed to write {}", file.display());
                fail(
                    &summary,
                    format!(
                        "The state was pushed, but this copy of its backup failed: {problem}.",
                        problem = io_reason(&problem)
                    ),
                )
            })?;
        }
    }
    Ok(0)
}

fn read(source: &Path, encryption: Option<&Encryption>) -> Result<State, Diagnostics> {
    let shown = source.display();
    let bytes = if source.as_os_str() == "-" {
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
    } else {
        std::fs::read(source)
    };
    let bytes = bytes.map_err(|problem| {
        let summary = match problem.kind() {
            std::io::ErrorKind::NotFound => format!("open {shown}: no such file or directory"),
            _ => format!("Error reading source state \"{shown}\""),
        };
        fail(&summary, format!("The state to push cannot be read: {problem}.", problem = io_reason(&problem)))
    })?;
    // An empty file would replace the state by nothing.
    if file::is_blank(&bytes) {
        return Err(fail(&format!("Error reading source state \"{shown}\": no state"), "The file is empty."));
    }
    read_sealed(&bytes, encryption)
        .map_err(|problem| fail(&format!("Error reading source state \"{shown}\""), problem.to_string()))
}

/// Checks that `pushed` may be a later version of `current`.
fn may_follow(pushed: &State, current: &State) -> Result<(), Diagnostics> {
    let refused = |what: String, why: &str| {
        let advice = "Nothing was written. To overwrite the state anyway, use -force.";
        Err(fail(&format!("Failed to write state: {what}"), format!("{why} {advice}")))
    };
    // An empty state has nothing to lose, and states without lineage cannot be compared.
    let is_incomparable = pushed.lineage.is_empty() || current.lineage.is_empty();
    if is_incomparable || current.is_empty() {
        return Ok(());
    }
    if pushed.lineage != current.lineage {
        return refused(
            format!(
                "cannot import state with lineage {:?} over unrelated state with lineage {:?}",
                pushed.lineage, current.lineage
            ),
            "The two states are unrelated: they probably belong to different configurations.",
        );
    }
    if pushed.serial < current.serial {
        return refused(
            format!(
                "cannot import state with serial {} over newer state with serial {}",
                pushed.serial, current.serial
            ),
            "The state was changed after the pushed state was created.",
        );
    }
    if pushed.serial == current.serial && !is_same(pushed, current) {
        return refused(
            format!(
                "cannot overwrite existing state with serial {} with a different state that has the same serial",
                current.serial
            ),
            "Both states were changed independently of each other.",
        );
    }
    Ok(())
}

fn is_same(one: &State, other: &State) -> bool {
    // The serial and the version of the program do not count as contents.
    one.outputs == other.outputs && one.check_results == other.check_results && one.resources().eq(other.resources())
}
