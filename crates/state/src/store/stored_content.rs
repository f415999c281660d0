//! The content of a remote state, in memory.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;

/// The stored content of a remote state in clear, shared with the thread that writes during a run.
///
/// A writer releases the content before it makes the next one, because two of a large state need not be in memory. If the
/// write then fails, the content stays unknown, and the next save writes.
#[derive(Clone, Default)]
pub(super) struct StoredContent(Arc<Mutex<Option<Bytes>>>);

impl StoredContent {
    /// Creates a content that is known. It is empty without a stored state.
    pub fn new(content: Bytes) -> Self {
        Self(Arc::new(Mutex::new(Some(content))))
    }

    /// Returns the content, which is empty without a stored state; `None` if it is unknown.
    pub fn get(&self) -> Option<Bytes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn set(&self, content: Bytes) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(content);
    }

    /// Frees the content, which is unknown from here on.
    pub fn release(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
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
        assert_eq!(one.get().unwrap(), b"other"[..]);
        one.release();
        assert_eq!(other.get(), None);
    }
}
