//! Decoding of expressions that are not evaluated: references, keywords, and lists of them.

use groma_diagnostics::Diagnostic;
use groma_hcl::{Expression, ExpressionKind, Index, Step, Traversal};

use super::context::Decoding;

/// Decodes a plain reference, and reports anything else.
///
/// Quoted references (Terraform 0.11) are accepted with a warning. In the JSON syntax quotes are required.
pub(super) fn traversal(expression: &Expression, decoding: &mut Decoding<'_>) -> Option<Traversal> {
    traversal_or(expression, "Invalid index key", decoding)
}

/// Decodes an attribute path. `null` as an index has the summary of an invalid index here, as in Terraform.
pub(super) fn attribute_path(expression: &Expression, decoding: &mut Decoding<'_>) -> Option<Traversal> {
    let is_null = index_of_word(expression).is_some_and(|index| matches!(index.key.kind, ExpressionKind::Null));
    traversal_or(expression, if is_null { "Invalid index" } else { "Invalid index key" }, decoding)
}

fn traversal_or(expression: &Expression, index_summary: &str, decoding: &mut Decoding<'_>) -> Option<Traversal> {
    if let Some(quoted) = expression.traversal_in_quotes() {
        warn_of_quotes(expression, "reference", decoding);
        return quoted.map_err(|problems| decoding.diagnostics.append(problems)).ok();
    }
    let traversal = reference(expression, decoding);
    // The parser has reported an invalid expression.
    if traversal.is_none() && !is_invalid(expression) {
        no_reference(expression, index_summary, decoding);
    }
    traversal
}

/// Error detail for an invalid instance key.
pub(super) const KEYS: &str = "An instance key must be a quoted string or a whole number.";

/// Reports an expression that is not a reference; `index_summary` is the summary for a keyword as an index.
fn no_reference(expression: &Expression, index_summary: &str, decoding: &mut Decoding<'_>) {
    if let Some(index) = index_of_word(expression) {
        decoding.error(index.brackets, index_summary, KEYS);
        return;
    }
    decoding.error(
        expression.span,
        "Invalid expression",
        "The expression must be a plain reference: names, attributes and constant indexes, without operators, function calls \
         or templates.",
    );
}

/// Returns the index of a reference whose key is `null`, `true` or `false`.
pub(super) fn index_of_word(expression: &Expression) -> Option<&Index> {
    match &expression.kind {
        ExpressionKind::Relative(relative) => index_of_word(&relative.source),
        ExpressionKind::Index(index) => {
            let is_word = matches!(index.key.kind, ExpressionKind::Null | ExpressionKind::Bool(_));
            let is_named = matches!(index.source.kind, ExpressionKind::Traversal(_));
            if is_word && is_named { Some(index) } else { index_of_word(&index.source) }
        }
        _ => None,
    }
}

/// Returns the reference in `expression`, if it is one. In the native syntax keywords such as `null` may be names; in
/// the JSON syntax they are values.
pub(super) fn reference(expression: &Expression, decoding: &Decoding<'_>) -> Option<Traversal> {
    let is_word = matches!(expression.kind, ExpressionKind::Null | ExpressionKind::Bool(_));
    if is_word && decoding.is_json(expression.span) { None } else { expression.as_traversal() }
}

/// Reports a reference in the JSON syntax that is not a string.
pub(super) fn check_quoted(expression: &Expression, decoding: &mut Decoding<'_>) -> Option<()> {
    if matches!(expression.kind, ExpressionKind::JsonString(_)) || !decoding.is_json(expression.span) {
        return Some(());
    }
    decoding.error(expression.span, "Invalid reference expression", "The reference must be a string.");
    None
}

/// Decodes an address: like [`traversal`], but without quotes, which the native syntax never allowed for addresses.
pub(super) fn address(expression: &Expression, decoding: &mut Decoding<'_>) -> Option<Traversal> {
    if let ExpressionKind::String(_) = expression.kind {
        decoding.error(expression.span, "Invalid expression", "An address must not be quoted. Remove the quotes.");
        return None;
    }
    let traversal = reference(expression, decoding);
    if traversal.is_none() && !is_invalid(expression) {
        no_reference(expression, key_summary(expression), decoding);
    }
    traversal
}

/// Returns Terraform's summary for an invalid key in an address, which depends on the object that the key belongs to.
fn key_summary(expression: &Expression) -> &'static str {
    let source = index_of_word(expression).and_then(|index| index.source.as_traversal());
    let names = source.as_ref().map(|source| (&*source.root.name, source.steps()));
    match names {
        Some(("module", [.., Step::Attribute { name, .. }, Step::Attribute { .. }])) if &**name != "module" => {
            "Invalid address"
        }
        Some(("module", _)) => "Invalid address operator",
        _ => "Invalid address",
    }
}

/// Decodes a single keyword.
pub(super) fn keyword(expression: &Expression, decoding: &mut Decoding<'_>) -> Option<groma_hcl::Name> {
    let traversal = expression.as_traversal()?;
    // Only the native syntax has this kind of string: in JSON a keyword needs its quotes.
    if matches!(expression.kind, ExpressionKind::String(_)) {
        warn_of_quotes(expression, "keyword", decoding);
    }
    traversal.steps().is_empty().then(|| traversal.root.name.clone())
}

/// Warns about quotes around a reference or keyword.
pub(super) fn warn_of_quotes(expression: &Expression, what: &str, decoding: &mut Decoding<'_>) {
    let detail = format!("Quotes around a {what} are deprecated syntax of Terraform 0.11. Remove the quotes.");
    decoding.report(Diagnostic::warning(format!("Quoted {what}s are deprecated"), detail).at(expression.span));
}

/// Returns the elements of a list constructor; reports anything else.
pub(super) fn list<'a>(expression: &'a Expression, decoding: &mut Decoding<'_>) -> Option<&'a [Expression]> {
    let elements = expression.as_list();
    if elements.is_none() && !is_invalid(expression) {
        decoding.error(expression.span, "Invalid expression", "The value must be a list in brackets: [ … ].");
    }
    elements
}

/// Whether the parser has already reported an error in the expression.
pub(super) fn is_invalid(expression: &Expression) -> bool {
    matches!(expression.kind, ExpressionKind::Invalid)
}
