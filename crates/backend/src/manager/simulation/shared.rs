//! Simulated runs on a shared state: they claim the objects that they change, and merge their results.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use groma_address::ResourceInstance;
use groma_state::{
    Begin, Claimed, PlanRecords, PlanVersions, RecordDigests, RecordName, RecoveredRun, Replicating, SharedOptions,
    SharedRun, SharedState, SharedWait, State, StateError, StateErrorKind, StatePaths,
};

use super::run::{Acting, End, Handle, Machine, Stopped};
use super::world::World;

/// The attempts of one run while others hold what it wants.
const ATTEMPTS: u64 = 80;

impl Handle for SharedRun {
    fn replicate(&mut self) {
        SharedRun::replicate(self);
    }

    fn renew(&mut self) {
        let _ = SharedRun::renew(self);
    }

    fn is_journal_behind(&self) -> bool {
        SharedRun::is_journal_behind(self)
    }
}

/// Makes the simulated state a shared one.
pub(super) fn share(world: &World) {
    let mut state = State::new("1.15.5");
    state.serial = 1;
    world.lock().storage.share(groma_state::file::write(&state));
}

/// The end of an attempt.
enum Attempt {
    Ended(End),
    /// What the run wants has changed since it planned.
    Outdated,
}

/// The state that a run plans with.
struct Opened {
    run: Option<Box<SharedRun>>,
    state: State,
    in_flight: Vec<Begin>,
}

impl Machine {
    fn shared_state(&self) -> Result<SharedState, StateError> {
        let backend = self.backend();
        let paths = StatePaths::of_file("terraform.tfstate").with_backup(groma_state::Backup::None);
        let options = SharedOptions {
            paths,
            runs: backend.shared_runs(self.disk.path(), "default"),
            journal: backend.exclusive_journal(self.disk.path(), "default"),
            terraform_version: "1.15.5".to_owned(),
            persist_intervals: None,
            replicating: Replicating::Caller,
            report: Arc::new(|_| {}),
        };
        Ok(SharedState::find(backend.shared("default").unwrap(), options)?.expect("the state is shared"))
    }

    /// Makes one shared run with so many actions.
    pub fn run_shared(&self, actions: u64) -> End {
        let mut addresses: Vec<ResourceInstance> = (0..actions).map(|_| self.chosen_address()).collect();
        addresses.sort();
        addresses.dedup();
        for attempt in 1.. {
            let problem = match self.attempt(&addresses) {
                Ok(Attempt::Ended(end)) => return end,
                Ok(Attempt::Outdated) => None,
                Err(problem) => Some(problem),
            };
            if self.is_dead() {
                return End::Dead;
            }
            if let Some(problem) = problem {
                let kinds = [StateErrorKind::Locked, StateErrorKind::Io, StateErrorKind::Changed];
                assert!(kinds.contains(&problem.kind), "{problem:?}");
                if attempt >= ATTEMPTS {
                    return self.ended(&problem);
                }
            }
            self.world.sleep(self.actor, Duration::from_millis(1000 + self.below(20_000)));
        }
        End::Dead
    }

    fn attempt(&self, addresses: &[ResourceInstance]) -> Result<Attempt, StateError> {
        let wait = SharedWait { timeout: Duration::from_millis(self.below(20_000)), keep_waiting: &|| true };
        let shared = self.shared_state()?;
        // As a command does: such a journal is taken in by a run that holds the lock alone.
        if shared.has_exclusive_journal()? {
            return Ok(Attempt::Ended(self.run(addresses.len() as u64)));
        }
        let mut opened = match shared.recover(&self.request(), &wait, &mut |_| {})? {
            Some(RecoveredRun { run, opened }) => {
                Opened { run: Some(run), state: opened.state.unwrap_or_default(), in_flight: opened.in_flight }
            }
            None => Opened { run: None, state: shared.read()?, in_flight: Vec::new() },
        };
        let changed: BTreeSet<RecordName> = addresses.iter().map(RecordName::instance).collect();
        let records = PlanRecords { changed, resources: BTreeSet::new() };
        let versions = PlanVersions::new(records, &RecordDigests::of(&opened.state), opened.state.serial);
        if let Some(stopped) = self.recover_calls(&mut opened)? {
            return Ok(Attempt::Ended(stopped));
        }
        // Planning takes its time.
        self.world.sleep(self.actor, Duration::from_millis(self.below(5000)));
        let Opened { run, mut state, .. } = opened;
        let mut run = match run {
            Some(mut run) => match run.claim(&shared, &versions, &mut state, &wait)?.as_slice() {
                [] => run,
                _ => return Ok(Attempt::Outdated),
            },
            None => match shared.begin(&versions, &mut state, &self.request(), &wait)? {
                Claimed::Current(run) => run,
                Claimed::Outdated(_) => return Ok(Attempt::Outdated),
            },
        };
        self.world.lock().note("claims", &format!("{addresses:?}"));
        let journal = run.begin_run(&mut state)?;
        self.note_deposed(&state);
        let mut acting = Acting { machine: self, handle: &mut *run, journal: &journal, state: &mut state };
        let acted =
            acting.recover(Vec::new()).and_then(|()| addresses.iter().try_for_each(|address| acting.act(address)));
        Ok(Attempt::Ended(self.save(&mut run, &mut state, acted)))
    }

    /// Asks after the calls in flight of a run that was taken over, while planning. Returns the end of a run that stops there.
    fn recover_calls(&self, opened: &mut Opened) -> Result<Option<End>, StateError> {
        let Some(run) = &mut opened.run else { return Ok(None) };
        let journal = run.begin_run(&mut opened.state)?;
        self.note_deposed(&opened.state);
        let calls = std::mem::take(&mut opened.in_flight);
        let mut acting = Acting { machine: self, handle: &mut **run, journal: &journal, state: &mut opened.state };
        Ok(match acting.recover(calls) {
            Ok(()) => None,
            Err(Stopped::Dead) => Some(End::Dead),
            Err(Stopped::By(problem)) => return Err(problem),
        })
    }

    fn note_deposed(&self, state: &State) {
        for view in state.iter() {
            let ids = view.record.deposed.values().filter_map(|object| object.id_json());
            self.world.lock().cloud.deposed.extend(ids.map(|id| id.replace('"', "")));
        }
    }

    /// Saves what a run has done, even if it may not go on.
    fn save(&self, run: &mut SharedRun, state: &mut State, acted: Result<(), Stopped>) -> End {
        let stopped = match acted {
            Err(Stopped::Dead) => return End::Dead,
            Err(Stopped::By(problem)) => Some(problem),
            Ok(()) => None,
        };
        if self.is_dead() {
            return End::Dead;
        }
        match run.save(state) {
            Ok(_) => stopped.map_or(End::Saved, |problem| self.ended(&problem)),
            Err(problem) => self.ended(&problem),
        }
    }
}
