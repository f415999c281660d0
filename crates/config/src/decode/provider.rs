//! `provider` blocks, and references to them.

use std::sync::LazyLock;

use groma_address::is_identifier;
use groma_diagnostics::{Diagnostic, Span};
use groma_hcl::{Attribute, Block, Body, BodySchema, Content, Expression, ExpressionKind, LiteralKey, Step, Traversal};

use super::context::{Decoding, Dialect};
use super::{literal, meta, name, syntax, version};
use crate::model::{LocalProvider, LocalProviderRef, ProviderBlock};
use crate::version::Constraints;

static PROVIDER: LazyLock<BodySchema> = LazyLock::new(|| {
    BodySchema::new()
        .optional("alias")
        .optional("version")
        .optional("for_each")
        .optional("count")
        .optional("depends_on")
        .optional("source")
        .block("_", &[])
        .reserved("lifecycle")
        .reserved("locals")
});

/// Argument names reserved for future versions of the language.
const RESERVED: [&str; 3] = ["count", "depends_on", "source"];

/// Decoder of the `version` argument, which test files do not support.
type ReadVersion = fn(&Attribute, &mut Decoding<'_>) -> Option<Constraints>;

/// Decodes a `provider` block.
pub(super) fn provider(block: &Block, decoding: &mut Decoding<'_>) -> Option<ProviderBlock> {
    provider_block(block, version_argument, decoding)
}

/// Decodes a `provider` block of a test file to the configuration that it declares.
pub(super) fn of_tests(block: &Block, decoding: &mut Decoding<'_>) -> Option<LocalProvider> {
    provider_block(block, no_version, decoding).map(|block| block.provider)
}

fn provider_block(block: &Block, read_version: ReadVersion, decoding: &mut Decoding<'_>) -> Option<ProviderBlock> {
    let label = block.labels.first()?;
    let (content, rest) = decoding.partial_content(&block.body, &PROVIDER);
    if !name::provider_name(&label.value, label.span, decoding) {
        return None;
    }
    for reserved in RESERVED.iter().filter_map(|reserved| content.get(reserved)) {
        decoding.error(
            reserved.name.span,
            "Reserved argument name in provider block",
            format!(
                "The name {:?} is reserved for future use and cannot be an argument of a provider.",
                reserved.name.name
            ),
        );
    }
    let alias = content.get("alias").and_then(|attribute| alias(attribute, decoding));
    let version = content.get("version").and_then(|attribute| read_version(attribute, decoding)).unwrap_or_default();
    let for_each = content.get("for_each").map(|attribute| {
        if alias.is_none() {
            decoding.error(
                attribute.name.span,
                "Alias required when using \"for_each\"",
                "Only a provider configuration with an alias can have for_each. Add an alias.",
            );
        }
        attribute.expression.clone()
    });
    let body = nested(&content, rest, decoding);
    let provider = LocalProvider { name: label.value.clone(), alias };
    Some(ProviderBlock { provider, for_each, version, body, span: block.header })
}

/// Decodes the `alias` argument.
pub(super) fn alias(attribute: &Attribute, decoding: &mut Decoding<'_>) -> Option<groma_hcl::Name> {
    let Some(alias) = literal::string(attribute, decoding) else {
        // References use the alias that the author meant.
        decoding.incomplete = true;
        return None;
    };
    if !is_identifier(&alias) {
        decoding.incomplete = true;
        decoding.error(
            attribute.expression.span,
            "Invalid provider configuration alias",
            format!("The alias must be a valid name. {}", name::RULE),
        );
    }
    Some(alias)
}

fn version_argument(attribute: &Attribute, decoding: &mut Decoding<'_>) -> Option<Constraints> {
    decoding.report(
        Diagnostic::warning(
            "Version constraints inside provider configuration blocks are deprecated",
            "Version constraints belong in required_providers; future versions may not support them here. Move the constraint \
             there.",
        )
        .at(attribute.expression.span),
    );
    version::of_provider(attribute, decoding)
}

fn no_version(attribute: &Attribute, decoding: &mut Decoding<'_>) -> Option<Constraints> {
    if decoding.dialect == Dialect::OpenTofu {
        return version_argument(attribute, decoding);
    }
    let detail =
        "The required_providers block of the configuration under test selects the versions. Remove the argument.";
    decoding.error(attribute.name.span, "Version constraints are not allowed in test files", detail);
    None
}

fn nested(content: &Content, rest: Body, decoding: &mut Decoding<'_>) -> Body {
    for block in content.blocks.iter().filter(|block| &*block.kind.name != "_") {
        meta::reserved_block(block, "provider", decoding);
    }
    meta::with_escape_block(content, rest, "provider", decoding)
}

/// Decodes a reference to a provider configuration: `aws`, `aws.west`, `aws.by_region[each.key]`.
pub(super) fn reference(
    expression: &Expression,
    argument: &str,
    decoding: &mut Decoding<'_>,
) -> Option<LocalProviderRef> {
    // A traversal has only constant keys; the JSON syntax quotes the whole reference.
    let unquoted = match syntax::reference(expression, decoding) {
        None => expression.unquoted(),
        Some(_) => None,
    };
    // In the JSON syntax, nested quotes are a string, not a reference.
    if let Some(ExpressionKind::String(_)) = unquoted.as_ref().map(|inner| &inner.kind)
        && decoding.is_json(expression.span)
    {
        no_provider(expression.span, argument, decoding);
        return None;
    }
    let expression = unquoted.as_ref().unwrap_or(expression);
    let (named, key) = match &expression.kind {
        ExpressionKind::Index(index) => (&index.source, Some(index.key.clone())),
        _ => (expression, None),
    };
    if named.traversal_in_quotes().is_some() {
        syntax::traversal(named, decoding)?;
    }
    let Some(traversal) = syntax::reference(named, decoding) else {
        if !syntax::is_invalid(expression) {
            no_provider(expression.span, argument, decoding);
        }
        return None;
    };
    let (steps, key) = match (traversal.steps(), key) {
        ([steps @ .., Step::Index { key, span }], None) => (steps, Some(literal_expression(key, *span))),
        (steps, key) => (steps, key),
    };
    let wrong = match named_provider(&traversal, steps) {
        // Only configurations with an alias can have several instances.
        Some(provider) if key.is_none() || provider.alias.is_some() => {
            let is_name = name::provider_name(&provider.name, traversal.root.span, decoding);
            return is_name.then_some(LocalProviderRef { provider, key, span: expression.span });
        }
        Some(_) => "An instance key requires an alias: aws.by_region[each.key].",
        None => "The reference must be a provider's local name, optionally with a dot and an alias.",
    };
    decoding.error(expression.span, "Invalid provider configuration reference", wrong);
    None
}

/// Reports an expression that is not a reference to a provider.
fn no_provider(span: Span, argument: &str, decoding: &mut Decoding<'_>) {
    let detail = format!(
        "The {argument:?} argument must be a provider's local name, optionally with a dot and an alias: aws or aws.west."
    );
    decoding.error(span, "Invalid provider configuration reference", detail);
}

fn literal_expression(key: &LiteralKey, span: Span) -> Expression {
    let kind = match key {
        LiteralKey::Number(digits) => ExpressionKind::Number(digits.clone()),
        LiteralKey::String(text) => ExpressionKind::String(text.clone()),
    };
    Expression::new(kind, span)
}

/// Parses `aws` or `aws.west`.
pub(super) fn from_traversal(traversal: &Traversal) -> Option<LocalProvider> {
    named_provider(traversal, traversal.steps())
}

/// Parses the root of `traversal` followed by `steps`.
fn named_provider(traversal: &Traversal, steps: &[Step]) -> Option<LocalProvider> {
    let alias = match steps {
        [] => None,
        [Step::Attribute { name, .. }] => Some(name.clone()),
        _ => return None,
    };
    Some(LocalProvider { name: traversal.root.name.clone(), alias })
}
