//! The backend block of the configuration, completed by `init -backend-config`.

use std::path::Path;

use groma_address::Name;
use groma_config::variables::{InputValue, Origin, settings_file};
use groma_config::{Backend, DiskFiles, Module, unsupported_backend};
use groma_diagnostics::{Diagnostic, Diagnostics, Span};
use groma_value::Value;
use indexmap::IndexMap;

use super::super::context::Context;
use super::super::outcome::fail;
use super::local::Local;

/// Hint for an unknown argument.
const KNOWN: &str = "The local backend supports the arguments path and workspace_dir.";

/// Backend arguments set outside the block; later ones override earlier ones.
pub(in super::super) type Settings = IndexMap<Name, InputValue>;

/// A `backend "local"` block.
#[derive(Clone, Debug)]
pub(in super::super) struct Configured {
    /// Arguments set by the block and by `-backend-config`.
    pub local: Local,
    /// Hash of the block alone, see [`Local::hash`].
    pub hash: i64,
}

/// Parses the values of `-backend-config`: `name=value`, or the path of a file of arguments.
///
/// # Errors
/// A file cannot be read, or contains expressions that are not constant.
pub(in super::super) fn given(context: &Context, options: &[String]) -> Result<Settings, Diagnostics> {
    let mut settings = Settings::new();
    let mut problems = Diagnostics::new();
    for option in options {
        match option.split_once('=') {
            // As in Terraform, an empty value clears all preceding ones.
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

/// Returns the backend that `module` configures, if any.
///
/// # Errors
/// The backend is not supported, or its arguments are invalid.
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
        // Arguments from files have a source location, and are reported like those of the block.
        if given.origin == Origin::CommandLine && !is_argument(name) {
            let detail = format!("-backend-config sets {name:?}, which is not an argument of the backend. {KNOWN}");
            problems.append(fail("Invalid backend configuration argument", detail));
            continue;
        }
        let argument = Argument { name, value: Some(&given.value), name_span: given.span, span: given.span };
        argument.set(&mut local, &mut problems);
    }
    if problems.has_errors() { Err(problems) } else { Ok(Some(Configured { local, hash })) }
}

fn unsupported(backend: &str, span: Span) -> Diagnostics {
    let detail = format!(
        "The configuration stores its state in {backend}, but this version of Groma only supports the local backend. Nothing was read or \
         written. To store the state in a local file, remove the block. To keep this backend, use the program that created the state."
    );
    unsupported_backend(detail).at(span).into()
}

/// Rejects the `inmem` backend, whose state would not outlive the command.
fn forgetful(span: Span) -> Diagnostics {
    let detail = "The backend \"inmem\" stores the state in memory, so all objects that an apply creates would be untracked as soon as it \
                  ends. Nothing was read or written. To store the state in a local file, remove the block. For a disposable state, set the \
                  path of the local backend to a file in a temporary directory.";
    unsupported_backend(detail).at(span).into()
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

/// One backend argument, from the block or from `-backend-config`.
struct Argument<'a> {
    name: &'a str,
    /// Value of the argument, if it is known before planning.
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
                let detail = format!("An argument named {other:?} is not expected here. {KNOWN}");
                problems.push(Diagnostic::error("Unsupported argument", detail).at(self.name_span));
                return;
            }
        };
        match self.value {
            Some(value) if value.is_null() => {}
            Some(value) if value.as_str() == Some("") => {
                let name = self.name;
                let detail = format!(
                    "The \"{name}\" attribute value must not be empty. Set it to a path, or remove the argument."
                );
                problems.push(Diagnostic::error("Invalid local state file path", detail).at(self.span));
            }
            Some(value) if value.as_str().is_some() => *slot = value.as_str().map(str::to_owned),
            _ => {
                let detail = "The value must be a string that is known before planning: a constant, a variable that is neither sensitive nor \
                              ephemeral, or a local value derived from these.";
                problems.push(Diagnostic::error("Invalid backend argument", detail).at(self.span));
            }
        }
    }
}
