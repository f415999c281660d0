//! Large texts in portions of tokens, or in parts that are texts of their own.

use super::{Mode, Pause, Scanner};
use crate::token::Tokens;

/// The tokens of a file in portions, so that those of a large file need not be in memory together.
///
/// A portion ends with [`TokenKind::End`] after a line end outside of all brackets. Where brackets are not matched that
/// may be the middle of something: then read all tokens at once.
pub(crate) struct Portions<'a> {
    scanner: Scanner<'a>,
}

/// About how many tokens a portion has: so many that their list stays in the near caches of the processor.
const PORTION: usize = 1 << 12;

pub(crate) fn portions(text: &str) -> Portions<'_> {
    portions_pausing(Pause::AtLineEnd, text)
}

fn portions_pausing(pause: Pause, text: &str) -> Portions<'_> {
    Portions { scanner: Scanner { enough: PORTION, pause, ..Scanner::new(text, Mode::Code { depth: 0 }) } }
}

/// The text of a file in parts that end before an empty line outside of all brackets: where brackets are matched, each is a text of its
/// own. Put together they are the text.
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
        let is_there = self.portions.next_into(&mut self.tokens);
        let scanner = &self.portions.scanner;
        is_there.then(|| scanner.text.get(start..scanner.at).unwrap_or_default())
    }
}

impl Portions<'_> {
    /// Replaces `tokens` by the next portion, reusing the memory; false after the last one.
    pub(crate) fn next_into(&mut self, tokens: &mut Tokens) -> bool {
        let there_is_more = self.scanner.at < self.scanner.bytes.len();
        if there_is_more {
            self.scanner.tokens = std::mem::take(&mut tokens.list);
            self.scanner.tokens.clear();
            *tokens = self.scanner.portion();
        }
        there_is_more
    }
}
