//! Scanning of large texts in portions of tokens, or in independent parts.

use super::{Mode, Pause, Scanner};
use crate::token::Tokens;

/// The tokens of a file in portions, so that those of a large file are never in memory together.
///
/// A portion ends with [`TokenKind::End`] after a line end outside of all brackets. With unmatched brackets a portion
/// may end within an item; the caller must then scan the whole text at once.
pub(crate) struct Portions<'a> {
    scanner: Scanner<'a>,
}

/// The approximate number of tokens per portion, chosen so that the list fits into the processor cache.
const PORTION: usize = 1 << 12;

pub(crate) fn portions(text: &str) -> Portions<'_> {
    portions_pausing(Pause::AtLineEnd, text)
}

fn portions_pausing(pause: Pause, text: &str) -> Portions<'_> {
    Portions { scanner: Scanner { enough: PORTION, pause, ..Scanner::new(text, Mode::Code { depth: 0 }) } }
}

/// The text of a file in parts that end before an empty line outside of all brackets. If brackets match, each part is a
/// valid text of its own. The concatenation of all parts is the text.
pub(crate) struct Parts<'a> {
    portions: Portions<'a>,
    tokens: Tokens,
}

pub(crate) fn parts(text: &str) -> Parts<'_> {
    Parts { portions: portions_pausing(Pause::BeforeEmptyLine, text), tokens: Tokens { list: Vec::new() } }
}

impl<'a> Iterator for Parts<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let start = self.portions.scanner.at;
        let has_next = self.portions.next_into(&mut self.tokens);
        let scanner = &self.portions.scanner;
        has_next.then(|| scanner.text.get(start..scanner.at).unwrap_or_default())
    }
}

impl Portions<'_> {
    /// Replaces `tokens` with the next portion, reusing its memory. Returns false after the last one.
    pub(crate) fn next_into(&mut self, tokens: &mut Tokens) -> bool {
        let has_more = self.scanner.at < self.scanner.bytes.len();
        if has_more {
            self.scanner.tokens = std::mem::take(&mut tokens.list);
            self.scanner.tokens.clear();
            *tokens = self.scanner.portion();
        }
        has_more
    }
}
