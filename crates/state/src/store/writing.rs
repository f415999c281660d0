//! How a new content gets into a state file, so that at no moment the old one and the new one could both be lost.

use std::fs::{self, File};
use std::io;

use super::disk::{Disk, content_of_parts};
use super::left::Left;
use super::local::LocalStore;
use super::open::{copy_whole, make_private, write_whole};
use super::sealed::{clear, sealed};
use crate::content::{fill_content, replace_content};
use crate::error::StateError;
use crate::file::write_pieces;
use crate::journal::Tail;
use crate::model::State;
use crate::storage::Storage;

impl LocalStore {
    pub(super) fn back_up(&mut self, old: &dyn Storage) -> Result<(), StateError> {
        if self.backup_made || !self.disk.is_state {
            return Ok(());
        }
        if let Some(backup) = &self.paths.backup {
            // What was not sealed, or otherwise, is sealed in the backup as it will be in the file.
            let copied = if self.disk.is_current {
                copy_whole(backup, old)
            } else {
                let bytes = old.read_all().map_err(|error| StateError::io("read", &self.paths.write, &error))?;
                let content = clear(&self.paths, &self.paths.write, &bytes)?.bytes.into_owned();
                write_whole(backup, &sealed(self.paths.encryption.as_deref(), content)?)
            };
            copied
                .map_err(|error| StateError::io("write", backup, &error).with_advice(
                    "This is the backup of the state, which is made before the state is changed. With -backup=- none is \
                     made.",
                ))?;
        }
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
        if journal.is_empty() {
            journal.start_run(&self.header(lineage))?;
        }
        let sealed = match &self.paths.encryption {
            None => None,
            Some(encryption) => Some(sealed(Some(encryption), parts.concat())?),
        };
        journal.snapshot(lineage, serial, parts)?;
        self.journal = Some(journal);
        make_private(file);
        let whole = sealed.as_deref().map(|sealed| [sealed]);
        let parts = whole.as_ref().map_or(parts, |whole| &whole[..]);
        replace_content(file, parts).map_err(|error| self.unwritten(&error))?;
        self.disk = Disk { serial, ..Disk::written(content_of_parts(parts)) };
        self.paths.read.clone_from(&self.paths.write);
        Ok(())
    }

    /// Whether a first state is to be written where nothing was, and nothing is: piece by piece, so not if it is sealed.
    pub(super) fn is_first(&self, file: &File) -> bool {
        let was_nothing = self.disk.from_nothing && self.disk.content.0 == 0 && !self.disk.is_elsewhere;
        was_nothing && self.paths.encryption.is_none() && file.length().is_ok_and(|length| length == 0)
    }

    /// Whether the journal says all that is in a first state, and is on its way to the disk: then the new content need not
    /// be noted as a whole.
    pub(super) fn is_told_by_journal(&self, state: &State) -> Result<bool, StateError> {
        self.journal.as_ref().map_or(Ok(false), |journal| journal.complete(state))
    }

    /// Writes a first state that the journal tells. While it is brought to the disk the journal is too: it has to be there
    /// before the file is one that somebody may read.
    pub(super) fn write_first(&mut self, file: &File, state: &State) -> Result<(), StateError> {
        make_private(file);
        let filled = fill_content(file, |take| write_pieces(state, take)).map_err(|error| self.unwritten(&error))?;
        if let Some(Err(problem)) = self.journal.as_ref().map(|journal| journal.sync()) {
            filled.give_up();
            return Err(problem);
        }
        let content = filled.finish().map_err(|error| self.unwritten(&error))?;
        self.disk = Disk { serial: state.serial, ..Disk::written(content) };
        self.paths.read.clone_from(&self.paths.write);
        Ok(())
    }

    fn unwritten(&self, error: &io::Error) -> StateError {
        StateError::io("write", &self.paths.write, error)
            .with_advice("The new state is complete in the journal beside the file; the next run puts it in place.")
    }

    /// Ends the journal: everything is in the file. Calls still under way stay noted.
    pub(super) fn retire_journal(&mut self, lineage: &str) -> Result<(), StateError> {
        let path = self.paths.journal();
        let journal = match self.journal.take() {
            Some(journal) => journal,
            None if self.left.length > 0 && (self.lock.is_some() || self.is_behind) => {
                self.left.open_journal(&self.paths)?
            }
            None => return Ok(()),
        };
        self.is_behind = false;
        self.left = Left::default();
        if journal.has_calls_under_way() {
            let end = journal.start_run(&self.header(lineage))?;
            journal.trim();
            let tail = if journal.is_sealed() { Tail::Sealed } else { Tail::Clear };
            self.left = Left { length: end, end, is_folded: true, under_way: journal.under_way(), tail };
            return Ok(());
        }
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(StateError::io("remove", &path, &error)),
            _ => {
                journal.removed();
                Ok(())
            }
        }
    }
}
