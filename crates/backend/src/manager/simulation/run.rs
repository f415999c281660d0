//! The simulated runs: commands that lock the state, change objects of the cloud, and save.

use std::path::Path;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use groma_address::{ProviderAddress, ProviderConfig, ResourceInstance};
use groma_state::{
    AttributesJson, Backup, Begin, CreateRequest, DamagedJournal, DeposedKey, Journal, LockRequest, Locking,
    ObjectRecord, ObjectStatus, Operation, Outcome, PersistIntervals, Saved, State, StateError, StateErrorKind,
};
use tempfile::TempDir;

use super::super::backend::RemoteBackend;
use super::super::guard::Waiting;
use super::super::open::{OpenOptions, OpenedRemote, RemoteHandle};
use super::cloud::{self, Asked};
use super::storage::SimulatedStore;
use super::world::{Answer, MachineClock, World};
use crate::registry;
use crate::store::StateStore;
use crate::{Environment, Host};

/// The attempts to open the state while another run holds its lock.
const ATTEMPTS: u64 = 60;

/// The number of addresses that all runs change.
const SHARED: u64 = 4;

/// Opens the store as a run of a machine reaches it.
pub(super) type OpenStore = Arc<dyn Fn(&Arc<World>, usize) -> Arc<dyn StateStore> + Send + Sync>;

/// Returns how runs open the simulated store.
pub(super) fn simulated() -> OpenStore {
    Arc::new(|world, actor| Arc::new(SimulatedStore { world: world.clone(), actor }))
}

/// A machine on which runs follow each other.
pub(super) struct Machine {
    pub world: Arc<World>,
    pub actor: usize,
    pub store: OpenStore,
    /// The directory of journals, which a lost machine takes along.
    pub disk: TempDir,
}

/// The end of a run.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum End {
    Saved,
    /// The run reported this error.
    Failed(StateErrorKind),
    Dead,
}

struct Never;

impl Waiting for Never {
    fn keep_waiting(&self) -> bool {
        false
    }

    fn is_slow(&self, _: &str) {}
}

pub(super) fn new_disk() -> TempDir {
    // In memory, where that is possible: thousands of histories write journals.
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap()
}

pub(super) fn provider() -> ProviderConfig {
    ProviderConfig::default_in_root(ProviderAddress::default_for("cloud"))
}

fn object(id: &str) -> Arc<ObjectRecord> {
    Arc::new(ObjectRecord::new(0, AttributesJson::new(format!("{{\"id\":\"{id}\"}}"))))
}

impl Machine {
    pub fn backend(&self) -> RemoteBackend {
        let ty = registry::find("inmem").unwrap();
        let config = (ty.schema)().conform(&groma_value::Value::NULL).unwrap();
        let host = Host { environment: Environment::default(), ..Host::default() };
        let store = (self.store)(&self.world, self.actor);
        let clock = MachineClock { world: self.world.clone(), actor: self.actor };
        RemoteBackend::connect(ty, config, &host).unwrap().over(store).simulated(Arc::new(clock))
    }

    pub fn below(&self, bound: u64) -> u64 {
        self.world.lock().random.below(bound)
    }

    pub fn is_dead(&self) -> bool {
        self.world.is_dead(self.actor)
    }

    /// Returns an address that all runs change, or one that only runs on this machine do.
    pub fn chosen_address(&self) -> ResourceInstance {
        let (is_shared, number) = (self.below(2) == 0, self.below(1 << 40));
        let text = match is_shared {
            true => format!("cloud_it.shared{}", number % SHARED),
            false => format!("cloud_it.own{}_{}", self.actor, number % 3),
        };
        text.parse().unwrap()
    }

    pub fn request(&self) -> LockRequest {
        LockRequest {
            operation: "OperationTypeApply".to_owned(),
            info: String::new(),
            who: format!("run@{}", self.actor),
            version: "1".to_owned(),
            timeout: Duration::ZERO,
        }
    }

    /// Opens the state, and waits for its lock.
    fn open(&self) -> Result<OpenedRemote, StateError> {
        let backend = self.backend();
        let request = self.request();
        let mut attempt = 0;
        loop {
            attempt += 1;
            // No run lasts a day, so the state is written at its end only.
            let day = Duration::from_secs(86_400);
            let locking = Locking::On(request.clone());
            let options = || OpenOptions {
                locking: &locking,
                waiting: &Never,
                report: Arc::new(|_, _| {}),
                encryption: None,
                backup: Backup::None,
                damaged_journal: DamagedJournal::Refuse,
                journals: self.disk.path(),
                terraform_version: "1.15.5",
                persist_intervals: PersistIntervals { with_journal: day, without_journal: day },
            };
            let opened = match backend.open_unshared("default", &options()) {
                Ok(None) => backend.open("default", options()),
                Ok(Some(opened)) => Ok(opened),
                Err(problem) => Err(problem),
            };
            match opened {
                Err(problem) if attempt < ATTEMPTS && !self.is_dead() => {
                    let kinds = [StateErrorKind::Locked, StateErrorKind::Io, StateErrorKind::Changed];
                    assert!(kinds.contains(&problem.kind), "{problem:?}");
                    self.world.sleep(self.actor, Duration::from_millis(1000 + self.below(20_000)));
                }
                opened => return opened,
            }
        }
    }

    /// Makes one run with so many actions.
    pub fn run(&self, actions: u64) -> End {
        let OpenedRemote { mut handle, opened } = match self.open() {
            Ok(opened) => opened,
            Err(problem) => return self.ended(&problem),
        };
        let mut state = opened.state.unwrap_or_default();
        let journal = match handle.begin_run(&mut state) {
            Ok(journal) => journal,
            Err(problem) => return self.ended(&problem),
        };
        for view in state.iter() {
            let ids = view.record.deposed.values().filter_map(|object| object.id_json());
            self.world.lock().cloud.deposed.extend(ids.map(|id| id.replace('"', "")));
        }
        let mut acting = Acting { machine: self, handle: &mut handle, journal: &journal, state: &mut state };
        let acted = acting.recover(opened.in_flight).and_then(|()| {
            (0..actions).try_for_each(|_| {
                let address = self.chosen_address();
                acting.act(&address)
            })
        });
        // A run that may not go on still saves what it has done.
        let stopped = match acted {
            Err(Stopped::Dead) => return End::Dead,
            Err(Stopped::By(problem)) => Some(problem),
            Ok(()) => None,
        };
        if self.is_dead() {
            return End::Dead;
        }
        match handle.save(&mut state) {
            Ok(saved) => {
                self.check_saved(saved, &state);
                stopped.map_or(End::Saved, |problem| self.ended(&problem))
            }
            Err(problem) => self.ended(&problem),
        }
    }

    pub fn ended(&self, problem: &StateError) -> End {
        if self.is_dead() { End::Dead } else { End::Failed(problem.kind) }
    }

    /// Checks that a state which a run reports as saved was written with this serial.
    fn check_saved(&self, saved: Saved, state: &State) {
        let Saved::Written(serial) = saved else { return };
        let mut inner = self.world.lock();
        let content = groma_state::file::write(state);
        if !inner.storage.written.iter().any(|(written, bytes)| *written == serial && *bytes == content) {
            inner.violate(format!("serial {serial} is reported as saved, and was never written"));
        }
    }
}

/// The reason why a run makes no further change.
pub(super) enum Stopped {
    Dead,
    By(StateError),
}

/// The state of a run, whose background work is left to the caller.
pub(super) trait Handle {
    /// Copies the journal to the store.
    fn replicate(&mut self);

    /// Renews the lock or the claims of the run.
    fn renew(&mut self);

    /// Whether the store does not have everything in the journal.
    fn is_journal_behind(&self) -> bool;
}

impl Handle for RemoteHandle {
    fn replicate(&mut self) {
        RemoteHandle::replicate(self);
    }

    fn renew(&mut self) {
        if let Some(keeper) = self.keeper() {
            let _ = keeper.check();
        }
    }

    fn is_journal_behind(&self) -> bool {
        RemoteHandle::is_journal_behind(self)
    }
}

/// A run between its beginning and its end.
pub(super) struct Acting<'a> {
    pub machine: &'a Machine,
    pub handle: &'a mut dyn Handle,
    pub journal: &'a Arc<Journal>,
    pub state: &'a mut State,
}

impl Acting<'_> {
    /// Asks after the calls in flight of earlier runs.
    pub fn recover(&mut self, in_flight: Vec<Begin>) -> Result<(), Stopped> {
        for begin in in_flight {
            match &begin.request {
                Some(request) => {
                    let token = String::from_utf8_lossy(&request.planned_private).into_owned();
                    self.create(&begin.address, &token, Asked::Again)?;
                }
                // A deletion needs no asking: the object is read below.
                None => {
                    self.note(self.journal.resolved(&begin.address, None))?;
                }
            }
        }
        // The refresh: objects that are gone leave the state.
        let addresses: Vec<_> = self.state.iter().map(|view| view.address()).collect();
        for address in addresses {
            let Some(record) = self.state.object(&address, None).cloned() else { continue };
            let id = record.id_json().unwrap_or_default().replace('"', "");
            let is_alive = self.machine.world.lock().cloud.alive.contains_key(&id);
            if !is_alive {
                self.note(self.journal.finished(&address, None, &provider(), Some(&record), Outcome::Gone))?;
                self.state.remove(&address, None);
            }
        }
        Ok(())
    }

    /// Makes one change: creates the object at an address, or deletes it.
    pub fn act(&mut self, address: &ResourceInstance) -> Result<(), Stopped> {
        let number = self.machine.below(1 << 40);
        let result = match self.state.object(address, None).cloned() {
            None => self.begin_create(address, number),
            Some(record) => self.delete(address, &record),
        };
        // The background work of a real run.
        if self.machine.below(3) == 0 {
            self.handle.renew();
            self.handle.replicate();
        }
        result
    }

    fn begin_create(&mut self, address: &ResourceInstance, token: u64) -> Result<(), Stopped> {
        let token = format!("token-{token}");
        let request = CreateRequest {
            schema_version: 0,
            planned_private: token.as_bytes().into(),
            planned_state: Arc::default(),
            config: Arc::default(),
            meta: Arc::default(),
        };
        self.begin(address, Operation::Create, Some(request))?;
        self.handle.replicate();
        let mut durable = std::pin::pin!(self.journal.durable());
        match durable.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Ok(())) => {}
            Poll::Ready(Err(problem)) => {
                // The call was announced and is not made, so that no later run has to ask for it.
                self.note(self.journal.resolved(address, None))?;
                return Err(Stopped::By(problem));
            }
            Poll::Pending => panic!("the journal was sent, and is not durable"),
        }
        if self.machine.is_dead() {
            return Err(Stopped::Dead);
        }
        self.create(address, &token, Asked::First)
    }

    fn begin(
        &self,
        address: &ResourceInstance,
        operation: Operation,
        request: Option<CreateRequest>,
    ) -> Result<(), Stopped> {
        let begin = Begin {
            address: address.clone(),
            deposed: None,
            operation,
            provider: provider(),
            request,
            dependencies: Default::default(),
            create_before_destroy: false,
            is_kept: false,
            status: ObjectStatus::Ready,
        };
        self.note(self.journal.begin(&begin))
    }

    fn note(&self, noted: Result<(), StateError>) -> Result<(), Stopped> {
        match noted {
            _ if self.machine.is_dead() => Err(Stopped::Dead),
            noted => noted.map_err(Stopped::By),
        }
    }

    /// Asks the cloud for an object, again and again until it answers.
    fn create(&mut self, address: &ResourceInstance, token: &str, asked: Asked) -> Result<(), Stopped> {
        let text = address.to_string();
        let is_at_risk = self.handle.is_journal_behind();
        let id = loop {
            let answer = self.machine.world.request(self.machine.actor, |inner| {
                let id = cloud::create(inner, token, &text, asked);
                if is_at_risk {
                    inner.cloud.at_risk.push(id.clone());
                }
                id
            });
            match answer {
                _ if self.machine.is_dead() => return Err(Stopped::Dead),
                Answer::Given(id) => break id,
                Answer::Missing => {}
            }
        };
        let (record, before) = (object(&id), self.state.object(address, None).cloned());
        // As in the engine: neither of two objects at an address may be forgotten.
        let is_taken = before.as_ref().is_some_and(|before| !before.is_same_object(&record));
        let key = is_taken.then(DeposedKey::generate);
        let before = before.filter(|_| !is_taken);
        let outcome = Outcome::Present(record.clone());
        self.note(self.journal.finished(address, key.as_ref(), &provider(), before.as_deref(), outcome))?;
        if is_taken {
            self.machine.world.lock().cloud.deposed.push(id);
            self.note(self.journal.resolved(address, None))?;
        }
        // The cloud may return an object that the state has as deposed; it must not be there twice.
        let kept = self.state.get(address).and_then(|found| {
            let mut kept = found.deposed.iter().filter(|(other, _)| Some(*other) != key.as_ref());
            kept.find(|(_, kept)| kept.is_same_object(&record)).map(|(key, kept)| (key.clone(), kept.clone()))
        });
        self.state.insert(address, key.as_ref(), &provider(), record);
        if let Some((key, kept)) = kept {
            self.note(self.journal.finished(address, Some(&key), &provider(), Some(&kept), Outcome::Gone))?;
            self.state.remove(address, Some(&key));
        }
        Ok(())
    }

    fn delete(&mut self, address: &ResourceInstance, record: &Arc<ObjectRecord>) -> Result<(), Stopped> {
        let id = record.id_json().unwrap_or_default().replace('"', "");
        self.begin(address, Operation::Delete, None)?;
        loop {
            let asked = self.machine.world.request(self.machine.actor, |inner| cloud::delete(inner, &id));
            match asked {
                _ if self.machine.is_dead() => return Err(Stopped::Dead),
                Answer::Given(()) => break,
                Answer::Missing => {}
            }
        }
        self.note(self.journal.finished(address, None, &provider(), Some(record), Outcome::Gone))?;
        self.state.remove(address, None);
        Ok(())
    }
}
