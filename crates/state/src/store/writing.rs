//! Crash-safe writes of a state file: at no moment both the old and the new content could be lost.

use std::fs::File;
use std::io;

use super::backup::back_up;
use super::disk::Disk;
use super::left::Retire;
use super::local::LocalStore;
use super::open::make_private;
use super::sealed::sealed;
use crate::content::{Content, fill_content, replace_content};
use crate::error::StateError;
use crate::file::{write, write_pieces};
use crate::model::State;
use crate::storage::Storage;

/// From how many bytes of its journal on a first state is written piece by piece.
const LONG: u64 = 64 << 20;

impl LocalStore {
    pub(super) fn back_up(&mut self, old: &dyn Storage) -> Result<(), StateError> {
        // Only a real state deserves a backup, and only the one before the first change.
        if self.backup_made || !self.disk.is_state {
            return Ok(());
        }
        back_up(&mut self.paths, self.disk.is_current, old)?;
        self.backup_made = true;
        Ok(())
    }

    /// Writes a new content: to the journal first, so that it is safe while the file is neither old nor new.
    pub(super) fn write_content(
        &mut self,
        file: &File,
        lineage: &str,
        serial: u64,
        parts: &[&[u8]],
    ) -> Result<(), StateError> {
        let journal = match &self.journal {
            Some(journal) => journal.clone(),
            None => self.left.open_journal(&self.paths)?,
        };
        // A new journal must name the run that its records belong to.
        if journal.is_empty() {
            journal.start_run(&self.header(lineage))?;
        }
        // Encrypted before the file is touched, because a missing key must leave it as it is.
        let sealed = match &self.paths.encryption {
            None => None,
            Some(encryption) => Some(sealed(Some(encryption), parts.concat())?),
        };
        journal.snapshot(lineage, serial, parts)?;
        self.journal = Some(journal.clone());
        make_private(file);
        let whole = sealed.as_deref().map(|sealed| [sealed]);
        let parts = whole.as_ref().map_or(parts, |whole| &whole[..]);
        replace_content(file, parts).map_err(|error| self.unwritten(&error))?;
        // Without that note the next run compares the file with the journal.
        let _ = journal.written();
        self.disk = Disk { serial, ..Disk::written(Content::of_parts(parts)) };
        self.paths.read.clone_from(&self.paths.write);
        Ok(())
    }

    /// Whether a first state is to be written: where nothing was when the run began, and since then only its own checkpoints.
    pub(super) fn is_first(&self, file: &File) -> Result<bool, StateError> {
        // Encryption needs the whole content in memory, so there is no incremental first write.
        if !self.disk.from_nothing || self.disk.is_other_file || self.paths.encryption.is_some() {
            return Ok(false);
        }
        let found = Content::of_file(file).map_err(|error| StateError::io("read", &self.paths.write, &error))?;
        Ok(found == self.disk.content && (found.length == 0 || self.disk.is_checkpoint))
    }

    /// Whether the journal contains everything that is in a first state, and is being synced: then the new content need not
    /// be recorded as a whole.
    pub(super) fn is_recorded_by_journal(&self, state: &State) -> Result<bool, StateError> {
        self.journal.as_ref().map_or(Ok(false), |journal| journal.complete(state))
    }

    /// Writes a first state that the journal tells. While it is made the journal is brought to the disk, which has to be
    /// done before the file changes.
    pub(super) fn write_first(&mut self, file: &File, state: &State) -> Result<(), StateError> {
        make_private(file);
        // A long journal means a large state, which would double the memory of the process.
        let is_long = self.journal.as_ref().is_some_and(|journal| journal.end() > LONG);
        let content = if is_long { self.fill_first(file, state)? } else { self.put_first(file, state)? };
        self.disk = Disk { serial: state.serial, ..Disk::written(content) };
        self.paths.read.clone_from(&self.paths.write);
        Ok(())
    }

    /// Writes a first state piece by piece, so that it need not be in memory.
    ///
    /// The state is serialized twice. The first time only its length is counted, since room for all of it must be there before
    /// the file is touched. A temporary file and a rename would avoid the moments in which the file is unreadable, but locks are
    /// on the file itself: a waiting Terraform would get the lock on the file that was replaced, and write its state there.
    fn fill_first(&self, file: &File, state: &State) -> Result<Content, StateError> {
        let mut length = 0;
        let counted = write_pieces(state, &mut |piece| {
            length += piece.len() as u64;
            Ok(())
        });
        counted.map_err(|error| self.unwritten(&error))?;
        // The journal must be on the disk before the file becomes unreadable for a moment.
        if let Some(journal) = &self.journal {
            journal.sync()?;
        }
        fill_content(file, length, |take| write_pieces(state, take)).map_err(|error| self.unwritten(&error))
    }

    fn put_first(&self, file: &File, state: &State) -> Result<Content, StateError> {
        let whole = write(state);
        if let Some(journal) = &self.journal {
            journal.sync()?;
        }
        replace_content(file, &[&whole]).map_err(|error| self.unwritten(&error))?;
        Ok(Content::of(&whole))
    }

    /// That the file could not be written although the journal has its content.
    fn unwritten(&self, error: &io::Error) -> StateError {
        StateError::io("write", &self.paths.write, error)
            .with_advice("The new state is complete in the journal next to the file; the next run puts it in place.")
    }

    /// Ends the journal: everything is in the file. Calls still under way stay noted.
    pub(super) fn retire_journal(&mut self, lineage: &str) -> Result<(), StateError> {
        // Without the lock another run may use the journal, so only the records of this run are retired.
        let is_ours = self.lock.is_some() || self.is_behind;
        self.is_behind = false;
        let scope = if is_ours { Retire::Any } else { Retire::Own };
        let header = self.header(lineage);
        let journal = self.journal.take();
        self.left.retire(journal, &self.paths, &header, scope)
    }
}
