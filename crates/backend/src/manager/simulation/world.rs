//! The simulated world: a scheduler that lets one run act at a time, its virtual time, and the faults.

use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, SystemTime};

use groma_state::lease::Deadline;

use super::super::clock::Clock;
use super::cloud::Cloud;
use super::storage::Storage;
use crate::lock_info::LockInfo;

/// The seconds from the epoch to the beginning of a history, so that no clock shows a time before the epoch.
const DAY: i64 = 86_400;

/// The faults of a history, each as one in so many requests; 0 for never.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Faults {
    /// The request fails without an effect.
    pub errors: u64,
    /// The request has its effect, and its answer is lost.
    pub dropped_responses: u64,
    /// The request has its effect twice, half the time with requests of other runs in between.
    pub duplicates: u64,
    /// The run is paused for minutes, before or after the effect of a request.
    pub pauses: u64,
    /// The run is killed, before or after the effect of a request.
    pub kills: u64,
    /// Clocks of machines differ by up to so many seconds.
    pub skew: u64,
}

/// A generator of random numbers (SplitMix64).
#[derive(Clone, Debug)]
pub(super) struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }

    pub fn once_in(&mut self, bound: u64) -> bool {
        bound > 0 && self.below(bound) == 0
    }
}

/// The state of a run's thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    /// The thread waits until this time.
    At(Duration),
    Acting,
    Ended,
}

struct Actor {
    turn: Turn,
    is_dead: bool,
    skew: i64,
}

/// All that runs share.
pub(super) struct Inner {
    pub random: Random,
    pub faults: Faults,
    pub now: Duration,
    pub storage: Storage,
    pub cloud: Cloud,
    /// The broken invariants.
    pub violations: Vec<String>,
    /// What happened, for the report of a violation.
    pub log: Vec<String>,
    actors: Vec<Actor>,
}

pub(super) struct World {
    inner: Mutex<Inner>,
    turns: Condvar,
}

/// What happens to a request to a real server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// The request does not reach the server.
    Fails,
    /// The request is sent twice.
    Repeated,
    /// The request is sent twice, and others act between the two.
    RepeatedLate,
    /// The request is sent, and its response may still be dropped.
    Answered,
}

/// The second arrival of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SecondArrival {
    None,
    AtOnce,
    /// After requests of other runs.
    Late,
}

/// The effect of one request.
pub(super) enum Answer<T> {
    Given(T),
    /// The request failed, and may have had its effect.
    Missing,
}

impl World {
    pub fn new(seed: u64, faults: Faults, actors: usize) -> Arc<Self> {
        let mut random = Random(seed);
        // Clocks differ by seconds, so the casts are exact.
        let skew = |random: &mut Random| random.below(2 * faults.skew + 1) as i64 - faults.skew as i64;
        let actors = (0..actors)
            .map(|_| Actor {
                turn: Turn::At(Duration::from_millis(random.below(60_000))),
                is_dead: false,
                skew: skew(&mut random),
            })
            .collect();
        let inner = Inner {
            random,
            faults,
            now: Duration::ZERO,
            storage: Storage::default(),
            cloud: Cloud::default(),
            violations: Vec::new(),
            log: Vec::new(),
            actors,
        };
        Arc::new(Self { inner: Mutex::new(inner), turns: Condvar::new() })
    }

    pub fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap()
    }

    /// Waits for the first turn of an actor.
    pub fn begin(&self, actor: usize) {
        let mut inner = self.lock();
        inner.choose();
        self.turns.notify_all();
        drop(self.turns.wait_while(inner, |inner| inner.actors[actor].turn != Turn::Acting).unwrap());
    }

    /// Lets others act for so long.
    pub fn sleep(&self, actor: usize, pause: Duration) {
        let mut inner = self.lock();
        if inner.actors[actor].is_dead {
            return;
        }
        inner.actors[actor].turn = Turn::At(inner.now + pause);
        inner.choose();
        self.turns.notify_all();
        drop(self.turns.wait_while(inner, |inner| inner.actors[actor].turn != Turn::Acting).unwrap());
    }

    /// Ends the turns of an actor.
    pub fn end(&self, actor: usize) {
        let mut inner = self.lock();
        inner.actors[actor].turn = Turn::Ended;
        inner.choose();
        self.turns.notify_all();
    }

    /// Lets an actor act alone, long after everything before.
    pub fn rest(&self, actor: usize) {
        let mut inner = self.lock();
        // After an hour, every lock and claim of the history has ended.
        inner.now += Duration::from_secs(3600);
        for other in &mut inner.actors {
            other.turn = Turn::Ended;
        }
        inner.actors[actor].turn = Turn::Acting;
    }

    pub fn is_dead(&self, actor: usize) -> bool {
        self.lock().actors[actor].is_dead
    }

    /// Kills an actor: nothing that it does has an effect any more.
    fn kill(&self, actor: usize) {
        let mut inner = self.lock();
        inner.note("killed", &"");
        inner.actors[actor].is_dead = true;
    }

    /// Starts an actor that was killed again, as a new process.
    pub fn revive(&self, actor: usize) {
        self.lock().actors[actor].is_dead = false;
    }

    /// Sends a request of an actor: it takes its time, and faults happen to it.
    pub fn request<T>(&self, actor: usize, effect: impl Fn(&mut Inner) -> T) -> Answer<T> {
        self.travel(actor);
        if self.is_dead(actor) {
            return Answer::Missing;
        }
        let (mut answer, second, is_dropped) = {
            let mut inner = self.lock();
            let faults = inner.faults;
            if inner.random.once_in(faults.errors) {
                (None, SecondArrival::None, false)
            } else {
                let answer = effect(&mut inner);
                (Some(answer), inner.second_arrival(), inner.random.once_in(faults.dropped_responses))
            }
        };
        if second == SecondArrival::Late {
            // Others act before the copy arrives, and the run that has sent the request may be gone.
            self.travel(actor);
        }
        if second != SecondArrival::None {
            answer = Some(effect(&mut self.lock()));
        }
        self.travel(actor);
        match answer {
            Some(answer) if !is_dropped && !self.is_dead(actor) => Answer::Given(answer),
            _ => Answer::Missing,
        }
    }

    /// Lets a request travel to a real server.
    pub fn depart(&self, actor: usize) -> Fate {
        self.travel(actor);
        if self.is_dead(actor) {
            return Fate::Fails;
        }
        let mut inner = self.lock();
        let faults = inner.faults;
        if inner.random.once_in(faults.errors) {
            return Fate::Fails;
        }
        match inner.second_arrival() {
            SecondArrival::None => Fate::Answered,
            SecondArrival::AtOnce => Fate::Repeated,
            SecondArrival::Late => Fate::RepeatedLate,
        }
    }

    /// Lets an answer travel back: [`Fate::Answered`] if it arrives.
    pub fn arrive(&self, actor: usize) -> Fate {
        let is_dropped = {
            let mut inner = self.lock();
            let faults = inner.faults;
            inner.random.once_in(faults.dropped_responses)
        };
        self.travel(actor);
        if is_dropped || self.is_dead(actor) { Fate::Fails } else { Fate::Answered }
    }

    /// The way of a request, of its copy, or of its answer. Others act meanwhile.
    pub fn travel(&self, actor: usize) {
        let (pause, is_killed) = {
            let mut inner = self.lock();
            let faults = inner.faults;
            let latency = 5 + inner.random.below(100);
            let pause = if inner.random.once_in(faults.pauses) { inner.random.below(900_000) } else { 0 };
            (Duration::from_millis(latency + pause), inner.random.once_in(faults.kills))
        };
        self.sleep(actor, pause);
        if is_killed {
            self.kill(actor);
        }
    }
}

impl Inner {
    fn second_arrival(&mut self) -> SecondArrival {
        let duplicates = self.faults.duplicates;
        match (self.random.once_in(duplicates), self.random.below(2)) {
            (false, _) => SecondArrival::None,
            (true, 0) => SecondArrival::AtOnce,
            (true, _) => SecondArrival::Late,
        }
    }

    /// Gives the turn to the actor whose time comes first, if nobody has it.
    fn choose(&mut self) {
        if self.actors.iter().any(|actor| actor.turn == Turn::Acting) {
            return;
        }
        let waiting = self.actors.iter_mut().filter_map(|actor| match actor.turn {
            Turn::At(time) => Some((time, actor)),
            Turn::Acting | Turn::Ended => None,
        });
        if let Some((time, actor)) = waiting.min_by_key(|(time, _)| *time) {
            // The time that the actor waits for may have passed during the turn of another.
            self.now = self.now.max(time);
            actor.turn = Turn::Acting;
        }
    }

    /// Returns the true time of a lock's deadline, which the clock of its holder says.
    pub fn time_of(&self, lock: &LockInfo) -> Duration {
        let holder = lock.who.strip_prefix("run@").and_then(|actor| actor.parse::<usize>().ok());
        let skew = holder.map_or(0, |holder| self.actors[holder].skew);
        let deadline = lock.deadline.parse::<Deadline>().unwrap().time();
        let deadline = deadline.duration_since(SystemTime::UNIX_EPOCH).unwrap();
        deadline.saturating_sub(Duration::from_secs((DAY + skew) as u64))
    }

    pub fn violate(&mut self, what: String) {
        self.note("VIOLATION", &what);
        self.violations.push(format!("at {:?}: {what}", self.now));
    }

    pub fn note(&mut self, what: &str, detail: &dyn std::fmt::Display) {
        let actor = self.actors.iter().position(|actor| actor.turn == Turn::Acting);
        self.log.push(format!("{:>9.3} machine {actor:?}: {what} {detail}", self.now.as_secs_f64()));
    }
}

/// The clock of one machine, which may be wrong.
pub(super) struct MachineClock {
    pub world: Arc<World>,
    pub actor: usize,
}

impl Clock for MachineClock {
    fn now(&self) -> SystemTime {
        let inner = self.world.lock();
        let skew = inner.actors[self.actor].skew;
        SystemTime::UNIX_EPOCH + Duration::from_secs((DAY + skew) as u64) + inner.now
    }

    fn sleep(&self, pause: Duration) {
        self.world.sleep(self.actor, pause);
    }

    fn random(&self) -> u64 {
        self.world.lock().random.next()
    }
}
