//! From the path of a value to the part of an expression that gave it.

use groma_diagnostics::Span;
use groma_hcl::{Expression, ExpressionKind};
use groma_value::PathStep;

/// The part of `expression` that `steps` leads to in its value, as far as it is written out.
pub fn span_within(expression: &Expression, steps: &[PathStep]) -> Span {
    let Some((step, rest)) = steps.split_first() else { return expression.span };
    let part = match (step, &expression.without_parentheses().kind) {
        (PathStep::Attribute(name), ExpressionKind::Object(_)) => item(expression, name),
        (PathStep::Index(key), ExpressionKind::Object(_)) => key.as_str().and_then(|key| item(expression, key)),
        (PathStep::Index(key), ExpressionKind::Tuple(elements)) => {
            let position = key.as_number().and_then(|number| usize::try_from(number.to_u64()?).ok());
            position.and_then(|position| elements.get(position))
        }
        _ => None,
    };
    part.map_or(expression.span, |part| span_within(part, rest))
}

fn item<'a>(expression: &'a Expression, name: &str) -> Option<&'a Expression> {
    let items = expression.without_parentheses().as_object()?;
    let named = items.iter().find(|item| item.key.as_static_string().is_some_and(|key| *key == *name));
    named.map(|item| &item.value)
}
