//! Errors of provisioners.

/// An error of a provisioner, as it is reported.
pub(super) struct Failure {
    pub(super) summary: &'static str,
    pub(super) detail: String,
}

impl Failure {
    pub(super) fn new(summary: &'static str, detail: impl Into<String>) -> Self {
        Self { summary, detail: detail.into() }
    }
}
