//! Bodies: what stands between the braces of a block, or in a whole file, in either syntax.
//!
//! A body is read with a [`BodySchema`]. In the JSON syntax only the schema tells arguments from blocks, so that there
//! is no way to look into a body without one, except for [`Body::attributes`].

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use groma_diagnostics::{Diagnostics, Span};

use crate::ast::{Expression, Ident, Name};
use crate::{json_body, merged, native};

/// A parsed file.
#[derive(Clone, Debug)]
pub struct File {
    /// Everything in it.
    pub body: Body,
}

/// Arguments and blocks of a file or a block. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Body {
    pub(crate) source: Source,
    /// What an earlier [`Body::partial_content`] has taken out.
    pub(crate) hidden: Option<Arc<Hidden>>,
}

/// Names that are no longer to be seen in a body. Holds only names that are in the body, which keeps it small.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hidden {
    pub(crate) attributes: HashSet<Name>,
    pub(crate) blocks: HashSet<Name>,
}

impl Hidden {
    pub(crate) fn has_attribute(&self, name: &str) -> bool {
        !self.attributes.is_empty() && self.attributes.contains(name)
    }

    pub(crate) fn has_block(&self, kind: &str) -> bool {
        !self.blocks.is_empty() && self.blocks.contains(kind)
    }
}

#[derive(Clone, Debug)]
pub(crate) enum Source {
    Native(Arc<native::NativeBody>),
    Json(Arc<json_body::JsonBody>),
    Merged(Arc<merged::MergedBody>),
}

/// What may stand in a body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BodySchema {
    /// The arguments.
    pub attributes: Vec<AttributeSpec>,
    /// The blocks.
    pub blocks: Vec<BlockSpec>,
}

/// An argument that may stand in a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttributeSpec {
    /// Its name.
    pub name: Name,
    /// Whether its absence is an error.
    pub required: bool,
}

/// A kind of block that may stand in a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockSpec {
    /// The kind: `resource`.
    pub kind: Name,
    /// What its labels are: `type`, `name`. Their number is binding.
    pub labels: Vec<Name>,
}

/// What was found in a body.
#[derive(Clone, Debug, Default)]
pub struct Content {
    /// The arguments, in the order of the source; each name once.
    pub attributes: Vec<Attribute>,
    /// The blocks, in the order of the source.
    pub blocks: Vec<Block>,
    /// Where to say that something is missing.
    pub missing_item: Span,
    /// Where each argument is, once there are many.
    index: Option<HashMap<Name, usize>>,
}

/// Up to this many arguments, looking at each of them is the quickest.
const FEW: usize = 16;

/// `name = expression`.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    /// The name.
    pub name: Ident,
    /// The value.
    pub expression: Expression,
}

impl Attribute {
    /// From the name to the end of the value.
    pub fn span(&self) -> Span {
        self.name.span.to(self.expression.span)
    }
}

/// `kind "label" { … }`.
#[derive(Clone, Debug)]
pub struct Block {
    /// The kind.
    pub kind: Ident,
    /// The labels.
    pub labels: Vec<Label>,
    /// What is in it.
    pub body: Body,
    /// From the kind to the last label.
    pub header: Span,
    /// From the kind to the closing brace.
    pub span: Span,
}

/// A label of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The characters, without quotes.
    pub value: Name,
    /// The text, with quotes.
    pub span: Span,
}

impl BodySchema {
    /// The schema of an empty body.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same, with an argument that must be there.
    #[must_use]
    pub fn required(mut self, name: impl Into<Name>) -> Self {
        self.attributes.push(AttributeSpec { name: name.into(), required: true });
        self
    }

    /// The same, with an argument that may be there.
    #[must_use]
    pub fn optional(mut self, name: impl Into<Name>) -> Self {
        self.attributes.push(AttributeSpec { name: name.into(), required: false });
        self
    }

    /// The same, with a kind of block whose labels are named `labels`.
    #[must_use]
    pub fn block(mut self, kind: impl Into<Name>, labels: &[&str]) -> Self {
        self.blocks
            .push(BlockSpec { kind: kind.into(), labels: labels.iter().map(|label| Name::from(*label)).collect() });
        self
    }
}

impl Content {
    pub(crate) fn new(missing_item: Span) -> Self {
        Self { missing_item, ..Self::default() }
    }

    /// The argument `name`.
    pub fn get(&self, name: &str) -> Option<&Attribute> {
        match &self.index {
            Some(index) => self.attributes.get(*index.get(name)?),
            None => self.attributes.iter().find(|attribute| &*attribute.name.name == name),
        }
    }

    /// The blocks of one kind, in order.
    pub fn blocks_of<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Block> {
        self.blocks.iter().filter(move |block| &*block.kind.name == kind)
    }

    /// Adds `attribute`, unless there is one of its name; gives that one back.
    pub(crate) fn insert(&mut self, attribute: Attribute) -> Option<&Attribute> {
        if self.get(&attribute.name.name).is_some() {
            return self.get(&attribute.name.name);
        }
        if let Some(index) = &mut self.index {
            index.insert(Arc::clone(&attribute.name.name), self.attributes.len());
        }
        self.attributes.push(attribute);
        if self.index.is_none() && self.attributes.len() > FEW {
            let places = self.attributes.iter().enumerate();
            self.index = Some(places.map(|(place, attribute)| (Arc::clone(&attribute.name.name), place)).collect());
        }
        None
    }
}

impl Body {
    /// A body of the native syntax made of parts; of arguments with the same name the first counts.
    ///
    /// `span` covers it with its braces, if it has any.
    pub fn new(attributes: Vec<Attribute>, blocks: Vec<Block>, span: Span) -> Self {
        Self::from_native(native::NativeBody::new(attributes, blocks, span))
    }

    pub(crate) fn from_native(body: native::NativeBody) -> Self {
        Self { source: Source::Native(Arc::new(body)), hidden: None }
    }

    pub(crate) fn from_json(body: json_body::JsonBody) -> Self {
        Self { source: Source::Json(Arc::new(body)), hidden: None }
    }

    /// This body with the arguments and blocks of `other` in the place of its own of the same names: the way override
    /// files work. All blocks of a kind are replaced together; a `dynamic` block counts as the kind it makes.
    #[must_use]
    pub fn overridden_by(&self, other: &Self) -> Self {
        let merged = merged::MergedBody { base: self.clone(), other: other.clone() };
        Self { source: Source::Merged(Arc::new(merged)), hidden: None }
    }

    /// Everything that `schema` describes. Anything else in the body is an error, with a suggestion where a name looks
    /// like a slip.
    pub fn content(&self, schema: &BodySchema) -> (Content, Diagnostics) {
        let hidden = self.hidden();
        match &self.source {
            Source::Native(body) => native::content(body, hidden, schema),
            Source::Json(body) => json_body::content(body, hidden, schema),
            Source::Merged(body) => merged::content(body, schema),
        }
    }

    /// Everything that `schema` describes, and a body with the rest.
    pub fn partial_content(&self, schema: &BodySchema) -> (Content, Self, Diagnostics) {
        let hidden = self.hidden();
        let (content, diagnostics) = match &self.source {
            Source::Native(body) => native::partial_content(body, hidden, schema),
            Source::Json(body) => json_body::partial_content(body, hidden, schema),
            Source::Merged(body) => {
                let (content, rest, diagnostics) = merged::partial_content(body, schema);
                return (content, Self { source: Source::Merged(Arc::new(rest)), hidden: None }, diagnostics);
            }
        };
        let mut hidden = hidden.clone();
        hidden.attributes.extend(content.attributes.iter().map(|attribute| Arc::clone(&attribute.name.name)));
        let taken = schema.blocks.iter().filter(|spec| self.may_have_block(&spec.kind));
        hidden.blocks.extend(taken.map(|spec| Arc::clone(&spec.kind)));
        // Most bodies have none of what is looked for, and bodies are many.
        let hides = !hidden.attributes.is_empty() || !hidden.blocks.is_empty();
        (content, Self { source: self.source.clone(), hidden: hides.then(|| Arc::new(hidden)) }, diagnostics)
    }

    /// All arguments, whatever their names; a block is an error.
    pub fn attributes(&self) -> (Vec<Attribute>, Diagnostics) {
        let hidden = self.hidden();
        match &self.source {
            Source::Native(body) => native::attributes(body, hidden),
            Source::Json(body) => json_body::attributes(body, hidden),
            Source::Merged(body) => merged::attributes(body),
        }
    }

    pub(crate) fn hidden(&self) -> &Hidden {
        static NOTHING: std::sync::LazyLock<Hidden> = std::sync::LazyLock::new(Hidden::default);
        self.hidden.as_deref().unwrap_or(&NOTHING)
    }

    fn may_have_block(&self, kind: &str) -> bool {
        match &self.source {
            Source::Native(body) => body.blocks.iter().any(|block| &*block.kind.name == kind),
            Source::Json(_) | Source::Merged(_) => true,
        }
    }

    /// From the opening to the closing brace, or the whole file.
    pub fn span(&self) -> Span {
        match &self.source {
            Source::Native(body) => body.span,
            Source::Json(body) => body.span,
            Source::Merged(body) => body.base.span(),
        }
    }

    /// The closing brace, or the end of the file.
    pub fn end_span(&self) -> Span {
        match &self.source {
            Source::Native(body) => body.end(),
            Source::Json(body) => body.end,
            Source::Merged(body) => body.base.end_span(),
        }
    }

    /// Where to say that something is missing: the opening brace, or the start of the file.
    pub fn missing_item_span(&self) -> Span {
        match &self.source {
            Source::Native(body) => body.missing_item(),
            Source::Json(body) => body.missing_item(),
            Source::Merged(body) => body.base.missing_item_span(),
        }
    }

    /// Whether it was written in the JSON syntax, where a reference or a type stands in quotes.
    pub fn is_json(&self) -> bool {
        match &self.source {
            Source::Native(_) => false,
            Source::Json(_) => true,
            Source::Merged(body) => body.base.is_json(),
        }
    }
}
