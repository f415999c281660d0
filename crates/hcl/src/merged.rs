//! Bodies with overrides: what an override file says replaces what the base file says.

use std::collections::HashSet;

use groma_diagnostics::Diagnostics;

use crate::ast::Name;
use crate::body::{Attribute, Body, BodySchema, Content};
use crate::native::{effective_kind, report_missing};

/// Two bodies as one.
#[derive(Debug)]
pub(crate) struct MergedBody {
    pub(crate) base: Body,
    pub(crate) other: Body,
}

pub(crate) fn content(body: &MergedBody, schema: &BodySchema) -> (Content, Diagnostics) {
    let optional = without_requirements(schema);
    let (base, mut diagnostics) = body.base.content(&optional);
    let (other, others) = body.other.content(&optional);
    diagnostics.append(others);
    (combine(base, other, schema, &mut diagnostics), diagnostics)
}

pub(crate) fn partial_content(body: &MergedBody, schema: &BodySchema) -> (Content, MergedBody, Diagnostics) {
    let optional = without_requirements(schema);
    let (base, base_rest, mut diagnostics) = body.base.partial_content(&optional);
    let (other, other_rest, others) = body.other.partial_content(&optional);
    diagnostics.append(others);
    let rest = MergedBody { base: base_rest, other: other_rest };
    (combine(base, other, schema, &mut diagnostics), rest, diagnostics)
}

pub(crate) fn attributes(body: &MergedBody) -> (Vec<Attribute>, Diagnostics) {
    let (base, mut diagnostics) = body.base.attributes();
    let (other, others) = body.other.attributes();
    diagnostics.append(others);
    let overridden: HashSet<Name> = other.iter().map(|attribute| Name::clone(&attribute.name.name)).collect();
    let kept = base.into_iter().filter(|attribute| !overridden.contains(&attribute.name.name));
    (kept.chain(other).collect(), diagnostics)
}

fn without_requirements(schema: &BodySchema) -> BodySchema {
    let mut schema = schema.clone();
    for spec in &mut schema.attributes {
        spec.required = false;
    }
    schema
}

fn combine(base: Content, other: Content, schema: &BodySchema, diagnostics: &mut Diagnostics) -> Content {
    let mut merged = Content::new(base.missing_item);
    for attribute in other.attributes.into_iter().chain(base.attributes) {
        merged.insert(attribute);
    }
    let replaced: HashSet<Name> = other.blocks.iter().map(|block| Name::clone(effective_kind(block))).collect();
    let kept = base.blocks.into_iter().filter(|block| !replaced.contains(effective_kind(block)));
    merged.blocks = kept.chain(other.blocks).collect();
    report_missing(&merged, schema, diagnostics);
    merged
}
