//! The content of a remote state, in memory.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;

/// The stored content of a remote state in clear, shared with the thread that writes during a run. Empty without a stored
/// state.
///
/// A writer releases the content before it makes the next one, because two of a large state need not be in memory. If the
/// write then fails, the content stays empty, which means that nothing is known of it: the next save writes.
#[derive(Clone, Default)]
pub(super) struct StoredContent(Arc<Mutex<Bytes>>);

impl StoredContent {
    pub fn new(content: Bytes) -> Self {
        Self(Arc::new(Mutex::new(content)))
    }

    pub fn get(&self) -> Bytes {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn set(&self, content: Bytes) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = content;
    }

    /// Frees the content.
    pub fn release(&self) {
        self.set(Bytes::new());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_share_the_content() {
        let one = StoredContent::new(Bytes::from_static(b"one"));
        let other = one.clone();
        other.set(Bytes::from_static(b"other"));
        assert_eq!(one.get(), b"other"[..]);
        one.release();
        assert!(other.get().is_empty());
    }
}
