//! `variable` blocks.

use std::sync::{Arc, LazyLock};

use groma_address::Name;
use groma_diagnostics::{Diagnostic, Span};
use groma_hcl::{Attribute, Block, BodySchema, Content, Expression, ExpressionKind};
use groma_lang::{Reference, TypeConstraint, references, type_constraint};
use groma_value::Type;

use super::context::{Decoding, Dialect};
use super::{condition, literal, module_call, name};
use crate::model::Condition;

/// A variable as one file declares it, or as an override file changes it: what is not written is missing.
#[derive(Clone, Debug)]
pub(crate) struct VariableDraft {
    pub(crate) name: Name,
    pub(crate) constraint: Option<TypeConstraint>,
    pub(crate) default: Option<Expression>,
    pub(crate) sensitive: Option<bool>,
    pub(crate) ephemeral: Option<bool>,
    pub(crate) nullable: Option<bool>,
    pub(crate) constant: Option<bool>,
    pub(crate) description: Option<Name>,
    pub(crate) deprecated: Option<Name>,
    pub(crate) deprecated_span: Span,
    pub(crate) validations: Vec<Condition>,
    pub(crate) span: Span,
    pub(crate) dialect: Dialect,
    /// The override that gave it its type or its default.
    pub(crate) overridden: Option<Span>,
}

static VARIABLE: LazyLock<BodySchema> = LazyLock::new(|| {
    BodySchema::new()
        .optional("description")
        .optional("default")
        .optional("type")
        .optional("sensitive")
        .optional("ephemeral")
        .optional("nullable")
        .optional("deprecated")
        .optional("const")
        .block("validation", &[])
});

/// Decodes a `variable` block.
pub(super) fn variable(block: &Block, decoding: &mut Decoding<'_>) -> Option<VariableDraft> {
    let label = block.labels.first()?;
    let content = decoding.content(&block.body, &VARIABLE);
    name::check(label, "variable name", decoding);
    if module_call::is_meta_argument(&label.value) {
        decoding.error(
            label.span,
            "Invalid variable name",
            format!(
                "A module block uses the name {:?} for itself, so no variable can have it. Choose another.",
                label.value
            ),
        );
    }
    let validations = validations(&content, decoding);
    for validation in &validations {
        check_own_reference(&label.value, validation, decoding);
    }
    let boolean =
        |name: &str, decoding: &mut Decoding<'_>| content.get(name).and_then(|a| literal::boolean(a, decoding));
    let sensitive = boolean("sensitive", decoding);
    let ephemeral = boolean("ephemeral", decoding);
    let nullable = boolean("nullable", decoding);
    let constant = boolean("const", decoding);
    Some(VariableDraft {
        name: label.value.clone(),
        constraint: content.get("type").map(|attribute| type_argument(attribute, decoding)),
        default: content.get("default").map(|attribute| attribute.expression.clone()),
        sensitive,
        ephemeral,
        nullable,
        constant,
        description: content.get("description").and_then(|attribute| literal::string(attribute, decoding)),
        deprecated: content.get("deprecated").and_then(|attribute| literal::string(attribute, decoding)),
        deprecated_span: content.get("deprecated").map(Attribute::span).unwrap_or_default(),
        validations,
        span: block.header,
        dialect: decoding.dialect,
        overridden: None,
    })
}

fn validations(content: &Content, decoding: &mut Decoding<'_>) -> Vec<Condition> {
    content.blocks_of("validation").filter_map(|block| condition::condition(block, decoding)).collect()
}

/// A validation is about the variable that holds it.
fn check_own_reference(name: &Name, validation: &Condition, decoding: &mut Decoding<'_>) {
    let (found, _) = references(&validation.condition);
    if !found.iter().any(|reference| reference.target == Reference::Variable(name.clone())) {
        // Whatever it refers to instead is the same mistake.
        let detail = format!("The condition is about values of {name:?}, so it has to refer to var.{name}.");
        let problem = Diagnostic::error("Invalid variable validation condition", detail);
        decoding.report(problem.at(validation.condition.span).suppressing(validation.condition.span));
    }
}

/// A `type` argument. The quoted types of Terraform 0.11 are refused with the way to write them now.
fn type_argument(attribute: &Attribute, decoding: &mut Decoding<'_>) -> TypeConstraint {
    let expression = &attribute.expression;
    match &expression.kind {
        ExpressionKind::String(text) => {
            quoted_type(text, expression.span, decoding);
            return TypeConstraint::ANY;
        }
        ExpressionKind::Template(template) if template.wrapped().is_none() => {
            template_type(expression, decoding);
            return TypeConstraint::ANY;
        }
        _ => {}
    }
    // Of old these two words alone are types.
    let element = || Arc::new(Type::Dynamic);
    match expression.as_keyword().as_deref() {
        Some("list") => return TypeConstraint { ty: Type::List(element()), defaults: None },
        Some("map") => return TypeConstraint { ty: Type::Map(element()), defaults: None },
        _ => {}
    }
    let (constraint, diagnostics) = type_constraint(expression);
    // Whether a default fits a type that is not there is no question.
    let is_broken = diagnostics.has_errors() || decoding.unparsed.is_in(expression.span);
    decoding.report_of(expression, diagnostics);
    if is_broken { TypeConstraint::ANY } else { constraint }
}

/// The type that is written in `expression`.
pub(super) fn type_of(expression: &Expression, decoding: &mut Decoding<'_>) -> TypeConstraint {
    let (constraint, diagnostics) = type_constraint(expression);
    decoding.report_of(expression, diagnostics);
    constraint
}

/// A type in quotes that is put together is as wrong as one that is not, once it is clear what it says.
fn template_type(expression: &Expression, decoding: &mut Decoding<'_>) {
    match literal::constant(expression) {
        Ok(value) => quoted_type(value.as_str().unwrap_or_default(), expression.span, decoding),
        Err(problems) => decoding.report_of(expression, problems),
    }
}

fn quoted_type(text: &str, span: Span, decoding: &mut Decoding<'_>) {
    let diagnostic = match text {
        "string" | "list" | "map" => {
            let now = if text == "string" { text.to_owned() } else { format!("{text}(string)") };
            Diagnostic::error(
                "Invalid quoted type constraints",
                format!(
                    "Types in quotes are a form of Terraform 0.11 that is no longer read. Write {now} without quotes."
                ),
            )
        }
        _ => Diagnostic::error(
            "Invalid legacy variable type hint",
            "A type stands here without quotes. Remove the quotes and write the type itself.",
        ),
    };
    decoding.report(diagnostic.at(span));
}
