//! Choices that are equal for equal seeds, and random moments to stop runs at. Environment variables set the seed and the counts.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A source of choices.
pub struct Random(fastrand::Rng);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(fastrand::Rng::with_seed(seed))
    }

    /// A number less than `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0.usize(..limit)
    }

    /// Whether something happens that happens `percent` times of a hundred.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of the texts, of which there is at least one.
    pub fn pick<'a>(&mut self, texts: &[&'a str]) -> &'a str {
        texts[self.below(texts.len())]
    }

    /// One of the things, if there are any.
    pub fn one_of<'a, T>(&mut self, things: &'a [T]) -> Option<&'a T> {
        self.0.choice(things)
    }
}

/// The random number generator SplitMix64.
pub struct SplitMix(pub u64);

impl SplitMix {
    /// A number under `limit`.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit.max(1)
    }
}

/// The number in an environment variable.
pub fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Where the moments begin: that of `GROMA_TEST_SEED`, or another one each time.
pub fn seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let seed = setting("GROMA_TEST_SEED", now.as_secs());
    println!("GROMA_TEST_SEED={seed}");
    seed
}

/// A moment to kill a run at: the `number`-th of `all` even parts of the time it takes, anywhere in that part.
pub fn moment(random: &mut SplitMix, whole: Duration, number: usize, all: usize) -> Duration {
    let part = whole.as_micros() as u64 / all as u64;
    Duration::from_micros(part * number as u64 + random.below(part))
}

/// Runs `work` for each number on a few threads: most of the time is waiting.
pub fn each(count: usize, work: impl Fn(usize) + Sync) {
    let next = AtomicUsize::new(0);
    let failed = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        break;
                    }
                    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| work(number)));
                    if result.is_err() {
                        failed.lock().unwrap().push(number);
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "{} of {count} runs lost something: {failed:?}", failed.len());
}
