//! Expressions that are read for what they say, not for their value: references, keywords, lists of those.

use groma_diagnostics::Diagnostic;
use groma_hcl::{Expression, ExpressionKind, Index, Step, Traversal};

use super::context::Decoding;

/// The plain reference that `expression` is; anything else is reported.
///
/// A reference in quotes, as of old, is taken with a warning; in the JSON syntax quotes are the only way.
pub(super) fn traversal(expression: &Expression, decoding: &mut Decoding<'_>) -> Option<Traversal> {
    traversal_or(expression, "Invalid index key", decoding)
}

/// Parses an attribute reference, in which `null` is not an index.
pub(super) fn place(expression: &Expression, decoding: &mut Decoding<'_>) -> Option<Traversal> {
    let is_null = index_of_word(expression).is_some_and(|index| matches!(index.key.kind, ExpressionKind::Null));
    traversal_or(expression, if is_null { "Invalid index" } else { "Invalid index key" }, decoding)
}

fn traversal_or(expression: &Expression, index_summary: &str, decoding: &mut Decoding<'_>) -> Option<Traversal> {
    if let Some(quoted) = expression.traversal_in_quotes() {
        warn_of_quotes(expression, "reference", decoding);
        return quoted.map_err(|problems| decoding.diagnostics.append(problems)).ok();
    }
    let traversal = reference(expression, decoding);
    if traversal.is_none() && !is_invalid(expression) {
        no_reference(expression, index_summary, decoding);
    }
    traversal
}

/// The rule for instance keys.
pub(super) const KEYS: &str = "A key is a text in quotes or a whole number.";

/// Reports an expression that is no reference; `index_summary` is for one that would be but for a word in brackets.
fn no_reference(expression: &Expression, index_summary: &str, decoding: &mut Decoding<'_>) {
    if let Some(index) = index_of_word(expression) {
        decoding.error(index.brackets, index_summary, KEYS);
        return;
    }
    decoding.error(
        expression.span,
        "Invalid expression",
        "Only a plain reference can stand here: names, attributes and constant indexes. Calculations, function calls \
         and templates cannot.",
    );
}

/// The index of a reference whose key is `null`, `true` or `false`, which nothing has for a key.
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

/// The reference that `expression` is, if it is one. In the native syntax `null` and the like may be names where a reference is
/// wanted; in the JSON syntax they are values.
pub(super) fn reference(expression: &Expression, decoding: &Decoding<'_>) -> Option<Traversal> {
    let is_word = matches!(expression.kind, ExpressionKind::Null | ExpressionKind::Bool(_));
    if is_word && decoding.is_json(expression.span) { None } else { expression.as_traversal() }
}

/// Reports an expression that is not a string in the JSON syntax, where references are written as strings.
pub(super) fn check_quoted(expression: &Expression, decoding: &mut Decoding<'_>) -> Option<()> {
    if matches!(expression.kind, ExpressionKind::JsonString(_)) || !decoding.is_json(expression.span) {
        return Some(());
    }
    decoding.error(expression.span, "Invalid reference expression", "A reference stands here, in quotes.");
    None
}

/// The address that `expression` is: as [`traversal`], but quotes were never a way to write one in the native syntax.
pub(super) fn address(expression: &Expression, decoding: &mut Decoding<'_>) -> Option<Traversal> {
    if let ExpressionKind::String(_) = expression.kind {
        decoding.error(expression.span, "Invalid expression", "An address stands here without quotes. Remove them.");
        return None;
    }
    let traversal = reference(expression, decoding);
    if traversal.is_none() && !is_invalid(expression) {
        no_reference(expression, key_summary(expression), decoding);
    }
    traversal
}

/// Returns the summary for an invalid key in an address: of a module, or of a resource.
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

/// The single word that `expression` is.
pub(super) fn keyword(expression: &Expression, decoding: &mut Decoding<'_>) -> Option<groma_hcl::Name> {
    let traversal = expression.as_traversal()?;
    if matches!(expression.kind, ExpressionKind::String(_)) {
        warn_of_quotes(expression, "keyword", decoding);
    }
    traversal.steps().is_empty().then(|| traversal.root.name.clone())
}

/// Warns of quotes around what stands without them.
pub(super) fn warn_of_quotes(expression: &Expression, what: &str, decoding: &mut Decoding<'_>) {
    let detail = format!(
        "A {what} stands here without quotes; quotes are a form of Terraform 0.11 that will go away. Remove them."
    );
    decoding.report(Diagnostic::warning(format!("Quoted {what}s are deprecated"), detail).at(expression.span));
}

/// The elements of a list that is written out; anything else is reported.
pub(super) fn list<'a>(expression: &'a Expression, decoding: &mut Decoding<'_>) -> Option<&'a [Expression]> {
    let elements = expression.as_list();
    if elements.is_none() && !is_invalid(expression) {
        decoding.error(expression.span, "Invalid expression", "A list has to be written out here: [ … ].");
    }
    elements
}

/// Whether an error about it has been reported already.
pub(super) fn is_invalid(expression: &Expression) -> bool {
    matches!(expression.kind, ExpressionKind::Invalid)
}
