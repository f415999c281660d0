//! Decoding of values from configuration syntax.

use groma_diagnostics::{Diagnostic, Diagnostics, Sources};
use groma_lang::evaluate_constant;
use groma_value::Value;

use super::error::CallError;

/// The pseudo file name in diagnostics.
const NAME: &str = "<decode_tfvars argument>";

/// Decodes the variable assignments in a string into an object.
pub(super) fn tfvars(text: &Value) -> Result<Value, CallError> {
    let sources = Sources::new();
    let Some(file) = sources.add(NAME, text.as_str().unwrap_or_default()) else {
        return Err(CallError::TooLong);
    };
    let (parsed, problems) = groma_hcl::parse_file(&file);
    check(&problems, &sources, CallError::Syntax)?;
    let (attributes, problems) = parsed.body.attributes();
    check(&problems, &sources, CallError::NoAssignment)?;
    let mut values = Vec::with_capacity(attributes.len());
    for attribute in attributes {
        let mut problems = Diagnostics::new();
        let value = evaluate_constant(&attribute.expression, &mut problems);
        let not_constant = |reason| CallError::NotConstant { variable: attribute.name.name.to_string(), reason };
        check(&problems, &sources, not_constant)?;
        values.push((attribute.name.name, value));
    }
    Ok(Value::object(values))
}

/// Formats the first error on one line: context, location, and reason.
fn check(problems: &Diagnostics, sources: &Sources, error: impl FnOnce(String) -> CallError) -> Result<(), CallError> {
    let Some(problem) = problems.iter().find(|problem| problem.is_error()) else { return Ok(()) };
    let position = location(problem, sources);
    Err(error(format!("{position}{}: {}", problem.summary, problem.detail.trim_end_matches('.'))))
}

fn location(problem: &Diagnostic, sources: &Sources) -> String {
    match problem.subject.and_then(|span| sources.locate(span)) {
        Some(location) => format!("line {}, column {}: ", location.start.line, location.start.column),
        None => String::new(),
    }
}
