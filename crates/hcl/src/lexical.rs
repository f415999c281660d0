//! Characters and operators that are not part of the language.

use groma_diagnostics::{Diagnostic, Diagnostics, SourceFile};

use crate::encoding;
use crate::encoding::Origin;
use crate::token::{TokenKind, Tokens};

/// Reports tokens that are never valid, with a limit per kind so that one bad file does not flood the output.
pub(crate) fn check(text: &str, tokens: &Tokens, origin: &Origin<'_>) -> Diagnostics {
    let mut counts = ReportCounts::default();
    let mut diagnostics = encoding::check(tokens, origin);
    let invalid = origin.file.map(SourceFile::invalid_bytes).unwrap_or_default();
    for (index, token) in tokens.list.iter().enumerate() {
        // The replacement character of an invalid byte: `encoding::check` has reported the byte.
        let is_reported = || invalid.binary_search_by_key(&token.start, |byte| byte.at).is_ok();
        if token.kind < TokenKind::Ampersand || is_reported() {
            continue;
        }
        let character = text.get(tokens.range(index)).unwrap_or_default();
        if let Some(diagnostic) = counts.diagnose(token.kind, character) {
            diagnostics.push(diagnostic.at(origin.span(tokens.start(index), tokens.end(index))));
        }
    }
    diagnostics
}

/// The number of occurrences of each kind so far.
#[derive(Default)]
struct ReportCounts {
    bitwise: usize,
    backticks: usize,
    apostrophes: usize,
    semicolons: usize,
    others: usize,
}

impl ReportCounts {
    fn diagnose(&mut self, kind: TokenKind, character: &str) -> Option<Diagnostic> {
        let invalid = |detail: &str| Some(Diagnostic::error("Invalid character", detail));
        match kind {
            TokenKind::Ampersand | TokenKind::Pipe | TokenKind::Caret | TokenKind::Tilde => {
                within_limit(&mut self.bitwise, 4).then(|| bitwise(kind))
            }
            // Only the opening one of each pair is reported.
            TokenKind::Backtick => (within_limit(&mut self.backticks, 4) && self.backticks % 2 == 1).then(|| {
                let detail = "Use double quotes (\") for strings. For a multi-line string, use a heredoc, which begins with <<EOT.";
                Diagnostic::error("Invalid character", detail)
            }),
            TokenKind::Apostrophe => (within_limit(&mut self.apostrophes, 4) && self.apostrophes % 2 == 1).then(|| {
                Diagnostic::error("Invalid character", "Use double quotes (\") for strings, not single quotes.")
            }),
            TokenKind::Semicolon if within_limit(&mut self.semicolons, 1) => {
                invalid("Semicolons are not used in this language. Put each argument and block on its own line, and separate list elements with commas.")
            }
            TokenKind::Invalid if within_limit(&mut self.others, 20) => match character {
                "“" | "”" | "„" => {
                    invalid("This is a typographic quote, which word processors insert. Use straight double quotes (\") for strings.")
                }
                "\u{fffd}" => Some(Diagnostic::error(
                    encoding::SUMMARY,
                    "The file contains the replacement character (U+FFFD), which a program wrote in place of a character that \
                     it could not decode. Replace it with the intended character.",
                )),
                _ => invalid("This character is not used in the language."),
            },
            _ => None,
        }
    }
}

/// Counts an occurrence. Returns whether the count is at most `limit`.
fn within_limit(count: &mut usize, limit: usize) -> bool {
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
    Diagnostic::error("Unsupported operator", format!("Bitwise operators are not supported.{hint}"))
}
