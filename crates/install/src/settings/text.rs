//! HCL 1, the syntax of CLI configuration files: keys may be quoted, blocks may repeat, values are constants.

use std::iter::Peekable;
use std::str::CharIndices;

use thiserror::Error;

/// An entry: its key, block labels and value.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    pub key: String,
    pub labels: Vec<String>,
    pub value: Setting,
    pub line: usize,
}

/// The value of an entry.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Setting {
    Text(String),
    Number(String),
    Bool(bool),
    List(Vec<Setting>),
    Object(Vec<Entry>),
}

/// A mistake in a CLI configuration file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("At line {line}: {mistake}")]
pub(super) struct SyntaxError {
    line: usize,
    mistake: Mistake,
}

#[derive(Clone, Debug, PartialEq, Eq, Error)]
enum Mistake {
    #[error("unexpected {0:?}")]
    Unexpected(char),
    #[error("{0:?} has no value")]
    NoValue(String),
    #[error("a name is expected here, and not {}", .0.map_or("the end of the file".to_owned(), |c| format!("{c:?}")))]
    NoName(Option<char>),
    #[error("Unknown token: {0:?}; strings must be quoted")]
    Unquoted(String),
    #[error("objects are nested too deeply")]
    DeepObject,
    #[error("values are nested too deeply")]
    DeepValue,
    #[error("object expected closing RBRACE got: EOF")]
    OpenObject,
    #[error("a list is not closed")]
    OpenList,
    #[error("illegal char escape")]
    Escape,
    #[error("literal not terminated")]
    OpenString,
    #[error("heredoc has no marker")]
    NoMarker,
    #[error("heredoc not terminated")]
    OpenHeredoc,
}

/// The maximum nesting depth of values.
const DEEPEST: usize = 64;

/// Parses a file in HCL 1 or JSON.
///
/// # Errors
/// Returns the mistake with its line.
pub(super) fn parse(text: &str) -> Result<Vec<Entry>, SyntaxError> {
    let mut parser = Parser { text, rest: text.char_indices().peekable(), line: 1 };
    parser.space();
    // HCL 1 has no expressions at the top level, so a brace begins a JSON document.
    if parser.peek() == Some('{') {
        return parser.object(0);
    }
    let entries = parser.entries(0)?;
    match parser.peek() {
        None => Ok(entries),
        Some(other) => Err(parser.wrong(Mistake::Unexpected(other))),
    }
}

struct Parser<'a> {
    text: &'a str,
    rest: Peekable<CharIndices<'a>>,
    line: usize,
}

impl Parser<'_> {
    fn peek(&mut self) -> Option<char> {
        self.rest.peek().map(|(_, c)| *c)
    }

    fn next(&mut self) -> Option<char> {
        let (_, c) = self.rest.next()?;
        self.line += usize::from(c == '\n');
        Some(c)
    }

    fn wrong(&self, mistake: Mistake) -> SyntaxError {
        SyntaxError { line: self.line, mistake }
    }

    /// Skips white space and comments.
    fn space(&mut self) {
        loop {
            match self.peek() {
                // Editors on Windows begin files with a byte order mark.
                Some(c) if c.is_whitespace() || c == '\u{feff}' => drop(self.next()),
                Some('#') => self.rest_of_line(),
                Some('/') => {
                    self.next();
                    if self.peek() == Some('*') { self.block_comment() } else { self.rest_of_line() }
                }
                _ => return,
            }
        }
    }

    fn rest_of_line(&mut self) {
        while self.peek().is_some_and(|c| c != '\n') {
            self.next();
        }
    }

    fn block_comment(&mut self) {
        let mut last = ' ';
        self.next();
        while let Some(c) = self.next() {
            if last == '*' && c == '/' {
                return;
            }
            last = c;
        }
    }

    fn entries(&mut self, depth: usize) -> Result<Vec<Entry>, SyntaxError> {
        let mut entries = Vec::new();
        loop {
            self.space();
            match self.peek() {
                None | Some('}') => return Ok(entries),
                Some(',') => drop(self.next()),
                Some(_) => entries.push(self.entry(depth)?),
            }
        }
    }

    fn entry(&mut self, depth: usize) -> Result<Entry, SyntaxError> {
        let line = self.line;
        let key = self.word()?;
        let mut labels = Vec::new();
        loop {
            self.space();
            match self.peek() {
                Some('=' | ':') => {
                    self.next();
                    return Ok(Entry { key, labels, value: self.value(depth)?, line });
                }
                Some('{') => return Ok(Entry { key, labels, value: Setting::Object(self.object(depth)?), line }),
                Some(_) => labels.push(self.word()?),
                None => return Err(self.wrong(Mistake::NoValue(key))),
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Vec<Entry>, SyntaxError> {
        if depth > DEEPEST {
            // The parser is recursive, and the stack is limited.
            return Err(self.wrong(Mistake::DeepObject));
        }
        let line = self.line;
        self.next();
        let entries = self.entries(depth + 1)?;
        match self.next() {
            Some('}') => Ok(entries),
            _ => Err(SyntaxError { line, mistake: Mistake::OpenObject }),
        }
    }

    fn word(&mut self) -> Result<String, SyntaxError> {
        if self.peek() == Some('"') {
            return self.quoted();
        }
        let mut word = String::new();
        while let Some(c) = self.peek().filter(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.')) {
            word.push(c);
            self.next();
        }
        if word.is_empty() {
            let found = self.peek();
            return Err(self.wrong(Mistake::NoName(found)));
        }
        Ok(word)
    }

    fn value(&mut self, depth: usize) -> Result<Setting, SyntaxError> {
        if depth > DEEPEST {
            return Err(self.wrong(Mistake::DeepValue));
        }
        self.space();
        match self.peek() {
            Some('"') => self.quoted().map(Setting::Text),
            Some('{') => self.object(depth).map(Setting::Object),
            Some('[') => self.list(depth),
            Some('<') => self.heredoc().map(Setting::Text),
            _ => {
                let word = self.word()?;
                match &word[..] {
                    "true" => Ok(Setting::Bool(true)),
                    "false" => Ok(Setting::Bool(false)),
                    // The text is kept, so that no digit is lost.
                    number if number.parse::<f64>().is_ok() => Ok(Setting::Number(word)),
                    _ => Err(self.wrong(Mistake::Unquoted(word))),
                }
            }
        }
    }

    fn list(&mut self, depth: usize) -> Result<Setting, SyntaxError> {
        self.next();
        let mut items = Vec::new();
        loop {
            self.space();
            match self.peek() {
                Some(']') => {
                    self.next();
                    return Ok(Setting::List(items));
                }
                Some(',') => drop(self.next()),
                Some(_) => items.push(self.value(depth + 1)?),
                None => return Err(self.wrong(Mistake::OpenList)),
            }
        }
    }

    fn quoted(&mut self) -> Result<String, SyntaxError> {
        self.next();
        let mut text = String::new();
        loop {
            match self.next() {
                Some('"') => return Ok(text),
                Some('\\') => match self.next() {
                    Some('n') => text.push('\n'),
                    Some('t') => text.push('\t'),
                    Some('r') => text.push('\r'),
                    // JSON permits an escaped slash.
                    Some(c @ ('"' | '\\' | '/')) => text.push(c),
                    Some('u') => text.push(self.escaped(4)?),
                    Some('U') => text.push(self.escaped(8)?),
                    _ => return Err(self.wrong(Mistake::Escape)),
                },
                // Otherwise a forgotten quote would be reported far from its line.
                Some('\n') | None => return Err(self.wrong(Mistake::OpenString)),
                Some(c) => text.push(c),
            }
        }
    }

    fn escaped(&mut self, digits: usize) -> Result<char, SyntaxError> {
        let code: String = (0..digits).filter_map(|_| self.next()).collect();
        let found = u32::from_str_radix(&code, 16).ok().and_then(char::from_u32);
        found.ok_or_else(|| self.wrong(Mistake::Escape))
    }

    fn heredoc(&mut self) -> Result<String, SyntaxError> {
        let start = self.rest.peek().map_or(self.text.len(), |(at, _)| *at);
        let rest = self.text.get(start..).unwrap_or_default();
        let head = rest.strip_prefix("<<").and_then(|rest| rest.split_once('\n'));
        let (marker, body) = head.ok_or_else(|| self.wrong(Mistake::NoMarker))?;
        let (indented, marker) = marker.strip_prefix('-').map_or((false, marker), |marker| (true, marker));
        let marker = marker.trim();
        let end =
            body.lines().position(|line| line.trim() == marker).ok_or_else(|| self.wrong(Mistake::OpenHeredoc))?;
        let lines: Vec<&str> = body.lines().take(end).collect();
        for _ in 0..=end {
            self.rest_of_line();
            self.next();
        }
        self.rest_of_line();
        // Only `<<-` removes the common indentation.
        let margin =
            lines.iter().map(|line| line.len() - line.trim_start().len()).min().filter(|_| indented).unwrap_or(0);
        Ok(lines.iter().map(|line| format!("{}\n", line.get(margin..).unwrap_or_default())).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_may_be_quoted_and_blocks_labelled() {
        let entries =
            parse("# note\ncredentials \"a.b\" {\n token = \"x\" }\n/* c */ dev = { \"h/n/t\" = [1, true,], }\n")
                .unwrap();
        assert_eq!(entries[0].key, "credentials");
        assert_eq!(entries[0].labels, ["a.b"]);
        let Setting::Object(inner) = &entries[1].value else { panic!("{entries:?}") };
        assert_eq!(inner[0].key, "h/n/t");
        assert_eq!(inner[0].value, Setting::List(vec![Setting::Number("1".to_owned()), Setting::Bool(true)]));
    }

    #[test]
    fn json_is_accepted() {
        let entries = parse(r#"{"credentials": {"a.b": {"token": "x"}}}"#).unwrap();
        assert_eq!(entries[0].key, "credentials");
    }

    #[test]
    fn heredocs_end_at_their_marker() {
        let entries = parse("a = <<-END\n  one\n   two\n  END\nb = true\n").unwrap();
        assert_eq!(entries[0].value, Setting::Text("one\n two\n".to_owned()));
        assert_eq!(entries[1].value, Setting::Bool(true));
    }

    #[test]
    fn errors_name_their_line() {
        for (text, line) in [
            ("a = \n\n", "line 3"),
            ("a {\n", "line 1"),
            ("a = \"x\n", "line 2"),
            ("\n\n}", "line 3"),
            ("a = b", "line 1"),
        ] {
            assert!(parse(text).unwrap_err().to_string().contains(line), "{text:?}: {:?}", parse(text));
        }
        // Must fail instead of overflowing the stack.
        assert!(parse(&"a = [".repeat(100_000)).is_err());
        assert!(parse(&"a {".repeat(100_000)).is_err());
    }
}
