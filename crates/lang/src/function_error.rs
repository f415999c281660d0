//! Errors of function calls.

use std::borrow::Cow;

use groma_value::Marks;

/// The error of a function call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionError {
    /// The argument at fault, counted from 0; none if the call as a whole is.
    pub argument: Option<usize>,
    /// The message without a full stop. A borrowed message contains nothing of the arguments.
    pub message: Cow<'static, str>,
}

impl FunctionError {
    /// The call as a whole is at fault.
    pub fn new(message: impl Into<Cow<'static, str>>) -> Self {
        Self { argument: None, message: message.into() }
    }

    /// The call as a whole is at fault, for the reason that `error` gives.
    pub(crate) fn of(error: impl std::error::Error) -> Self {
        Self::new(error.to_string())
    }

    /// The argument at `index` is at fault.
    pub fn argument(index: usize, message: impl Into<Cow<'static, str>>) -> Self {
        Self { argument: Some(index), message: message.into() }
    }

    /// Removes the message if it may reveal an argument with one of `marks`, which were removed before
    /// the call.
    pub(crate) fn concealing(mut self, marks: &[(usize, Marks)]) -> Self {
        let hidden = |index: usize, marks: &Marks| {
            self.argument.is_none_or(|argument| argument == index) && (marks.is_sensitive() || marks.is_ephemeral())
        };
        if matches!(self.message, Cow::Owned(_)) && marks.iter().any(|(index, marks)| hidden(*index, marks)) {
            self.message =
                "the reason cannot be shown, because it may hold a part of a value that must stay hidden".into();
        }
        self
    }
}
