//! Parsing of variables files and of values given as text.

use std::path::Path;
use std::sync::Arc;
use std::{fmt, io};

use groma_address::Name;
use groma_diagnostics::{Diagnostic, Diagnostics, SourceFile, Sources, Span, io_reason};
use groma_hcl::{Attribute, parse_expression, parse_file, parse_json_file};
use groma_lang::evaluate_constant;
use groma_value::{Type, Value};

use crate::decode::{Unparsed, constant_text};
use crate::model::Variable;
use crate::source::display;

/// Returns the assignments of a variables file in source order, each with the problems of its value. `what` names the
/// kind of file in messages.
pub(super) fn file(
    path: &Path,
    content: io::Result<Vec<u8>>,
    what: &str,
    origin: fn(String) -> Origin,
    sources: &Sources,
    diagnostics: &mut Diagnostics,
) -> Vec<(Name, Given)> {
    let origin = origin(display(path));
    let Some(file) = register(path, content, what, sources, diagnostics) else { return Vec::new() };
    let (parsed, problems) = if is_json(&file, &origin) { parse_json_file(&file) } else { parse_file(&file) };
    let (broken, unparsed) = (problems.has_errors(), Unparsed::of(&problems));
    diagnostics.append(problems);
    let (attributes, problems) = parsed.body.attributes();
    // After a syntax error the parser may see blocks that do not exist, so errors about blocks are dropped.
    if !broken {
        diagnostics.append(problems);
    }
    attributes.iter().map(|attribute| assignment(attribute, origin.clone(), &unparsed)).collect()
}

/// Whether the file is in the JSON syntax: by its `.json` suffix, or by its content for a file given with `-var-file`,
/// because process substitution (`<(...)`) gives it an arbitrary name.
fn is_json(file: &SourceFile, origin: &Origin) -> bool {
    let is_named = matches!(origin, Origin::NamedFile(_));
    file.name().ends_with(".json") || (is_named && file.text().trim_start().starts_with('{'))
}

fn register(
    path: &Path,
    content: io::Result<Vec<u8>>,
    what: &str,
    sources: &Sources,
    diagnostics: &mut Diagnostics,
) -> Option<Arc<SourceFile>> {
    let shown = display(path);
    let problem = match content {
        _ if path.as_os_str().is_empty() => {
            format!("The option for the {what} is empty. Specify the path of a file, or remove the option.")
        }
        Ok(bytes) => return sources.add_bytes(shown, bytes),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            format!("The {what} {shown} does not exist. Check the path; it is relative to the working directory.")
        }
        Err(error) => format!("The {what} {shown} cannot be read: {error}.", error = io_reason(&error)),
    };
    diagnostics.push(Diagnostic::error(format!("Failed to read {what}"), problem));
    None
}

fn assignment(attribute: &Attribute, origin: Origin, unparsed: &Unparsed) -> (Name, Given) {
    let mut problems = Diagnostics::new();
    let value = constant_text(&attribute.expression, &mut problems);
    let value = InputValue { value, origin, span: attribute.expression.span };
    (Name::clone(&attribute.name.name), Given { value, problems: unparsed.leave_out(problems) })
}

/// Parses a value of `variable` from the command line, the environment or a prompt.
///
/// The text is the value itself if the variable's type is primitive or missing; otherwise it is an expression. Also
/// returns the problems of the expression.
pub(super) fn text(variable: Option<&Variable>, name: &str, text: &str, sources: &Sources) -> (Value, Diagnostics) {
    // Terraform's rule: without a type, or with a primitive one, `-var x=[1]` is the string "[1]".
    let is_expression = variable.is_some_and(|variable| {
        variable.has_type && !matches!(variable.constraint.ty, Type::String | Type::Number | Type::Bool)
    });
    if !is_expression {
        return (Value::string(text), Diagnostics::new());
    }
    let Some(file) = sources.add(format!("<value for var.{name}>"), text) else {
        return (Value::DYNAMIC, Diagnostics::new());
    };
    let (expression, mut problems) = parse_expression(&file);
    let value = if problems.has_errors() { Value::DYNAMIC } else { evaluate_constant(&expression, &mut problems) };
    // Snippets and details could quote the text of a sensitive value.
    let hidden = variable.filter(|variable| variable.sensitive);
    let shown = problems.into_iter().map(|problem| match hidden {
        Some(variable) => without_text(problem, variable),
        None => problem,
    });
    (value, shown.collect())
}

/// Replaces a diagnostic about a sensitive value by one at the variable's declaration, without the text.
fn without_text(problem: Diagnostic, variable: &Variable) -> Diagnostic {
    let detail = format!(
        "The value for var.{} is not a valid expression. It is not shown because the variable is sensitive.",
        variable.name
    );
    Diagnostic::error(problem.summary, detail).at(variable.span)
}

/// The source of a variable's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// An environment variable `TF_VAR_…`.
    Environment,
    /// A variables file that is loaded automatically, by path.
    AutoFile(String),
    /// A variables file of the `-var-file` option, by path.
    NamedFile(String),
    /// The `-var` option.
    CommandLine,
}

/// A value for a variable, not yet converted to the variable's type.
#[derive(Clone, Debug)]
pub struct InputValue {
    /// The value as given.
    pub value: Value,
    /// The source of the value.
    pub origin: Origin,
    /// Span of the value if it is in a file.
    pub span: Span,
}

/// A value from one source with its problems, which are reported only if no later source overrides the value.
#[derive(Clone, Debug)]
pub(super) struct Given {
    pub(super) value: InputValue,
    /// Problems of the value's text.
    pub(super) problems: Diagnostics,
}

impl Origin {
    /// Describes the source in the middle of a sentence.
    pub(super) fn describe(&self, name: &Name) -> impl fmt::Display + '_ {
        struct Described<'a>(&'a Origin, Name);
        impl fmt::Display for Described<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let name = &self.1;
                match self.0 {
                    Origin::Environment => write!(f, "the environment variable TF_VAR_{name}"),
                    Origin::AutoFile(path) | Origin::NamedFile(path) => write!(f, "the file {path:?}"),
                    Origin::CommandLine => write!(f, "-var=\"{name}=...\""),
                }
            }
        }
        Described(self, Name::clone(name))
    }
}
