//! Tuple and object constructors.

use std::borrow::Cow;
use std::collections::BTreeMap;

use groma_diagnostics::Diagnostic;
use groma_hcl::{Expression, ExpressionKind, Name, ObjectItem};
use groma_value::{Marks, Type, Value, convert, normalized};

use super::Evaluator;

impl Evaluator<'_> {
    pub(super) fn tuple(&mut self, elements: &[Expression]) -> Value {
        Value::tuple(elements.iter().map(|element| self.evaluate(element)).collect())
    }

    pub(super) fn object(&mut self, items: &[ObjectItem]) -> Value {
        let mut attributes = BTreeMap::new();
        let mut marks = Marks::NONE;
        let mut known = true;
        for item in items {
            let key = self.key(&item.key, &mut marks);
            // The value is evaluated even if the key is invalid, so that its errors are reported too.
            let value = self.evaluate(&item.value);
            match key {
                Some(name) => {
                    let taken = attributes.insert(name, value).is_some();
                    if taken && is_json(&item.key) {
                        self.report(twice(item));
                    }
                }
                None => known = false,
            }
        }
        if known { Value::object(attributes).with_marks(&marks) } else { Value::DYNAMIC.with_marks(&marks) }
    }

    /// Evaluates the key of an object element; `None` if it is unknown or invalid.
    fn key(&mut self, key: &Expression, marks: &mut Marks) -> Option<Name> {
        // Nearly all keys are literal, so they skip the evaluation and conversion below.
        if let ExpressionKind::String(name) = &key.kind {
            return Some(match normalized(name) {
                Cow::Borrowed(_) => name.clone(),
                Cow::Owned(name) => Name::from(name),
            });
        }
        // Without parentheses the word is a name like others.
        if key.kind == ExpressionKind::Null {
            return Some(Name::from("null"));
        }
        if let ExpressionKind::Traversal(_) = &key.kind {
            self.report(
                Diagnostic::error(
                    "Ambiguous attribute key",
                    "Put this into parentheses if it is a reference, or into quotes if it is a name that contains periods.",
                )
                .at(key.span),
            );
            return None;
        }
        let (value, failed) = self.attempt(key);
        if failed {
            return None;
        }
        let json = is_json(key).then_some("Invalid object key expression");
        if value.is_null() {
            let summary = json.unwrap_or("Null value as key");
            self.report_about(Diagnostic::error(summary, "A null value cannot be a key.").at(key.span), key);
            return None;
        }
        // A key cannot carry marks itself, so the whole object takes them on.
        *marks = marks.union(value.marks());
        match convert::convert(&value, &Type::String) {
            Ok(text) => match text.kind() {
                groma_value::Kind::String(text) => Some(text.clone()),
                _ => None,
            },
            Err(problem) => {
                let problem = format!("This value cannot be a key: {}.", problem.message);
                let summary = json.unwrap_or("Incorrect key type");
                self.report_about(Diagnostic::error(summary, problem).at(key.span), key);
                None
            }
        }
    }
}

fn is_json(key: &Expression) -> bool {
    matches!(key.kind, ExpressionKind::JsonString(_))
}

/// In the native syntax the later of two equal keys wins; JSON is refused.
fn twice(item: &ObjectItem) -> Diagnostic {
    let detail = "This object has an attribute of that name already. Remove one of the two.";
    Diagnostic::error("Duplicate object attribute", detail).at(item.key.span)
}
