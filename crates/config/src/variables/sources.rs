//! Raw inputs that contain values of root variables.

use std::ffi::OsString;
use std::path::PathBuf;

/// The environment variables and command-line options that set variables.
#[derive(Clone, Debug, Default)]
pub struct VariableSources {
    /// Environment variables with the prefix `TF_VAR_`, without the prefix. A value may be invalid UTF-8.
    pub environment: Vec<(String, OsString)>,
    /// `-var` and `-var-file` options in command-line order.
    pub options: Vec<VariableOption>,
}

/// A command-line option that sets variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VariableOption {
    /// `-var`, as `name=value`.
    Assignment(String),
    /// `-var-file`: the path of a variables file.
    File(PathBuf),
}
