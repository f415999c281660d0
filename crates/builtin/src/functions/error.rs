//! Errors of the provider's functions.

use thiserror::Error;

/// The reason why a function has no result for its argument.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(super) enum CallError {
    #[error("an object with a value for each variable is required, not {0}")]
    NoObject(String),
    #[error(
        "{0:?} is not a valid variable name: a name must start with a letter or underscore and may contain only letters, digits, \
         underscores and dashes"
    )]
    VariableName(String),
    #[error("the string is too long")]
    TooLong,
    /// The string is not a variables file; holds the position and the text of the first diagnostic.
    #[error("invalid syntax: {0}")]
    Syntax(String),
    #[error("only variable assignments are allowed: {0}")]
    NoAssignment(String),
    #[error("the value of {variable:?} is not a constant: {reason}")]
    NotConstant { variable: String, reason: String },
}
