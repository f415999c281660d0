//! Redaction of sensitive values.

use std::borrow::Cow;

use groma_value::{Marks, Value};

/// The treatment of sensitive values in output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Secrecy {
    /// Show a placeholder instead.
    #[default]
    Hidden,
    /// Show the value, because the user asked for it: `-show-sensitive`.
    Revealed,
}

impl Secrecy {
    /// The value as it may be shown; what hides it are its marks.
    pub fn of(self, value: &Value) -> Cow<'_, Value> {
        match self {
            Self::Hidden => Cow::Borrowed(value),
            Self::Revealed if value.has_marks() => Cow::Owned(value.unmark_deep().0),
            Self::Revealed => Cow::Borrowed(value),
        }
    }

    /// Redacts a value that is sensitive as a whole.
    pub fn of_secret(self, value: &Value) -> Cow<'_, Value> {
        match self {
            Self::Hidden => Cow::Owned(value.clone().with_marks(&Marks::SENSITIVE)),
            Self::Revealed => self.of(value),
        }
    }
}
