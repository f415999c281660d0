//! Decoding of bodies with schemas, dispatched by syntax, and the merging of override files.
//! what an override file says replaces what the base file says.

use std::collections::HashSet;
use std::sync::Arc;

use groma_diagnostics::Diagnostics;

use crate::ast::Name;
use crate::body::{Attribute, Body, MergedBody, Source};
use crate::content::Content;
use crate::schema::BodySchema;
use crate::{json_body, native};

impl Body {
    /// Returns this body with its arguments and blocks replaced by those of `other`, as override files do. All blocks
    /// of one type are replaced together; a `dynamic` block counts as the type that it generates.
    #[must_use]
    pub fn overridden_by(&self, other: &Self) -> Self {
        let merged = MergedBody { base: self.clone(), other: other.clone() };
        Self { source: Source::Merged(Arc::new(merged)), hidden: None }
    }

    /// Decodes everything that `schema` describes. Anything else in the body is an error, with a suggestion for a
    /// probable misspelling.
    pub fn content(&self, schema: &BodySchema) -> (Content, Diagnostics) {
        let hidden = self.hidden();
        match &self.source {
            Source::Native(body) => native::content(body, hidden, schema),
            Source::Json(body) => json_body::content(body, hidden, schema),
            Source::Merged(body) => merged_content(body, schema),
        }
    }

    /// Decodes everything that `schema` describes, and returns the rest as a body.
    pub fn partial_content(&self, schema: &BodySchema) -> (Content, Self, Diagnostics) {
        let hidden = self.hidden();
        let (content, diagnostics) = match &self.source {
            Source::Native(body) => native::partial_content(body, hidden, schema),
            Source::Json(body) => json_body::partial_content(body, hidden, schema),
            Source::Merged(body) => {
                let (content, rest, diagnostics) = merged_partial_content(body, schema);
                // Each part of the merged body hides the extracted names itself.
                return (content, Self { source: Source::Merged(Arc::new(rest)), hidden: None }, diagnostics);
            }
        };
        let mut hidden = hidden.clone();
        hidden.attributes.extend(content.attributes.iter().map(|attribute| attribute.name.name.clone()));
        let taken = schema.blocks.iter().filter(|spec| self.may_have_block(&spec.kind));
        hidden.blocks.extend(taken.map(|spec| spec.kind.clone()));
        // Most bodies contain none of the requested names, so the allocation is usually avoided.
        let hides = !hidden.attributes.is_empty() || !hidden.blocks.is_empty();
        (content, Self { source: self.source.clone(), hidden: hides.then(|| Arc::new(hidden)) }, diagnostics)
    }

    /// Returns all arguments whatever their names. A block is an error.
    pub fn attributes(&self) -> (Vec<Attribute>, Diagnostics) {
        let hidden = self.hidden();
        match &self.source {
            Source::Native(body) => native::attributes(body, hidden),
            Source::Json(body) => json_body::attributes(body, hidden),
            Source::Merged(body) => merged_attributes(body),
        }
    }

    fn may_have_block(&self, kind: &str) -> bool {
        match &self.source {
            Source::Native(body) => body.blocks.iter().any(|block| &*block.kind.name == kind),
            // Only the schema tells blocks from arguments in JSON, so every name may be a block.
            Source::Json(_) | Source::Merged(_) => true,
        }
    }
}

fn merged_content(body: &MergedBody, schema: &BodySchema) -> (Content, Diagnostics) {
    // A required argument may be in either body, so only their combination is checked.
    let optional = without_requirements(schema);
    let (base, mut diagnostics) = body.base.content(&optional);
    let (other, others) = body.other.content(&optional);
    diagnostics.append(others);
    (combine(base, other, schema, &mut diagnostics), diagnostics)
}

fn merged_partial_content(body: &MergedBody, schema: &BodySchema) -> (Content, MergedBody, Diagnostics) {
    let optional = without_requirements(schema);
    let (base, base_rest, mut diagnostics) = body.base.partial_content(&optional);
    let (other, other_rest, others) = body.other.partial_content(&optional);
    diagnostics.append(others);
    let rest = MergedBody { base: base_rest, other: other_rest };
    (combine(base, other, schema, &mut diagnostics), rest, diagnostics)
}

fn merged_attributes(body: &MergedBody) -> (Vec<Attribute>, Diagnostics) {
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
    merged.omits_invalid = base.omits_invalid || other.omits_invalid;
    // The override comes first, because `insert` keeps the first argument of a name.
    for attribute in other.attributes.into_iter().chain(base.attributes) {
        merged.insert(attribute);
    }
    let replaced: HashSet<Name> = other.blocks.iter().map(|block| Name::clone(block.effective_kind())).collect();
    let kept = base.blocks.into_iter().filter(|block| !replaced.contains(block.effective_kind()));
    merged.blocks = kept.chain(other.blocks).collect();
    merged.report_missing(schema, diagnostics);
    merged
}
