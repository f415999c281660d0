//! Client tokens: names of requests that nobody else uses.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use sha2::{Digest, Sha256};

/// A new token, from the operating system's randomness, the clock and a counter.
pub fn new_token() -> String {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let count = COUNTER.fetch_add(1, Ordering::Relaxed);
    let mut hash = Sha256::new();
    for _ in 0..2 {
        let mut hasher = RandomState::new().build_hasher();
        hasher.write_u64(count);
        hash.update(hasher.finish().to_le_bytes());
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    hash.update(now.as_nanos().to_le_bytes());
    hash.update(std::process::id().to_le_bytes());
    hash.update(count.to_le_bytes());
    let digits: String = hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    format!("groma-{digits}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_differ() {
        let tokens: std::collections::HashSet<String> = (0..1_000).map(|_| new_token()).collect();
        assert_eq!(tokens.len(), 1_000);
    }
}
