//! Errors of encoding and decoding values.

use crate::path::{Path, PathStep};
use std::fmt;

/// The error of encoding a value to, or decoding it from, JSON or msgpack, with the path of the part that caused it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodecError {
    /// The part of the value.
    pub path: Path,
    /// The description of the error.
    pub message: String,
    /// The offset in the JSON text or the msgpack bytes; `None` when encoding.
    pub offset: Option<usize>,
}

impl fmt::Display for CodecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.message)?;
        match self.offset {
            Some(offset) => write!(f, " (at byte {offset})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for CodecError {}

/// A failure on its way out: the steps are collected from the inside.
#[derive(Debug)]
pub(crate) struct Failure {
    steps: Vec<PathStep>,
    message: String,
    offset: Option<usize>,
}

pub(crate) type Outcome<T> = Result<T, Box<Failure>>;

impl Failure {
    pub fn new(message: impl Into<String>) -> Box<Failure> {
        Box::new(Failure { steps: Vec::new(), message: message.into(), offset: None })
    }

    pub fn at(offset: usize, message: impl Into<String>) -> Box<Failure> {
        Box::new(Failure { steps: Vec::new(), message: message.into(), offset: Some(offset) })
    }

    pub fn within(mut self: Box<Self>, step: PathStep) -> Box<Failure> {
        self.steps.push(step);
        self
    }
}

impl From<Box<Failure>> for CodecError {
    fn from(mut failure: Box<Failure>) -> CodecError {
        failure.steps.reverse();
        CodecError { path: Path::from(failure.steps), message: failure.message, offset: failure.offset }
    }
}
