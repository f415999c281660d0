//! The backend block of the configuration, completed by `init -backend-config`.

use std::path::Path;

use groma_address::Name;
use groma_backend::{ArgumentError, ArgumentKind};
use groma_config::variables::{InputValue, Origin, settings_file};
use groma_config::{
    Backend as BackendBlock, DiskFiles, MemoryFiles, Module, UnusableReason, UnusableVariable, unknown_backend,
    unsupported_backend,
};
use groma_diagnostics::{Diagnostic, Diagnostics, Span};
use groma_hcl::Attribute;
use groma_value::{Type, Value};
use indexmap::IndexMap;

use super::super::context::Context;
use super::super::outcome::fail;
use super::config::{BackendConfig, BackendKind};

/// Backend arguments set outside the block; later ones override earlier ones.
pub(in super::super) type Settings = IndexMap<Name, InputValue>;

/// A backend block with the arguments that complete it.
#[derive(Clone, Debug)]
pub(in super::super) struct Configured {
    /// The backend with the arguments of the block and of `-backend-config`.
    pub backend: BackendConfig,
    /// The block alone, whose hash the record has.
    pub block: BackendConfig,
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
pub(in super::super) fn configured(
    context: &Context,
    module: &Module,
    beyond: &Settings,
) -> Result<Option<Configured>, Diagnostics> {
    let Some(block) = module.backend.as_ref().or(module.cloud.as_ref()) else { return Ok(None) };
    if let Some(problem) = module.backend.as_ref().and_then(unknown_backend) {
        return Err(problem.into());
    }
    let Some(kind) = BackendKind::find(&block.kind) else {
        return Err(unsupported(&format!("the backend \"{}\"", block.kind), block.kind_span));
    };
    let mut problems = Diagnostics::new();
    let mut arguments = of_block(kind, block, &mut problems);
    let alone = conformed(kind, &arguments, &mut problems);
    for (name, given) in beyond {
        // Arguments from files have a source location, and are reported like those of the block.
        let is_known = kind.schema().argument(name).is_some();
        if given.origin == Origin::CommandLine && !is_known {
            problems.append(unexpected(kind, name));
            continue;
        }
        let value = match given.origin {
            Origin::CommandLine => from_text(context, kind, name, &given.value, &mut problems),
            _ => given.value.clone(),
        };
        arguments.insert(name.clone(), Given { value, name_span: given.span, span: given.span });
    }
    let backend = conformed(kind, &arguments, &mut problems);
    // Both are needed: the record keeps the hash of the block and the settings that complete it.
    match (backend, alone) {
        (Some(backend), Some(block)) if !problems.has_errors() => Ok(Some(Configured { backend, block })),
        _ => Err(problems.into_iter().fold(Diagnostics::new(), without_repetition)),
    }
}

/// A block is checked alone and with what completes it, which finds its errors twice.
fn without_repetition(mut all: Diagnostics, problem: Diagnostic) -> Diagnostics {
    if !all.iter().any(|known| *known == problem) {
        all.push(problem);
    }
    all
}

fn unsupported(backend: &str, span: Span) -> Diagnostics {
    let detail = format!(
        "The configuration stores its state in {backend}, which this version of Groma does not support. Nothing was read or written. To \
         store the state in a local file, remove the block. To keep this backend, use the program that created the state."
    );
    unsupported_backend(detail).at(span).into()
}

fn unexpected(kind: BackendKind, name: &str) -> Diagnostics {
    let names: Vec<&str> = kind.schema().arguments().iter().map(|argument| argument.name()).collect();
    let detail = format!(
        "-backend-config sets {name:?}, which is not an argument of the backend {:?}.{} Its arguments are {}.",
        kind.name(),
        groma_diagnostics::did_you_mean(name, names.iter().copied()),
        names.join(", ")
    );
    fail("Invalid backend configuration argument", detail)
}

/// A given argument with its location.
#[derive(Clone)]
struct Given {
    value: Value,
    name_span: Span,
    span: Span,
}

type Arguments = IndexMap<Name, Given>;

fn of_block(kind: BackendKind, block: &BackendBlock, problems: &mut Diagnostics) -> Arguments {
    let (attributes, blocks, found) = block.items();
    problems.append(found);
    let mut arguments = Arguments::new();
    for attribute in attributes {
        let name = &attribute.name.name;
        let value = block.known.get(name).cloned().unwrap_or_else(|| {
            problems.push(not_constant(block, &attribute));
            Value::NULL
        });
        let (name_span, span) = (attribute.name.span, attribute.expression.span);
        check_empty_path(kind, name, &value, span, problems);
        arguments.insert(name.clone(), Given { value, name_span, span });
    }
    for nested in blocks {
        let name = &nested.kind.name;
        let value = block.known.get(name).cloned().unwrap_or(Value::NULL);
        let is_block =
            kind.schema().argument(name).is_some_and(|argument| matches!(argument.kind(), ArgumentKind::Block(..)));
        if !is_block {
            // Terraform's words, which wrappers and people search for.
            let detail = format!("Blocks of type {name:?} are not expected here.");
            problems.push(Diagnostic::error("Unsupported block type", detail).at(nested.header));
            continue;
        }
        let (inner, found) = nested.body.attributes();
        problems.append(found);
        // A nested block is evaluated as an object, so an argument without a value in it was not constant.
        let is_known = |attribute: &Attribute| {
            let mut objects = value.elements();
            objects.any(|(_, object)| object.attribute(&attribute.name.name).is_some())
        };
        inner.iter().filter(|attribute| !is_known(attribute)).for_each(|one| problems.push(not_constant(block, one)));
        arguments.insert(name.clone(), Given { value, name_span: nested.header, span: nested.header });
    }
    arguments
}

/// Reports an argument that is not known before planning, with the variable that is the reason, if there is one.
fn not_constant(block: &BackendBlock, attribute: &Attribute) -> Diagnostic {
    let span = attribute.expression.span;
    let detail = match block.unusable.get(&span) {
        Some(UnusableVariable { name, reason: UnusableReason::NoValue }) => {
            format!("var.{name} has no value: set it with -var or TF_VAR_{name}.")
        }
        Some(UnusableVariable { name, reason: UnusableReason::Sensitive }) => unrevealed(name, "sensitive"),
        Some(UnusableVariable { name, reason: UnusableReason::Ephemeral }) => unrevealed(name, "ephemeral"),
        None => {
            "The value must be known before planning: a constant, a variable that is neither sensitive nor ephemeral, or a local value \
             derived from these."
                .to_owned()
        }
    };
    Diagnostic::error("Invalid backend argument", detail).at(span)
}

fn unrevealed(name: &Name, kind: &str) -> String {
    format!(
        "var.{name} is {kind}, and the working directory would record its value with the backend, in plain text. Set the argument with an \
         environment variable of the backend instead."
    )
}

/// Refuses empty paths of the local backend, as Terraform does.
fn check_empty_path(kind: BackendKind, name: &str, value: &Value, span: Span, problems: &mut Diagnostics) {
    if matches!(kind, BackendKind::Local) && value.as_str() == Some("") {
        let detail =
            format!("The \"{name}\" attribute value must not be empty. Set it to a path, or remove the argument.");
        problems.push(Diagnostic::error("Invalid local state file path", detail).at(span));
    }
}

/// Converts the text of a command-line argument: as it is for strings, otherwise an expression.
fn from_text(context: &Context, kind: BackendKind, name: &Name, value: &Value, problems: &mut Diagnostics) -> Value {
    check_empty_path(kind, name, value, Span::NONE, problems);
    let ty = kind.schema().argument(name).map_or(Type::String, |argument| argument.ty());
    let Some(text) = value.as_str().filter(|_| !ty.is_primitive()) else { return value.clone() };
    // The text is read like a file with this one argument.
    let path = Path::new("-backend-config");
    let mut files = MemoryFiles::new();
    files.insert(path, format!("{name} = {text}\n").into_bytes());
    let (mut values, found) = settings_file(path, &context.sources, &files);
    problems.append(found);
    values.swap_remove(name).map_or(Value::NULL, |given| given.value)
}

/// Converts the arguments to the schema; reports each that does not fit, where it is written.
fn conformed(kind: BackendKind, arguments: &Arguments, problems: &mut Diagnostics) -> Option<BackendConfig> {
    let values = arguments.iter().map(|(name, given)| (name.clone(), given.value.clone()));
    match BackendConfig::new(kind, &Value::object(values.collect::<Vec<_>>())) {
        Ok(config) => Some(config),
        Err(errors) => {
            for error in errors {
                let given = error.argument().and_then(|name| arguments.get(name));
                let (summary, span) = match &error {
                    ArgumentError::Unknown { .. } => ("Unsupported argument", given.map(|given| given.name_span)),
                    _ => ("Invalid backend argument", given.map(|given| given.span)),
                };
                problems.push(Diagnostic::error(summary, error.to_string()).at(span.unwrap_or(Span::NONE)));
            }
            None
        }
    }
}
