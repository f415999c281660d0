//! The values that a reader needs to see next to a problem.

use groma_diagnostics::{Diagnostic, Diagnostics, quoted};
use groma_hcl::{Expression, LiteralKey, Step, Traversal};
use groma_value::{Kind, Value};

use super::access;
use crate::references::for_each_traversal;
use crate::scope::Scope;

/// Maximal number of shown values; more would hide the message.
const MOST: usize = 12;

/// The diagnostic with the values of the names in `expression`.
pub fn observing(mut diagnostic: Diagnostic, expression: &Expression, scope: &dyn Scope) -> Diagnostic {
    let mut seen: Vec<(String, String)> = Vec::new();
    for_each_traversal(expression, &mut |traversal| {
        if seen.len() >= MOST {
            return;
        }
        let Some((value, steps)) = value_of(traversal, scope) else { return };
        let Some(statement) = statement(&value) else { return };
        let text = written(&traversal.root.name, steps);
        if seen.iter().all(|(other, _)| *other != text) {
            seen.push((text, statement));
        }
    });
    // Sorted by text, as in Terraform's diagnostics.
    seen.sort();
    for (expression, statement) in seen {
        diagnostic = diagnostic.observing(expression, statement);
    }
    diagnostic
}

/// The value of a traversal, or of as much of it as there is, and the steps that it includes.
fn value_of<'t>(traversal: &'t Traversal, scope: &dyn Scope) -> Option<(Value, &'t [Step])> {
    // A name that does not resolve has a diagnostic of its own.
    let resolved = scope.resolve(traversal).ok()?;
    let mut value = resolved.value;
    let mut applied = resolved.consumed;
    for step in traversal.steps().iter().skip(resolved.consumed) {
        let Ok(next) = access::step(&value, step) else { break };
        value = next;
        applied += 1;
    }
    Some((value, traversal.steps().get(..applied).unwrap_or_default()))
}

/// Describes a value for a message: a verb and at most one line. Sensitive values stay hidden.
///
/// Nothing for values of which nothing is known.
pub fn statement(value: &Value) -> Option<String> {
    let marks = value.marks();
    if marks.is_sensitive() {
        return Some("has a sensitive value".to_owned());
    }
    if marks.is_ephemeral() {
        return Some("has an ephemeral value".to_owned());
    }
    if !value.is_known() {
        let ty = value.ty();
        return (ty != groma_value::Type::Dynamic)
            .then(|| format!("is a {}, known only after apply", ty.friendly_name()));
    }
    Some(format!("is {}", short(value)))
}

fn short(value: &Value) -> String {
    let counted = |count: usize| match count {
        0 => format!("empty {}", value.ty().friendly_name()),
        1 => format!("{} with 1 element", value.ty().friendly_name()),
        _ => format!("{} with {count} elements", value.ty().friendly_name()),
    };
    match value.kind() {
        Kind::Null => "null".to_owned(),
        Kind::Unknown(_) => "not yet known".to_owned(),
        Kind::Bool(truth) => truth.to_string(),
        Kind::Number(number) => number.to_string(),
        Kind::String(text) => quoted(text),
        Kind::List(elements) | Kind::Set(elements) | Kind::Tuple(elements) => counted(elements.len()),
        Kind::Map(map) => counted(map.len()),
        Kind::Object(object) => match object.len() {
            0 => "object with no attributes".to_owned(),
            1 => {
                let name = object.iter().next().map(|(name, _)| name.to_string()).unwrap_or_default();
                format!("object with 1 attribute {}", quoted(&name))
            }
            count => format!("object with {count} attributes"),
        },
    }
}

/// A traversal as its author would write it.
pub fn traversal_text(traversal: &Traversal) -> String {
    written(&traversal.root.name, traversal.steps())
}

fn written(root: &str, steps: &[Step]) -> String {
    let mut text = root.to_owned();
    for step in steps {
        match step {
            Step::Attribute { name, .. } => {
                text.push('.');
                text.push_str(name);
            }
            Step::Index { key: LiteralKey::Number(digits), .. } => {
                text.push('[');
                text.push_str(digits);
                text.push(']');
            }
            Step::Index { key: LiteralKey::String(key), .. } => {
                text.push('[');
                text.push_str(&quoted(key));
                text.push(']');
            }
        }
    }
    text
}

/// Whether an error is among the diagnostics from `start` on.
pub(crate) fn failed_since(diagnostics: &Diagnostics, start: usize) -> bool {
    diagnostics.iter().skip(start).any(Diagnostic::is_error)
}
