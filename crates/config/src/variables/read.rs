//! Variables files, and values written as text.

use std::io;
use std::path::Path;
use std::sync::Arc;

use groma_address::Name;
use groma_diagnostics::{Diagnostic, Diagnostics, SourceFile, Sources, io_reason};
use groma_hcl::{Attribute, parse_expression, parse_file, parse_json_file};
use groma_lang::evaluate_constant;
use groma_value::{Type, Value};

use super::input::{Given, InputValue, Origin};
use crate::decode::{Unparsed, constant_text};
use crate::model::Variable;
use crate::source::display;

/// The assignments in a file that was read, in its order; `what` it is to people. What is wrong with a value comes with it.
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
    // A file that cannot be parsed looks as if it held blocks.
    if !broken {
        diagnostics.append(problems);
    }
    attributes.iter().map(|attribute| assignment(attribute, origin.clone(), &unparsed)).collect()
}

/// Whether the file is in the JSON syntax: by its name, or, for a file with any other name, which shells may generate, because it
/// starts with an opening brace.
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
            format!("The {what} has no name: the option is empty. Give the path of a file, or leave the option out.")
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

/// The value that `text` is for `variable`, as given on the command line, in the environment or at a prompt.
///
/// Where the variable's type is a string, a number, a truth value or not written at all, the text is the value; otherwise
/// it is an expression. With what is wrong with that.
pub(super) fn text(variable: Option<&Variable>, name: &str, text: &str, sources: &Sources) -> (Value, Diagnostics) {
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
    let hidden = variable.filter(|variable| variable.sensitive);
    let shown = problems.into_iter().map(|problem| match hidden {
        Some(variable) => without_text(problem, variable),
        None => problem,
    });
    (value, shown.collect())
}

/// Removes the source line of a sensitive value from a problem: it refers to the declaration instead.
fn without_text(problem: Diagnostic, variable: &Variable) -> Diagnostic {
    let detail = format!("The value for var.{}, which is sensitive, is no expression that can be read.", variable.name);
    Diagnostic::error(problem.summary, detail).at(variable.span)
}
