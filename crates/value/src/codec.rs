//! The error type of the JSON and msgpack codecs.

use crate::flat::FlatError;
use crate::path::{Path, PathStep};
use std::fmt;

/// The reason why a stored object does not have the type of its schema.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoredError {
    /// The object is stored as JSON.
    #[error(transparent)]
    Json(#[from] CodecError),
    /// The object is stored as flatmap attributes.
    #[error(transparent)]
    Flat(#[from] FlatError),
}

/// An error of encoding or decoding a value as JSON or msgpack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodecError {
    /// The part of the value that cannot be encoded or decoded.
    pub path: Path,
    /// The problem, in lower case and without a final period.
    pub message: String,
    /// The byte offset in the JSON or msgpack input; `None` when encoding.
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

/// An error under construction: each level of the recursion appends its step on the way out, innermost first.
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
