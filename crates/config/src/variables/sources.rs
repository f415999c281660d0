//! Sources of values for root variables.

use std::ffi::OsString;
use std::path::PathBuf;

/// The values of variables in the environment and on the command line.
#[derive(Clone, Debug, Default)]
pub struct VariableSources {
    /// The environment variables that begin with `TF_VAR_`, without that prefix. A value need not be valid UTF-8.
    pub environment: Vec<(String, OsString)>,
    /// `-var` and `-var-file` in the order of the command line.
    pub options: Vec<VariableOption>,
}

/// An option of the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VariableOption {
    /// `-var`: `name=value`.
    Assignment(String),
    /// `-var-file`.
    File(PathBuf),
}
