//! The formatter: the canonical layout of a file of the native syntax.
//!
//! It works on the tokens and changes the white space between them. Before that, three outdated spellings are replaced
//! (see [`rewrite`]): interpolations that are a whole value, types in quotes, labels without quotes.

mod bytes;
mod cells;
mod layout;
mod rewrite;
mod spacing;

use std::collections::HashSet;

pub use bytes::try_format_bytes;

use crate::ast::Name;
use crate::body::NativeBody;
use crate::origin::Origin;
use crate::parser::parse_body;
use crate::scanner::{parts, tokenize};
use crate::token::{TokenKind, Tokens};

/// The address of the first byte of a text: what begins at 0 may be no place at all.
const BASE: u32 = 1;

/// A token with the spaces before it.
#[derive(Clone, Debug)]
struct Piece<'a> {
    kind: TokenKind,
    text: std::borrow::Cow<'a, str>,
    spaces: usize,
}

impl Piece<'_> {
    /// Whether the line ends with it. The line end of a comment belongs to the comment.
    fn ends_line(&self) -> bool {
        match self.kind {
            TokenKind::Newline => true,
            TokenKind::Comment => self.text.ends_with('\n'),
            _ => false,
        }
    }

    /// By how much it changes the number of open brackets.
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

/// `text` in the canonical layout. A text with mistakes comes back as it is: its layout would be a guess.
pub fn format(text: &str) -> String {
    try_format(text).unwrap_or_else(|| text.to_owned())
}

/// `text` in the canonical layout; nothing where it has mistakes.
///
/// An empty line between blocks ends all alignment, so that a file is formatted part by part: the memory of one part fits into the near
/// caches of the processor, and is used for the next one.
pub fn try_format(text: &str) -> Option<String> {
    // More is no text of the language, as places in it have no numbers.
    u32::try_from(text.len()).ok()?;
    let mut result = String::with_capacity(text.len() + text.len() / 8);
    let mut arguments = HashSet::new();
    for part in parts(text) {
        let body = lay_out(part, &mut result)?;
        // Twice the same argument is a mistake, in different parts too.
        if !body.attributes().iter().all(|argument| arguments.insert(Name::clone(&argument.name.name))) {
            return None;
        }
    }
    Some(result)
}

/// Adds `text` in the canonical layout to `result`, and gives what is in it; nothing where it has mistakes.
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

/// The tokens, each with its index; the line end after a comment is a part of it.
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
