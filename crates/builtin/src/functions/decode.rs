//! Values from text of the language.

use groma_diagnostics::{Diagnostic, Diagnostics, Sources};
use groma_lang::evaluate_constant;
use groma_value::Value;

/// The name of the text in messages.
const NAME: &str = "<decode_tfvars argument>";

/// The object of the variables in a text.
pub(super) fn tfvars(text: &Value) -> Result<Value, String> {
    let sources = Sources::new();
    let Some(file) = sources.add(NAME, text.as_str().unwrap_or_default()) else {
        return Err("the text is too long".into());
    };
    let (parsed, problems) = groma_hcl::parse_file(&file);
    sound(&problems, &sources, "the text cannot be read")?;
    let (attributes, problems) = parsed.body.attributes();
    sound(&problems, &sources, "the text holds something other than variables")?;
    let mut values = Vec::with_capacity(attributes.len());
    for attribute in attributes {
        let mut problems = Diagnostics::new();
        let value = evaluate_constant(&attribute.expression, &mut problems);
        sound(&problems, &sources, &format!("the value of {:?} is not a constant", attribute.name.name))?;
        values.push((attribute.name.name, value));
    }
    Ok(Value::object(values))
}

/// The first error as one line: what, where, and why.
fn sound(problems: &Diagnostics, sources: &Sources, what: &str) -> Result<(), String> {
    let Some(problem) = problems.iter().find(|problem| problem.is_error()) else { return Ok(()) };
    Err(format!("{what}: {}{}: {}", place(problem, sources), problem.summary, problem.detail.trim_end_matches('.')))
}

fn place(problem: &Diagnostic, sources: &Sources) -> String {
    match problem.subject.and_then(|span| sources.locate(span)) {
        Some(location) => format!("line {}, column {}: ", location.start.line, location.start.column),
        None => String::new(),
    }
}
