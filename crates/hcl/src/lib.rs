//! Scanner, parser, formatter and JSON reader of the configuration language.
//!
//! Text comes in as a [`SourceFile`](groma_diagnostics::SourceFile) and goes out as a [`Body`] or an [`Expression`],
//! always together with diagnostics: parsing never fails. This crate does not know values or what any block means.

mod ast;
mod body;
mod format;
mod json;
mod json_body;
mod json_string;
mod lexical;
mod merged;
mod name;
mod native;
mod origin;
mod parse;
mod parser;
mod quote;
mod scanner;
mod statically;
mod token;
mod traversal;
mod unconditional;
mod visit;

pub use ast::{
    Binary, BinaryOperator, Call, Conditional, Expression, ExpressionKind, For, Ident, Index, JsonString, LiteralKey,
    Meaning, Name, ObjectItem, Relative, Selector, Splat, SplatKind, Step, Template, TemplateFor, TemplateIf,
    TemplatePart, Traversal, Unary, UnaryOperator,
};
pub use body::{Attribute, AttributeSpec, Block, BlockSpec, Body, BodySchema, Content, File, Label};
pub use format::{format, try_format};
pub use parse::{parse_expression, parse_file, parse_json_file, parse_template, parse_traversal};
pub use quote::write_literal;
pub use scanner::{is_identifier, tokenize};
pub use token::{TokenKind, Tokens};
pub use traversal::MOST_STEPS;
