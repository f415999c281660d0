//! Redaction of sensitive values.

use std::borrow::Cow;

use groma_value::{Marks, Value};

/// Treatment of sensitive values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Redaction {
    /// Sensitive values are replaced by a placeholder.
    #[default]
    Redact,
    /// Sensitive values are shown: `-show-sensitive`.
    Reveal,
}

impl Redaction {
    /// Returns the value to render: its marks hide sensitive parts unless they are revealed.
    pub fn of(self, value: &Value) -> Cow<'_, Value> {
        match self {
            Self::Redact => Cow::Borrowed(value),
            // Only marked values need a copy.
            Self::Reveal if value.has_marks() => Cow::Owned(value.unmark_deep().0),
            Self::Reveal => Cow::Borrowed(value),
        }
    }

    /// Returns the value to render of a value that is sensitive as a whole.
    pub fn of_sensitive(self, value: &Value) -> Cow<'_, Value> {
        match self {
            Self::Redact => Cow::Owned(value.clone().with_marks(&Marks::SENSITIVE)),
            Self::Reveal => self.of(value),
        }
    }
}
