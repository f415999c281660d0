//! `output` and `locals` blocks.

use std::sync::LazyLock;

use groma_address::{Name, is_identifier};
use groma_diagnostics::Span;
use groma_hcl::{Attribute, Block, BodySchema, Content, Expression, Traversal};
use groma_lang::TypeConstraint;

use super::context::{Decoding, Dialect};
use super::{condition, literal, name, syntax, variable};
use crate::model::{Condition, Local};

/// An output block that is not yet merged with overrides; `None` means that the argument is missing.
#[derive(Clone, Debug)]
pub(crate) struct OutputDraft {
    pub(crate) name: Name,
    pub(crate) expression: Option<Expression>,
    pub(crate) constraint: Option<TypeConstraint>,
    pub(crate) sensitive: Option<bool>,
    pub(crate) ephemeral: Option<bool>,
    pub(crate) description: Option<Name>,
    pub(crate) deprecated: Option<Name>,
    pub(crate) deprecated_span: Option<Span>,
    pub(crate) depends_on: Vec<Traversal>,
    pub(crate) preconditions: Vec<Condition>,
    pub(crate) span: Span,
}

static OUTPUT: LazyLock<BodySchema> = LazyLock::new(|| {
    BodySchema::new()
        .required("value")
        .optional("type")
        .optional("description")
        .optional("sensitive")
        .optional("ephemeral")
        .optional("deprecated")
        .optional("depends_on")
        .block("precondition", &[])
        .block("postcondition", &[])
});

/// Decodes an `output` block.
pub(super) fn output(block: &Block, decoding: &mut Decoding<'_>) -> Option<OutputDraft> {
    let label = block.labels.first()?;
    let content = decoding.content(&block.body, &OUTPUT);
    name::check(label, "output name", decoding);
    let sensitive = sensitive(&content, decoding);
    let ephemeral = content.get("ephemeral").and_then(|a| literal::boolean(a, decoding));
    Some(OutputDraft {
        name: label.value.clone(),
        expression: content.get("value").map(|attribute| attribute.expression.clone()),
        constraint: content.get("type").map(|attribute| variable::type_of(&attribute.expression, decoding)),
        sensitive,
        ephemeral,
        description: content.get("description").and_then(|attribute| literal::string(attribute, decoding)),
        deprecated: content.get("deprecated").and_then(|attribute| literal::string(attribute, decoding)),
        // Only Terraform refuses deprecated root outputs, so OpenTofu's files need no span.
        deprecated_span: match decoding.dialect {
            Dialect::Terraform => content.get("deprecated").map(Attribute::span),
            Dialect::OpenTofu => None,
        },
        depends_on: content.get("depends_on").map(|a| depends_on(a, decoding)).unwrap_or_default(),
        preconditions: preconditions(&content, decoding),
        span: block.header,
    })
}

/// Decodes `sensitive`. An unreadable argument counts as true, so that a secret is not displayed because of a typo.
fn sensitive(content: &Content, decoding: &mut Decoding<'_>) -> Option<bool> {
    match content.get("sensitive") {
        Some(attribute) => literal::boolean(attribute, decoding).or(Some(true)),
        None => (!content.is_whole()).then_some(true),
    }
}

fn preconditions(content: &Content, decoding: &mut Decoding<'_>) -> Vec<Condition> {
    // The block is in the schema, so that the message can name the alternative.
    for block in content.blocks_of("postcondition") {
        decoding.error(
            block.kind.span,
            "Postconditions are not allowed",
            "Outputs support only preconditions. Use a precondition instead.",
        );
    }
    content.blocks_of("precondition").filter_map(|block| condition::condition(block, decoding)).collect()
}

/// Decodes a `locals` block.
pub(super) fn locals(block: &Block, decoding: &mut Decoding<'_>) -> Vec<Local> {
    let (attributes, diagnostics) = block.body.attributes();
    // An unreadable argument may be the local value that others refer to.
    decoding.incomplete |= diagnostics.has_errors();
    decoding.diagnostics.append(diagnostics);
    let mut locals = Vec::with_capacity(attributes.len());
    for attribute in attributes {
        if !is_identifier(&attribute.name.name) {
            decoding.error(attribute.name.span, "Invalid local value name", name::RULE);
            decoding.incomplete = true;
        }
        let span = attribute.span();
        locals.push(Local { name: attribute.name.name, expression: attribute.expression, span });
    }
    locals
}

/// Decodes the references of a `depends_on` argument. Their targets are checked once the module is complete.
pub(super) fn depends_on(attribute: &Attribute, decoding: &mut Decoding<'_>) -> Vec<Traversal> {
    let Some(elements) = syntax::list(&attribute.expression, decoding) else { return Vec::new() };
    elements.iter().filter_map(|element| syntax::traversal(element, decoding)).collect()
}
