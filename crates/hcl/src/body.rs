//! Bodies: what stands between the braces of a block, or in a whole file, in either syntax.
//!
//! A body is decoded with a [`BodySchema`]. In the JSON syntax only the schema distinguishes arguments from blocks, so that
//! a body cannot be decoded without one, except by [`Body::attributes`].

use std::collections::HashSet;
use std::ops::Deref;
use std::sync::Arc;

use groma_diagnostics::Span;
use triomphe::ThinArc;

use crate::ast::{Expression, ExpressionKind, Ident, List, Name};

/// A parsed configuration file.
#[derive(Clone, Debug)]
pub struct File {
    /// The body of the file.
    pub body: Body,
}

/// Arguments and blocks of a file or a block. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Body {
    pub(crate) source: Source,
    /// The items that an earlier [`Body::partial_content`] has returned.
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

    /// Whether `block` is not to be seen; a `dynamic` block as what it makes.
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

/// `name = expression`.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    /// The name of the argument.
    pub name: Ident,
    /// The expression of the value.
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
    /// The block type.
    pub kind: Ident,
    /// The labels, in order.
    pub labels: List<Label>,
    /// The body of the block.
    pub body: Body,
    /// From the kind to the last label.
    pub header: Span,
    /// From the kind to the closing brace, in the JSON syntax from what is named of this block alone.
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

/// Arguments and blocks as the parser found them; no argument name occurs twice. Cheap to clone; the arguments stand right after the
/// rest.
#[derive(Clone, Debug)]
pub(crate) struct NativeBody(ThinArc<NativeHead, Attribute>);

/// The parts of a [`NativeBody`] besides its arguments.
#[derive(Debug)]
pub(crate) struct NativeHead {
    pub(crate) blocks: List<Block>,
    pub(crate) span: Span,
    pub(crate) lines: Lines,
    pub(crate) own: Own,
}

/// The layout of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lines {
    /// Between braces on a single line, with one argument at most.
    One,
    Several,
}

/// The number of arguments and blocks that certainly belong to a body. Those after them may belong elsewhere, because the end of a block
/// was lost
/// before: an unexpected one is not reported then.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Own {
    pub(crate) attributes: usize,
    pub(crate) blocks: usize,
}

impl Own {
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

    /// Returns the location for a missing item: the first character, which is the opening brace in a block; the start of its only
    /// argument if that is on the same line.
    pub(crate) fn missing(&self) -> Span {
        let argument = self.attributes().first().filter(|_| self.lines == Lines::One);
        first_character(argument.map_or(self.span, |argument| argument.name.span))
    }

    /// The last character, which is the closing brace in a block.
    pub(crate) fn end(&self) -> Span {
        Span::new(self.span.end().saturating_sub(1).max(self.span.start()), self.span.end())
    }
}

impl Deref for NativeBody {
    type Target = NativeHead;

    fn deref(&self) -> &NativeHead {
        &self.0.header.header
    }
}

/// The value that holds the arguments and blocks of a body.
#[derive(Clone, Debug)]
pub(crate) struct JsonBody {
    pub(crate) value: Expression,
    pub(crate) span: Span,
    pub(crate) end: Span,
    pub(crate) text: JsonText,
}

/// The readable part of a text in the JSON syntax.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JsonText {
    Whole,
    /// Properties are lost: what is missing may be among them, which is no further mistake.
    Broken,
}

impl JsonBody {
    pub(crate) fn new(value: Expression, text: JsonText) -> Self {
        let span = value.span;
        let end = Span::new(span.end().saturating_sub(1).max(span.start()), span.end());
        Self { value, span, end, text }
    }

    /// The closing brace of an object, the opening bracket of an array.
    pub(crate) fn missing_item(&self) -> Span {
        match &self.value.kind {
            ExpressionKind::Object(_) => self.end,
            _ => first_character(self.span),
        }
    }
}

/// Two bodies as one.
#[derive(Debug)]
pub(crate) struct MergedBody {
    pub(crate) base: Body,
    pub(crate) other: Body,
}

impl Block {
    /// Returns the effective block type: a `dynamic` block generates blocks of the type in its label.
    pub(crate) fn effective_kind(&self) -> &Name {
        match self.labels.first() {
            Some(label) if &*self.kind.name == "dynamic" => &label.value,
            _ => &self.kind.name,
        }
    }
}

impl Body {
    /// A body of the native syntax made of parts; of arguments with the same name the first counts.
    ///
    /// `span` covers it with its braces, if it has any.
    pub fn new(attributes: Vec<Attribute>, blocks: Vec<Block>, span: Span) -> Self {
        let head = NativeHead { blocks: List::new(blocks), span, lines: Lines::Several, own: Own::ALL };
        Self::from_native(NativeBody::new(attributes, head))
    }

    pub(crate) fn from_native(body: NativeBody) -> Self {
        Self { source: Source::Native(body), hidden: None }
    }

    pub(crate) fn from_json(body: JsonBody) -> Self {
        Self { source: Source::Json(Arc::new(body)), hidden: None }
    }

    pub(crate) fn hidden(&self) -> &Hidden {
        static NOTHING: std::sync::LazyLock<Hidden> = std::sync::LazyLock::new(Hidden::default);
        self.hidden.as_deref().unwrap_or(&NOTHING)
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

    /// Returns the location for a missing item: the opening brace, the only argument of a single-line block, or the start of the
    /// file.
    pub fn missing_item_span(&self) -> Span {
        match &self.source {
            Source::Native(body) => body.missing(),
            Source::Json(body) => body.missing_item(),
            Source::Merged(body) => body.base.missing_item_span(),
        }
    }

    /// Whether it is in the JSON syntax, where references and types are written in quotes.
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
