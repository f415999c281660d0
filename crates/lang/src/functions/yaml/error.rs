//! Errors of YAML documents.

use groma_value::convert::ConversionError;
use thiserror::Error;

use super::read::{DEEPEST, MOST_NODES};

/// The reason why a string is not a YAML document that values can be made of.
#[derive(Clone, Debug, PartialEq, Error)]
pub(in crate::functions) enum YamlError {
    #[error("U+{:04X} may not be in a document", u32::from(*.0))]
    Character(char),
    #[error("the document ends before it is complete")]
    Incomplete,
    #[error("on line {line}, column {column}: {problem}")]
    At {
        /// Line number, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        problem: YamlProblem,
    },
}

/// A mistake at a position of a YAML document.
#[derive(Clone, Debug, PartialEq, Error)]
pub(in crate::functions) enum YamlProblem {
    /// The message of the parser.
    #[error("{0}")]
    Syntax(String),
    #[error("expecting value but found end of stream")]
    NoValue,
    #[error("expecting value but found the end")]
    NoNode,
    #[error("only a single document is allowed")]
    SecondDocument,
    #[error("cannot refer to an anchor from inside its own definition")]
    RecursiveAnchor,
    #[error("reference to undefined anchor")]
    UndefinedAnchor,
    #[error("the document expands to more than {MOST_NODES} values")]
    TooManyNodes,
    #[error("the document is nested more than {DEEPEST} levels deep")]
    TooDeep,
    #[error("can't interpret {what} as {tag}")]
    WrongTag { what: &'static str, tag: String },
    #[error("the keys of a mapping must be strings")]
    ComplexKey,
    #[error("mapping key cannot be null")]
    NullKey,
    /// The value of a `<<` key is not a mapping.
    #[error("cannot merge {what}{note} into mapping")]
    NotMergeable { what: String, note: &'static str },
    #[error("cannot parse {text:?} as {tag}")]
    Untagged { text: String, tag: &'static str },
    #[error("cannot parse {0:?} as !!binary: not valid base64")]
    NotBase64(String),
    #[error("unsupported tag {0:?}")]
    UnsupportedTag(String),
    #[error("floating point NaN is not supported")]
    NotANumber,
    #[error("{}", .0.message)]
    Conversion(#[from] ConversionError),
}
