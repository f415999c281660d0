//! What is shown of secrets.

use std::borrow::Cow;

use groma_value::{Marks, Value};

/// What is shown of secrets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Secrecy {
    /// That there is one.
    #[default]
    Hidden,
    /// What it is, because the user asked for it: `-show-sensitive`.
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

    /// The same of a value that is a secret as a whole.
    pub fn of_secret(self, value: &Value) -> Cow<'_, Value> {
        match self {
            Self::Hidden => Cow::Owned(value.clone().with_marks(&Marks::SENSITIVE)),
            Self::Revealed => self.of(value),
        }
    }
}
