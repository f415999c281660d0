//! The scanner, parser and formatter of the configuration language, in native and JSON syntax.
//!
//! The input is a [`SourceFile`](groma_diagnostics::SourceFile); the output is a [`Body`] or an [`Expression`] together
//! with diagnostics. Parsing never fails. This crate knows neither values nor the meaning of any block.

mod ast;
mod body;
mod content;
mod decode;
mod depth;
mod encoding;
mod format;
mod json;
mod json_body;
mod json_string;
mod lexical;
mod name;
mod native;
mod parse;
mod parser;
mod scanner;
mod schema;
mod start;
mod static_forms;
mod token;
mod traversal;
mod unconditional;

pub use crate::encoding::write_literal;
pub use ast::{
    Binary, BinaryOperator, Call, CallHead, Conditional, Expression, ExpressionKind, For, Ident, Index, JsonString,
    LiteralKey, Meaning, Name, ObjectItem, Relative, Selector, Splat, SplatKind, Step, Template, TemplateFor,
    TemplateIf, TemplatePart, Traversal, Unary, UnaryOperator,
};
pub use body::{Attribute, Block, Body, File, Label};
pub use content::Content;
pub use depth::{MAX_BLOCKS, MAX_NESTING, MAX_OPERATIONS, with_stack};
pub use format::{format, try_format, try_format_bytes};
pub use parse::{parse_expression, parse_file, parse_json_file, parse_template, parse_traversal};
pub use scanner::{is_identifier, tokenize};
pub use schema::{AttributeSpec, BlockSpec, BodySchema};
pub use token::{TokenKind, Tokens};
pub use unconditional::Evaluated;
