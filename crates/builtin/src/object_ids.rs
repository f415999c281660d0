//! Generation of object IDs.

use std::sync::{Mutex, PoisonError};

use uuid::{Builder, Uuid};

/// The number of IDs per request for random bytes.
const BATCH: usize = 256;

/// Random bytes for future IDs.
static UNUSED: Mutex<Vec<[u8; 16]>> = Mutex::new(Vec::new());

/// Generates a random UUID. A single system call provides the bytes for many, since plans create thousands of objects.
pub(crate) fn generate() -> Uuid {
    let mut unused = UNUSED.lock().unwrap_or_else(PoisonError::into_inner);
    let bytes = unused.pop().or_else(|| {
        let mut bytes = [0; 16 * BATCH];
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
    fn object_ids_are_unique_random_uuids() {
        let made: HashSet<Uuid> = (0..3 * BATCH).map(|_| generate()).collect();
        assert_eq!(made.len(), 3 * BATCH);
        assert!(made.iter().all(|id| id.get_version_num() == 4));
    }
}
