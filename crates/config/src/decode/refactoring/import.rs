//! `import` blocks.

use std::sync::LazyLock;

use groma_address::{ConfigResource, Mode, ModulePath, Name, Resource, is_reserved};
use groma_diagnostics::Span;
use groma_hcl::{Block, BodySchema, Content, Expression, ExpressionKind, Step};
use groma_lang::instance_key;

use crate::decode::context::Decoding;
use crate::decode::meta::expression_of;
use crate::decode::{provider, syntax};
use crate::model::{Import, ImportIdentity};

static IMPORT: LazyLock<BodySchema> = LazyLock::new(|| {
    BodySchema::new().required("to").optional("id").optional("identity").optional("for_each").optional("provider")
});

/// Decodes an `import` block.
pub(in crate::decode) fn import(block: &Block, decoding: &mut Decoding<'_>) -> Option<Import> {
    if decoding.refuse_override(block) {
        return None;
    }
    let content = decoding.content(&block.body, &IMPORT);
    // Decoded before `to` can end the function, so that errors of both are reported.
    let identity = import_identity(block, &content, decoding);
    let provider = content.get("provider").and_then(|a| provider::reference(&a.expression, "provider", decoding));
    let to = &content.get("to")?.expression;
    syntax::check_quoted(to, decoding)?;
    let Some(to_expression) = to.unquoted() else {
        not_an_address(to, decoding);
        return None;
    };
    let to = import_target(&to_expression, decoding)?;
    Some(Import {
        to,
        to_expression,
        identity: identity?,
        for_each: expression_of(content.get("for_each")),
        provider,
        span: block.header,
    })
}

fn import_identity(block: &Block, content: &Content, decoding: &mut Decoding<'_>) -> Option<ImportIdentity> {
    match (content.get("id"), content.get("identity")) {
        (Some(id), None) => Some(ImportIdentity::Id(id.expression.clone())),
        (None, Some(identity)) => Some(ImportIdentity::Identity(identity.expression.clone())),
        // An unknown argument in the block may be a misspelled "id".
        (None, None) if !content.is_whole() || decoding.unparsed.is_in(block.span) => None,
        (None, None) => {
            decoding.error(
                block.header,
                "Invalid import block",
                "Add \"id\" or \"identity\" to identify the existing object.",
            );
            None
        }
        (Some(_), Some(_)) => {
            decoding.error(
                block.header,
                "Invalid import block",
                "\"id\" and \"identity\" cannot both be set. Remove one of them.",
            );
            None
        }
    }
}

/// Parses the resource in `to`, whose keys may need evaluation.
fn import_target(expression: &Expression, decoding: &mut Decoding<'_>) -> Option<ConfigResource> {
    if let ExpressionKind::Null | ExpressionKind::Bool(_) = expression.kind {
        return no_instance(expression.span, decoding);
    }
    let mut words = Vec::new();
    if !static_words(expression, &mut words) || words.is_empty() {
        not_an_address(expression, decoding);
        return None;
    }
    let mut rest = words.as_slice();
    let mut modules = Vec::new();
    while let [Word::Name(word, step), more @ ..] = rest {
        if &**word != "module" {
            break;
        }
        let [Word::Name(name, _), more @ ..] = more else {
            let wrong = more.first().map_or(*step, Word::span);
            decoding.error(
                wrong,
                "Invalid address operator",
                "Expected a dot and the name of a module after \"module\".",
            );
            return None;
        };
        modules.push(name.clone());
        rest = match more {
            [Word::Key(_), wrong @ (Word::Key(_) | Word::InvalidKey(_)), ..] | [wrong @ Word::InvalidKey(_), ..] => {
                let detail = "A module can have one instance key, a quoted string or a whole number, followed by a dot and a name.";
                decoding.error(wrong.span(), "Invalid address operator", detail);
                return None;
            }
            [Word::Key(_), more @ ..] => more,
            more => more,
        };
    }
    let mode = match rest {
        [Word::Name(word, _), ..] => Mode::from_block_keyword(word),
        _ => None,
    };
    let (type_name, name, after) = match (mode, rest) {
        (Some(Mode::Managed), [_, Word::Name(type_name, _), Word::Name(name, _), after @ ..]) => {
            (type_name, name, after)
        }
        (Some(_), [_, Word::Name(..), Word::Name(..), ..]) => {
            decoding.error(expression.span, "Invalid import address", "Only managed resources can be imported.");
            return None;
        }
        // A reserved word such as `var` refers to another kind of object.
        (None, [Word::Name(type_name, _), Word::Name(name, _), after @ ..]) if !is_reserved(type_name) => {
            (type_name, name, after)
        }
        _ => return no_instance(words.last().map_or(expression.span, Word::span), decoding),
    };
    match after {
        [] | [Word::Key(_)] => {
            Some(Resource::managed(type_name.clone(), name.clone()).in_module(ModulePath::from_names(modules)))
        }
        [Word::Key(_), wrong, ..] | [wrong, ..] => no_instance(wrong.span(), decoding),
    }
}

/// Reports an address that is not a resource instance; `span` is the part at fault.
fn no_instance(span: Span, decoding: &mut Decoding<'_>) -> Option<ConfigResource> {
    decoding.error(
        span,
        "Invalid address",
        "The import target must be a resource instance: TYPE.NAME, optionally with a module path before it and an instance key after it.",
    );
    None
}

fn not_an_address(expression: &Expression, decoding: &mut Decoding<'_>) {
    decoding.error(
        expression.span,
        "Invalid expression",
        "The value must be the address of a resource instance. Its keys may be expressions: aws_vpc.main[each.key].",
    );
}

/// A part of an address with unevaluated keys.
enum Word {
    Name(Name, Span),
    Key(Span),
    /// An index that cannot be an instance key: a keyword or a malformed number.
    InvalidKey(Span),
}

impl Word {
    fn span(&self) -> Span {
        let (Self::Name(_, span) | Self::Key(span) | Self::InvalidKey(span)) = self;
        *span
    }
}

/// Collects the parts of an address; returns false if the expression is not an address.
fn static_words(expression: &Expression, words: &mut Vec<Word>) -> bool {
    match &expression.kind {
        ExpressionKind::Traversal(traversal) => {
            words.push(Word::Name(traversal.root.name.clone(), traversal.root.span));
            words.extend(traversal.steps().iter().map(word));
            true
        }
        ExpressionKind::Index(index) => {
            let fine = static_words(&index.source, words);
            // No instance has null or a boolean as its key.
            let is_word = matches!(index.key.kind, ExpressionKind::Null | ExpressionKind::Bool(_));
            words.push(if is_word { Word::InvalidKey(index.brackets) } else { Word::Key(index.brackets) });
            fine
        }
        ExpressionKind::Relative(relative) => {
            let fine = static_words(&relative.source, words);
            words.extend(relative.steps.iter().map(word));
            fine
        }
        _ => false,
    }
}

fn word(step: &Step) -> Word {
    match step {
        Step::Attribute { name, span } => Word::Name(name.clone(), *span),
        Step::Index { key, span } if instance_key(key).is_none() => Word::InvalidKey(*span),
        Step::Index { span, .. } => Word::Key(*span),
    }
}
