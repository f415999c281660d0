//! The rate of calls: one budget for an account and region, which adapts to throttling (CC-49).

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

/// The time over which successful calls are counted.
const WINDOW: Duration = Duration::from_secs(2);
/// The shortest time over which a rate is measured.
const SHORTEST_MEASUREMENT: Duration = Duration::from_millis(200);
/// The part of the measured rate that is used after a throttled call.
const DECREASE: f64 = 0.95;
/// The growth of the rate in the first second after a decrease; it is twice as much in the next, and so on.
const INCREASE: f64 = 0.01;
/// The largest rate, as a multiple of the measured one: what is not used says nothing about what the service accepts.
const HEADROOM: f64 = 2.0;
/// The longest time between two calls, as a multiple of the first retry delay.
const LONGEST_GAP: u32 = 4;

/// A budget of calls per second that reads, writes and polls share.
///
/// Calls are not delayed until the service throttles one. From then on they are spread evenly at the rate that the
/// service was seen to accept; the rate grows slowly while nothing is throttled and falls to the measured one when
/// something is. Calls that were sent before the last decrease say nothing about the new rate, so they do not count.
#[derive(Debug)]
pub struct Pace {
    state: Mutex<State>,
}

/// A time at which a call may be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// The time until then.
    pub wait: Duration,
    round: u64,
}

#[derive(Debug)]
struct State {
    /// The rate never falls below this number of calls per second.
    slowest: f64,
    /// Calls per second; `None` as long as nothing was throttled.
    rate: Option<f64>,
    /// The time of the next free slot.
    next: Instant,
    decreased: Instant,
    increased: Instant,
    /// The number of decreases. Slots that were taken before the last one are not valid any more.
    round: u64,
    /// The times of successful calls within the window.
    successes: VecDeque<Instant>,
}

impl Pace {
    /// Creates a budget for calls that are repeated after `first_delay` at first.
    pub fn new(first_delay: Duration) -> Self {
        Self::starting(first_delay, Instant::now())
    }

    fn starting(first_delay: Duration, now: Instant) -> Self {
        let slowest = 1.0 / (first_delay * LONGEST_GAP).as_secs_f64().max(f64::EPSILON);
        let (successes, round) = (VecDeque::new(), 0);
        let state = State { slowest, rate: None, next: now, decreased: now, increased: now, round, successes };
        Self { state: Mutex::new(state) }
    }

    /// Returns the budget of an account in a region, which all providers of this process share.
    pub fn shared(account: &str, region: &str, first_delay: Duration) -> Arc<Self> {
        type Budgets = HashMap<(String, String), Weak<Pace>>;
        static BUDGETS: OnceLock<Mutex<Budgets>> = OnceLock::new();
        let budgets = BUDGETS.get_or_init(Mutex::default);
        let mut budgets = budgets.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = budgets.entry((account.to_owned(), region.to_owned())).or_default();
        if let Some(pace) = kept.upgrade() {
            return pace;
        }
        let pace = Arc::new(Self::new(first_delay));
        *kept = Arc::downgrade(&pace);
        pace
    }

    /// Takes the next slot.
    pub fn reserve(&self, now: Instant) -> Slot {
        let mut state = self.state();
        let round = state.round;
        let Some(rate) = state.rate else { return Slot { wait: Duration::ZERO, round } };
        let slot = state.next.max(now);
        state.next = slot + Duration::from_secs_f64(1.0 / rate);
        Slot { wait: slot - now, round }
    }

    /// Whether a slot may still be used after its wait. Otherwise the rate has fallen, and another one has to be taken.
    pub fn is_valid(&self, slot: Slot) -> bool {
        slot.wait.is_zero() || self.state().round == slot.round
    }

    /// Records a call that the service accepted, whatever its result.
    pub fn accepted(&self, now: Instant) {
        let mut state = self.state();
        state.successes.push_back(now);
        state.forget_before(now);
        // After a pause, the rate grows by that of one window at most.
        let passed = (now - state.increased).min(WINDOW).as_secs_f64();
        state.increased = now;
        let age = (now - state.decreased).as_secs_f64();
        let most = state.measured(now) * HEADROOM;
        // A rate that was earned is not lost by a quiet time, because it was measured once.
        state.rate = state.rate.map(|rate| (rate * (1.0 + INCREASE * passed * (1.0 + age))).min(most).max(rate));
    }

    /// Records a throttled call that was sent at `sent`.
    pub fn throttled(&self, sent: Instant, now: Instant) {
        let mut state = self.state();
        // The call was sent at the former rate: calls that are throttled together count once.
        if sent < state.decreased {
            return;
        }
        state.forget_before(now);
        let measured = state.measured(now);
        // A rate that was not in use says nothing about what the service accepts.
        let used = state.rate.map_or(measured, |rate| rate.min(measured));
        state.rate = Some((used * DECREASE).max(state.slowest));
        // Slots that were reserved at the former rate are void: the round tells them apart.
        (state.decreased, state.increased, state.next) = (now, now, now);
        state.round += 1;
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Returns the accepted calls per second within the window.
    fn measured(&self, now: Instant) -> f64 {
        // A shorter time would take a burst for the rate of a second.
        let since = self.successes.front().map_or(WINDOW, |first| (now - *first).max(SHORTEST_MEASUREMENT));
        self.successes.len() as f64 / since.as_secs_f64()
    }

    fn forget_before(&mut self, now: Instant) {
        while self.successes.front().is_some_and(|first| now - *first > WINDOW) {
            self.successes.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DELAY: Duration = Duration::from_millis(500);

    /// A service that accepts `rate` calls per second, with a burst at the beginning.
    struct Service {
        rate: f64,
        burst: f64,
        tokens: f64,
        last: Instant,
    }

    impl Service {
        fn accepts(&mut self, now: Instant) -> bool {
            self.tokens = (self.tokens + (now - self.last).as_secs_f64() * self.rate).min(self.burst);
            self.last = now;
            let accepted = self.tokens >= 1.0;
            if accepted {
                self.tokens -= 1.0;
            }
            accepted
        }
    }

    /// Lets `workers` call for `seconds` of simulated time. Returns accepted and throttled calls.
    fn simulate(rate: f64, workers: usize, seconds: u64) -> (usize, usize) {
        let begun = Instant::now();
        let end = begun + Duration::from_secs(seconds);
        let pace = Pace::starting(DELAY, begun);
        let mut service = Service { rate, burst: rate, tokens: rate, last: begun };
        let latency = Duration::from_millis(50);
        // The time of each worker's next step, and the slot that it has taken.
        let mut steps = std::collections::BTreeMap::new();
        for worker in 0..workers {
            steps.insert((begun, worker), None);
        }
        let (mut accepted, mut throttled) = (0, 0);
        while let Some(((at, worker), taken)) = steps.pop_first() {
            if at > end {
                break;
            }
            if taken.is_none_or(|slot| !pace.is_valid(slot)) {
                let slot = pace.reserve(at);
                steps.insert((at + slot.wait, worker), Some(slot));
                continue;
            }
            let answered = at + latency;
            if service.accepts(at) {
                accepted += 1;
                pace.accepted(answered);
            } else {
                throttled += 1;
                pace.throttled(at, answered);
            }
            steps.insert((answered, worker), None);
        }
        (accepted, throttled)
    }

    #[test]
    fn cc_49_rate_settles_at_what_the_service_accepts() {
        for (rate, workers) in [(20.0, 10), (20.0, 100), (5.0, 10), (100.0, 50)] {
            let (accepted, throttled) = simulate(rate, workers, 60);
            let possible = rate * 60.0;
            assert!(accepted as f64 >= possible * 0.9, "{accepted} of {possible} at {rate} with {workers}");
            assert!(throttled as f64 <= possible * 0.25 + 2.0 * workers as f64, "{throttled} throttled at {rate}");
        }
    }

    #[test]
    fn cc_49_many_creations_use_the_rate_for_minutes() {
        // 1,000 creations are about 3,000 calls: a start, a poll and a read each.
        for workers in [10, 100] {
            let (accepted, throttled) = simulate(20.0, workers, 150);
            assert!(accepted >= 2_700, "{accepted} calls with {workers} workers");
            assert!(throttled <= 750, "{throttled} throttled with {workers} workers");
        }
    }

    #[test]
    fn cc_49_rate_that_is_not_used_does_not_grow() {
        let begun = Instant::now();
        let pace = Pace::starting(DELAY, begun);
        pace.accepted(begun);
        pace.throttled(begun, begun + Duration::from_millis(50));
        let mut now = begun;
        for _ in 0..1_200 {
            now += Duration::from_millis(500);
            pace.accepted(now);
        }
        let rate = pace.state().rate.unwrap();
        assert!((2.0..=6.0).contains(&rate), "{rate} calls per second are allowed after ten minutes at two");
        pace.throttled(now, now);
        let rate = pace.state().rate.unwrap();
        assert!(rate < 3.0, "{rate} calls per second are allowed after throttling at two");
    }

    #[test]
    fn cc_49_one_throttled_call_ends_a_rate_that_is_no_longer_used() {
        let begun = Instant::now();
        let pace = Pace::starting(DELAY, begun);
        let mut now = begun;
        for _ in 0..200 {
            now += Duration::from_millis(10);
            pace.accepted(now);
        }
        pace.throttled(now, now);
        assert!(pace.state().rate.unwrap() > 80.0, "the measured rate");
        for _ in 0..1_200 {
            now += Duration::from_millis(500);
            pace.accepted(now);
        }
        assert!(pace.state().rate.unwrap() <= 200.0);
        pace.throttled(now, now);
        assert!(pace.state().rate.unwrap() < 5.0);
    }

    #[test]
    fn cc_49_nothing_is_delayed_before_the_first_throttling() {
        let pace = Pace::new(DELAY);
        let now = Instant::now();
        for _ in 0..100 {
            assert_eq!(pace.reserve(now).wait, Duration::ZERO);
            pace.accepted(now);
        }
        pace.throttled(now, now);
        pace.reserve(now);
        assert!(pace.reserve(now).wait > Duration::ZERO);
    }

    #[test]
    fn cc_49_providers_of_one_account_and_region_share_a_budget() {
        let one = Pace::shared("123456789012", "eu-north-1", DELAY);
        assert!(Arc::ptr_eq(&one, &Pace::shared("123456789012", "eu-north-1", DELAY)));
        assert!(!Arc::ptr_eq(&one, &Pace::shared("123456789012", "eu-south-1", DELAY)));
        assert!(!Arc::ptr_eq(&one, &Pace::shared("210987654321", "eu-north-1", DELAY)));
    }
}
