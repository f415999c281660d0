//! Choices that are the same for the same seed, and the numbers that say which and how many.

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

/// The number in an environment variable.
pub fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}
