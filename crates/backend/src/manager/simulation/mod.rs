//! Histories of runs over a simulated store, each made by a seed.
//!
//! The manager, the journal and its recovery are the real ones. Only one run acts at a time, so a history depends on
//! nothing but its seed: `GROMA_SIMULATIONS` sets how many are made (2,000 without it), `GROMA_SIMULATION_SEED` the first.

mod cloud;
mod run;
mod servers;
mod shared;
mod storage;
mod world;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use groma_state::{file, seed_random};
use run::{End, Machine, OpenStore, new_disk, simulated};
use shared::share;
use storage::identifiers;
use world::{Faults, Random, World};

/// A history: its runs and the faults that happen to them.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Program {
    seed: u64,
    machines: usize,
    sharing: Sharing,
    /// The number of runs on each machine.
    runs: u64,
    /// The largest number of changes in one run.
    actions: u64,
    faults: Faults,
}

/// Whether runs share the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sharing {
    Off,
    /// Most runs share the state; about one in five takes the exclusive lock instead.
    On,
}

impl Program {
    fn new(seed: u64, sharing: Sharing) -> Self {
        let mut random = Random(seed);
        // A third of the histories lacks each fault, so that the effects of the others are not covered by it.
        let mut chance = |from: u64| if random.below(3) == 0 { 0 } else { from + random.below(100) };
        let faults = Faults {
            errors: chance(10),
            dropped_responses: chance(10),
            duplicates: chance(5),
            pauses: chance(20),
            kills: chance(40),
            skew: 25,
        };
        Self {
            seed,
            machines: 2 + random.below(7) as usize,
            sharing,
            runs: 1 + random.below(3),
            actions: 1 + random.below(6),
            faults,
        }
    }

    /// Makes the history, and returns the broken invariants.
    fn violations(&self) -> Vec<String> {
        self.history().0
    }

    /// Makes the history, and returns the broken invariants and what happened.
    fn history(&self) -> (Vec<String>, Vec<String>) {
        self.history_over(&simulated())
    }

    /// Makes the history over a store.
    fn history_over(&self, store: &OpenStore) -> (Vec<String>, Vec<String>) {
        let world = World::new(self.seed, self.faults, self.machines);
        if self.sharing == Sharing::On {
            share(&world);
        }
        let machine = |actor| Machine { world: world.clone(), actor, store: store.clone(), disk: new_disk() };
        let machines: Vec<_> = (0..self.machines).map(machine).collect();
        let machines: Vec<Machine> = thread::scope(|scope| {
            let threads: Vec<_> = machines.into_iter().map(|machine| scope.spawn(|| self.live(machine))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        self.settle(&world, machines);
        let mut inner = world.lock();
        (std::mem::take(&mut inner.violations), std::mem::take(&mut inner.log))
    }

    /// The runs on one machine. A killed run may take the disk of its machine along.
    fn live(&self, mut machine: Machine) -> Machine {
        // The names of runs decide the order in which their journals are merged.
        seed_random(self.seed ^ (machine.actor as u64 + 1).wrapping_mul(0x9e37_79b9));
        machine.world.begin(machine.actor);
        for _ in 0..self.runs {
            let actions = machine.world.lock().random.below(self.actions + 1);
            // A run may also be killed after it has saved, while it releases its lock.
            let end = match self.sharing {
                Sharing::On if machine.world.lock().random.below(5) > 0 => machine.run_shared(actions),
                Sharing::On | Sharing::Off => machine.run(actions),
            };
            machine.world.lock().note("ends", &format!("{end:?}"));
            if end == End::Dead || machine.world.is_dead(machine.actor) {
                machine.world.revive(machine.actor);
                if machine.world.lock().random.below(2) == 0 {
                    machine.disk = new_disk();
                    machine.world.lock().note("loses its disk", &"");
                }
            }
            let pause = machine.world.lock().random.below(120_000);
            machine.world.sleep(machine.actor, Duration::from_millis(pause));
        }
        machine.world.end(machine.actor);
        machine
    }

    /// After the history nothing fails: a run on each machine takes in what is left, and one on a new machine finds every
    /// object.
    fn settle(&self, world: &Arc<World>, machines: Vec<Machine>) {
        world.lock().faults = Faults::default();
        seed_random(self.seed);
        for machine in machines {
            world.rest(machine.actor);
            if self.sharing == Sharing::On {
                let end = machine.run_shared(0);
                if end != End::Saved {
                    world.lock().violate(format!("the last shared run on machine {} ends with {end:?}", machine.actor));
                }
            }
            let end = machine.run(0);
            if end != End::Saved {
                world.lock().violate(format!("the last run on machine {} ends with {end:?}", machine.actor));
            }
        }
        let mut inner = world.lock();
        let state = inner.storage.state.as_deref().map(|bytes| file::read(bytes).unwrap()).unwrap_or_default();
        let mut known = identifiers(&state);
        known.sort();
        if let Some(twice) = known.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0].clone()) {
            inner.violate(format!("the state has {twice} twice"));
        }
        let orphaned: Vec<String> = inner.cloud.alive.keys().filter(|id| !known.contains(id)).cloned().collect();
        for id in orphaned {
            if !inner.cloud.at_risk.contains(&id) {
                let address = inner.cloud.alive[&id].clone();
                inner.violate(format!("{id} of {address} is lost"));
            }
        }
    }

    /// Returns the smallest program with a broken invariant that this one can be reduced to.
    fn minimized(self) -> Self {
        let mut smallest = self;
        'search: loop {
            for smaller in smallest.smaller() {
                if !smaller.violations().is_empty() {
                    smallest = smaller;
                    continue 'search;
                }
            }
            return smallest;
        }
    }

    fn smaller(&self) -> Vec<Self> {
        let faults = self.faults;
        let mut programs = vec![
            Self { machines: self.machines - 1, ..self.clone() },
            Self { runs: self.runs - 1, ..self.clone() },
            Self { actions: self.actions - 1, ..self.clone() },
        ];
        for without in [
            Faults { errors: 0, ..faults },
            Faults { dropped_responses: 0, ..faults },
            Faults { duplicates: 0, ..faults },
            Faults { pauses: 0, ..faults },
            Faults { kills: 0, ..faults },
            Faults { skew: 0, ..faults },
        ] {
            programs.push(Self { faults: without, ..self.clone() });
        }
        // Another seed may show the defect with fewer requests.
        let reseeded = programs.clone().into_iter().flat_map(|program| {
            (1..=3).map(move |step| Self { seed: program.seed.wrapping_add(step << 32), ..program.clone() })
        });
        programs.extend(reseeded.collect::<Vec<_>>());
        programs.retain(|program| program.machines > 0 && program.runs > 0 && program.actions > 0 && program != self);
        programs
    }
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn history_depends_on_its_seed_alone() {
    for seed in 1..=20 {
        let (first, second) = (Program::new(seed, Sharing::Off).history(), Program::new(seed, Sharing::Off).history());
        assert_eq!(first, second, "seed {seed}");
    }
}

#[test]
fn histories_keep_the_invariants() {
    find_violations(Sharing::Off);
}

#[test]
fn histories_of_shared_runs_keep_the_invariants() {
    find_violations(Sharing::On);
}

fn find_violations(sharing: Sharing) {
    let (first, count) = (setting("GROMA_SIMULATION_SEED", 1), setting("GROMA_SIMULATIONS", 2000));
    let next = AtomicU64::new(first);
    let workers = thread::available_parallelism().map_or(2, usize::from);
    // Each worker makes whole histories, so that a history depends on its seed alone.
    let broken = thread::scope(|scope| {
        let find = || loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= first + count {
                return None;
            }
            let program = Program::new(seed, sharing);
            if !program.violations().is_empty() {
                // The other workers stop after the history that they are at.
                next.store(first + count, Ordering::Relaxed);
                return Some(program);
            }
        };
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(find)).collect();
        workers.into_iter().filter_map(|worker| worker.join().unwrap()).next()
    });
    if let Some(program) = broken {
        let seed = program.seed;
        let smallest = program.minimized();
        let (violations, log) = smallest.history();
        panic!("GROMA_SIMULATION_SEED={seed}\nsmallest: {smallest:#?}\n{violations:#?}\n{}", log.join("\n"));
    }
}
