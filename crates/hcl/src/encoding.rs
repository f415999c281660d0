//! Bytes that are not UTF-8: where they may stand, and what to say where they may not.
//!
//! As in Terraform, a comment may contain any bytes. Elsewhere a byte that is not UTF-8 is an error, because nobody can
//! know which character it was meant to be.

use groma_diagnostics::{Diagnostic, Diagnostics, InvalidByte, SourceFile, Span};

use crate::origin::Origin;
use crate::token::{TokenKind, Tokens};

pub(crate) const SUMMARY: &str = "Invalid character encoding";

/// The most positions that are reported.
const MAX_REPORTED: usize = 20;

/// The most bytes of one position that a message lists.
const MAX_LISTED: usize = 8;

/// Reports the bytes outside of comments that are not UTF-8, those that follow each other as one problem.
pub(crate) fn check(tokens: &Tokens, origin: &Origin<'_>) -> Diagnostics {
    let invalid = origin.file.map(SourceFile::invalid_bytes).unwrap_or_default();
    let outside = outside_comments(tokens, invalid);
    let runs = outside.chunk_by(|one, next| one.at as usize + InvalidByte::WIDTH == next.at as usize);
    let diagnostics = runs.take(MAX_REPORTED).map(|run| {
        let start = run.first().map_or(0, |byte| byte.at);
        let end = run.last().map_or(start, |byte| byte.at.saturating_add(InvalidByte::WIDTH as u32));
        Diagnostic::error(SUMMARY, detail(run)).at(origin.span(start, end))
    });
    diagnostics.collect()
}

/// The bytes of `invalid` that are not in a comment.
pub(crate) fn outside_comments(tokens: &Tokens, invalid: &[InvalidByte]) -> Vec<InvalidByte> {
    let is_outside = |byte: &&InvalidByte| {
        let after = tokens.list.partition_point(|token| token.start <= byte.at);
        let token = after.checked_sub(1).map(|index| tokens.at(index));
        !token.is_some_and(|token| token.kind == TokenKind::Comment && byte.at < token.end)
    };
    invalid.iter().filter(is_outside).copied().collect()
}

fn detail(run: &[InvalidByte]) -> String {
    let mut bytes: Vec<String> = run.iter().take(MAX_LISTED).map(|byte| format!("0x{:02X}", byte.byte)).collect();
    if run.len() > MAX_LISTED {
        bytes.push("...".to_owned());
    }
    let (noun, verb) = if run.len() == 1 { ("The byte", "is") } else { ("The bytes", "are") };
    format!(
        "{noun} {} {verb} not UTF-8. Convert the file to UTF-8, or set this encoding in your editor.",
        bytes.join(" ")
    )
}

/// The problem of a file that is UTF-16, in which there is nothing to parse.
pub(crate) fn utf16(file: &SourceFile) -> Option<Diagnostic> {
    file.is_utf16().then(|| {
        let detail =
            "The file is UTF-16, which is what the operator > of Windows PowerShell writes. Convert the file to UTF-8.";
        let mark: Span = file.span(0, 2 * InvalidByte::WIDTH);
        Diagnostic::error(SUMMARY, detail).at(mark)
    })
}
