//! The formatter for the native syntax.
//!
//! It works on tokens and changes only the whitespace between them, after it has rewritten three deprecated spellings
//! (see [`rewrite`]): interpolation-only values, quoted types, and unquoted labels.

mod bytes;
mod cells;
mod layout;
mod rewrite;
mod spacing;

use std::collections::HashSet;

pub use bytes::try_format_bytes;

use crate::ast::Name;
use crate::body::NativeBody;
use crate::encoding::Origin;
use crate::parser::parse_body;
use crate::scanner::{parts, tokenize};
use crate::token::{TokenKind, Tokens};

/// The base offset for spans during formatting. It is not 0, because a span that begins at 0 may mean "no span".
const BASE: u32 = 1;

/// A token with the number of spaces before it.
#[derive(Clone, Debug)]
struct Piece<'a> {
    kind: TokenKind,
    text: std::borrow::Cow<'a, str>,
    spaces: usize,
}

impl Piece<'_> {
    /// Whether the piece ends its line. A line comment includes its line end.
    fn ends_line(&self) -> bool {
        match self.kind {
            TokenKind::Newline => true,
            TokenKind::Comment => self.text.ends_with('\n'),
            _ => false,
        }
    }

    /// The change in the number of open brackets that the piece causes.
    fn bracket_change(&self) -> isize {
        match self.kind {
            TokenKind::OpenBrace
            | TokenKind::OpenBracket
            | TokenKind::OpenParenthesis
            | TokenKind::OpenInterpolation
            | TokenKind::OpenDirective => 1,
            TokenKind::CloseBrace
            | TokenKind::CloseBracket
            | TokenKind::CloseParenthesis
            | TokenKind::CloseSequence
            | TokenKind::StripBrace => -1,
            _ => 0,
        }
    }
}

/// Formats `text` in canonical style. Text with syntax errors is returned unchanged, since any layout would be a guess.
pub fn format(text: &str) -> String {
    try_format(text).unwrap_or_else(|| text.to_owned())
}

/// Formats `text` in canonical style. Returns `None` if it has syntax errors.
///
/// An empty line between top-level blocks ends every alignment, so the text is formatted in parts. The tokens of one
/// part fit into the processor cache, and their memory is reused for the next part.
pub fn try_format(text: &str) -> Option<String> {
    // Spans are 32-bit offsets, so a longer text cannot be represented.
    u32::try_from(text.len()).ok()?;
    let mut result = String::with_capacity(text.len() + text.len() / 8);
    let mut arguments = HashSet::new();
    for part in parts(text) {
        let body = lay_out(part, &mut result)?;
        // A duplicate argument is a syntax error even if the two are in different parts.
        if !body.attributes().iter().all(|argument| arguments.insert(Name::clone(&argument.name.name))) {
            return None;
        }
    }
    Some(result)
}

/// Appends the formatted `text` to `result` and returns its parsed body, or `None` if it has syntax errors.
fn lay_out(text: &str, result: &mut String) -> Option<NativeBody> {
    let (body, diagnostics) = parse_body(text, Origin { base: BASE, file: None, shifts: &[] });
    if diagnostics.has_errors() {
        return None;
    }
    let tokens = tokenize(text);
    let edits = rewrite::edits(&body, text, &tokens);
    let mut pieces = rewrite::apply(pieces(text, &tokens), edits);
    layout::lay_out(&mut pieces);
    for piece in &pieces {
        result.extend(std::iter::repeat_n(' ', piece.spaces));
        result.push_str(&piece.text);
    }
    Some(body)
}

/// Returns the tokens with their indexes. The line end after a line comment is merged into the comment.
fn pieces<'a>(text: &'a str, tokens: &Tokens) -> Vec<(usize, Piece<'a>)> {
    let mut pieces = Vec::with_capacity(tokens.len());
    let mut before = 0;
    let mut index = 0;
    while index < tokens.len() {
        let kind = tokens.kind(index);
        let mut range = tokens.range(index);
        let spaces = range.start - before;
        let first = index;
        index += 1;
        if kind == TokenKind::Comment
            && tokens.kind(index) == TokenKind::Newline
            && !text[range.clone()].starts_with("/*")
        {
            range.end = tokens.range(index).end;
            index += 1;
        }
        before = range.end;
        let text = text.get(range).unwrap_or_default().into();
        pieces.push((first, Piece { kind, text, spaces }));
    }
    pieces
}
