//! The journal beside a state file: what an earlier run left in it, and where the next one goes on.

use std::io;
use std::sync::Arc;

use super::disk::changed_meanwhile;
use super::open::{is_at, open_private, read_if_there, try_lock};
use super::paths::StatePaths;
use crate::error::{StateError, StateErrorKind};
use crate::journal::{self, Journal, Place, Recovered, Seal, Tail, recover, unseal};
use crate::storage::Storage;

/// What an earlier run left in the journal.
#[derive(Default)]
pub(super) struct Left {
    /// The file's length.
    pub length: u64,
    /// Where the whole records end.
    pub end: u64,
    pub is_folded: bool,
    pub under_way: Vec<Place>,
    pub tail: Tail,
}

impl Left {
    /// Opens the journal for notes after what was found in it; nobody else may write it until it is dropped.
    pub fn open_journal(&self, paths: &StatePaths) -> Result<Arc<Journal>, StateError> {
        let path = paths.journal();
        let failed = |action: &str, error: &io::Error| StateError::io(action, &path, error);
        let file = loop {
            let file = open_private(&path).map_err(|error| failed("open", &error))?;
            if !try_lock(&file).map_err(|error| failed("lock", &error))? {
                return Err(journal_in_use());
            }
            if is_at(&file, &path) {
                break file;
            }
        };
        if file.length().map_err(|error| failed("read", &error))? != self.length {
            return Err(changed_meanwhile(&path));
        }
        if self.end == 0 {
            file.set_length(0).map_err(|error| failed("write", &error))?;
        }
        let keyring = paths.encryption.as_ref().map_or(Ok(None), |encryption| encryption.current());
        let tail = if self.end == 0 { Tail::Clear } else { self.tail };
        let seal = Seal::new(keyring.map_err(journal::failed)?, tail);
        Ok(Arc::new(Journal::open(path, Arc::new(file), self.end, &self.under_way, seal)))
    }
}

/// What is in the journal, if there is one.
pub(super) fn read_journal(paths: &StatePaths) -> Result<(Left, Option<Recovered>), StateError> {
    let path = paths.journal();
    let Some(bytes) = read_if_there(&path)? else { return Ok((Left::default(), None)) };
    let unsealed = unseal(&bytes, paths.encryption.as_deref()).map_err(|error| error.in_file(&path))?;
    let mut recovered = recover(&unsealed.bytes).map_err(|error| error.in_file(&path))?;
    if let (Some(recovered), Some(end)) = (&mut recovered, unsealed.end) {
        recovered.end = end;
    }
    let left = Left {
        length: bytes.len() as u64,
        end: recovered.as_ref().map_or(0, |recovered| recovered.end),
        is_folded: recovered.as_ref().is_none_or(Recovered::is_folded),
        under_way: recovered.as_ref().map_or_else(Vec::new, Recovered::under_way),
        tail: unsealed.tail,
    };
    Ok((left, recovered))
}

fn journal_in_use() -> StateError {
    StateError::new(
        StateErrorKind::Locked,
        "Error acquiring the state lock",
        "Another run is changing what this state describes, and writes its journal. -lock=false cannot help here: wait \
         until the other run has ended.",
    )
}
