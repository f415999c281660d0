//! Characters and operators that the language does not have.

use groma_diagnostics::{Diagnostic, Diagnostics, SourceFile};

use crate::encoding;
use crate::origin::Origin;
use crate::token::{TokenKind, Tokens};

/// Reports tokens that can stand nowhere, each kind a few times at most.
pub(crate) fn check(text: &str, tokens: &Tokens, origin: &Origin<'_>) -> Diagnostics {
    let mut told = Told::default();
    let mut diagnostics = encoding::check(tokens, origin);
    let invalid = origin.file.map(SourceFile::invalid_bytes).unwrap_or_default();
    for (index, token) in tokens.list.iter().enumerate() {
        let is_reported = || invalid.binary_search_by_key(&token.start, |byte| byte.at).is_ok();
        if token.kind < TokenKind::Ampersand || is_reported() {
            continue;
        }
        let character = text.get(tokens.range(index)).unwrap_or_default();
        if let Some(diagnostic) = told.diagnose(token.kind, character) {
            diagnostics.push(diagnostic.at(origin.span(tokens.start(index), tokens.end(index))));
        }
    }
    diagnostics
}

/// The number of reports of each kind.
#[derive(Default)]
struct Told {
    bitwise: usize,
    backticks: usize,
    apostrophes: usize,
    semicolons: usize,
    others: usize,
}

impl Told {
    fn diagnose(&mut self, kind: TokenKind, character: &str) -> Option<Diagnostic> {
        let invalid = |detail: &str| Some(Diagnostic::error("Invalid character", detail));
        match kind {
            TokenKind::Ampersand | TokenKind::Pipe | TokenKind::Caret | TokenKind::Tilde => {
                once_more(&mut self.bitwise, 4).then(|| bitwise(kind))
            }
            // Only the first of each pair, and only for a few pairs.
            TokenKind::Backtick => (once_more(&mut self.backticks, 4) && self.backticks % 2 == 1).then(|| {
                let detail = "Strings stand in double quotes (\"). For a string of several lines use a heredoc, which begins with <<EOT.";
                Diagnostic::error("Invalid character", detail)
            }),
            TokenKind::Apostrophe => (once_more(&mut self.apostrophes, 4) && self.apostrophes % 2 == 1).then(|| {
                Diagnostic::error("Invalid character", "Strings stand in double quotes (\"), not in single ones.")
            }),
            TokenKind::Semicolon if once_more(&mut self.semicolons, 1) => {
                invalid("A semicolon has no meaning here. Arguments and blocks stand on lines of their own; elements are separated by commas.")
            }
            TokenKind::Invalid if once_more(&mut self.others, 20) => match character {
                "“" | "”" | "„" => {
                    invalid("This is a typographic quote, as text programs make them. Strings stand in straight quotes (\").")
                }
                "\u{fffd}" => Some(Diagnostic::error(
                    encoding::SUMMARY,
                    "The replacement character (U+FFFD) stands here. A program wrote it because it could not read the original \
                     character: write that one again.",
                )),
                _ => invalid("This character has no meaning in the language."),
            },
            _ => None,
        }
    }
}

/// Counts; true while not more than `limit`.
fn once_more(count: &mut usize, limit: usize) -> bool {
    *count += 1;
    *count <= limit
}

fn bitwise(kind: TokenKind) -> Diagnostic {
    let hint = match kind {
        TokenKind::Ampersand => " For \"and\", write \"&&\".",
        TokenKind::Pipe => " For \"or\", write \"||\".",
        TokenKind::Tilde => " For \"not\", write \"!\".",
        _ => "",
    };
    Diagnostic::error("Unsupported operator", format!("There are no operators on the bits of numbers.{hint}"))
}
