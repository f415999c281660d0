//! Recovery after syntax errors in the JSON syntax.

use groma_diagnostics::{Diagnostics, Span};

use super::{Bracket, JsonParser, Lost};

impl JsonParser<'_> {
    /// Handles a token in place of a comma or closing bracket: a closing one, or one that seems to be, ends the object or array.
    pub(super) fn wrong_separator(&mut self, bracket: Bracket, open: usize) -> Result<bool, Lost> {
        let span = self.here();
        match (self.peek(), bracket) {
            (None, _) => {
                // An inner bracket that is not closed says it for the outer ones too.
                if !self.diagnostics.has_errors() {
                    let open = self.span(open, open + 1);
                    self.error("Unclosed object", "The text ends before this bracket is closed.", open);
                }
                Err(Lost)
            }
            (Some(b']'), Bracket::Object) => {
                self.at += 1;
                self.error("Mismatched braces", "An object is closed with a brace, not with a bracket.", span);
                Ok(false)
            }
            (Some(b'}'), Bracket::Array) => {
                self.at += 1;
                self.error("Mismatched brackets", "An array is closed with a bracket, not with a brace.", span);
                Ok(false)
            }
            (Some(b':'), Bracket::Array) => {
                let detail = "The elements of an array have no names. For names use an object, in braces.";
                self.error("Invalid array value", detail, span);
                self.skip_element();
                self.separator(bracket, open)
            }
            (Some(b')'), _) if self.closers_too_many() < 0 => {
                self.at += 1;
                let (summary, detail) = match bracket {
                    Bracket::Object => {
                        ("Mismatched braces", "An object is closed with a brace, not with a parenthesis.")
                    }
                    Bracket::Array => {
                        ("Mismatched brackets", "An array is closed with a bracket, not with a parenthesis.")
                    }
                };
                self.error(summary, detail, span);
                Ok(false)
            }
            (Some(b'['), Bracket::Array) | (Some(b'{'), Bracket::Object) if self.closers_too_many() < -1 => {
                self.at += 1;
                let (summary, detail) = match bracket {
                    Bracket::Object => ("Mismatched braces", "An object is closed with }. This brace opens another."),
                    Bracket::Array => ("Mismatched brackets", "An array is closed with ]. This bracket opens another."),
                };
                self.error(summary, detail, span);
                Ok(false)
            }
            (Some(_), _) => {
                self.error("Missing attribute seperator comma", "A comma must stand before the next element.", span);
                self.skip_element();
                self.misplaced_comma(bracket, open)
            }
        }
    }

    /// Handles the separator after an element whose preceding comma was missing. A comma here may be that one, and is not reported as
    /// superfluous.
    fn misplaced_comma(&mut self, bracket: Bracket, open: usize) -> Result<bool, Lost> {
        if self.peek() != Some(b',') {
            return self.separator(bracket, open);
        }
        self.at += 1;
        let closer = match bracket {
            Bracket::Object => b'}',
            Bracket::Array => b']',
        };
        let is_last = self.peek() == Some(closer);
        self.at += usize::from(is_last);
        Ok(!is_last)
    }

    /// The span of the next word, number or string, or of a single character.
    pub(super) fn next_token(&self) -> Span {
        let bytes = &self.text.as_bytes()[self.at..];
        let of_word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b'.');
        match bytes.iter().take_while(|byte| of_word(byte)).count() {
            0 if bytes.first() == Some(&b'"') => self.span(self.at, self.end_of_string()),
            0 => self.here(),
            length => self.span(self.at, self.at + length),
        }
    }

    /// Returns the number of closing brackets from here on that exceed the open ones, which decides the meaning of a parenthesis. Only
    /// called at the
    /// first errors, because it scans the rest of the text; after those nothing is superfluous.
    pub(super) fn closers_too_many(&self) -> i64 {
        if self.diagnostics.len() > 1 {
            return 0;
        }
        let mut rest = Self { diagnostics: Diagnostics::new(), ..*self };
        let mut closers = -i64::from(self.nesting);
        while let Some(byte) = rest.text.as_bytes().get(rest.at) {
            match byte {
                b'{' | b'[' => closers -= 1,
                b'}' | b']' => closers += 1,
                _ => {}
            }
            rest.skip_byte();
        }
        closers
    }

    /// Whether as many brackets of each kind are closed as are opened in the whole text.
    pub(super) fn is_balanced(&self) -> bool {
        let mut whole = Self { at: 0, diagnostics: Diagnostics::new(), ..*self };
        let (mut braces, mut brackets) = (0i64, 0i64);
        while let Some(byte) = whole.text.as_bytes().get(whole.at) {
            match byte {
                b'{' => braces += 1,
                b'}' => braces -= 1,
                b'[' => brackets += 1,
                b']' => brackets -= 1,
                _ => {}
            }
            whole.skip_byte();
        }
        braces == 0 && brackets == 0
    }

    /// Skips a word with the quote right behind it, which opens nothing where a colon follows: the one before the word is missing.
    pub(super) fn skip_word(&mut self) {
        let rest = &self.text[self.at..];
        let of_word = |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '-');
        let word = rest.len() - rest.trim_start_matches(of_word).len();
        let behind = rest[word..].strip_prefix('"').filter(|behind| behind.trim_start().starts_with(':'));
        self.at += if word > 0 && behind.is_some() { word + 1 } else { 0 };
    }

    /// Skips to the comma or bracket that ends this element.
    pub(super) fn skip_element(&mut self) {
        let mut open = 0usize;
        while let Some(byte) = self.text.as_bytes().get(self.at) {
            match byte {
                b'{' | b'[' => open += 1,
                b'}' | b']' | b',' if open == 0 => return,
                b'}' | b']' => open -= 1,
                _ => {}
            }
            self.skip_byte();
        }
    }

    /// Skips a byte, or the string that begins here.
    fn skip_byte(&mut self) {
        let is_string = self.text.as_bytes().get(self.at) == Some(&b'"');
        self.at = if is_string { self.end_of_string() } else { self.at + 1 };
    }
}
