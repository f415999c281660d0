//! Values of input variables with their origin.

use std::fmt;

use groma_address::Name;
use groma_diagnostics::{Diagnostics, Span};
use groma_value::Value;

/// The source of a variable's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// An environment variable `TF_VAR_…`.
    Environment,
    /// A variables file that is loaded automatically, by path.
    AutoFile(String),
    /// A variables file of the `-var-file` option, by path.
    NamedFile(String),
    /// The `-var` option.
    CommandLine,
}

/// A value for a variable, not yet converted to the variable's type.
#[derive(Clone, Debug)]
pub struct InputValue {
    /// The value as given.
    pub value: Value,
    /// The source of the value.
    pub origin: Origin,
    /// Span of the value if it is in a file.
    pub span: Span,
}

/// A value from one source with its problems, which are reported only if no later source overrides the value.
#[derive(Clone, Debug)]
pub(super) struct Given {
    pub(super) value: InputValue,
    /// Problems of the value's text.
    pub(super) problems: Diagnostics,
}

impl Origin {
    /// Describes the source in the middle of a sentence.
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
