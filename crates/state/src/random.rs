//! Identifiers that nobody else has made up.

use std::cell::Cell;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::time::{SystemTime, UNIX_EPOCH};

thread_local! {
    /// The state of the generator of a simulation.
    static SEEDED: Cell<Option<u64>> = const { Cell::new(None) };
}

/// Makes all identifiers that this thread makes up from now on depend on `seed` alone, so that a simulation can be repeated.
pub fn seed_random(seed: u64) {
    SEEDED.set(Some(seed));
}

/// 64 random bits: the hash function's keys come from the operating system and differ with every call.
pub fn random_bits() -> u64 {
    if let Some(seed) = SEEDED.get() {
        let next = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        SEEDED.set(Some(next));
        // The last steps of SplitMix64.
        let bits = (next ^ (next >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        return bits ^ (bits >> 31);
    }
    let mut hasher = RandomState::new().build_hasher();
    // The time and the process distinguish runs even if the operating system's randomness fails.
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    hasher.write_u128(now.as_nanos());
    hasher.write_u32(std::process::id());
    hasher.finish()
}

/// A random UUID (version 4) in its usual text form.
pub(crate) fn uuid() -> String {
    // The bits of version 4 and of the variant are fixed by RFC 9562.
    let high = (random_bits() & !0xf000) | 0x4000;
    let low = (random_bits() & !(0b11 << 62)) | (0b10 << 62);
    format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        high >> 32,
        (high >> 16) & 0xffff,
        high & 0xffff,
        low >> 48,
        low & 0xffff_ffff_ffff
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uuids_have_the_right_form_and_differ() {
        let (one, other) = (uuid(), uuid());
        assert_ne!(one, other);
        let parts: Vec<usize> = one.split('-').map(str::len).collect();
        assert_eq!(parts, [8, 4, 4, 4, 12]);
        assert_eq!(&one[14..15], "4");
        assert!("89ab".contains(&one[19..20]));
    }

    #[test]
    fn seeded_thread_repeats_its_identifiers() {
        let made = || {
            let make = || {
                seed_random(7);
                [uuid(), uuid()]
            };
            std::thread::spawn(make).join().unwrap()
        };
        let [one, other] = made();
        assert_ne!(one, other);
        assert_eq!(made(), [one, other]);
    }
}
