//! What can be completed at the prompt: functions, and the names of the root module.

use std::cell::Cell;

use groma_config::Module;
use groma_lang::functions;
use rustyline::completion::Completer;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Context, Helper};

use super::unfinished::goes_on;

/// All words, sorted, and what is known of the line that is being written.
pub(super) struct Words {
    words: Vec<String>,
    /// Whether there is something on it: then an interrupt gives up the line, not the console.
    begun: Cell<bool>,
}

/// The words that an expression in `module` may use.
pub(super) fn words(module: &Module) -> Words {
    let mut words: Vec<String> =
        ["path.module", "path.root", "path.cwd", "terraform.workspace", "type(", "exit", "help"]
            .map(str::to_owned)
            .into();
    words.extend(functions::names().into_iter().map(|name| format!("{name}(")));
    words.extend(module.variables.keys().map(|name| format!("var.{name}")));
    words.extend(module.locals.keys().map(|name| format!("local.{name}")));
    words.extend(module.calls.keys().map(|name| format!("module.{name}")));
    words.extend(module.resources.keys().map(ToString::to_string));
    words.sort_unstable();
    words.dedup();
    Words::new(words)
}

impl Words {
    fn new(words: Vec<String>) -> Self {
        Self { words, begun: Cell::new(false) }
    }

    /// Whether something had been written when the prompt was last left.
    pub(super) fn had_begun(&self) -> bool {
        self.begun.take()
    }

    /// Where the word before the cursor begins, and what it may become.
    fn candidates(&self, line: &str, cursor: usize) -> (usize, Vec<String>) {
        let before = line.get(..cursor).unwrap_or(line);
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':');
        let start = before.trim_end_matches(is_part).len();
        let begun = before.get(start..).unwrap_or_default();
        if begun.is_empty() {
            return (start, Vec::new());
        }
        let from = self.words.partition_point(|word| word.as_str() < begun);
        let fitting = self.words.iter().skip(from).take_while(|word| word.starts_with(begun));
        (start, fitting.cloned().collect())
    }
}

impl Completer for Words {
    type Candidate = String;

    fn complete(&self, line: &str, cursor: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        Ok(self.candidates(line, cursor))
    }
}

impl Validator for Words {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let is_open = goes_on(&format!("{}\n", context.input()));
        Ok(if is_open { ValidationResult::Incomplete } else { ValidationResult::Valid(None) })
    }
}

impl Hinter for Words {
    type Hint = String;

    fn hint(&self, line: &str, _: usize, _: &Context<'_>) -> Option<String> {
        self.begun.set(!line.is_empty());
        None
    }
}

impl Highlighter for Words {}

impl Helper for Words {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_before_the_cursor_is_completed() {
        let words = Words::new(["local.a", "upper(", "var.name", "var.number"].map(str::to_owned).into());
        assert_eq!(words.candidates("upper(var.n", 11), (6, vec!["var.name".to_owned(), "var.number".to_owned()]));
        assert_eq!(words.candidates("up + 1", 2), (0, vec!["upper(".to_owned()]));
        assert_eq!(words.candidates("1 + ", 4), (4, Vec::new()));
    }
}
