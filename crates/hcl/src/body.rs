//! Bodies: the content of a block or a file, in either syntax.
//!
//! A body is decoded with a [`BodySchema`]. In the JSON syntax only the schema distinguishes arguments from blocks, so
//! a body cannot be inspected without one, except with [`Body::attributes`].

use std::collections::HashSet;
use std::ops::Deref;
use std::sync::Arc;

use groma_diagnostics::Span;
use triomphe::ThinArc;

use crate::ast::{Expression, ExpressionKind, Ident, List, Name};
use crate::unconditional::{COMMENT, DYNAMIC, objects, property_name};

/// A parsed configuration file.
#[derive(Clone, Debug)]
pub struct File {
    /// The content of the file.
    pub body: Body,
}

/// The arguments and blocks of a file or a block, not decoded yet. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Body {
    pub(crate) source: Source,
    /// The names that an earlier [`Body::partial_content`] has extracted.
    pub(crate) hidden: Option<Arc<Hidden>>,
}

/// Names hidden from a body. Contains only names that occur in the body, which keeps it small.
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

    /// Whether `block` is hidden. A `dynamic` block is hidden under the block type that it generates.
    pub(crate) fn hides(&self, block: &Block) -> bool {
        self.has_block(&block.kind.name) || self.has_block(block.effective_kind())
    }
}

#[derive(Clone, Debug)]
pub(crate) enum Source {
    Native(NativeBody),
    Json(Arc<JsonBody>),
    Merged(Arc<MergedBody>),
}

/// An argument: `name = expression`.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    /// The argument name with its span.
    pub name: Ident,
    /// The value expression, not evaluated.
    pub expression: Expression,
}

impl Attribute {
    /// The span from the name to the end of the value.
    pub fn span(&self) -> Span {
        self.name.span.to(self.expression.span)
    }
}

/// A block: `kind "label" { … }`.
#[derive(Clone, Debug)]
pub struct Block {
    /// The block type with its span.
    pub kind: Ident,
    /// The labels between block type and body.
    pub labels: List<Label>,
    /// The content between the braces.
    pub body: Body,
    /// The span from the block type to the last label.
    pub header: Span,
    /// The span from the block type to the closing brace. In the JSON syntax, it begins at the innermost property name
    /// that belongs to this block only.
    pub span: Span,
}

/// A label of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The text without quotes, with escapes resolved.
    pub value: Name,
    /// The span including quotes.
    pub span: Span,
}

/// A parsed body of the native syntax; argument names are unique. Cheap to clone: header and arguments share one
/// allocation.
#[derive(Clone, Debug)]
pub(crate) struct NativeBody(ThinArc<NativeHead, Attribute>);

/// The parts of a [`NativeBody`] other than its arguments.
#[derive(Debug)]
pub(crate) struct NativeHead {
    pub(crate) blocks: List<Block>,
    pub(crate) span: Span,
    pub(crate) lines: Lines,
    pub(crate) certain: CertainItems,
}

/// The layout of a body: on one line or on several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lines {
    /// Between braces on a single line, with at most one argument.
    One,
    Several,
}

/// The number of leading arguments and blocks that certainly belong to a body. When recovery lost track of braces,
/// later items may belong to another body, so they are not reported as unexpected.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CertainItems {
    pub(crate) attributes: usize,
    pub(crate) blocks: usize,
}

impl CertainItems {
    pub(crate) const ALL: Self = Self { attributes: usize::MAX, blocks: usize::MAX };
    pub(crate) const NOTHING: Self = Self { attributes: 0, blocks: 0 };
}

impl NativeBody {
    pub(crate) fn new(
        attributes: impl IntoIterator<Item = Attribute, IntoIter: ExactSizeIterator>,
        head: NativeHead,
    ) -> Self {
        Self(ThinArc::from_header_and_iter(head, attributes.into_iter()))
    }

    pub(crate) fn attributes(&self) -> &[Attribute] {
        &self.0.slice
    }

    /// The span for reports of missing items: the first character, which is the opening brace of a block. For a block
    /// on a single line it is the first character of its argument.
    pub(crate) fn missing(&self) -> Span {
        let argument = self.attributes().first().filter(|_| self.lines == Lines::One);
        first_character(argument.map_or(self.span, |argument| argument.name.span))
    }

    /// The last character, which is the closing brace of a block.
    pub(crate) fn end(&self) -> Span {
        // An empty span has no last character.
        Span::new(self.span.end().saturating_sub(1).max(self.span.start()), self.span.end())
    }
}

impl Deref for NativeBody {
    type Target = NativeHead;

    fn deref(&self) -> &NativeHead {
        &self.0.header.header
    }
}

/// A body of the JSON syntax: the value whose properties are arguments and blocks.
#[derive(Clone, Debug)]
pub(crate) struct JsonBody {
    pub(crate) value: Expression,
    pub(crate) span: Span,
    pub(crate) end: Span,
    pub(crate) text: JsonText,
}

/// Whether a JSON document was parsed completely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JsonText {
    Whole,
    /// Properties are missing because of syntax errors, so missing arguments are not reported.
    Broken,
}

impl JsonBody {
    pub(crate) fn new(value: Expression, text: JsonText) -> Self {
        let span = value.span;
        let end = Span::new(span.end().saturating_sub(1).max(span.start()), span.end());
        Self { value, span, end, text }
    }

    /// The span for reports of missing items: the closing brace of an object, or the opening bracket of an array.
    pub(crate) fn missing_item(&self) -> Span {
        match &self.value.kind {
            ExpressionKind::Object(_) => self.end,
            _ => first_character(self.span),
        }
    }
}

/// A body with another body that overrides it.
#[derive(Debug)]
pub(crate) struct MergedBody {
    pub(crate) base: Body,
    pub(crate) other: Body,
}

impl Block {
    /// The type of the generated blocks for a `dynamic` block, otherwise the block type itself.
    pub(crate) fn effective_kind(&self) -> &Name {
        match self.labels.first() {
            Some(label) if &*self.kind.name == "dynamic" => &label.value,
            _ => &self.kind.name,
        }
    }
}

impl Body {
    /// Creates a body of the native syntax from its items; of arguments with the same name the first one wins.
    ///
    /// `span` covers the body including its braces, if any.
    pub fn new(attributes: Vec<Attribute>, blocks: Vec<Block>, span: Span) -> Self {
        let head = NativeHead { blocks: List::new(blocks), span, lines: Lines::Several, certain: CertainItems::ALL };
        Self::from_native(NativeBody::new(attributes, head))
    }

    pub(crate) fn from_native(body: NativeBody) -> Self {
        Self { source: Source::Native(body), hidden: None }
    }

    pub(crate) fn from_json(body: JsonBody) -> Self {
        Self { source: Source::Json(Arc::new(body)), hidden: None }
    }

    pub(crate) fn hidden(&self) -> &Hidden {
        // Most bodies hide nothing, so they share one empty value.
        static NOTHING: std::sync::LazyLock<Hidden> = std::sync::LazyLock::new(Hidden::default);
        self.hidden.as_deref().unwrap_or(&NOTHING)
    }

    /// The span from the opening to the closing brace, or of the whole file.
    pub fn span(&self) -> Span {
        match &self.source {
            Source::Native(body) => body.span,
            Source::Json(body) => body.span,
            Source::Merged(body) => body.base.span(),
        }
    }

    /// The span of the closing brace, or the end of the file.
    pub fn end_span(&self) -> Span {
        match &self.source {
            Source::Native(body) => body.end(),
            Source::Json(body) => body.end,
            Source::Merged(body) => body.base.end_span(),
        }
    }

    /// The span for reports of missing items: the opening brace, the argument of a single-line block, or the start of
    /// the file.
    pub fn missing_item_span(&self) -> Span {
        match &self.source {
            Source::Native(body) => body.missing(),
            Source::Json(body) => body.missing_item(),
            Source::Merged(body) => body.base.missing_item_span(),
        }
    }

    /// Whether the body is in JSON syntax, in which references and types are quoted.
    pub fn is_json(&self) -> bool {
        match &self.source {
            Source::Native(_) => false,
            Source::Json(_) => true,
            Source::Merged(body) => body.base.is_json(),
        }
    }
}

pub(crate) fn first_character(span: Span) -> Span {
    Span::new(span.start(), span.end().min(span.start() + 1))
}

impl Body {
    /// Calls `visit` with every expression of this body and its nested blocks, in no particular order.
    ///
    /// Used to collect references before the schema of the body is known. Items extracted by an earlier
    /// [`Body::partial_content`] or replaced by an override are skipped.
    pub fn for_each_expression(&self, visit: &mut dyn FnMut(&Expression)) {
        let hidden = self.hidden();
        match &self.source {
            Source::Native(body) => native(body, hidden, visit),
            // Without a schema, arguments and blocks of JSON are indistinguishable, so every value counts as an
            // expression.
            Source::Json(body) => json(&body.value, hidden, visit),
            Source::Merged(body) => {
                body.kept().for_each_expression(visit);
                body.other.for_each_expression(visit);
            }
        }
    }
}

fn native(body: &NativeBody, hidden: &Hidden, visit: &mut dyn FnMut(&Expression)) {
    for attribute in body.attributes() {
        if !hidden.has_attribute(&attribute.name.name) {
            visit(&attribute.expression);
        }
    }
    for block in &body.blocks {
        if !hidden.hides(block) {
            block.body.for_each_expression(visit);
        }
    }
}

fn json(value: &Expression, hidden: &Hidden, visit: &mut dyn FnMut(&Expression)) {
    if !matches!(value.kind, ExpressionKind::Object(_) | ExpressionKind::Tuple(_)) {
        return visit(value);
    }
    for item in objects(value).flatten() {
        match property_name(item).map(|name| &**name) {
            Some(COMMENT) => {}
            Some(name) if hidden.has_attribute(name) || hidden.has_block(name) => {}
            Some(DYNAMIC) => {
                let kept = objects(&item.value).flatten().filter(|kind| !hidden.hides_kind(kind));
                kept.for_each(|kind| visit(&kind.value));
            }
            _ => visit(&item.value),
        }
    }
}
