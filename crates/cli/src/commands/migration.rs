//! Migrates states to a changed backend: `init -migrate-state`.

use std::path::Path;

use groma_config::Module;
use groma_diagnostics::{Diagnostics, io_reason};
use groma_state::{Locking, State, StatePaths, claim_backup};

use super::backend::{Backend, StateHandle, StateLocation, StateOverrides, location_in};
use super::context::Context;
use super::operation::{OpenState, open_for_changes};
use super::outcome::fail;
use crate::settings::Questions;
use crate::terminal::Answer;

/// Whether the user has agreed to copy a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Consent {
    /// The user has to be asked.
    Asked,
    /// The user has agreed with `-force-copy`, or for all workspaces at once.
    Given,
}

/// Treatment of the old state files after copying.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OldFile {
    /// The files stay.
    Kept,
    /// The files become backups, because commands without a backend block would find it first.
    Retired,
}

/// One side of a migration.
pub(super) struct Side<'a> {
    /// The backend type, for questions.
    pub name: &'static str,
    pub backend: &'a Backend,
}

/// The migration from one backend configuration to another.
pub(super) struct Migration<'a> {
    pub module: &'a Module,
    pub from: Side<'a>,
    pub to: Side<'a>,
    pub consent: Consent,
    /// Locking of the old and of the new state.
    pub locking: [Locking; 2],
    pub old_file: OldFile,
}

/// The states that a migration has copied.
#[derive(Default)]
pub(super) struct Migrated {
    workspaces: Vec<String>,
    /// The old state files that become backups, with the locks that are held until then.
    retiring: Vec<(StatePaths, StateHandle)>,
}

impl Migrated {
    /// Renames the old state files to backups, after the new backend was recorded: until then, the old files are in use.
    ///
    /// # Errors
    /// A file cannot be renamed.
    pub fn retire(self) -> Result<(), Diagnostics> {
        let mut problems = Diagnostics::new();
        // Nothing comes back to a file that is left out here.
        for (paths, _) in &self.retiring {
            problems.append(retire(paths).err().unwrap_or_default());
        }
        if problems.has_errors() { Err(problems) } else { Ok(()) }
    }

    /// Adds to the error about a workspace what the migration has done before it.
    fn explain(&self, mut problems: Diagnostics, failed: &str) -> Diagnostics {
        let copied = match &*self.workspaces {
            [] => "no workspace".to_owned(),
            names => names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", "),
        };
        for problem in problems.iter_mut().filter(|problem| problem.is_error()) {
            problem.detail.push_str(&format!(
                "\n\nThe workspace {failed:?} was not migrated. Already copied to the new backend: {copied}. No workspaces in the source \
                 state have been modified, and the previous backend is still in use. Resolve the error, then run init again."
            ));
        }
        problems
    }
}

impl Migration<'_> {
    /// Copies the states of all workspaces if the user agrees. The old states stay until [`Migrated::retire`].
    ///
    /// # Errors
    /// Prompting is not possible, the user aborts, or a state is locked or cannot be read or written.
    pub fn run(&self, context: &mut Context) -> Result<Migrated, Diagnostics> {
        let mut migrated = Migrated::default();
        let names = self.from.backend.workspaces()?;
        // With only the default workspace, the question about its state is enough.
        if let [only] = &*names {
            self.copy(context, only, self.consent, &mut migrated)?;
            return Ok(migrated);
        }
        if self.are_same(context, &names)? {
            return Ok(migrated);
        }
        if !self.to.backend.has_workspaces() {
            self.copy_current(context, &mut migrated)?;
            return Ok(migrated);
        }
        let title = format!("Do you want to migrate all workspaces to {:?}?", self.to.name);
        if self.consent == Consent::Asked && !agrees(context, &title, ALL)? {
            return Err(aborted());
        }
        for name in &names {
            self.copy(context, name, Consent::Given, &mut migrated)
                .map_err(|problems| migrated.explain(problems, name))?;
        }
        Ok(migrated)
    }

    /// Copies the current workspace to the only one of a backend without workspaces.
    fn copy_current(&self, context: &mut Context, migrated: &mut Migrated) -> Result<(), Diagnostics> {
        let current = context.settings.workspace.clone();
        let title =
            format!("Destination backend {:?} stores one state only. Copy only the current workspace?", self.to.name);
        let text = format!(
            "The previous backend has several workspaces. Only the state of the current one,\n{current:?}, will be copied; the others stay \
             where they are.\n\nEnter \"yes\" to copy it, or \"no\" to cancel without changes."
        );
        if self.consent == Consent::Asked && !agrees(context, &title, &text)? {
            return Err(aborted());
        }
        self.copy(context, &current, Consent::Given, migrated)
    }

    /// Returns the workspace that the state of `name` is copied to. A backend may have no workspace of that name.
    fn target(&self, context: &mut Context, name: &str) -> Result<String, Diagnostics> {
        let Backend::Remote(remote) = self.to.backend else { return Ok(name.to_owned()) };
        if remote.supports_workspace(name) {
            return Ok(name.to_owned());
        }
        if let Some(only) = remote.default_workspace() {
            return Ok(only);
        }
        let unnamed = || {
            fail(
                "The new backend has no default workspace",
                format!(
                    "The state of the workspace {name:?} needs another name there. Run init with interactive input to enter one, or switch to a \
                     workspace with the name before: workspace new -state=FILE NAME copies a state."
                ),
            )
        };
        if context.settings.questions == Questions::Forbidden || context.messages().is_some() {
            return Err(unnamed());
        }
        let title = format!("The backend {:?} has no workspace {name:?}. Enter a name for its state:", self.to.name);
        match context.prompter()?.ask(&title, "The workspace is created if it does not exist.") {
            Answer::Line(line) if !line.trim().is_empty() => Ok(line.trim().to_owned()),
            _ => Err(unnamed()),
        }
    }

    /// Whether all states stay where they are.
    fn are_same(&self, context: &Context, names: &[String]) -> Result<bool, Diagnostics> {
        for name in names {
            let source = self.location(context, &self.from, name)?;
            // A target that cannot be located, because the new backend has no such workspace, is another place.
            let is_same = || self.location(context, &self.to, name).is_ok_and(|target| target.is_same(&source));
            if source.has_state()? && !is_same() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn location(&self, context: &Context, side: &Side<'_>, workspace: &str) -> Result<StateLocation, Diagnostics> {
        location_in(context, side.backend, self.module, workspace, StateOverrides::default())
    }

    /// Copies the state of the workspace `name`.
    fn copy(
        &self,
        context: &mut Context,
        name: &str,
        consent: Consent,
        migrated: &mut Migrated,
    ) -> Result<(), Diagnostics> {
        let source = self.location(context, &self.from, name)?;
        // Nobody is asked for a name of a state that does not exist.
        if !source.has_state()? {
            return Ok(());
        }
        let to = self.target(context, name)?;
        let target = self.location(context, &self.to, &to)?;
        // Copying a state onto itself would retire the only copy.
        if source.is_same(&target) {
            return Ok(());
        }
        let old_files = match &source {
            StateLocation::Files(paths) if self.old_file == OldFile::Retired => Some(paths.clone()),
            _ => None,
        };
        let mut from = self.open(context, source, &self.locking[0])?;
        // An empty state has nothing to lose, and copying it could overwrite one that has.
        if from.state.is_empty() {
            return Ok(());
        }
        if old_files.is_some() {
            // The journal must not outlive the file: otherwise its results would be recovered into a new state there.
            from.store.catch_up(&mut from.state).map_err(|problem| Diagnostics::from(problem.diagnostic()))?;
        }
        let mut to = self.open(context, target, &self.locking[1])?;
        // The same version may be there from an earlier init.
        if !is_same_state(&from.state, &to.state) {
            if consent == Consent::Asked && !agrees(context, COPY, &explanation(&from, &to))? {
                return Ok(());
            }
            // Serial and lineage stay those of the old state, whether the new backend had one or not.
            to.store.put(&mut from.state).map_err(|problem| Diagnostics::from(problem.diagnostic()))?;
        }
        migrated.workspaces.push(name.to_owned());
        migrated.retiring.extend(old_files.map(|paths| (paths, from.store)));
        Ok(())
    }

    /// Opens a state that has no operations of an interrupted run.
    fn open(
        &self,
        context: &mut Context,
        location: StateLocation,
        locking: &Locking,
    ) -> Result<OpenState, Diagnostics> {
        let shown = location.shown();
        let opened = open_for_changes(context, location, locking)?;
        if opened.in_flight.is_empty() {
            return Ok(opened);
        }
        Err(fail(
            "Unfinished operations of an interrupted run",
            format!(
                "An earlier run on {shown} was interrupted, and the results of its operations are unknown. Restore the previous backend \
                 configuration and run apply to recover them, then migrate the state."
            ),
        ))
    }
}

fn aborted() -> Diagnostics {
    fail("Migration aborted by user.", "Nothing was copied, and the backend is unchanged.")
}

const COPY: &str = "Do you want to copy existing state to the new backend?";

const ALL: &str = "There are several workspaces. All their states will be copied to workspaces of\n\
                   the same name, and OVERWRITE existing states there. To migrate only some of\n\
                   them, answer \"no\" and use state pull and state push.\n\n\
                   Enter \"yes\" to copy all states, or \"no\" to cancel without changes.";

fn explanation(from: &OpenState, to: &OpenState) -> String {
    let describe = |of: &OpenState| {
        let instances = of.state.iter().count();
        format!("{} (serial {}, resource instances: {instances})", of.store.location(), of.state.serial)
    };
    if to.state.is_empty() {
        // Nothing would be overwritten, so the question is shorter.
        return format!(
            "The previous backend has a state, and the new one has none:\n\n  old: {}\n  new: {}\n\nEnter \"yes\" to copy the state, or \
             \"no\" to start with an empty state.",
            describe(from),
            to.store.location()
        );
    }
    // A remote store keeps no backup file.
    let backup = match to.store.file() {
        Some(_) => ", which keeps a\nbackup next to it,",
        None => "",
    };
    format!(
        "Both backends have a state, and the states differ:\n\n  old: {}\n  new: {}\n\nEnter \"yes\" to OVERWRITE the new state with the \
         old one{backup} or \"no\" to use the state of the new backend.",
        describe(from),
        describe(to)
    )
}

/// Prompts for confirmation; only `yes` confirms.
fn agrees(context: &mut Context, title: &str, text: &str) -> Result<bool, Diagnostics> {
    if context.settings.questions == Questions::Forbidden || context.messages().is_some() {
        return Err(fail(
            "Can't ask approval for state migration when interactive input is disabled.",
            "The state would be copied to the new backend, which needs confirmation. Confirm with -force-copy, or keep the state where it \
             is with -reconfigure.",
        ));
    }
    match context.prompter()?.ask(title, text) {
        // Any other answer declines, so that an accident does not overwrite a state.
        Answer::Line(line) => Ok(line == "yes"),
        Answer::NotUtf8 => Ok(false),
        Answer::End => Err(fail(
            "Error asking for state migration action: EOF",
            "Standard input ended before an answer was given. Nothing was changed. Use -force-copy to migrate without a prompt.",
        )),
        Answer::Interrupted => {
            Err(fail("Error asking for state migration action: interrupted", "Nothing was changed."))
        }
    }
}

/// Whether both states are the same version of the same state.
fn is_same_state(from: &State, to: &State) -> bool {
    from.lineage == to.lineage && from.serial == to.serial && !to.is_empty()
}

/// Renames the file of a migrated state to a backup.
fn retire(paths: &StatePaths) -> Result<(), Diagnostics> {
    let file = &paths.write;
    let failed = |what: String, problem: &std::io::Error| {
        fail(
            &format!("Failed to move {} out of the way", file.display()),
            format!(
                "The state was copied to the new backend, which is in use now, but {what}: {}. Move the file yourself: commands without the \
                 backend block would find it first.",
                io_reason(problem)
            ),
        )
    };
    // An existing backup belongs to an earlier state and must not be overwritten.
    let usual = paths.backup.path().filter(|backup| !backup.exists()).map(Path::to_owned);
    let backup = usual
        .map_or_else(|| claim_backup(file), Ok)
        .map_err(|problem| failed("no backup of the old file could be made".to_owned(), &problem))?;
    std::fs::rename(file, &backup)
        .map_err(|problem| failed(format!("the old file cannot be renamed to {}", backup.display()), &problem))
}
