//! The backend block of the configuration, completed by `init -backend-config`.

use std::path::Path;

use groma_address::Name;
use groma_config::variables::{InputValue, Origin, settings_file};
use groma_config::{Backend, DiskFiles, Module, UNSUPPORTED_BACKEND};
use groma_diagnostics::{Diagnostic, Diagnostics, Span};
use groma_value::Value;
use indexmap::IndexMap;

use super::super::context::Context;
use super::super::outcome::fail;
use super::local::Local;

/// The hint for an unknown argument.
const KNOWN: &str = "The local backend has the arguments path and workspace_dir.";

/// Arguments of the backend from elsewhere than its block, the later winning.
pub(in super::super) type Settings = IndexMap<Name, InputValue>;

/// A `backend "local"` block.
#[derive(Clone, Debug)]
pub(in super::super) struct Configured {
    /// The settings from the block and the options.
    pub local: Local,
    /// The number of the block alone.
    pub hash: i64,
}

/// Parses the `-backend-config` options: `name=value`, or the path of a file with arguments.
///
/// # Errors
/// A file cannot be read, or has something else than constants.
pub(in super::super) fn given(context: &Context, options: &[String]) -> Result<Settings, Diagnostics> {
    let mut settings = Settings::new();
    let mut problems = Diagnostics::new();
    for option in options {
        match option.split_once('=') {
            // An empty option resets the ones before it.
            None if option.is_empty() => settings.clear(),
            None => {
                let (more, found) = settings_file(Path::new(option), &context.sources, &DiskFiles::new("."));
                settings.extend(more);
                problems.append(found);
            }
            Some((name, text)) => {
                let value = InputValue { value: Value::string(text), origin: Origin::CommandLine, span: Span::NONE };
                settings.insert(Name::from(name.trim()), value);
            }
        }
    }
    if problems.has_errors() { Err(problems) } else { Ok(settings) }
}

/// The backend that `module` configures; none where it says nothing about it.
///
/// # Errors
/// It is one that is not there, or its arguments are wrong.
pub(in super::super) fn configured(module: &Module, beyond: &Settings) -> Result<Option<Configured>, Diagnostics> {
    if let Some(cloud) = &module.cloud {
        return Err(unsupported("HCP Terraform (a cloud block)", cloud.span));
    }
    let Some(backend) = &module.backend else { return Ok(None) };
    if &*backend.kind == "inmem" {
        return Err(forgetful(backend.kind_span));
    }
    if &*backend.kind != "local" {
        return Err(unsupported(&format!("the backend \"{}\"", backend.kind), backend.kind_span));
    }
    let mut problems = Diagnostics::new();
    let mut local = of_block(backend, &mut problems);
    let hash = local.hash();
    for (name, given) in beyond {
        if given.origin == Origin::CommandLine && !is_argument(name) {
            let detail = format!("-backend-config gives {name:?}. {KNOWN}");
            problems.append(fail("Invalid backend configuration argument", detail));
            continue;
        }
        let argument = Argument { name, value: Some(&given.value), name_span: given.span, span: given.span };
        argument.set(&mut local, &mut problems);
    }
    if problems.has_errors() { Err(problems) } else { Ok(Some(Configured { local, hash })) }
}

fn unsupported(place: &str, span: Span) -> Diagnostics {
    let detail = format!(
        "The configuration keeps its state in {place}. This version of Groma knows the local backend only. Nothing was read or written. To \
         keep the state in a local file, take the block out; for this one use the program that made the state."
    );
    Diagnostic::error(UNSUPPORTED_BACKEND, detail).at(span).into()
}

/// That a backend keeps the state no longer than a command runs.
fn forgetful(span: Span) -> Diagnostics {
    let detail = "The backend \"inmem\" keeps the state in the memory of one command: what an apply made would be known to nobody as soon as it \
                  has ended. Nothing was read or written. To keep the state in a local file, take the block out; for a state that may go, \
                  give the local backend a path in a temporary folder.";
    Diagnostic::error(UNSUPPORTED_BACKEND, detail).at(span).into()
}

fn of_block(backend: &Backend, problems: &mut Diagnostics) -> Local {
    let (attributes, found) = backend.body.attributes();
    problems.append(found);
    let mut local = Local::default();
    for attribute in attributes {
        let name = &attribute.name.name;
        let (name_span, span) = (attribute.name.span, attribute.expression.span);
        Argument { name, value: backend.known.get(name), name_span, span }.set(&mut local, problems);
    }
    local
}

fn is_argument(name: &str) -> bool {
    matches!(name, "path" | "workspace_dir")
}

/// One argument, wherever it was given.
struct Argument<'a> {
    name: &'a str,
    /// Its value, if that is known before anything is planned.
    value: Option<&'a Value>,
    name_span: Span,
    span: Span,
}

impl Argument<'_> {
    fn set(&self, local: &mut Local, problems: &mut Diagnostics) {
        let slot = match self.name {
            "path" => &mut local.path,
            "workspace_dir" => &mut local.workspace_dir,
            other => {
                let detail = format!("There is no argument {other:?} here. {KNOWN}");
                problems.push(Diagnostic::error("Unsupported argument", detail).at(self.name_span));
                return;
            }
        };
        match self.value {
            Some(value) if value.is_null() => {}
            Some(value) if value.as_str() == Some("") => {
                let name = self.name;
                let detail = format!(
                    "The \"{name}\" attribute value must not be empty. Give a path, or leave the argument out."
                );
                problems.push(Diagnostic::error("Invalid local state file path", detail).at(self.span));
            }
            Some(value) if value.as_str().is_some() => *slot = value.as_str().map(str::to_owned),
            _ => {
                let detail = "The argument has to be a string that is known before anything is planned: a constant, a variable with a \
                              value that is neither sensitive nor ephemeral, or a local value made of such.";
                problems.push(Diagnostic::error("Invalid backend argument", detail).at(self.span));
            }
        }
    }
}
