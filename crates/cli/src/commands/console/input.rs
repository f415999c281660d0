//! Sources of expressions: an interactive prompt with history and completion, or piped standard input; an expression may continue
//! on the next line.

use std::io::{self, BufRead, Cursor};

use groma_hcl::{TokenKind, tokenize};
use rustyline::error::ReadlineError;
use rustyline::history::MemHistory;
use rustyline::{Config, Editor};

use super::completion::ConsoleCompleter;

/// Source of expressions.
pub(super) enum Source<'a> {
    Prompt(Box<Prompt<'a>>),
    Pipe,
}

/// Interactive line editor.
pub(super) struct Prompt<'a> {
    editor: Editor<ConsoleCompleter<'a>, MemHistory>,
    /// Entered text that is not evaluated yet: pasted text arrives at once and may hold several expressions.
    entered: Cursor<String>,
}

/// Whether a person can correct an invalid expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lines {
    FromPerson,
    FromPipe,
}

/// Next input.
pub(super) enum Next {
    /// A complete expression of one or more lines.
    Text(String),
    End,
}

impl<'a> Source<'a> {
    /// Creates an interactive prompt that completes `words`.
    ///
    /// # Errors
    /// The terminal cannot be switched to line editing.
    pub fn prompt(words: ConsoleCompleter<'a>) -> io::Result<Self> {
        let editor = Editor::with_history(Config::default(), MemHistory::new());
        let mut editor = editor.map_err(io::Error::other)?;
        editor.set_helper(Some(words));
        Ok(Self::Prompt(Box::new(Prompt { editor, entered: Cursor::default() })))
    }

    /// Returns the kind of this source.
    pub fn lines(&self) -> Lines {
        match self {
            Self::Prompt(_) => Lines::FromPerson,
            Self::Pipe => Lines::FromPipe,
        }
    }

    /// Reads the next expression.
    pub fn next(&mut self) -> Next {
        match self {
            Self::Prompt(prompt) => prompt.next(),
            Self::Pipe => from_lines(&mut io::stdin().lock()),
        }
    }
}

impl Prompt<'_> {
    fn next(&mut self) -> Next {
        loop {
            if let Next::Text(text) = from_lines(&mut self.entered) {
                return Next::Text(text);
            }
            match self.editor.readline("> ") {
                Ok(text) => {
                    // A failure only costs history, which is no reason to end the console.
                    let _ = self.editor.add_history_entry(&text);
                    self.entered = Cursor::new(text);
                }
                // As in a shell, Control-C discards a line that has text.
                Err(ReadlineError::Interrupted) if self.editor.helper().is_some_and(|words| words.had_begun()) => {}
                // Control-D, Control-C at the start of a line, or a terminal that is gone.
                Err(_) => return Next::End,
            }
        }
    }
}

/// Reads lines until all brackets are closed.
fn from_lines(lines: &mut impl BufRead) -> Next {
    let mut text = String::new();
    loop {
        // Read as bytes: a line that is not UTF-8 is an invalid expression, not the end of the input.
        let mut bytes = Vec::new();
        let is_end = !matches!(lines.read_until(b'\n', &mut bytes), Ok(count) if count > 0);
        text.push_str(&String::from_utf8_lossy(&bytes));
        if is_end && text.is_empty() {
            return Next::End;
        }
        if is_end || !goes_on(&text) {
            return Next::Text(text.trim_end_matches(['\n', '\r']).to_owned());
        }
    }
}

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
    fn reads_expressions_from_pipe() {
        // The bracket that is never closed ends with the input.
        let mut pipe = Cursor::new("1\n[\n 2,\n]\n(3");
        let mut texts = Vec::new();
        while let Next::Text(text) = from_lines(&mut pipe) {
            texts.push(text);
        }
        assert_eq!(texts, ["1", "[\n 2,\n]", "(3"]);
    }

    #[test]
    fn detects_unclosed_brackets() {
        for open in ["{", "[1,", "upper(", "\"${", "{ a = [", "<<EOT\nx", "(1 +\n"] {
            assert!(goes_on(open), "{open}");
        }
        // Closing brackets without an opening one are errors, which are reported at once.
        for whole in ["1", "{}", "[1,\n2]", "upper(\n\"a\")", "\"${1}\"", "\"{\"", "<<EOT\nx\nEOT\n", "}", "# {", ")"] {
            assert!(!goes_on(whole), "{whole}");
        }
    }
}
