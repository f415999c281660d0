//! Attributes of objects that a type conversion drops. They are valid but nearly always a mistake, so OpenTofu warns
//! about them.

use groma_diagnostics::{Diagnostic, Diagnostics, suggest};
use groma_hcl::{Expression, ExpressionKind, ObjectItem};
use groma_lang::evaluate_constant;
use groma_value::Type;

/// Warns about attributes in `expression` that the conversion to `wanted` drops; `whose` names the value: `variable
/// "a"`.
pub(crate) fn attributes(expression: &Expression, wanted: &Type, whose: &str, diagnostics: &mut Diagnostics) {
    Search { whose, path: Vec::new(), diagnostics }.visit(expression, wanted);
}

struct Search<'a> {
    whose: &'a str,
    /// Path of the current expression: `.a`, `["b"]`, `[0]`.
    path: Vec<String>,
    diagnostics: &'a mut Diagnostics,
}

impl Search<'_> {
    fn visit(&mut self, expression: &Expression, wanted: &Type) {
        match (&expression.kind, wanted) {
            (ExpressionKind::Object(items), Type::Object(_)) => {
                items.iter().for_each(|item| self.attribute(item, wanted));
            }
            (ExpressionKind::Object(items), Type::Map(element)) => {
                for item in items.iter() {
                    if let Some(key) = key(item) {
                        self.within(format!("[{key:?}]"), &item.value, element);
                    }
                }
            }
            (ExpressionKind::Tuple(elements), Type::List(element) | Type::Set(element)) => {
                for (index, inner) in elements.iter().enumerate() {
                    self.within(format!("[{index}]"), inner, element);
                }
            }
            (ExpressionKind::Tuple(elements), Type::Tuple(types)) => {
                for (index, (inner, wanted)) in elements.iter().zip(types.iter()).enumerate() {
                    self.within(format!("[{index}]"), inner, wanted);
                }
            }
            _ => {}
        }
    }

    fn within(&mut self, step: String, expression: &Expression, wanted: &Type) {
        self.path.push(step);
        self.visit(expression, wanted);
        self.path.pop();
    }

    fn attribute(&mut self, item: &ObjectItem, wanted: &Type) {
        let (Some(key), Type::Object(object)) = (key(item), wanted) else { return };
        if let Some(wanted) = object.attribute(&key) {
            self.within(format!(".{key}"), &item.value, wanted);
            return;
        }
        let advice = suggest(&key, object.iter().map(|(name, _)| &**name)).map_or_else(
            || "Remove it, or add it to the type.".to_owned(),
            |similar| format!("Did you mean {similar:?}?"),
        );
        let detail = format!(
            "The type of {}{} has no attribute {key:?}, so this value is ignored. {advice}",
            self.whose,
            self.path.concat()
        );
        let problem = Diagnostic::warning("Object attribute is ignored", detail);
        self.diagnostics.push(problem.at(item.key.span).within(item.key.span.to(item.value.span)));
    }
}

/// Returns the constant key of `item`. Keys in the JSON syntax are not checked, as in OpenTofu.
fn key(item: &ObjectItem) -> Option<String> {
    if matches!(item.key.kind, ExpressionKind::JsonString(_)) {
        return None;
    }
    // A key that is not constant has no name to compare.
    let value = evaluate_constant(&item.key, &mut Diagnostics::new());
    value.as_str().map(str::to_owned)
}
