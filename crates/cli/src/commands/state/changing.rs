//! Changes of a state by the `state` subcommands: under its lock, with its own backup, and with an undo command.

use std::path::Path;
use std::sync::Arc;

use groma_diagnostics::Diagnostics;
use groma_encryption::Encryption;
use groma_state::{Backup, Locking, Saved, State, StatePaths};

use super::super::backend::{StateHandle, StateLocation, StateOverrides, file_location, locking, state_location};
use super::super::configuration::{Purpose, load};
use super::super::context::Context;
use super::super::operation::open_state;
use super::reading::must_exist;
use crate::arguments::StateChange;

/// A state opened for a change.
pub(super) struct Changing {
    pub state: State,
    store: StateHandle,
    origin: Origin,
}

/// Origin of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// The state of the current workspace.
    Workspace,
    /// A file from a flag.
    Named,
}

impl Changing {
    /// Applies the presentation flags of a change. This comes first, so that errors in its addresses are shown as the flags
    /// demand.
    pub fn configure(context: &mut Context, change: &StateChange) -> Result<(), Diagnostics> {
        context.configure_view(&change.access.common.view);
        context.configure_json(&change.json)
    }

    /// Opens the state that the flags select, which must exist.
    pub fn open(context: &mut Context, change: &StateChange, operation: &str) -> Result<Self, Diagnostics> {
        let (configuration, _) = load(context, Purpose::ChangeState)?;
        let location = match change.state.as_deref() {
            Some(file) => file_location(&configuration.root, file)?,
            None => state_location(context, &configuration.root, StateOverrides::default())?,
        };
        // Opening a missing state would create a lock file and report an empty state instead.
        must_exist(&location)?;
        let origin = if change.state.is_some() { Origin::Named } else { Origin::Workspace };
        Self::at(context, location, change.backup.as_deref(), &locking(&change.access.locking, operation), origin)
    }

    /// Opens the state in a file, which need not exist.
    pub fn of_file(
        context: &mut Context,
        file: &Path,
        backup: Option<&Path>,
        locking: &Locking,
        encryption: Option<Arc<Encryption>>,
    ) -> Result<Self, Diagnostics> {
        let location = StateLocation::Files(StatePaths::of_file(file).encrypted(encryption));
        Self::at(context, location, backup, locking, Origin::Named)
    }

    fn at(
        context: &mut Context,
        location: StateLocation,
        backup: Option<&Path>,
        locking: &Locking,
        origin: Origin,
    ) -> Result<Self, Diagnostics> {
        // The `state` subcommands always write a backup, so "-" (no backup) selects the default name.
        let named = backup.filter(|backup| backup.as_os_str() != "-").map(Path::to_owned);
        let location = location.with_backup(named.map_or(Backup::New, Backup::At));
        let (store, state) = open_state(context, location, locking)?;
        Ok(Self { state, store, origin })
    }

    /// Returns the encryption of the state.
    pub fn encryption(&self) -> Option<Arc<Encryption>> {
        self.store.encryption().cloned()
    }

    /// Whether the state is stored in `file`.
    pub fn is_in(&self, file: &Path) -> bool {
        // Two spellings of one path would otherwise open and lock the file twice.
        let canonical = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        self.store.file().is_some_and(|own| canonical(own) == canonical(file))
    }

    /// Writes the state; returns the message with the undo command, or an empty string if nothing changed.
    pub fn save(mut self, command: &str) -> Result<String, Diagnostics> {
        let saved = self.store.save(&mut self.state).map_err(|problem| Diagnostics::from(problem.diagnostic()))?;
        // Without a backup there is nothing to undo to.
        let backup = self.store.backup_path().filter(|backup| saved != Saved::Unchanged && backup.exists());
        Ok(backup.map(|backup| undo(command, backup, &self.store.location(), self.origin)).unwrap_or_default())
    }
}

fn undo(command: &str, backup: &Path, file: &str, origin: Origin) -> String {
    let backup = backup.display();
    match origin {
        // A workspace state may be remote, so the undo goes through the program.
        Origin::Workspace => format!("To undo this: {command} state push -force {backup}\n"),
        Origin::Named => format!("To undo this: cp {backup} {file}\n"),
    }
}
