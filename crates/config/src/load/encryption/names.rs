//! References between the parts of an `encryption` block.

use groma_address::Name;
use groma_diagnostics::{Diagnostic, Span, suggest};
use groma_hcl::{Expression, ExpressionKind, Step};

use crate::model::encryption::{EncryptionBlock, EncryptionPart, EncryptionTarget};

/// A part with its type and name.
pub(super) type Named<'a> = (&'a (Name, Name), &'a EncryptionPart);

/// The type and the name of the method that a target names.
pub(super) fn method_name(target: &EncryptionTarget) -> Result<((Name, Name), Span), Diagnostic> {
    let summary = "Invalid encryption method identifier";
    let advice = "A method is named as method.TYPE.NAME.";
    let Some(expression) = &target.method else {
        return Err(Diagnostic::error(summary, format!("There is no \"method\" here. {advice}")).at(target.span));
    };
    let key = named("method", expression).ok_or_else(|| Diagnostic::error(summary, advice).at(expression.span))?;
    Ok((key, expression.span))
}

/// The method that a target names.
pub(super) fn method_of<'a>(block: &'a EncryptionBlock, target: &EncryptionTarget) -> Result<Named<'a>, Diagnostic> {
    let (key, span) = method_name(target)?;
    let found = block.methods.get_key_value(&key);
    found.ok_or_else(|| undeclared(span, "encryption method", "method", &key, block.methods.keys()))
}

/// The type and the name of the key provider that an argument names.
pub(super) fn key_provider_name(expression: &Expression) -> Result<(Name, Name), Diagnostic> {
    named("key_provider", expression).ok_or_else(|| {
        Diagnostic::error(
            "Invalid Key Provider expression format",
            "Keys come from a key provider of this block, named as key_provider.TYPE.NAME.",
        )
        .at(expression.span)
    })
}

/// The key provider that an argument names.
pub(super) fn key_provider_of<'a>(
    block: &'a EncryptionBlock,
    expression: &Expression,
) -> Result<Named<'a>, Diagnostic> {
    let key = key_provider_name(expression)?;
    let found = block.key_providers.get_key_value(&key);
    found.ok_or_else(|| undeclared(expression.span, "key provider", "key_provider", &key, block.key_providers.keys()))
}

fn undeclared<'a>(
    span: Span,
    what: &str,
    kind: &str,
    (ty, name): &(Name, Name),
    declared: impl Iterator<Item = &'a (Name, Name)>,
) -> Diagnostic {
    let known: Vec<String> = declared.map(|(ty, name)| format!("{kind}.{ty}.{name}")).collect();
    let wanted = format!("{kind}.{ty}.{name}");
    let advice = match suggest(&wanted, known.iter().map(String::as_str)) {
        Some(similar) => format!("Did you mean {similar}?"),
        None => format!("Declare it with a block {kind} {ty:?} {name:?}."),
    };
    Diagnostic::error(
        format!("Reference to undeclared {what}"),
        format!("There is no {wanted} in the encryption block. {advice}"),
    )
    .at(span)
}

/// `ROOT.TYPE.NAME`, bare or in a string.
fn named(root: &str, expression: &Expression) -> Option<(Name, Name)> {
    let inner = match &expression.kind {
        ExpressionKind::JsonString(string) => match &string.template.kind {
            ExpressionKind::Template(template) => template.wrapped(),
            _ => None,
        },
        _ => None,
    };
    let traversal = inner.unwrap_or(expression).as_traversal()?;
    match traversal.steps() {
        [Step::Attribute { name: ty, .. }, Step::Attribute { name, .. }] if &*traversal.root.name == root => {
            Some((ty.clone(), name.clone()))
        }
        _ => None,
    }
}
