//! Functions that read files, and functions of paths.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use groma_diagnostics::io_reason;
use groma_value::{Type, Value};
use md5::Md5;
use sha1::Sha1;
use sha2::{Sha256, Sha512};
use thiserror::Error;

use super::crypto::{hexadecimal, in_base64};
use super::glob::matching_files;
use super::mapping::shown;
use super::paths;
use super::signature::{Accepts, Arguments, Function, FunctionError, Outcome, Parameter};
use crate::context::FunctionContext;

pub(super) fn functions() -> Vec<Function> {
    // These functions see the marks of the path, because their messages must not show a sensitive one.
    let path = || Parameter::text("path").accepting(Accepts::MARKED);
    let of_path = |name, body| Function::fixed(name, Type::String, body).takes(Parameter::text("path"));
    vec![
        Function::fixed("file", Type::String, file).takes(path()),
        Function::fixed("filebase64", Type::String, filebase64).takes(path()),
        Function::fixed("fileexists", Type::Bool, fileexists).takes(path()),
        Function::fixed("fileset", Type::set(Type::String), fileset)
            .takes(path())
            .takes(Parameter::text("pattern").accepting(Accepts::MARKED)),
        of_path("filemd5", |call| digest(call, hexadecimal::<Md5>)),
        of_path("filesha1", |call| digest(call, hexadecimal::<Sha1>)),
        of_path("filesha256", |call| digest(call, hexadecimal::<Sha256>)),
        of_path("filesha512", |call| digest(call, hexadecimal::<Sha512>)),
        of_path("filebase64sha256", |call| digest(call, in_base64::<Sha256>)),
        of_path("filebase64sha512", |call| digest(call, in_base64::<Sha512>)),
        of_path("basename", |call| Ok(Value::string(paths::base(call.text(0))))),
        of_path("dirname", |call| Ok(Value::string(paths::directory(call.text(0))))),
        of_path("abspath", |call| {
            let working = call.context().working_directory.to_string_lossy().into_owned();
            Ok(Value::string(paths::joined(&working, call.text(0))))
        }),
        of_path("pathexpand", |call| {
            home_expanded(call.text(0), call.context()).map(Value::string).map_err(FunctionError::of)
        }),
    ]
}

/// The reason why a file of the configuration cannot be read. Paths that are sensitive are already replaced.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(super) enum PathError {
    #[error("failed to expand ~: only the own home folder can be named this way, not that of another user")]
    OtherHome,
    #[error("failed to expand ~: the home folder is not known")]
    UnknownHome,
    #[error(
        "there is no file at {0}. Only files that are part of the configuration can be read; if a resource creates this one, take its \
         content from an attribute of that resource"
    )]
    Missing(String),
    /// The reason of the operating system may hold the sensitive path.
    #[error("failed to read {0}")]
    Concealed(String),
    #[error("failed to read {path}: {reason}")]
    Unreadable { path: String, reason: String },
}

/// The path with `~` replaced by the home folder.
fn home_expanded(path: &str, context: &FunctionContext) -> Result<String, PathError> {
    let Some(rest) = path.strip_prefix('~') else { return Ok(path.to_owned()) };
    // Only `~` and `~/...` are expanded, as by the library that Terraform uses.
    if !rest.is_empty() && !rest.starts_with('/') {
        return Err(PathError::OtherHome);
    }
    match &context.home_directory {
        Some(home) => Ok(paths::joined(&home.to_string_lossy(), rest.trim_start_matches('/'))),
        None => Err(PathError::UnknownHome),
    }
}

/// Resolves a path of the configuration.
fn resolved(path: &str, context: &FunctionContext) -> Result<PathBuf, PathError> {
    let path = home_expanded(path, context)?;
    let joined = paths::joined(&context.base_directory.to_string_lossy(), &path);
    Ok(PathBuf::from(joined))
}

/// The bytes of the file that the value names. Messages do not show paths that are sensitive.
pub(super) fn read(path: &Value, context: &FunctionContext) -> Result<Vec<u8>, PathError> {
    let file = resolved(path.as_str().unwrap_or_default(), context)?;
    fs::read(&file).map_err(|problem| match problem.kind() {
        ErrorKind::NotFound => PathError::Missing(shown(path).to_string()),
        _ if path.has_marks() => PathError::Concealed(shown(path).to_string()),
        _ => PathError::Unreadable { path: shown(path).to_string(), reason: io_reason(&problem) },
    })
}

/// The text of the file that the value names.
pub(super) fn read_text(path: &Value, context: &FunctionContext) -> Result<String, FunctionError> {
    let bytes = read(path, context).map_err(|problem| FunctionError::argument(0, problem.to_string()))?;
    String::from_utf8(bytes).map_err(|error| {
        FunctionError::new(format!(
            "contents of {} are not valid UTF-8{}; use the filebase64 function to obtain the Base64 encoded contents or \
             the other file functions (e.g. filemd5, filesha256) to obtain file hashing results instead",
            shown(path),
            first_invalid_byte(path, &error)
        ))
    })
}

/// The first byte that is not UTF-8 and its line, for messages; nothing where the path is sensitive.
fn first_invalid_byte(path: &Value, error: &std::string::FromUtf8Error) -> String {
    let (valid, rest) = error.as_bytes().split_at(error.utf8_error().valid_up_to());
    match rest.first() {
        Some(byte) if !path.has_marks() => {
            let line = 1 + valid.iter().filter(|byte| **byte == b'\n').count();
            format!(" (byte 0x{byte:02X} on line {line})")
        }
        _ => String::new(),
    }
}

fn file(arguments: &Arguments<'_>) -> Outcome {
    let path = arguments.value(0);
    Ok(Value::string(read_text(&path, arguments.context())?).with_marks(path.marks()))
}

fn filebase64(arguments: &Arguments<'_>) -> Outcome {
    let path = arguments.value(0);
    let bytes = read(&path, arguments.context()).map_err(|problem| FunctionError::argument(0, problem.to_string()))?;
    Ok(Value::string(STANDARD.encode(bytes)).with_marks(path.marks()))
}

fn digest(arguments: &Arguments<'_>, digest: fn(&[u8]) -> String) -> Outcome {
    let bytes = read(&arguments.value(0), arguments.context()).map_err(FunctionError::of)?;
    Ok(Value::string(digest(&bytes)))
}

fn fileexists(arguments: &Arguments<'_>) -> Outcome {
    let path = arguments.value(0);
    let file = resolved(arguments.text(0), arguments.context()).map_err(FunctionError::of)?;
    let exists = match fs::metadata(&file) {
        Ok(metadata) if metadata.is_file() => true,
        Ok(metadata) => {
            let what = if metadata.is_dir() { "a directory, not a file" } else { "not a regular file" };
            let name = if arguments.text(0).is_empty() { "\".\"".to_owned() } else { shown(&path) };
            return Err(FunctionError::new(format!("{name} is {what}")));
        }
        Err(problem) if problem.kind() == ErrorKind::NotFound => false,
        Err(_) => return Err(FunctionError::new(format!("failed to look for {}", shown(&path)))),
    };
    Ok(Value::bool(exists).with_marks(path.marks()))
}

fn fileset(arguments: &Arguments<'_>) -> Outcome {
    let (path, pattern) = (arguments.value(0), arguments.value(1));
    let base = arguments.context().base_directory.to_string_lossy().into_owned();
    let root = paths::joined(&base, arguments.text(0));
    let found = matching_files(Path::new(&root), arguments.text(1))
        .map_err(|problem| FunctionError::new(format!("failed to glob pattern {}: {problem}", shown(&pattern))))?;
    let names = found.into_iter().map(Value::string).collect();
    Ok(Value::set(Type::String, names).with_marks(path.marks()).with_marks(pattern.marks()))
}
