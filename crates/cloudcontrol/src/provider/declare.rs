//! Attributes as the framework wants them declared, with what it does for them while planning (CC-30, CC-32, CC-36).
//!
//! The framework keeps the prior form of values that mean the same, and asks for a new object where one is needed. It
//! matches elements of lists by position, though, and elements here are known by their keys, so what is in or of elements
//! is planned by [`super::plan`].

use std::sync::Arc;

use groma_framework::modifier::requires_replace_if_configured;
use groma_framework::{Attribute, ObjectNesting, ResourceSchema, SchemaBuilder, SchemaProblem};
use groma_provider::{IdentitySchema, ObjectSchema, Use};

use super::fields::{Change, Field, Fields, Order, Shape};
use super::region::REGION;
use super::same::same;
use crate::Name;

/// The version of stored objects, as the existing provider has it.
const SCHEMA_VERSION: u64 = 1;

/// The schema of a resource.
pub fn resource(fields: &Fields, identity: IdentitySchema) -> Result<ResourceSchema, Vec<SchemaProblem>> {
    let schema = SchemaBuilder::new().version(SCHEMA_VERSION).identity(identity);
    attributes(fields).fold(schema, |schema, (name, attribute)| schema.attribute(name, attribute)).build()
}

/// The schema of the singular data source: everything is a result but `id` and `region`.
pub fn data_source(fields: &Fields) -> Result<ResourceSchema, Vec<SchemaProblem>> {
    // An argument of resources alone says nothing about an existing object.
    let is_known =
        |field: &&Field| field.property.is_some() || field.usage != Use::Optional || &*field.attribute == REGION;
    let attributes = fields.list.iter().filter(is_known).map(|field| match &*field.attribute {
        "id" => (field.attribute.clone(), Attribute::string().required()),
        REGION if field.property.is_none() => (field.attribute.clone(), Attribute::string().optional()),
        _ => (field.attribute.clone(), result(field)),
    });
    attributes.fold(SchemaBuilder::new(), |schema, (name, attribute)| schema.attribute(name, attribute)).build()
}

/// Returns the attribute for a property that a list handler needs.
pub fn input(field: &Field) -> Attribute {
    Attribute::new(field.shape.written_type()).required()
}

/// Whether the framework plans the configured values of a field that is not in elements: its value is one of a kind, or a
/// collection of such, with nothing in it that the service could complete.
pub fn is_planned_by_framework(field: &Field) -> bool {
    let scalar = |shape: &Shape| matches!(shape, Shape::Bool | Shape::Integer | Shape::Number | Shape::Text);
    match &field.shape {
        Shape::Time | Shape::Json => true,
        Shape::List(element, _) | Shape::Set(element) | Shape::Map(element) => scalar(element),
        shape => scalar(shape),
    }
}

fn attributes(fields: &Fields) -> impl Iterator<Item = (Name, Attribute)> {
    fields.list.iter().map(|field| (field.attribute.clone(), attribute(field)))
}

fn attribute(field: &Field) -> Attribute {
    let attribute = match field.shape.nested() {
        Some((ObjectNesting::Single, inner)) if has_rules(inner) => {
            Attribute::nested(ObjectNesting::Single, attributes(inner))
        }
        // Objects without rules are shared, so that recursive definitions are not repeated.
        Some((nesting, inner)) => Attribute::nested_schema(inner.schema(nesting)),
        None => Attribute::new(field.shape.written_type()),
    };
    let attribute = described(&field.declared, attribute.used(field.usage));
    let attribute = if field.sensitive { attribute.sensitive() } else { attribute };
    let attribute = if field.ephemeral_of.is_some() { attribute.write_only() } else { attribute };
    if is_planned_by_framework(field) { planned(field, attribute) } else { attribute }
}

fn described(declared: &groma_provider::Attribute, attribute: Attribute) -> Attribute {
    match declared.description().text.as_str() {
        "" => attribute,
        text => attribute.described(text),
    }
}

/// Whether the framework plans anything in objects that are not elements.
fn has_rules(fields: &Fields) -> bool {
    fields.list.iter().any(|field| match &field.shape {
        Shape::Object(inner) => has_rules(inner),
        shape => is_planned_by_framework(field) && (field.change != Change::InPlace || has_equal_forms(shape)),
    })
}

/// Whether values of a shape have several forms that mean the same.
fn has_equal_forms(shape: &Shape) -> bool {
    matches!(shape, Shape::Json | Shape::Time | Shape::List(_, Order::Ignored))
}

fn planned(field: &Field, attribute: Attribute) -> Attribute {
    let attribute = match field.change {
        Change::InPlace => attribute,
        Change::ReplaceIfConfigured => attribute.modifier(requires_replace_if_configured()),
        Change::Replace => attribute.requires_replace(),
    };
    if !has_equal_forms(&field.shape) {
        return attribute;
    }
    let shape = field.shape.clone();
    attribute.semantic_equality(move |left, right| same(&shape, left, right))
}

fn result(field: &Field) -> Attribute {
    let attribute = match field.shape.nested() {
        Some((nesting, inner)) => {
            Attribute::nested_schema(Arc::new(ObjectSchema::of_block(nesting, inner.results().clone())))
        }
        None => Attribute::new(field.shape.ty()),
    };
    described(&field.declared, attribute.computed())
}
