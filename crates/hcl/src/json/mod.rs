//! The parser of the JSON syntax, which produces expressions. Only a schema decides which of them are blocks.

mod recovery;
mod scalar;

use groma_diagnostics::{Diagnostic, Diagnostics, SourceFile, Span};

use crate::ast::{Expression, ExpressionKind, List, ObjectItem};
use crate::depth::{MAX_NESTING, with_stack};

const KINDS: &str = "Expected a JSON value: an object, array, string, number, true, false or null.";

/// Parses a whole document. If the value is not a valid body, or unbalanced brackets make its structure ambiguous, the
/// result is an empty object with a diagnostic.
pub(crate) fn parse(file: &SourceFile) -> (Expression, Diagnostics) {
    // A byte order mark is not part of the JSON value, but spans must count it.
    let text = file.text().strip_prefix('\u{feff}').unwrap_or(file.text());
    let skipped = file.text().len() - text.len();
    let mut parser = JsonParser {
        text,
        base: file.base() + skipped as u32,
        at: 0,
        nesting: 0,
        unstructured: false,
        diagnostics: Diagnostics::new(),
    };
    let value = parser.value();
    // After an error, the parser may have stopped before the end of the value.
    if parser.diagnostics.is_empty() {
        parser.space();
        if parser.at < text.len() {
            let span = parser.next_token();
            parser.error("Extraneous data after value", "Unexpected text after the end of the JSON value.", span);
        }
    }
    let is_body = !parser.unstructured && matches!(value.kind, ExpressionKind::Object(_) | ExpressionKind::Tuple(_));
    let value = if is_body {
        value
    } else {
        if parser.diagnostics.is_empty() {
            let detail = "A JSON configuration file must contain an object or an array of objects.";
            parser.error("Root value must be object", detail, value.span);
        }
        Expression::new(ExpressionKind::Object(List::default()), file.span(0, 0))
    };
    (value, parser.diagnostics)
}

struct JsonParser<'a> {
    text: &'a str,
    base: u32,
    at: usize,
    nesting: u32,
    /// Set when bracket matching is unreliable: all further problems would follow from the first one.
    unstructured: bool,
    diagnostics: Diagnostics,
}

/// The two kinds of brackets.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bracket {
    Object,
    Array,
}

/// The marker for an element or property that could not be parsed and was reported.
struct Failed;

impl JsonParser<'_> {
    fn space(&mut self) {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest.iter().position(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).unwrap_or(rest.len());
    }

    /// Returns the next byte that is not whitespace.
    fn peek(&mut self) -> Option<u8> {
        self.space();
        self.text.as_bytes().get(self.at).copied()
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.base + start as u32, self.base + end as u32)
    }

    /// The span of the next character.
    fn here(&self) -> Span {
        let length = self.text[self.at..].chars().next().map_or(0, char::len_utf8);
        self.span(self.at, self.at + length)
    }

    fn error(&mut self, summary: &str, detail: impl Into<String>, span: Span) {
        if self.unstructured {
            return;
        }
        // With unbalanced brackets, the structure after the first problem is a guess.
        self.unstructured = self.diagnostics.is_empty() && !self.is_balanced();
        self.diagnostics.push(Diagnostic::error(summary, detail.into()).at(span));
    }

    fn value(&mut self) -> Expression {
        let next = self.peek();
        let start = self.at;
        let value = match next {
            Some(b'{') => self.nested(Self::object),
            Some(b'[') => self.nested(Self::array),
            Some(b'"') => self.string(),
            Some(b'-' | b'+' | b'.' | b'0'..=b'9') => self.number(),
            Some(byte) if byte.is_ascii_alphabetic() => self.keyword(),
            next => {
                self.no_value(next);
                Err(Failed)
            }
        };
        value.unwrap_or_else(|Failed| Expression::invalid(self.span(start, self.at)))
    }

    fn no_value(&mut self, next: Option<u8>) {
        let (summary, detail) = match next {
            None => ("Missing value", "Expected a JSON value, but the file ends here."),
            Some(b'}') => ("Missing JSON value", KINDS),
            Some(b']') => ("Missing array element value", KINDS),
            Some(b'(' | b')') => (
                "Invalid start of value",
                "JSON has no parentheses. Use brackets for an array or braces for an object.",
            ),
            Some(_) => ("Invalid start of value", KINDS),
        };
        let span = self.here();
        self.error(summary, detail, span);
    }

    fn nested(&mut self, parse: impl FnOnce(&mut Self) -> Result<Expression, Failed>) -> Result<Expression, Failed> {
        if self.nesting >= MAX_NESTING {
            let span = self.here();
            let detail = format!("Nesting of objects and arrays is limited to {MAX_NESTING} levels.");
            self.error("Expression or block nested too deeply", detail, span);
            // The rest cannot be parsed without the omitted levels.
            self.at = self.text.len();
            return Err(Failed);
        }
        self.nesting += 1;
        let result = with_stack(|| parse(self));
        self.nesting -= 1;
        result
    }

    fn object(&mut self) -> Result<Expression, Failed> {
        let open = self.at;
        self.at += 1;
        let mut items = Vec::new();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Expression::new(ExpressionKind::Object(List::new(items)), self.span(open, self.at)));
        }
        loop {
            match self.property() {
                Ok(item) => items.push(item),
                Err(Failed) => self.skip_element(),
            }
            if !self.separator(Bracket::Object, open)? {
                return Ok(Expression::new(ExpressionKind::Object(List::new(items)), self.span(open, self.at)));
            }
        }
    }

    fn property(&mut self) -> Result<ObjectItem, Failed> {
        if self.peek() != Some(b'"') {
            return self.no_property_name();
        }
        let key = self.string()?;
        let colon = self.peek();
        if colon == Some(b':') {
            self.at += 1;
            let problems = self.diagnostics.len();
            let value = self.value();
            if matches!(value.kind, ExpressionKind::Invalid) && self.diagnostics.len() > problems {
                self.skip_element();
            }
            return Ok(ObjectItem { key, value });
        }
        let span = self.next_token();
        match colon {
            Some(b'}' | b',') => {
                let detail =
                    "A property name must be followed by a colon and a value. For a list without names, use brackets.";
                self.error("Missing object value", detail, span);
            }
            Some(b'=') => {
                let detail = "JSON uses a colon between a property name and its value, not an equals sign.";
                self.error("Missing property value colon", detail, span);
            }
            // The end of the file is reported as an unclosed object.
            None => return Err(Failed),
            Some(_) => {
                let detail = "Expected a colon between the property name and its value.";
                self.error("Missing property value colon", detail, span);
            }
        }
        Err(Failed)
    }

    fn no_property_name(&mut self) -> Result<ObjectItem, Failed> {
        let span = self.next_token();
        match self.peek() {
            // A mismatched bracket ends the object and is reported as that.
            None | Some(b']') => {}
            Some(b',' | b':' | b'=') => {
                self.error("Invalid start of value", "Expected a property name in double quotes.", span);
            }
            Some(_) => {
                self.error("Invalid object property name", "A property name must be a string in double quotes.", span);
                self.skip_word();
            }
        }
        Err(Failed)
    }

    fn array(&mut self) -> Result<Expression, Failed> {
        let open = self.at;
        self.at += 1;
        let mut elements = Vec::new();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Expression::new(ExpressionKind::Tuple(List::new(elements)), self.span(open, self.at)));
        }
        loop {
            let problems = self.diagnostics.len();
            let element = self.value();
            if matches!(element.kind, ExpressionKind::Invalid) && self.diagnostics.len() > problems {
                self.skip_element();
            }
            elements.push(element);
            if !self.separator(Bracket::Array, open)? {
                return Ok(Expression::new(ExpressionKind::Tuple(List::new(elements)), self.span(open, self.at)));
            }
        }
    }

    /// Reads the separator after an element: true for a comma, false for the closing bracket.
    fn separator(&mut self, bracket: Bracket, open: usize) -> Result<bool, Failed> {
        match (self.peek(), bracket) {
            (Some(b','), _) => {
                let comma = self.here();
                self.at += 1;
                self.after_comma(bracket, comma)
            }
            (Some(b'}'), Bracket::Object) | (Some(b']'), Bracket::Array) => {
                self.at += 1;
                Ok(false)
            }
            _ => self.wrong_separator(bracket, open),
        }
    }

    fn after_comma(&mut self, bracket: Bracket, comma: Span) -> Result<bool, Failed> {
        match (self.peek(), bracket) {
            (Some(b'}'), Bracket::Object) => {
                self.error("Trailing comma in object", "JSON does not allow a comma after the last property.", comma);
            }
            (Some(b']'), Bracket::Array) => {
                self.error("Trailing comma in array", "JSON does not allow a comma after the last element.", comma);
            }
            _ => return Ok(true),
        }
        self.at += 1;
        Ok(false)
    }
}
