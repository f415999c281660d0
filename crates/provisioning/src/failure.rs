//! Errors of provisioners.

/// An error of a provisioner, as it is reported.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The summary of the error.
    pub summary: &'static str,
    /// The rest of the message.
    pub detail: String,
}

impl Failure {
    pub(super) fn new(summary: &'static str, detail: impl Into<String>) -> Self {
        Self { summary, detail: detail.into() }
    }
}
