//! A state that is being changed: under its lock, with a backup of its own, and with the way back.

use std::path::Path;
use std::sync::Arc;

use groma_diagnostics::Diagnostics;
use groma_encryption::Encryption;
use groma_state::{Backup, LocalStore, Locking, Saved, State, StatePaths};

use super::super::backend::{Elsewhere, locking, state_paths};
use super::super::configuration::load_to_change_state;
use super::super::context::Context;
use super::super::operation::open_state;
use super::reading::must_exist;
use crate::arguments::StateChange;

/// A state, opened for a change.
pub(super) struct Changing {
    pub state: State,
    store: LocalStore,
    /// Whether it is a file that the user named, not the state of the workspace.
    origin: Origin,
}

/// The source of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// The state of the selected workspace.
    Workspace,
    /// A file that the user named.
    Named,
}

impl Changing {
    /// The state that the flags ask for; it must be there.
    pub fn open(context: &mut Context, change: &StateChange, operation: &str) -> Result<Self, Diagnostics> {
        context.view(&change.access.common.view);
        context.speak(&change.json)?;
        let configuration = load_to_change_state(context)?;
        let elsewhere = Elsewhere { state: change.state.as_deref(), ..Elsewhere::default() };
        let paths = state_paths(context, &configuration.root, elsewhere)?;
        must_exist(&paths)?;
        let origin = if change.state.is_some() { Origin::Named } else { Origin::Workspace };
        Self::at(context, paths, change.backup.as_deref(), &locking(&change.access.locking, operation), origin)
    }

    /// The state in a file, which need not be there yet.
    pub fn of_file(
        context: &mut Context,
        file: &Path,
        backup: Option<&Path>,
        locking: &Locking,
        encryption: Option<Arc<Encryption>>,
    ) -> Result<Self, Diagnostics> {
        Self::at(context, StatePaths::of_file(file).encrypted(encryption), backup, locking, Origin::Named)
    }

    fn at(
        context: &mut Context,
        paths: StatePaths,
        backup: Option<&Path>,
        locking: &Locking,
        origin: Origin,
    ) -> Result<Self, Diagnostics> {
        // These commands cannot do without a backup: "-" asks for none where that is possible.
        let named = backup.filter(|backup| backup.as_os_str() != "-").map(Path::to_owned);
        let (store, state) = open_state(context, paths.with_backup(named.map_or(Backup::New, Backup::At)), locking)?;
        Ok(Self { state, store, origin })
    }

    /// Returns the encryption of the state.
    pub fn encryption(&self) -> Option<Arc<Encryption>> {
        self.store.paths().encryption.clone()
    }

    /// Whether the state is in that file.
    pub fn is_in(&self, file: &Path) -> bool {
        let canonical = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        canonical(&self.store.paths().write) == canonical(file)
    }

    /// Writes the state; what to say about the way back.
    pub fn save(mut self, command: &str) -> Result<String, Diagnostics> {
        let saved = self.store.save(&mut self.state).map_err(|problem| Diagnostics::from(problem.diagnostic()))?;
        let paths = self.store.paths();
        let backup = paths.backup.path().filter(|backup| saved != Saved::Unchanged && backup.exists());
        Ok(backup.map(|backup| undo(command, backup, &paths.write, self.origin)).unwrap_or_default())
    }
}

fn undo(command: &str, backup: &Path, file: &Path, origin: Origin) -> String {
    let (backup, file) = (backup.display(), file.display());
    match origin {
        Origin::Workspace => format!("To undo this: {command} state push -force {backup}\n"),
        Origin::Named => format!("To undo this: cp {backup} {file}\n"),
    }
}
