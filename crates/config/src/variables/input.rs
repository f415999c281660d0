//! A value that was given for a variable.

use std::fmt;

use groma_address::Name;
use groma_diagnostics::{Diagnostics, Span};
use groma_value::Value;

/// The source of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The environment variable `TF_VAR_…`.
    Environment,
    /// A variables file that is read of its own accord.
    AutoFile(String),
    /// A variables file named with `-var-file`.
    NamedFile(String),
    /// `-var` on the command line.
    CommandLine,
}

/// A value given for a variable, not yet converted to its type.
#[derive(Clone, Debug)]
pub struct InputValue {
    /// The value as given.
    pub value: Value,
    /// The source of the value.
    pub origin: Origin,
    /// Its text, where that is in a file.
    pub span: Span,
}

/// The value from one source. Its errors do not matter if another source has precedence, or the variable is not needed.
#[derive(Clone, Debug)]
pub(super) struct Given {
    pub(super) value: InputValue,
    /// Errors in its text.
    pub(super) problems: Diagnostics,
}

impl Origin {
    /// The source in the middle of a sentence: `was given NAME ... by`.
    pub(super) fn describe(&self, name: &Name) -> impl fmt::Display + '_ {
        struct Described<'a>(&'a Origin, Name);
        impl fmt::Display for Described<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let name = &self.1;
                match self.0 {
                    Origin::Environment => write!(f, "the environment variable TF_VAR_{name}"),
                    Origin::AutoFile(path) | Origin::NamedFile(path) => write!(f, "the file {path:?}"),
                    Origin::CommandLine => write!(f, "-var=\"{name}=...\""),
                }
            }
        }
        Described(self, Name::clone(name))
    }
}
