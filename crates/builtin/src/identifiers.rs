//! Identifiers of new objects.

use std::sync::{Mutex, PoisonError};

use uuid::{Builder, Uuid};

/// How many identifiers the system is asked for at once.
const AT_ONCE: usize = 256;

/// Random bytes that no identifier was made of yet.
static UNUSED: Mutex<Vec<[u8; 16]>> = Mutex::new(Vec::new());

/// A random UUID: one call of the system serves many objects.
pub(crate) fn fresh() -> Uuid {
    let mut unused = UNUSED.lock().unwrap_or_else(PoisonError::into_inner);
    let bytes = unused.pop().or_else(|| {
        let mut bytes = [0; 16 * AT_ONCE];
        getrandom::fill(&mut bytes).ok()?;
        unused.extend_from_slice(bytes.as_chunks().0);
        unused.pop()
    });
    bytes.map_or_else(Uuid::new_v4, |bytes| Builder::from_random_bytes(bytes).into_uuid())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn identifiers_are_random_uuids_and_none_comes_twice() {
        let made: HashSet<Uuid> = (0..3 * AT_ONCE).map(|_| fresh()).collect();
        assert_eq!(made.len(), 3 * AT_ONCE);
        assert!(made.iter().all(|id| id.get_version_num() == 4));
    }
}
