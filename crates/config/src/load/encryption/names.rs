//! References between the parts of an `encryption` block.

use groma_address::Name;
use groma_diagnostics::{Diagnostic, Span, suggest};
use groma_hcl::{Expression, ExpressionKind, Step, Traversal};
use groma_lang::for_each_traversal;

use crate::model::encryption::{EncryptionBlock, EncryptionPart, EncryptionTarget};

const KEY_PROVIDER: &str = "key_provider";

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

/// The type and the name of a key provider, and where it is named.
pub(super) type Mention = ((Name, Name), Span);

/// An argument that selects keys.
pub(super) enum KeyArgument {
    /// The name of a key provider.
    Name(Mention),
    /// Its value says it; these names are in it.
    Value(Vec<Mention>),
}

impl KeyArgument {
    /// Parses the argument.
    pub(super) fn read(expression: &Expression) -> Result<Self, Diagnostic> {
        match named(KEY_PROVIDER, expression) {
            Some(key) => Ok(Self::Name((key, expression.span))),
            None => names_within(expression).map(Self::Value),
        }
    }

    /// The key providers that it names.
    pub(super) fn names(self) -> Vec<Mention> {
        match self {
            Self::Name(name) => vec![name],
            Self::Value(names) => names,
        }
    }
}

fn names_within(expression: &Expression) -> Result<Vec<Mention>, Diagnostic> {
    let mut names = Vec::new();
    let mut wrong = is_no_key(expression).then_some(expression.span);
    for_each_traversal(expression, &mut |traversal| {
        if &*traversal.root.name == KEY_PROVIDER {
            match type_and_name(KEY_PROVIDER, traversal) {
                Some(key) => names.push((key, traversal.span)),
                None => wrong = Some(traversal.span),
            }
        }
    });
    match wrong {
        Some(span) => Err(no_key(span)),
        None => Ok(names),
    }
}

/// The key provider `key`, which is named at `span`.
pub(super) fn key_provider_of<'a>(
    block: &'a EncryptionBlock,
    key: &(Name, Name),
    span: Span,
) -> Result<Named<'a>, Diagnostic> {
    let found = block.key_providers.get_key_value(key);
    found.ok_or_else(|| undeclared(span, "key provider", KEY_PROVIDER, key, block.key_providers.keys()))
}

/// The key provider that the value of an argument at `span` names.
pub(super) fn key_provider_in(text: &str, span: Span) -> Option<(Name, Name)> {
    named(KEY_PROVIDER, &Expression { kind: ExpressionKind::String(text.into()), span })
}

pub(super) fn no_key(span: Span) -> Diagnostic {
    Diagnostic::error(
        "Invalid Key Provider expression format",
        "Keys come from a key provider of this block, named as key_provider.TYPE.NAME, or they are an object with encryption_key and \
         decryption_key.",
    )
    .at(span)
}

/// Whether it is neither a key nor the name of one, whatever values there are.
fn is_no_key(expression: &Expression) -> bool {
    match &expression.kind {
        ExpressionKind::Null
        | ExpressionKind::Bool(_)
        | ExpressionKind::Number(_)
        | ExpressionKind::String(_)
        | ExpressionKind::Tuple(_) => true,
        ExpressionKind::JsonString(string) => matches!(string.template.kind, ExpressionKind::String(_)),
        _ => false,
    }
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
    type_and_name(root, &inner.unwrap_or(expression).as_traversal()?)
}

fn type_and_name(root: &str, traversal: &Traversal) -> Option<(Name, Name)> {
    match traversal.steps() {
        [Step::Attribute { name: ty, .. }, Step::Attribute { name, .. }] if &*traversal.root.name == root => {
            Some((ty.clone(), name.clone()))
        }
        _ => None,
    }
}
