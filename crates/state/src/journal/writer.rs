//! The writing side.

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use groma_address::{ConfigResource, ProviderConfig, ResourceInstance};

use super::record::{self, Begin, Finished, Numbers, Outcome, Place, Prior, RunHeader};
use super::{MAGIC, frame};
use crate::error::StateError;
use crate::file::{write_check_results, write_outputs};
use crate::model::State;
use crate::object::{Dependencies, DeposedKey, ObjectRecord};
use crate::storage::Storage;

/// How long a record may wait for others before they are brought to the disk together.
const GROUP_DELAY: Duration = Duration::from_millis(20);

/// The journal of the run under way. All methods write before they return; they may be called from any thread.
///
/// A method that fails has written nothing, and may be called again: when the disk is full, results that come in later
/// are still recorded once there is room.
pub struct Journal {
    path: PathBuf,
    storage: Arc<dyn Storage>,
    writer: Mutex<Writer>,
    sync: Arc<Sync>,
    thread: Option<JoinHandle<()>>,
}

/// Where the next record goes, and which texts and lists have numbers already.
struct Writer {
    end: u64,
    buffer: Vec<u8>,
    known: Known,
}

#[derive(Default)]
struct Known {
    texts: u64,
    lists: u64,
    providers: HashMap<ProviderConfig, u64>,
    resources: HashMap<Arc<ConfigResource>, u64>,
    /// By the list itself; lists with the same content may have several numbers, which only costs room.
    dependencies: HashMap<*const Arc<ConfigResource>, (u64, Dependencies)>,
}

// The pointers are only compared; the lists they point to are kept beside them.
#[allow(unsafe_code)]
unsafe impl Send for Known {}

#[derive(Default)]
struct Sync {
    state: Mutex<SyncState>,
    wake: Condvar,
}

#[derive(Default)]
struct SyncState {
    dirty: bool,
    stop: bool,
    error: Option<io::Error>,
}
