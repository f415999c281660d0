//! The formatter: the canonical layout of a file of the native syntax.
//!
//! It works on the tokens and changes the white space between them. Before that, three outdated spellings are replaced
//! (see [`rewrite`]): interpolations that are a whole value, types in quotes, labels without quotes.

mod cells;
mod layout;
mod rewrite;
mod spacing;

use groma_diagnostics::Sources;

use crate::origin::Origin;
use crate::parser::parse_body;
use crate::scanner::tokenize;
use crate::token::{TokenKind, Tokens};

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
            | TokenKind::CloseSequence => -1,
            _ => 0,
        }
    }
}

/// `text` in the canonical layout. A text with mistakes comes back as it is: its layout would be a guess.
pub fn format(text: &str) -> String {
    try_format(text).unwrap_or_else(|| text.to_owned())
}

/// `text` in the canonical layout; nothing where it has mistakes.
pub fn try_format(text: &str) -> Option<String> {
    let sources = Sources::new();
    let file = sources.add("", text)?;
    let (body, diagnostics) = parse_body(text, Origin { base: file.base(), file: None, shifts: &[] });
    if diagnostics.has_errors() {
        return None;
    }
    let tokens = tokenize(text);
    let edits = rewrite::edits(&body, text, &tokens, file.base());
    let mut pieces = rewrite::apply(pieces(text, &tokens), edits);
    layout::lay_out(&mut pieces);
    let mut result = String::with_capacity(text.len() + text.len() / 8);
    for piece in &pieces {
        result.extend(std::iter::repeat_n(' ', piece.spaces));
        result.push_str(&piece.text);
    }
    Some(result)
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
