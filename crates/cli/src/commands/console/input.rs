//! Input of expressions: an interactive prompt with history and completion, or a pipe.

use std::io::{self, BufRead, Cursor};

use rustyline::error::ReadlineError;
use rustyline::history::MemHistory;
use rustyline::{Config, Editor};

use super::completion::Words;
use super::unfinished::goes_on;

/// The source of expressions.
pub(super) enum Source<'a> {
    /// An interactive prompt on a terminal.
    Prompt(Box<Prompt<'a>>),
    /// Standard input as it comes.
    Pipe,
}

/// Lines that somebody edits.
pub(super) struct Prompt<'a> {
    editor: Editor<Words<'a>, MemHistory>,
    /// The entered text, which may contain several pasted expressions.
    entered: Cursor<String>,
}

/// Whether somebody is there to try again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lines {
    FromPerson,
    FromPipe,
}

/// The next item of the input.
pub(super) enum Next {
    /// A whole expression, of one line or several.
    Text(String),
    /// The end of the input.
    End,
}

impl<'a> Source<'a> {
    /// A prompt that completes `words`.
    ///
    /// # Errors
    /// The terminal cannot be used.
    pub fn prompt(words: Words<'a>) -> io::Result<Self> {
        let editor = Editor::with_history(Config::default(), MemHistory::new());
        let mut editor = editor.map_err(io::Error::other)?;
        editor.set_helper(Some(words));
        Ok(Self::Prompt(Box::new(Prompt { editor, entered: Cursor::default() })))
    }

    /// Whether somebody is there.
    pub fn lines(&self) -> Lines {
        match self {
            Self::Prompt(_) => Lines::FromPerson,
            Self::Pipe => Lines::FromPipe,
        }
    }

    /// Returns the next expression, or the end.
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
                    // A history that is full forgets the oldest.
                    let _ = self.editor.add_history_entry(&text);
                    self.entered = Cursor::new(text);
                }
                Err(ReadlineError::Interrupted) if self.editor.helper().is_some_and(|words| words.had_begun()) => {}
                // Control-D, Control-C at the start of a line, or a terminal that is gone.
                Err(_) => return Next::End,
            }
        }
    }
}

/// Lines until no bracket is open any more.
fn from_lines(lines: &mut impl BufRead) -> Next {
    let mut text = String::new();
    loop {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_gives_expressions_and_what_is_left_at_its_end() {
        let mut pipe = Cursor::new("1\n[\n 2,\n]\n(3");
        let mut texts = Vec::new();
        while let Next::Text(text) = from_lines(&mut pipe) {
            texts.push(text);
        }
        assert_eq!(texts, ["1", "[\n 2,\n]", "(3"]);
    }
}
