//! Detects expressions that continue on the next line.

use groma_hcl::{TokenKind, tokenize};

/// Whether an expression is incomplete: it has an unclosed bracket, template, heredoc or comment.
pub(super) fn goes_on(text: &str) -> bool {
    let mut depth = 0_i64;
    let mut is_heredoc = false;
    let mut last_comment = "";
    for (kind, range) in tokenize(text).iter() {
        match kind {
            TokenKind::OpenBrace
            | TokenKind::OpenBracket
            | TokenKind::OpenParenthesis
            | TokenKind::OpenInterpolation
            | TokenKind::OpenDirective => depth += 1,
            TokenKind::CloseBrace
            | TokenKind::CloseBracket
            | TokenKind::CloseParenthesis
            | TokenKind::CloseSequence => depth -= 1,
            TokenKind::OpenHeredoc => is_heredoc = true,
            TokenKind::CloseHeredoc => is_heredoc = false,
            // The tokenizer has no token for an unclosed comment.
            TokenKind::Comment => last_comment = text.get(range).unwrap_or_default(),
            _ => {}
        }
    }
    depth > 0 || is_heredoc || (last_comment.starts_with("/*") && !last_comment.ends_with("*/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn detects_unclosed_brackets() {
        for open in ["{", "[1,", "upper(", "\"${", "{ a = [", "<<EOT\nx", "(1 +\n"] {
            assert!(goes_on(open), "{open}");
        }
        for whole in ["1", "{}", "[1,\n2]", "upper(\n\"a\")", "\"${1}\"", "\"{\"", "<<EOT\nx\nEOT\n", "}", "# {", ")"] {
            assert!(!goes_on(whole), "{whole}");
        }
    }
}
