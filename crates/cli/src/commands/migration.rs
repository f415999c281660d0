//! States that move along when the backend changes: `init -migrate-state`.

use std::path::Path;

use groma_config::Module;
use groma_diagnostics::{Diagnostics, io_reason};
use groma_state::{Locking, State, StatePaths, claim_backup};

use super::backend::{Elsewhere, Local, has_state, paths_in};
use super::context::Context;
use super::operation::{OpenState, open_for_changes};
use super::outcome::fail;
use crate::settings::Questions;
use crate::terminal::Answer;

/// Whether the user has agreed to the copying.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Consent {
    /// The user has to be asked.
    Asked,
    /// With `-force-copy`, or for all workspaces at once.
    Given,
}

/// The treatment of the state in its old location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leftover {
    /// It stays as it is.
    Kept,
    /// It becomes a backup: commands would find it where they look first.
    Retired,
}

/// One change of the backend.
pub(super) struct Migration<'a> {
    pub module: &'a Module,
    pub from: &'a Local,
    pub to: &'a Local,
    pub consent: Consent,
    pub locking: Locking,
    pub leftover: Leftover,
}

impl Migration<'_> {
    /// Copies the states of all workspaces, as far as there are any and the user agrees.
    ///
    /// # Errors
    /// The user has to be asked and cannot be, or aborts; a state cannot be read, is locked, or cannot be written.
    pub fn run(&self, context: &mut Context) -> Result<(), Diagnostics> {
        let names = self.from.workspaces().map_err(|problem| {
            let folder = self.from.workspace_directory();
            fail(
                &format!("Failed to list the workspaces in {}", folder.display()),
                format!("{problem}.", problem = io_reason(&problem)),
            )
        })?;
        if names.len() == 1 {
            return self.copy(context, &names[0], self.consent);
        }
        if self.are_in_place(&names)? {
            return Ok(());
        }
        if self.consent == Consent::Asked
            && !agrees(context, "Do you want to migrate all workspaces to \"local\"?", ALL)?
        {
            return Err(fail("Migration aborted by user.", "Nothing was copied, and the backend is as it was."));
        }
        names.iter().try_for_each(|name| self.copy(context, name, Consent::Given))
    }

    /// Whether the states are in the same files before and after.
    fn are_in_place(&self, names: &[String]) -> Result<bool, Diagnostics> {
        for name in names {
            let (source, target) = self.paths(name)?;
            if has_state(&source) && !is_same_file(&source.write, &target.write) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn paths(&self, workspace: &str) -> Result<(StatePaths, StatePaths), Diagnostics> {
        let of = |local| paths_in(local, self.module, workspace, Elsewhere::default());
        Ok((of(self.from)?, of(self.to)?))
    }

    fn copy(&self, context: &mut Context, workspace: &str, consent: Consent) -> Result<(), Diagnostics> {
        let (source, target) = self.paths(workspace)?;
        if !has_state(&source) || is_same_file(&source.write, &target.write) {
            return Ok(());
        }
        let mut from = self.open(context, source)?;
        if from.state.is_empty() {
            return Ok(());
        }
        if self.leftover == Leftover::Retired {
            // What only the journal has would come to life again where the file is gone.
            from.store.catch_up(&mut from.state).map_err(|problem| Diagnostics::from(problem.diagnostic()))?;
        }
        let mut to = self.open(context, target)?;
        if !is_same_state(&from.state, &to.state) {
            if consent == Consent::Asked && !agrees(context, COPY, &explanation(&from, &to))? {
                return Ok(());
            }
            to.store.put(&mut from.state).map_err(|problem| Diagnostics::from(problem.diagnostic()))?;
        }
        match self.leftover {
            Leftover::Kept => Ok(()),
            Leftover::Retired => retire(from.store.paths()),
        }
    }

    /// Opens a state of which nothing is under way.
    fn open(&self, context: &mut Context, paths: StatePaths) -> Result<OpenState, Diagnostics> {
        let file = paths.write.clone();
        let opened = open_for_changes(context, paths, &self.locking)?;
        if opened.in_flight.is_empty() {
            return Ok(opened);
        }
        Err(fail(
            "Operations of an interrupted run are open",
            format!(
                "An earlier run on {} ended before it knew what became of its operations, and what is known about them belongs to \
                 that place. Run apply there, with the backend as it was; then the state can move.",
                file.display()
            ),
        ))
    }
}

const COPY: &str = "Do you want to copy existing state to the new backend?";

const ALL: &str = "There are several workspaces. The states of all of them will be copied, each\n\
                   to the workspace of the same name, and OVERWRITE states that are there. To\n\
                   move only some, answer \"no\", and use state pull and state push.\n\n\
                   \"yes\" copies them all; \"no\" ends here, and changes nothing.";

fn explanation(from: &OpenState, to: &OpenState) -> String {
    let told = |of: &OpenState| {
        let (file, instances) = (of.store.paths().write.display(), of.state.iter().count());
        format!("{file} (serial {}, resource instances: {instances})", of.state.serial)
    };
    if to.state.is_empty() {
        return format!(
            "There is a state in the old place, and none in the new one:\n\n  old: {}\n  new: {}\n\n\"yes\" copies it; \"no\" begins with an \
             empty state in the new place.",
            told(from),
            to.store.paths().write.display()
        );
    }
    format!(
        "There is a state in both places, and they are not the same:\n\n  old: {}\n  new: {}\n\n\"yes\" OVERWRITES the new one with the old \
         one, and keeps a backup beside\nit; \"no\" goes on with the one that is there.",
        told(from),
        told(to)
    )
}

/// Asks; only `yes` is yes.
fn agrees(context: &mut Context, title: &str, text: &str) -> Result<bool, Diagnostics> {
    if context.settings.questions == Questions::Forbidden || context.messages().is_some() {
        return Err(fail(
            "Can't ask approval for state migration when interactive input is disabled.",
            "There is a state to copy, and nobody can be asked. Answer beforehand with -force-copy, or leave the state where it is with \
             -reconfigure.",
        ));
    }
    match context.prompter()?.ask(title, text) {
        Answer::Line(line) => Ok(line == "yes"),
        Answer::NotUtf8 => Ok(false),
        Answer::End => Err(fail(
            "Error asking for state migration action: EOF",
            "The input ended before there was an answer; nothing was changed. Use -force-copy where nobody can answer.",
        )),
        Answer::Interrupted => {
            Err(fail("Error asking for state migration action: interrupted", "Nothing was changed."))
        }
    }
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    let canonical = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    canonical(one) == canonical(other)
}

/// Whether copying would change nothing.
fn is_same_state(from: &State, to: &State) -> bool {
    from.lineage == to.lineage && from.serial == to.serial && !to.is_empty()
}

/// Makes a state that has moved a backup of its own.
fn retire(paths: &StatePaths) -> Result<(), Diagnostics> {
    let file = &paths.write;
    let usual = paths.backup.path().filter(|backup| !backup.exists()).map(Path::to_owned);
    let backup = usual.map_or_else(|| claim_backup(file), Ok).map_err(|problem| {
        let detail = format!("The state was copied to the new backend, but no backup of the old file could be made: {problem}. Move the file by hand, then run init -reconfigure.", problem = io_reason(&problem));
        fail(&format!("Failed to move {} out of the way", file.display()), detail)
    })?;
    std::fs::rename(file, &backup).map_err(|problem| {
        fail(
            &format!("Failed to move {} out of the way", file.display()),
            format!(
                "Its state was copied to the new place, and is to become {}: {problem}. Move the file by hand, then run init -reconfigure.",
                backup.display(), problem = io_reason(&problem)),
        )
    })
}
