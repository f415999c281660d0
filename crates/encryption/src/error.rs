//! What can go wrong, said for people.

/// Why something could not be sealed or opened. The sentences never hold secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncryptionError {
    /// One line that people search for.
    pub summary: String,
    /// What happened, and what to do.
    pub detail: String,
}

impl EncryptionError {
    pub(crate) fn new(summary: &str, detail: impl Into<String>) -> Self {
        Self { summary: summary.to_owned(), detail: detail.into() }
    }
}
