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

/// A variable block that is not yet merged with overrides; `None` means that the argument is missing.
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
    /// Span of the override that changed the type or the default.
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
                "{:?} is a meta-argument of module blocks, so no variable can have this name. Choose another name.",
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
        // The span lets warnings about the use of the variable point at the deprecation.
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

/// Reports a validation whose condition does not refer to its variable.
fn check_own_reference(name: &Name, validation: &Condition, decoding: &mut Decoding<'_>) {
    let (found, _) = references(&validation.condition);
    if !found.iter().any(|reference| reference.target == Reference::Variable(name.clone())) {
        // The evaluator would report any other reference as well, for the same mistake.
        let detail = format!("The condition must refer to var.{name}, the variable that it validates.");
        let problem = Diagnostic::error("Invalid variable validation condition", detail);
        decoding.report(problem.at(validation.condition.span).suppressing(validation.condition.span));
    }
}

/// Decodes a `type` argument. The quoted types of Terraform 0.11 are errors with the current form.
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
    // Terraform still accepts these two keywords without an element type.
    let element = || Arc::new(Type::Dynamic);
    match expression.as_keyword().as_deref() {
        Some("list") => return TypeConstraint { ty: Type::List(element()), defaults: None },
        Some("map") => return TypeConstraint { ty: Type::Map(element()), defaults: None },
        _ => {}
    }
    let (constraint, diagnostics) = type_constraint(expression);
    // Without a valid type, a check of the default would only repeat the error.
    let is_broken = diagnostics.has_errors() || decoding.unparsed.is_in(expression.span);
    decoding.report_of(expression, diagnostics);
    if is_broken { TypeConstraint::ANY } else { constraint }
}

/// Decodes a type constraint.
pub(super) fn type_of(expression: &Expression, decoding: &mut Decoding<'_>) -> TypeConstraint {
    let (constraint, diagnostics) = type_constraint(expression);
    decoding.report_of(expression, diagnostics);
    constraint
}

/// Reports a quoted type in a template, by its evaluated text.
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
                format!("Quoted types were removed after Terraform 0.11. Write {now} without quotes."),
            )
        }
        _ => Diagnostic::error("Invalid legacy variable type hint", "A type must not be quoted. Remove the quotes."),
    };
    decoding.report(diagnostic.at(span));
}
