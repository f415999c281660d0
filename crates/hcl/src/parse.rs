//! The ways in: texts to trees.

use std::sync::Arc;

use groma_diagnostics::{Diagnostics, SourceFile, Span};

use crate::ast::{Expression, Traversal};
use crate::body::{Body, File};

/// Reads a file of the native syntax. Never fails: what cannot be read is left out and reported.
pub fn parse_file(file: &SourceFile) -> (File, Diagnostics) {
    (File { body: Body::new(Vec::new(), Vec::new(), file.span(0, file.text().len())) }, Diagnostics::new())
}

/// Reads a file of the JSON syntax.
pub fn parse_json_file(file: &SourceFile) -> (File, Diagnostics) {
    (File { body: Body::new(Vec::new(), Vec::new(), file.span(0, file.text().len())) }, Diagnostics::new())
}

/// Reads a text that is one expression.
pub fn parse_expression(file: &SourceFile) -> (Expression, Diagnostics) {
    (Expression::invalid(file.span(0, file.text().len())), Diagnostics::new())
}

/// Reads a text that is one template, without quotes around it.
pub fn parse_template(file: &SourceFile) -> (Expression, Diagnostics) {
    (Expression::invalid(file.span(0, file.text().len())), Diagnostics::new())
}

/// Reads a text that is one traversal.
pub fn parse_traversal(file: &SourceFile) -> (Option<Arc<Traversal>>, Diagnostics) {
    let _ = file;
    (None, Diagnostics::new())
}

pub(crate) fn quoted_traversal(_text: &str, _span: Span) -> Option<Arc<Traversal>> {
    None
}

pub(crate) fn quoted_expression(_text: &str, _span: Span) -> Option<Expression> {
    None
}
