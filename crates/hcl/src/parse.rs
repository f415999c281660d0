//! Entry points of the parser.

use groma_diagnostics::{Diagnostics, SourceFile, Span};

use crate::ast::{Expression, Traversal};
use crate::body::{Body, File, JsonBody, JsonText};
use crate::encoding;
use crate::encoding::Origin;
use crate::json;
use crate::parser::{Parser, parse_body};

/// Parses a file in native syntax. Never fails: unparsable items are reported and omitted.
pub fn parse_file(file: &SourceFile) -> (File, Diagnostics) {
    if let Some(problem) = encoding::utf16(file) {
        let (empty, _) = parse_body("", origin(file));
        return (File { body: Body::from_native(empty) }, problem.into());
    }
    let (body, diagnostics) = parse_body(file.text(), origin(file));
    (File { body: Body::from_native(body) }, diagnostics)
}

/// Parses a file in JSON syntax. Never fails: unparsable items are reported and omitted.
pub fn parse_json_file(file: &SourceFile) -> (File, Diagnostics) {
    let (value, mut diagnostics) = json::parse(file);
    if let Some(problem) = encoding::utf16(file) {
        // All other errors follow from the encoding.
        diagnostics = problem.into();
    }
    let text = if diagnostics.has_errors() { JsonText::Broken } else { JsonText::Whole };
    (File { body: Body::from_json(JsonBody::new(value, text)) }, diagnostics)
}

/// Parses text as a single expression, in which line ends are insignificant.
pub fn parse_expression(file: &SourceFile) -> (Expression, Diagnostics) {
    let mut parser = Parser::new(file.text(), origin(file));
    let expression = parser.whole_expression();
    (expression, parser.finish())
}

/// Parses text as a template without quotes around it.
pub fn parse_template(file: &SourceFile) -> (Expression, Diagnostics) {
    let mut parser = Parser::for_template(file.text(), origin(file));
    let expression = parser.whole_template();
    (expression, parser.finish())
}

/// Parses text as a single traversal, such as an address.
pub fn parse_traversal(file: &SourceFile) -> (Option<Traversal>, Diagnostics) {
    let mut parser = Parser::new(file.text(), origin(file));
    let traversal = parser.whole_traversal();
    (traversal, parser.finish())
}

fn origin(file: &SourceFile) -> Origin<'_> {
    Origin { base: file.base(), file: Some(file), shifts: &[] }
}

/// Parses the traversal in a string at `span`, which is surrounded by one-character quotes.
///
/// Spans inside are inexact if the string has escapes, which traversals practically never have.
pub(crate) fn quoted_traversal(text: &str, span: Span) -> Result<Traversal, Diagnostics> {
    let mut parser = Parser::new(text, Origin { base: span.start() + 1, file: None, shifts: &[] });
    let traversal = parser.whole_traversal();
    let problems = parser.finish();
    // After an error, the traversal may cover only a part of the text.
    traversal.filter(|_| !problems.has_errors()).ok_or(problems)
}

/// Parses the expression in a string at `span`.
pub(crate) fn quoted_expression(text: &str, span: Span) -> Option<Expression> {
    let mut parser = Parser::new(text, Origin { base: span.start() + 1, file: None, shifts: &[] });
    let expression = parser.whole_expression();
    (!parser.finish().has_errors()).then_some(expression)
}
